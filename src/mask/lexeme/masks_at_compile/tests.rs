use std::sync::Arc;

use crate::compile::prepare;
use crate::error::{Error, ErrorKind};
use crate::index::{Index, IndexEngine};
use crate::lexeme::{CLOSED, LexemeKind, StateId};
use crate::limits::Limits;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::lexeme::masks_at_compile::{PATTERN, SOURCE_BYTES, is_open_string, look_around, make};
use crate::mask::vocab_tables::VocabTables;
use crate::regex::{Dialect, RegexOptions};
use crate::schema::SchemaOptions;
use crate::util::cancel::watched;
use crate::vocab::{Vocabulary, sample};

fn vocabulary() -> Arc<Vocabulary> {
    sample::ended(sample::bytes_and([" \"", "\",", "na", "name", "name_", "e_x", "a.b", "xyz", "12"]))
}

fn pattern(text: &str, vocabulary: &Arc<Vocabulary>) -> Index {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(text, vocabulary, &options, &Limits::default()).expect("the pattern compiles")
}

fn schema(text: &str, vocabulary: &Arc<Vocabulary>) -> Index {
    let (options, limits) = (SchemaOptions::default(), Limits::default());
    Index::from_json_schema(text, vocabulary, &options, &limits).expect("the schema compiles")
}

fn lexeme(index: &Index) -> &MaskedLexeme {
    let IndexEngine::Pattern(lexeme) = &index.0.engine else { panic!("a pattern") };
    lexeme
}

/// The strings of a schema that early masks are made for.
fn open_strings(index: &Index) -> Vec<&MaskedLexeme> {
    let IndexEngine::Document { lexemes, .. } = &index.0.engine else { panic!("a document") };
    lexemes.iter().map(|l| &**l).filter(|l| is_open_string(&l.lexeme)).collect()
}

fn is_known(index: &Index, lexeme: &MaskedLexeme, state: StateId, count: u32) -> bool {
    index.0.tables.known_mask(lexeme, state, count).is_some()
}

#[test]
fn masks_that_take_long_are_known_when_a_pattern_is_compiled() {
    let v = vocabulary();
    let index = pattern("name_[a-z0-9.]+-x", &v);
    let l = lexeme(&index);
    let behind = |text: &str| text.bytes().fold(l.lexeme.start(), |s, b| l.lexeme.next(s, b));
    for text in ["name_", "name_a"] {
        let state = behind(text);
        assert!(is_known(&index, l, state, 0), "behind {text}");
        let mut row = vec![0; v.words()];
        index.0.tables.root_mask(&v, l, state).inner.or_into(&mut row);
        for t in 0..v.size() as u32 {
            let bytes = v.token_bytes(t).unwrap_or_default();
            let steps = bytes.iter().try_fold(state, |s, &b| Some(l.lexeme.next(s, b)).filter(|&to| to > CLOSED));
            let is_allowed = !bytes.is_empty() && steps.is_some();
            assert_eq!(row[t as usize / 32] >> (t % 32) & 1 == 1, is_allowed, "token {t} behind {text}");
        }
    }
    assert!(!is_known(&index, l, behind("na"), 0), "a short walk need not be made before");
}

#[test]
fn what_is_looked_at_and_made_is_bounded() {
    let v = vocabulary();
    let index = pattern("(.*[a-m].{40}|[n-z]{1,30}[0-9]{1,30})x", &v);
    let l = lexeme(&index);
    let tables = VocabTables::for_vocabulary(&v).expect("tables");
    let mut left = super::MOST_STEPS;
    let met = look_around(&tables, &l.lexeme, PATTERN.states, &mut left).expect("nobody stops it");
    assert_eq!(met.len(), PATTERN.states);
    // A copy, of which no mask is known.
    let fresh = l.over(Arc::new(l.lexeme.copied()));
    assert_eq!(make(&tables, &v, &fresh, &PATTERN).expect("nobody stops it"), PATTERN.masks);
    assert_eq!(make(&tables, &v, &fresh, &PATTERN).expect("nobody stops it"), 0, "all are known");
}

#[test]
fn states_without_end_take_bounded_memory() {
    let v = vocabulary();
    let index = pattern(r"(?:\w{1,60}[.:]){1,60}(?:[a-z]{1,60}x){1,60}", &v);
    let held = lexeme(&index).lexeme.memory_bytes();
    // One mask more than the bound, which may take 4 MiB itself.
    assert!(held < 7 << 20, "{held} bytes");
}

/// A state of a long pattern may take as long as a compile.
#[test]
fn masks_of_short_patterns_only() {
    let v = vocabulary();
    for (body, length, known) in [("[a-w.]+-", SOURCE_BYTES - 20, true), ("[a-v.]+-", SOURCE_BYTES, false)] {
        let index = pattern(&format!("{body}(?#{})", "t".repeat(length)), &v);
        let l = lexeme(&index);
        assert_eq!(is_known(&index, l, l.lexeme.start(), 0), known, "{length} bytes");
    }
}

#[test]
fn strings_of_short_schemas_only() {
    let v = vocabulary();
    prepare(&v).expect("tables");
    let with = |pattern: &str, title: &str| {
        format!(r#"{{"title": "{title}", "properties": {{"a": {{"type": "string", "pattern": "{pattern}"}}}}}}"#)
    };
    for (text, known) in [(with("^[a-z.]+-", ""), true), (with("^[a-y.]+-", &"t".repeat(SOURCE_BYTES)), false)] {
        let index = schema(&text, &v);
        let strings = open_strings(&index);
        assert_eq!(strings.len(), 1);
        let l = strings[0];
        assert!(matches!(l.lexeme.kind(), LexemeKind::Text { .. }));
        let inside = l.lexeme.next(l.lexeme.start(), b'"');
        assert_eq!(is_known(&index, l, inside, 0), known);
    }
    for text in [r#"{"enum": ["a", "b"]}"#, r#"{"type": "string"}"#, r#"{"type": "integer"}"#] {
        assert!(open_strings(&schema(text, &v)).is_empty(), "{text}");
    }
}

#[test]
fn a_stop_is_an_error_and_leaves_nothing_behind() {
    let v = vocabulary();
    let stop = Arc::new(|| Err(Error::new(ErrorKind::Cancelled, "stopped")));
    let index = pattern("name_[a-z0-9.]+-[x-z]+", &v);
    let l = lexeme(&index);
    let fresh = l.over(Arc::new(l.lexeme.copied()));
    let tables = VocabTables::for_vocabulary(&v).expect("tables");
    let stopped = watched(stop, || make(&tables, &v, &fresh, &PATTERN));
    assert_eq!(stopped.expect_err("stopped").kind(), ErrorKind::Cancelled);
    assert!(make(&tables, &v, &fresh, &PATTERN).expect("nobody stops it") > 0);
}
