//! Compilation: source and vocabulary to an index, the only folder that knows all stages.
//!
//! [`source`] says what an index is compiled from, `json_program` makes the program of a schema, and [`index_cache`]
//! keeps what was compiled lately.

mod allowed_escapes;
pub mod check;
pub mod grammar;
pub mod index_cache;
pub mod json_program;
pub mod source;
mod united_shapes;
mod why_unsatisfiable;

use std::sync::Arc;

use crate::compile::json_program::{ProgramLayout, compile};
use crate::compile::source::{name_of_choices, name_of_pattern, name_of_schema};
use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::expr::{ByteSet, ExprId, Exprs};
use crate::guide::GuideOptions;
use crate::index::token_liveness::{Explored, TokenLive};
use crate::index::{Index, IndexCore, IndexEngine, IndexHandle};
use crate::json::rules::Rules;
use crate::json::whitespace;
use crate::json::whitespace::WhitespaceRule;
use crate::lexeme::LexemeKind;
use crate::limits::Limits;
use crate::mask::lexeme::masked_lexeme::{LexemeRole, MaskedLexeme};
use crate::mask::lexeme::masks_at_compile;
use crate::mask::vocab_tables::VocabTables;
use crate::regex::{Dialect, RegexOptions, lower_full};
use crate::schema::{
    Enforcement, PropertyOrder, ReportRow, SchemaOptions, Whitespace, lower, lower_within, option_rows, parse_schema,
    standard,
};
use crate::util::cancel::limited;
use crate::util::memory_growth::{compile_share, held, too_little_memory};
use crate::util::work_meter::{taken_here, unless_given_up};
use crate::vocab::Vocabulary;

/// The longest run of whitespace between two JSON tokens: an indentation of thirty levels of two spaces fits. Longer
/// runs are how models idle until they run out of tokens.
pub const MAX_BLANKS: u16 = 64;

/// Builds what all indexes over a vocabulary share, so that the first of them need not: what
/// [`index::prepare`](crate::index::prepare) builds, and the scalars that most schemas have.
///
/// # Errors
/// Those of the vocabulary's tables.
pub fn prepare(vocabulary: &Vocabulary) -> Result<()> {
    crate::index::prepare(vocabulary)?;
    let tables = VocabTables::for_vocabulary(vocabulary)?;
    let (mut exprs, scalars) = standard()?;
    for e in scalars {
        tables.lexeme(&mut exprs, e, LexemeKind::Raw, LexemeRole::Value, &Limits::default())?;
    }
    Ok(())
}

/// A source with a bit of everything that most schemas have.
const REHEARSED: &str = r##"{"type":"object","properties":{"name":{"type":"string"},"size":{"type":"integer","minimum":0},
"rate":{"type":["number","null"]},"on":{"type":"boolean"},"kind":{"enum":["a","b"]},"short":{"type":"string","maxLength":20},
"list":{"type":"array","items":{"$ref":"#/$defs/item"}}},"required":["name"],"$defs":{"item":{"type":"object","properties":
{"id":{"type":"string"}},"additionalProperties":false}}}"##;

/// Compiles and walks one small schema. The first compile of a process otherwise waits for pages of code and memory,
/// and for what is made once for all, which takes longer than itself. A millisecond or two; that a vocabulary cannot
/// spell the schema does not matter.
pub fn rehearse(vocabulary: &Arc<Vocabulary>) {
    for property_order in [PropertyOrder::Any, PropertyOrder::Schema] {
        let options = SchemaOptions { property_order, ..SchemaOptions::default() };
        let Ok(index) = Index::from_json_schema(REHEARSED, vocabulary, &options, &Limits::default()) else { return };
        let Ok(mut guide) = index.guide(&GuideOptions::default()) else { return };
        let mut row = vec![0; vocabulary.words()];
        for byte in br#"{"name": "x", "list": [{"id": "y"}], "size": 1}"# {
            guide.fill_mask(&mut row);
            let single = vocabulary.trie().child(0, *byte).and_then(|n| vocabulary.trie().tokens(n).first().copied());
            if !single.is_some_and(|token| guide.try_advance(token)) {
                break;
            }
        }
    }
}

