//! Checks without a vocabulary: what a source is refused for, whatever the tokens are.
//!
//! A server's front end answers a client before any model is at hand. A check does all that compiling does but masks:
//! it compiles the source over a vocabulary of single bytes, which spells everything and so narrows nothing. What only
//! a real vocabulary can refuse, because it lacks tokens of single bytes, is found by compiling.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::compile::source::{Source, name_of_grammar};
use crate::compile::{why_unsatisfiable, within_limits};
use crate::error::Result;
use crate::grammar::{GrammarOptions, shown_in};
use crate::index::Index;
use crate::limits::Limits;
use crate::mask::vocab_tables::VocabTables;
use crate::regex::RegexOptions;
use crate::schema::{ReportRow, SchemaOptions};
use crate::util::cancel::uninterruptible;
use crate::vocab::{Vocabulary, VocabularyOptions};

/// Checks after which the lexemes that they left are forgotten. They are found again within microseconds.
const KEPT: usize = 512;

/// A token for each byte, and a stop token.
pub(super) fn bytes() -> Result<Arc<Vocabulary>> {
    static BYTES: OnceLock<Result<Arc<Vocabulary>>> = OnceLock::new();
    let made = BYTES.get_or_init(|| {
        let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]).collect();
        let options = VocabularyOptions { eos_token_ids: vec![256], ..VocabularyOptions::default() };
        uninterruptible(|| Vocabulary::new(&tokens, options))
    });
    made.clone()
}

/// Runs a compile over single bytes.
fn checked(compile: impl FnOnce(&Arc<Vocabulary>) -> Result<Index>) -> Result<Index> {
    static DONE: AtomicUsize = AtomicUsize::new(0);
    let vocabulary = bytes()?;
    let index = compile(&vocabulary);
    if DONE.fetch_add(1, Ordering::Relaxed) % KEPT == KEPT - 1 {
        VocabTables::for_vocabulary(&vocabulary)?.clear();
    }
    index
}

/// Checks a pattern as [`Index::from_regex`] does, without a vocabulary.
///
/// # Errors
/// Those of `from_regex`, but for what a vocabulary cannot spell.
///
/// # Cost
/// About that of compiling: some tens of microseconds for everyday patterns.
///
/// # Example
///
/// ```
/// use interlock::{ErrorKind, Limits, RegexOptions, check_regex};
///
/// check_regex("[0-9]{4}", &RegexOptions::default(), &Limits::default())?;
/// let refused = check_regex("a(b", &RegexOptions::default(), &Limits::default()).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Pattern);
/// # Ok::<(), interlock::Error>(())
/// ```
pub fn check_regex(pattern: &str, options: &RegexOptions, limits: &Limits) -> Result<()> {
    let compile = |vocabulary: &Arc<Vocabulary>| {
        within_limits(vocabulary, limits, || Index::pattern(pattern, vocabulary, options, limits))
    };
    let outcome = checked(compile).map(drop);
    outcome.map_err(|e| why_unsatisfiable::of_pattern(e, pattern, options, limits).in_pattern(pattern, options.dialect))
}

/// Checks a JSON Schema as [`Index::from_json_schema`] does, without a vocabulary, and returns its report.
///
/// # Errors
/// Those of `from_json_schema`, but for what a vocabulary cannot spell.
///
/// # Cost
/// About that of compiling: some hundred microseconds for everyday schemas.
///
/// # Example
///
/// ```
/// use interlock::{ErrorKind, Limits, SchemaOptions, check_json_schema};
///
/// let report = check_json_schema(r#"{"type": "integer"}"#, &SchemaOptions::default(), &Limits::default())?;
/// assert_eq!(report[0].keyword, "numbers");
/// let schema = r#"{"type": "string", "minLength": 3, "maxLength": 2}"#;
/// let refused = check_json_schema(schema, &SchemaOptions::default(), &Limits::default()).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Unsatisfiable);
/// # Ok::<(), interlock::Error>(())
/// ```
pub fn check_json_schema(text: &str, options: &SchemaOptions, limits: &Limits) -> Result<Vec<ReportRow>> {
    let compile = |vocabulary: &Arc<Vocabulary>| {
        within_limits(vocabulary, limits, || Index::schema(text, vocabulary, options, limits))
    };
    let index = checked(compile).map_err(|e| why_unsatisfiable::of_schema(e, text, options, limits).in_source(text))?;
    Ok(index.report().to_vec())
}

/// Checks choices as [`Index::from_choices`] does, without a vocabulary.
///
/// # Errors
/// Those of `from_choices`, but for what a vocabulary cannot spell.
///
/// # Example
///
/// ```
/// use interlock::{ErrorKind, Limits, check_choices};
///
/// check_choices(&["yes".to_owned(), "no".to_owned()], &Limits::default())?;
/// assert_eq!(check_choices(&[], &Limits::default()).unwrap_err().kind(), ErrorKind::Unsatisfiable);
/// # Ok::<(), interlock::Error>(())
/// ```
pub fn check_choices(choices: &[String], limits: &Limits) -> Result<()> {
    checked(|vocabulary| Index::from_choices(choices, vocabulary, limits)).map(drop)
}

/// Checks a grammar as [`Index::from_grammar`] does, without a vocabulary: any special token may be named.
///
/// # Errors
/// Those of `from_grammar`, but for what a vocabulary cannot spell.
///
/// # Example
///
/// ```
/// use interlock::{ErrorKind, GrammarOptions, Limits, check_grammar};
///
/// check_grammar(r#"start: "a" start | "b""#, &GrammarOptions::default(), &Limits::default())?;
/// let refused = check_grammar("start: nowhere", &GrammarOptions::default(), &Limits::default()).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Grammar);
/// # Ok::<(), interlock::Error>(())
/// ```
pub fn check_grammar(text: &str, options: &GrammarOptions, limits: &Limits) -> Result<()> {
    let compile = |vocabulary: &Arc<Vocabulary>| {
        within_limits(vocabulary, limits, || {
            let mut grammar = crate::grammar::parse(text, options, limits)?;
            for set in &mut grammar.token_sets {
                set.tokens.clear();
            }
            Index::from_model(grammar, name_of_grammar(text, options), vocabulary, limits)
                .map_err(|error| why_unsatisfiable::of_grammar(error, text, options, limits))
        })
    };
    checked(compile).map(drop).map_err(|error| shown_in(error, text))
}

impl Source {
    /// Checks this source without a vocabulary, and returns its report; only schemas have rows.
    ///
    /// # Errors
    /// Those of the check of its kind.
    pub fn check(&self, limits: &Limits) -> Result<Vec<ReportRow>> {
        match self {
            Source::Pattern { text, options } => check_regex(text, options, limits).map(|()| Vec::new()),
            Source::Schema { text, options } => check_json_schema(text, options, limits),
            Source::Choices(choices) => check_choices(choices, limits).map(|()| Vec::new()),
            Source::Grammar { text, options } => check_grammar(text, options, limits).map(|()| Vec::new()),
        }
    }
}
