//! The rules of a text in GBNF or EBNF as lists of symbols, for whoever writes them into a grammar of their own.
//!
//! Structural tags do: a grammar inside of a tag is read by the reader of whole grammars, and so means the same.

use crate::error::Result;
use crate::grammar::model::{TokenName, UNBOUNDED};
use crate::grammar::tree::{Attributes, Part, PartId, Tree};

/// A rule: its name, and its body from left to right.
pub type FlatRule = (String, Vec<Symbol>);

/// One symbol of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// `(`, `)`, `|`, or copies as in `{2,3}` and `{2,}`, which are of the symbol or the group before them.
    Mark(String),
    /// Exactly this text.
    Text(String),
    /// One character of these ranges.
    Class(Vec<(char, char)>),
    /// A pattern in ECMA-262's dialect, and its flags.
    Pattern(String, String),
    /// Any number of neighbouring texts of a list, in their order.
    Substring(Vec<String>),
    /// A rule of the text.
    Rule(String),
    /// One of these special tokens, which are named at this byte.
    Tokens(Vec<TokenName>, usize),
    /// Any token but these.
    OtherTokens(Vec<TokenName>, usize),
}

/// Where a part stands, which says whether parentheses must hold it together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// It is a whole body, or a whole alternative of one.
    Nothing,
    /// Other parts stand before or behind it.
    Parts,
    /// A repetition stands behind it.
    Copies,
}

/// What is still to be written.
enum Job {
    Mark(String),
    Part(PartId, Beside),
}

/// All rules, in their order.
pub(super) fn flatten(tree: &Tree) -> Result<Vec<FlatRule>> {
    let mut found = Vec::with_capacity(tree.definitions.len());
    for rule in &tree.definitions {
        let Attributes { lazy, capture, max_tokens, .. } = &rule.attributes;
        let named = [("lazy", *lazy), ("capture", capture.is_some()), ("max_tokens", max_tokens.is_some())];
        if let Some((attribute, _)) = named.into_iter().find(|(_, is_said)| *is_said) {
            let message = format!("the attribute {attribute} of a rule stands in a whole grammar only");
            return Err(tree.texts.unsupported(rule.place, message));
        }
        found.push((rule.name.clone(), body(tree, rule.body)?));
    }
    Ok(found)
}

fn body(tree: &Tree, root: PartId) -> Result<Vec<Symbol>> {
    let mut out = Vec::new();
    let mut jobs = vec![Job::Part(root, Beside::Nothing)];
    while let Some(job) = jobs.pop() {
        match job {
            Job::Mark(mark) => out.push(Symbol::Mark(mark)),
            Job::Part(part, beside) => write(tree, part, beside, &mut out, &mut jobs)?,
        }
    }
    Ok(out)
}

/// Writes a part that has no others in it, and puts those of another one on top of the jobs, the first last.
fn write(tree: &Tree, p: PartId, beside: Beside, out: &mut Vec<Symbol>, jobs: &mut Vec<Job>) -> Result<()> {
    let mark = |s: &str| Job::Mark(s.to_owned());
    let in_parentheses = match tree.part(p) {
        Part::Choice(_) => beside != Beside::Nothing,
        Part::Sequence(_) | Part::Repeat { .. } => beside == Beside::Copies,
        _ => false,
    };
    if in_parentheses {
        jobs.push(mark(")"));
    }
    match tree.part(p) {
        Part::Empty => out.push(Symbol::Text(String::new())),
        Part::Name(name) => out.push(Symbol::Rule(name.to_string())),
        Part::Text { text, .. } => out.push(Symbol::Text(text.clone())),
        Part::Class(ranges) => out.push(Symbol::Class(ranges.clone())),
        Part::EcmaPattern { pattern, flags } => out.push(Symbol::Pattern(pattern.clone(), flags.clone())),
        Part::Substring(chunks) => out.push(Symbol::Substring(chunks.clone())),
        Part::Tokens { tokens, complement } => {
            let symbol = if *complement { Symbol::OtherTokens } else { Symbol::Tokens };
            out.push(symbol(tokens.clone(), tree.texts.offset(tree.place(p))));
        }
        Part::Sequence(parts) => jobs.extend(parts.iter().rev().map(|&part| Job::Part(part, Beside::Parts))),
        Part::Choice(parts) => {
            for (i, &part) in parts.iter().enumerate().rev() {
                jobs.push(Job::Part(part, Beside::Nothing));
                if i > 0 {
                    jobs.push(mark("|"));
                }
            }
        }
        Part::Repeat { body, min, max } => {
            jobs.push(Job::Mark(match *max {
                UNBOUNDED => format!("{{{min},}}"),
                max => format!("{{{min},{max}}}"),
            }));
            jobs.push(Job::Part(*body, Beside::Copies));
        }
        other => {
            let what = match other {
                Part::Dispatch(_) => "TagDispatch and TokenTagDispatch stand",
                Part::Ahead { .. } => "look-ahead \"(= ...)\" stands",
                Part::JsonString(_) => "Regex with json_string stands",
                _ => "this stands",
            };
            return Err(tree.texts.unsupported(tree.place(p), format!("{what} in a whole grammar only")));
        }
    }
    if in_parentheses {
        // What was put on the jobs is written before what lies below it.
        out.push(Symbol::Mark("(".to_owned()));
    }
    Ok(())
}
