//! What an index is compiled from.

use std::sync::Arc;

use crate::error::Result;
use crate::grammar::GrammarOptions;
use crate::index::Index;
use crate::limits::Limits;
use crate::regex::RegexOptions;
use crate::schema::SchemaOptions;
use crate::vocab::Vocabulary;

/// A source and the options that say how it is read. Equal sources under equal limits make the same index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A pattern, see [`Index::from_regex`].
    Pattern {
        /// The pattern.
        text: String,
        /// How it is read.
        options: RegexOptions,
    },
    /// A JSON Schema, see [`Index::from_json_schema`].
    Schema {
        /// Its JSON text.
        text: String,
        /// How it is read.
        options: SchemaOptions,
    },
    /// Strings, see [`Index::from_choices`].
    Choices(Vec<String>),
    /// A grammar, see [`Index::from_grammar`].
    Grammar {
        /// Its text.
        text: String,
        /// How it is read.
        options: GrammarOptions,
    },
}

impl Source {
    /// The index of this source.
    ///
    /// # Errors
    /// Those of the methods that the kinds name.
    pub fn compile(&self, vocabulary: &Arc<Vocabulary>, limits: &Limits) -> Result<Index> {
        match self {
            Source::Pattern { text, options } => Index::from_regex(text, vocabulary, options, limits),
            Source::Schema { text, options } => Index::from_json_schema(text, vocabulary, options, limits),
            Source::Choices(choices) => Index::from_choices(choices, vocabulary, limits),
            Source::Grammar { text, options } => Index::from_grammar(text, vocabulary, options, limits),
        }
    }

    /// What the index of this source says that it was compiled from.
    pub(super) fn name(&self) -> String {
        match self {
            Source::Pattern { text, options } => name_of_pattern(text, options),
            Source::Schema { text, options } => name_of_schema(text, options),
            Source::Choices(choices) => name_of_choices(choices),
            Source::Grammar { text, options } => name_of_grammar(text, options),
        }
    }

    /// Bytes that its texts take.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Source::Pattern { text, options } => text.len() + options.flags.len(),
            Source::Schema { text, options } => {
                text.len() + options.documents.iter().map(|(uri, document)| uri.len() + document.len()).sum::<usize>()
            }
            Source::Choices(choices) => choices.iter().map(|choice| choice.len() + size_of::<String>()).sum(),
            Source::Grammar { text, options } => {
                let named = options.imports.iter().chain(&options.grammars);
                text.len() + named.map(|(name, text)| name.len() + text.len()).sum::<usize>()
            }
        }
    }
}

/// What the index of a pattern says that it was compiled from. Fingerprints are made of it.
pub(super) fn name_of_pattern(pattern: &str, options: &RegexOptions) -> String {
    format!("{:?}\0{}\0{pattern}", options.dialect, options.flags)
}

/// See [`name_of_pattern`].
pub(super) fn name_of_schema(text: &str, options: &SchemaOptions) -> String {
    let mut name = format!("{options:?}\0");
    name.reserve_exact(text.len());
    name.push_str(text);
    name
}

/// See [`name_of_pattern`]. An option that is left out is the same as its default.
pub(super) fn name_of_grammar(text: &str, options: &GrammarOptions) -> String {
    format!("grammar\0{:?}\0{text}", options.spelled_out())
}

/// See [`name_of_pattern`]. The order of choices does not matter.
pub(super) fn name_of_choices(choices: &[String]) -> String {
    let mut sorted: Vec<&str> = choices.iter().map(|c| c.as_str()).collect();
    sorted.sort_unstable();
    // Lengths keep the borders where a choice contains what would separate them.
    sorted.iter().fold(String::from("choices"), |s, c| s + "\0" + &c.len().to_string() + ":" + c)
}