/// Compiles within the limits. What is left with the vocabulary is measured then, whether the source is refused or not:
/// of a refused one, nothing may come back to it. One that took much memory is refused where there is little left.
fn within_limits(vocabulary: &Vocabulary, limits: &Limits, compile: impl FnOnce() -> Result<Index>) -> Result<Index> {
    let before = taken_here();
    let made = limited(limits.max_compile_steps, || unless_given_up(compile));
    VocabTables::end_compile_of(vocabulary);
    made.and_then(|made| unless_crowded(before).map(|()| made))
}

/// Refuses a compile that took much memory, where there is little left. `before` is what its thread had taken.
fn unless_crowded(before: usize) -> Result<()> {
    if taken_here().wrapping_sub(before) > compile_share(held()) { Err(too_little_memory()) } else { Ok(()) }
}

impl Index {
    /// Every text that `pattern` matches as a whole. Of a short one, masks near its start that would take long are made
    /// as well.
    ///
    /// # Errors
    /// `Pattern` for bad syntax and `Unsupported` for what is not regular, both with the offset; `Unsatisfiable` if
    /// nothing matches; `Limit`.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// let index = Index::from_regex("[0-9]{2}", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// let mut guide = index.guide(&GuideOptions::default())?;
    /// assert_eq!(guide.allowed_token_ids(), (b'0'..=b'9').map(u32::from).collect::<Vec<_>>());
    ///
    /// let refused = Index::from_regex(r"(a+)\1", &vocabulary, &RegexOptions::default(), &Limits::default());
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn from_regex(
        pattern: &str,
        vocabulary: &Arc<Vocabulary>,
        options: &RegexOptions,
        limits: &Limits,
    ) -> Result<Index> {
        let before = taken_here();
        let compile = || Index::pattern(pattern, vocabulary, options, limits);
        let index = within_limits(vocabulary, limits, compile);
        let index = index.map_err(|e| {
            why_unsatisfiable::of_pattern(e, pattern, options, limits).in_pattern(pattern, options.dialect)
        })?;
        if let (IndexEngine::Pattern(lexeme), None) = (&index.0.engine, &index.0.live) {
            masks_at_compile::of_pattern(&index.0.tables, vocabulary, lexeme, pattern.len())?;
        }
        // These masks are held, too. What came before them was asked about then, so that there is room to make them.
        unless_crowded(before).map(|()| index)
    }

    fn pattern(pattern: &str, vocabulary: &Arc<Vocabulary>, options: &RegexOptions, limits: &Limits) -> Result<Index> {
        if pattern.len() > limits.max_source_bytes {
            return Err(Error::limit("source bytes", limits.max_source_bytes as u64, pattern.len() as u64)
                .set_by("max_source_bytes"));
        }
        let mut exprs = Exprs::new(limits.max_expr_nodes);
        let expr = lower_full(&mut exprs, pattern, options, limits)?;
        Index::from_expr(&mut exprs, expr, &name_of_pattern(pattern, options), vocabulary, limits)
    }

    /// One of `choices`, exactly.
    ///
    /// # Errors
    /// `Unsatisfiable` without choices, `Limit` for more text than the limits allow.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// let choices = ["yes".to_owned(), "no".to_owned()];
    /// let index = Index::from_choices(&choices, &vocabulary, &Limits::default())?;
    /// assert_eq!(index.guide(&GuideOptions::default())?.allowed_token_ids(), [u32::from(b'n'), u32::from(b'y')]);
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn from_choices(choices: &[String], vocabulary: &Arc<Vocabulary>, limits: &Limits) -> Result<Index> {
        let total: usize = choices.iter().map(|c| c.len()).sum();
        if total > limits.max_source_bytes {
            return Err(
                Error::limit("source bytes", limits.max_source_bytes as u64, total as u64).set_by("max_source_bytes")
            );
        }
        let before = taken_here();
        let mut exprs = Exprs::new(limits.max_expr_nodes);
        let expr = exprs.choice(choices);
        let made = Index::from_expr(&mut exprs, expr, &name_of_choices(choices), vocabulary, limits);
        VocabTables::end_compile_of(vocabulary);
        made.and_then(|made| unless_crowded(before).map(|()| made))
    }

