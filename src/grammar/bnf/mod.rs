//! GBNF, as llama.cpp reads it, and EBNF, as XGrammar reads it.
//!
//! Both name rules with `::=`, write characters in double quotes and brackets, and have no lexer: any character may
//! follow where a rule allows it. XGrammar adds macros, attributes and look-ahead; llama.cpp adds special tokens.

pub(crate) mod flat_rules;
mod macros;
mod parser;
mod reader;

use crate::error::Result;
use crate::grammar::error_place::TextPlace;
use crate::grammar::tree::{Space, Tree};
use crate::limits::Limits;

pub(crate) use crate::grammar::bnf::reader::Notation;

/// Reads a grammar into a tree.
///
/// # Errors
/// `Grammar` with the place for what is not well formed, `Unsupported` for what has no exact meaning, `Limit` for deep
/// nesting.
pub(crate) fn parse(text: &str, notation: Notation, start: Option<&str>, limits: &Limits) -> Result<Tree> {
    let mut tree = Tree::default();
    tree.texts.add("", text);
    let start = start.unwrap_or("root").to_owned();
    tree.spaces.push(Space { start, place: TextPlace::default(), ..Space::default() });
    parser::rules(&mut tree, text, notation, limits)?;
    Ok(tree)
}

/// Reads a grammar into the symbols of its rules.
///
/// # Errors
/// Those of [`parse`], and `Unsupported` for what stands in a whole grammar only.
pub(crate) fn flat_rules(text: &str, notation: Notation, limits: &Limits) -> Result<Vec<flat_rules::FlatRule>> {
    flat_rules::flatten(&parse(text, notation, None, limits)?)
}
