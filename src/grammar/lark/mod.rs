//! Lark's notation, with what llguidance adds to it.
//!
//! ```text
//! text --lexer--> symbols --parser, expansions, directives, imports--> tree
//! ```
//!
//! A file is read once from its start to its end. Imports come before definitions, wherever they stand, as in Lark.

mod directives;
mod escapes;
mod expansions;
mod imports;
mod lexer;
mod parametric;
mod parser;

use std::cell::RefCell;

use crate::error::Result;
use crate::grammar::GrammarOptions;
use crate::grammar::error_place::TextPlace;
use crate::grammar::lark::imports::ImportedTexts;
use crate::grammar::lark::parser::Parser;
use crate::grammar::tree::{Module, Space, Tree};
use crate::limits::Limits;
use crate::util::seeded_hash::SeededMap;

/// Reads a grammar into a tree.
///
/// # Errors
/// `Grammar` with the place for what is not well formed, `Unsupported` for what has no exact meaning, `Limit` for deep
/// nesting.
pub(crate) fn parse(text: &str, options: &GrammarOptions, limits: &Limits) -> Result<Tree> {
    let mut tree = Tree { has_terminals: true, ..Tree::default() };
    let number = tree.texts.add("", text);
    let start = options.start.clone().unwrap_or_else(|| "start".to_owned());
    tree.spaces.push(Space { start, place: TextPlace { text: number, at: 0 }, ..Space::default() });
    tree.modules.push(Module::default());
    let imported = ImportedTexts {
        files: &options.imports,
        grammars: &options.grammars,
        spaces: RefCell::new(SeededMap::default()),
    };
    Parser::new(&mut tree, (number, text), limits, &imported, (0, 0), 0).statements()?;
    tree.extend_definitions();
    Ok(tree)
}
