//! Patterns: Python and ECMA-262 text to expressions.
//!
//! ```text
//! text --parse::{python, ecma}--> ast --lower::assertion_free--> expression   where no assertion is involved
//!                                  |---lower::continuation-----> expression   around assertions, by what lies beside
//! ```
//!
//! The language of a pattern is **every** text that it can match, whatever a backtracking engine would prefer: lazy and
//! greedy repetition mean the same, and `a|ab` accepts both. Possessive repetitions and atomic groups are accepted
//! where they provably forbid nothing. Look-around is exact, inside repetitions too; look-ahead costs an intersection,
//! look-behind a finite memory of what was read. Texts are well-formed UTF-8, so a lone surrogate in a pattern matches
//! nothing.
//!
//! Tables are those of Unicode 16.0 (the regex-syntax crate); CPython 3.11 has 14.0.
//!
//! Refused with [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) and an offset: backreferences, conditional
//! groups, `\N{…}`, look-ahead inside look-behind, atomic parts that matter, ECMA-262's `v` flag. Syntax errors are
//! [`ErrorKind::Pattern`](crate::ErrorKind::Pattern) with an offset in code points.
//!
//! `docs/internals/patterns.md` has an example.

pub mod assertions;
mod ast;
mod char_set;
pub mod lower;
pub mod parse;
mod pattern_hints;
#[cfg(test)]
mod tests;
mod unicode;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::lower::assertion_free;
use crate::regex::lower::atomic;
use crate::regex::lower::continuation;
use crate::regex::lower::preferred;
pub use crate::regex::lower::symbol_texts::SymbolTexts;
use crate::regex::lower::within_grammar;
use crate::regex::parse::ecma;
use crate::regex::parse::python;

/// Whose syntax a pattern is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Python's `re`, as of CPython 3.11, for `str` patterns.
    #[default]
    Python,
    /// ECMA-262 with the `u` flag, and with the leniencies of Annex B where that flag alone would be a syntax error.
    Ecma,
}

/// How to read a pattern: by default in Python's dialect, without flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegexOptions {
    /// The syntax.
    pub dialect: Dialect,
    /// Flag letters that hold from the start: `imsxau` for Python, `imsu` (and `dgy`, which change nothing) for
    /// ECMA-262.
    pub flags: String,
}

/// The texts that a pattern matches from start to end.
///
/// Cost: linear in the pattern without assertions; counts are never unrolled there. Around assertions, also in the
/// number of things that look-behind must remember.
///
/// # Errors
///
/// `Pattern` for bad syntax, `Unsupported` for what has no exact expression, `Limit` for nesting, repeat counts or
/// work beyond `limits`, `Argument` for unknown flags.
pub fn lower_full(x: &mut Exprs, pattern: &str, options: &RegexOptions, limits: &Limits) -> Result<ExprId> {
    lower(x, pattern, options, false, limits)
}

/// The texts that contain a match of an ECMA-262 pattern, as JSON Schema's `pattern` asks.
///
/// # Errors
///
/// As [`lower_full`].
pub fn lower_search(x: &mut Exprs, pattern: &str, limits: &Limits) -> Result<ExprId> {
    let options = RegexOptions { dialect: Dialect::Ecma, flags: String::new() };
    lower(x, pattern, &options, true, limits)
}

/// The texts of a pattern that stands between other text, as a terminal of a grammar does. With `first`, a pattern with
/// a lazy repetition has only texts that a search may find: the longest of them that a text begins with is what
/// Python's `re` finds there. Otherwise a lazy repetition means what a greedy one does.
///
/// # Errors
///
/// As [`lower_full`]; `Unsupported` too where what stands before the text matters.
pub fn lower_symbol(
    x: &mut Exprs,
    pattern: &str,
    options: &RegexOptions,
    first: bool,
    limits: &Limits,
) -> Result<SymbolTexts> {
    let (tree, root) = parse_tree(pattern, options, limits)?;
    let pure = assertion_free::AssertionFree::new(x, &tree)?;
    if tree.facts(root).atomic {
        atomic::check(x, &tree, &pure, root, false, limits)?;
    }
    let found = within_grammar::lower(x, tree, pure, root, first, limits)?;
    x.check()?;
    Ok(found)
}

/// The texts of a pattern that is a part of a larger one; `None` if what stands beside it may matter.
///
/// # Errors
///
/// As [`lower_full`].
pub fn lower_part(x: &mut Exprs, pattern: &str, options: &RegexOptions, limits: &Limits) -> Result<Option<ExprId>> {
    let (tree, root) = parse_tree(pattern, options, limits)?;
    let f = tree.facts(root);
    if f.atomic || preferred::is_lazy(&tree) {
        return Ok(None);
    }
    let pure = assertion_free::AssertionFree::new(x, &tree)?;
    if f.pure {
        return Ok(Some(pure.expr(root)));
    }
    match within_grammar::lower(x, tree, pure, root, false, limits) {
        Ok(SymbolTexts { texts, context: None }) => Ok(Some(texts)),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == ErrorKind::Unsupported => Ok(None),
        Err(e) => Err(e),
    }
}

/// Exactly these texts.
pub fn lower_choices(x: &mut Exprs, choices: &[String]) -> ExprId {
    x.choice(choices)
}

fn parse_tree(pattern: &str, options: &RegexOptions, limits: &Limits) -> Result<(ast::Ast, ast::AstId)> {
    if pattern.len() > limits.max_source_bytes {
        return Err(Error::limit("bytes of a pattern", limits.max_source_bytes as u64, pattern.len() as u64)
            .set_by("max_source_bytes"));
    }
    match options.dialect {
        Dialect::Python => python::parse(pattern, python::parse_flags(&options.flags)?, limits),
        Dialect::Ecma => ecma::parse(pattern, ecma::parse_flags(&options.flags)?, limits),
    }
}

fn lower(x: &mut Exprs, pattern: &str, options: &RegexOptions, search: bool, limits: &Limits) -> Result<ExprId> {
    let (tree, root) = parse_tree(pattern, options, limits)?;
    lower_tree(x, tree, root, search, limits)
}

fn lower_tree(x: &mut Exprs, tree: ast::Ast, root: ast::AstId, search: bool, limits: &Limits) -> Result<ExprId> {
    let pure = assertion_free::AssertionFree::new(x, &tree)?;
    if tree.facts(root).atomic {
        atomic::check(x, &tree, &pure, root, search, limits)?;
    }
    let e = if tree.facts(root).pure {
        let e = pure.expr(root);
        if search { x.found_in_text(e) } else { e }
    } else {
        continuation::lower(x, tree, pure, root, search, limits)?
    };
    x.check()?;
    Ok(e)
}
