//! Grammars: Lark, GBNF and EBNF text to one model.
//!
//! ```text
//! text --syntax (lark, gbnf, ebnf)--> tree: definitions with their bodies --lower--> model: rules over terminals
//! ```
//!
//! The model is what the three syntaxes have in common. Which text a syntax takes, and what it means, is said by the
//! module of that syntax.

mod bnf;
pub mod endless_rule;
mod error_place;
mod lark;
mod lower;
pub mod model;
mod notation;
mod parametric;
pub mod regular_parts;
mod tree;

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, Result};
use crate::grammar::bnf::Notation;
pub use crate::grammar::bnf::flat_rules::{FlatRule, Symbol};
pub(crate) use crate::grammar::error_place::{limit_at, shown_in};
use crate::grammar::model::{Grammar, Lexer};
use crate::limits::Limits;

/// Whose notation a grammar is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Lark's, with what llguidance adds to it.
    #[default]
    Lark,
    /// llama.cpp's.
    Gbnf,
    /// XGrammar's.
    Ebnf,
}

/// How to read a grammar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GrammarOptions {
    /// The notation.
    pub syntax: Syntax,
    /// The rule that the output begins with: `start` in Lark's notation and `root` in the others where nothing is said.
    pub start: Option<String>,
    /// How the text is cut into terminals: [`Lexer::Dynamic`] in Lark's notation and [`Lexer::Any`] in the others where
    /// nothing is said.
    pub lexer: Option<Lexer>,
    /// Files that `%import` may name, by their path with dots or slashes. Nothing else is read.
    pub imports: BTreeMap<String, String>,
    /// Grammars in Lark's notation that `@name` may name.
    pub grammars: BTreeMap<String, String>,
}

impl GrammarOptions {
    /// The same options with everything said that is meant where nothing is said.
    pub fn spelled_out(&self) -> GrammarOptions {
        let (start, lexer) = match self.syntax {
            Syntax::Lark => ("start", Lexer::Dynamic),
            Syntax::Gbnf | Syntax::Ebnf => ("root", Lexer::Any),
        };
        GrammarOptions {
            start: Some(self.start.clone().unwrap_or_else(|| start.to_owned())),
            lexer: Some(self.lexer.unwrap_or(lexer)),
            ..self.clone()
        }
    }
}

/// Reads a grammar.
///
/// Cost: linear in the text, and in what patterns cost.
///
/// # Errors
///
/// `Grammar` for what is not well formed and `Unsupported` for what has no exact meaning, both with line, column and an
/// excerpt; `Limit` for texts, nesting, rules or work beyond `limits`.
pub fn parse(text: &str, options: &GrammarOptions, limits: &Limits) -> Result<Grammar> {
    let bytes = text.len()
        + options.imports.values().map(String::len).sum::<usize>()
        + options.grammars.values().map(String::len).sum::<usize>();
    if bytes > limits.max_source_bytes {
        return Err(
            Error::limit("bytes of a grammar", limits.max_source_bytes as u64, bytes as u64).set_by("max_source_bytes")
        );
    }
    let options = options.spelled_out();
    let tree = match options.syntax {
        Syntax::Lark => lark::parse(text, &options, limits),
        Syntax::Gbnf => bnf::parse(text, Notation::Gbnf, options.start.as_deref(), limits),
        Syntax::Ebnf => bnf::parse(text, Notation::Ebnf, options.start.as_deref(), limits),
    };
    let tree = tree.map_err(|e| notation::named(e, text, options.syntax))?;
    lower::lower(&tree, options.lexer.unwrap_or_default(), limits)
}

/// The rules of a grammar in GBNF or EBNF as symbols, for whoever writes them into a grammar of their own. Names are
/// not looked up. Parentheses nest as deep as the reader can take: the grammar that the rules go into has the limit.
///
/// # Errors
///
/// `Grammar` for what is not well formed, with line, column and an excerpt; `Unsupported` for what stands in a whole
/// grammar only; `Limit` for parentheses that nest too deep for any grammar; `Argument` for Lark's notation.
pub fn flat_rules(text: &str, syntax: Syntax) -> Result<Vec<FlatRule>> {
    let limits = Limits { max_depth: usize::MAX, ..Limits::default() };
    let read = match syntax {
        Syntax::Gbnf => bnf::flat_rules(text, Notation::Gbnf, &limits),
        Syntax::Ebnf => bnf::flat_rules(text, Notation::Ebnf, &limits),
        Syntax::Lark => return Err(Error::new(ErrorKind::Argument, "rules in GBNF and EBNF only can be read apart")),
    };
    read.map_err(|e| notation::named(e, text, syntax))
}