    /// Everything that `expr` accepts. `source` is what the index's fingerprint names.
    pub(crate) fn from_expr(
        exprs: &mut Exprs,
        expr: ExprId,
        source: &str,
        vocabulary: &Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Index> {
        exprs.check()?;
        let tables = VocabTables::for_vocabulary(vocabulary)?;
        let lexeme = tables
            .lexeme(exprs, expr, LexemeKind::Raw, LexemeRole::Whole, limits)?
            .ok_or_else(|| Error::new(ErrorKind::Unsatisfiable, "the pattern accepts nothing").at_offset(0))?;
        let live = token_live(exprs, expr, &lexeme, &tables, vocabulary, limits)?;
        let engine = IndexEngine::Pattern(lexeme);
        Ok(Index::new(vocabulary, tables, engine, live, Vec::new(), source.to_owned(), limits))
    }

    /// Every document that a JSON Schema accepts, written as the options say. Of short schemas a few masks of strings
    /// that would take long are made as well.
    ///
    /// # Errors
    /// `Schema` for what is not a schema, `Unsupported` for a keyword that cannot be enforced, `Unsatisfiable` if no
    /// document is valid, all with the place; `Limit`.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # use interlock::{SchemaOptions, Whitespace};
    /// # let compact = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    /// let schema = r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#;
    /// let index = Index::from_json_schema(schema, &vocabulary, &compact, &Limits::default())?;
    /// assert_eq!(index.guide(&GuideOptions::default())?.forced_bytes(), br#"{"ok":"#);
    ///
    /// let wrong = Index::from_json_schema(r#"{"minimum": "one"}"#, &vocabulary, &compact, &Limits::default());
    /// assert_eq!(wrong.unwrap_err().message(), "a number is expected");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn from_json_schema(
        text: &str,
        vocabulary: &Arc<Vocabulary>,
        options: &SchemaOptions,
        limits: &Limits,
    ) -> Result<Index> {
        let before = taken_here();
        let compile = || Index::schema(text, vocabulary, options, limits);
        let index = within_limits(vocabulary, limits, compile);
        let index = index.map_err(|e| why_unsatisfiable::of_schema(e, text, options, limits).in_source(text))?;
        if let IndexEngine::Document { lexemes, .. } = &index.0.engine {
            masks_at_compile::of_schema(&index.0.tables, vocabulary, lexemes, text.len())?;
        }
        // Once more, with these masks: see `from_regex`.
        unless_crowded(before).map(|()| index)
    }

    fn schema(text: &str, vocabulary: &Arc<Vocabulary>, options: &SchemaOptions, limits: &Limits) -> Result<Index> {
        let (model, mut report) = parse_schema(text, options, limits)?;
        let tables = VocabTables::for_vocabulary(vocabulary)?;
        let mut gaps = gaps(options, limits)?;
        let rules = match &tables.spelling {
            None => lower(&model, options, limits, &mut report)?,
            Some(spelling) => {
                let alphabet = spelling.alphabet(&mut gaps, options.key_escapes());
                let before = report.clone();
                let (rules, narrowed) = match lower_within(&model, options, limits, &mut report, Some(&alphabet)) {
                    Err(e) if e.kind() == ErrorKind::Unsatisfiable => {
                        // The schema's own contradictions come first; what is left is the vocabulary's doing.
                        lower(&model, options, limits, &mut before.clone())?;
                        let message = format!(
                            "documents are written with tokens of single bytes beside longer ones, and none that \
                             satisfies the schema can be: {}; patterns and choices need no single bytes",
                            spelling.missing()
                        );
                        return Err(Error::new(e.kind(), message).at(e.place().clone()));
                    }
                    other => other?,
                };
                if narrowed || spelling.refuses_any() {
                    report.push(ReportRow {
                        pointer: String::new(),
                        keyword: String::new(),
                        enforcement: Enforcement::Narrower,
                        reason: format!("{}; what only such tokens could complete is not written", spelling.missing()),
                    });
                }
                rules
            }
        };
        report.extend(option_rows(&rules, options, MAX_BLANKS));
        let source = name_of_schema(text, options);
        Index::from_spelled(rules, gaps, source, report, options, (vocabulary, tables), limits)
    }

    /// What `rules` describe.
    ///
    /// # Errors
    /// `Vocabulary` if bytes that JSON documents contain are no tokens of their own: only a schema can be narrowed to
    /// such a vocabulary. `Unsupported`, `Limit`.
    pub fn from_rules(
        rules: Rules,
        source: &str,
        report: Vec<ReportRow>,
        options: &SchemaOptions,
        vocabulary: &Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Index> {
        let tables = VocabTables::for_vocabulary(vocabulary)?;
        if let Some(spelling) = &tables.spelling {
            return Err(Error::new(ErrorKind::Vocabulary, spelling.missing()));
        }
        let gaps = gaps(options, limits)?;
        Index::from_spelled(rules, gaps, source.to_owned(), report, options, (vocabulary, tables), limits)
    }

    fn from_spelled(
        mut rules: Rules,
        gaps: [WhitespaceRule; 3],
        source: String,
        report: Vec<ReportRow>,
        options: &SchemaOptions,
        (vocabulary, tables): (&Arc<Vocabulary>, Arc<VocabTables>),
        limits: &Limits,
    ) -> Result<Index> {
        rules.exprs.check()?;
        let layout = ProgramLayout {
            gaps,
            any_order: options.property_order == PropertyOrder::Any,
            name_escapes: options.name_escapes(),
            string_escapes: options.string_escapes(),
            key_escapes: options.key_escapes(),
        };
        let (program, lexemes) = compile(&mut rules, layout, &tables, limits)?;
        let engine = IndexEngine::Document { program: Box::new(program), lexemes };
        Ok(Index::new(vocabulary, tables, engine, None, report, source, limits))
    }

    fn new(
        vocabulary: &Arc<Vocabulary>,
        tables: Arc<VocabTables>,
        engine: IndexEngine,
        live: Option<Box<TokenLive>>,
        report: Vec<ReportRow>,
        source: String,
        limits: &Limits,
    ) -> Index {
        let inner = IndexCore::new(vocabulary.clone(), tables, engine, Arc::new(source), *limits);
        Index(IndexHandle::Compiled(Arc::new(IndexCore { live, report, ..inner })))
    }
}

/// The whitespace that the options allow, by gap.
fn gaps(options: &SchemaOptions, limits: &Limits) -> Result<[WhitespaceRule; 3]> {
    Ok(match &options.whitespace {
        Whitespace::Flexible => {
            [WhitespaceRule::none(), WhitespaceRule::up_to(MAX_BLANKS), WhitespaceRule::up_to(MAX_BLANKS)]
        }
        Whitespace::Compact => [WhitespaceRule::none(), WhitespaceRule::none(), WhitespaceRule::none()],
        Whitespace::Spaced => [WhitespaceRule::none(), WhitespaceRule::none(), WhitespaceRule::one_space()],
        Whitespace::Pattern(p) => {
            let mut x = Exprs::new(limits.max_expr_nodes);
            let regex = RegexOptions { dialect: Dialect::Ecma, flags: String::new() };
            let lowered = lower_full(&mut x, p, &regex, limits).map_err(|e| e.coded(ErrorCode::WhitespacePattern));
            let e = lowered.map_err(|e| match e.limit_values() {
                Some(_) => e,
                // The place is in this pattern, and not in the schema.
                None => {
                    let message = format!("whitespace pattern: {}", e.message());
                    e.in_pattern(p, regex.dialect).saying(message)
                }
            })?;
            let b = whitespace::gap(&mut x, e, limits)?;
            [WhitespaceRule::none(), b.clone(), b]
        }
    })
}

/// The states of a pattern from which no tokens lead to its end, where the vocabulary makes some. Costs nothing where
/// every byte is a token, and one look at the expression where every byte that the pattern uses is.
fn token_live(
    exprs: &Exprs,
    expr: ExprId,
    masked: &MaskedLexeme,
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    limits: &Limits,
) -> Result<Option<Box<TokenLive>>> {
    let all = |used: &ByteSet| used.iter().zip(&tables.single).all(|(&used, &single)| single || !used);
    if all(&[true; 256]) || all(&exprs.used_bytes(expr)) {
        return Ok(None);
    }
    match TokenLive::explore(&masked.lexeme, vocabulary.trie(), &tables.single, limits)? {
        Explored::All => Ok(None),
        Explored::Some(live) => Ok(Some(live)),
        Explored::Nothing => {
            let message = "the vocabulary cannot spell anything that the pattern matches: no sequence of its tokens \
                           does, and it lacks tokens of single bytes";
            Err(Error::new(ErrorKind::Unsatisfiable, message).at_offset(0))
        }
    }
}
