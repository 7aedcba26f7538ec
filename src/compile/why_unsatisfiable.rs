//! Why a source accepts nothing, in words: which part of a pattern, which keywords of a schema, or which rule of a
//! grammar leave nothing.
//!
//! A part that looks around is left out of the pattern, or a keyword of the schema, one after the other. What can be
//! left out while still nothing is accepted stays out; what is there at the end is what contradicts itself. This
//! decides nothing: it adds words to an error that is certain, and a search that takes too long adds none.

use serde_json::{Map, Value};

use crate::compile::check::bytes;
use crate::error::{Error, ErrorCode, ErrorKind, Result, SourcePlace};
use crate::expr::Exprs;
use crate::grammar::endless_rule::endless_rule;
use crate::grammar::{GrammarOptions, parse};
use crate::index::Index;
use crate::limits::Limits;
use crate::regex::assertions::Assertions;
use crate::regex::{Dialect, RegexOptions};
use crate::schema::{SchemaOptions, lower, named_contradiction, parse_schema};
use crate::util::cancel::limited;

/// Bytes of a source that is searched, and parts that are left out one after the other.
const MOST_BYTES: usize = 1 << 13;
const MOST_PARTS: usize = 24;
/// A single try may cost this part of what the whole compile may.
const SHARE: usize = 16;
/// Characters of a keyword's value that are shown.
const SHOWN: usize = 40;
/// What says nothing about values.
const SILENT: [&str; 9] =
    ["$schema", "$id", "$defs", "definitions", "title", "description", "$comment", "examples", "default"];

/// Says of a pattern that accepts nothing which part of it can never hold, and where that stands.
pub(super) fn of_pattern(e: Error, pattern: &str, options: &RegexOptions, limits: &Limits) -> Error {
    if e.kind() != ErrorKind::Unsatisfiable || *e.place() != SourcePlace::Offset(0) {
        return e;
    }
    let Some((at, why, kind)) = impossible_part(pattern, options, false, limits) else { return e };
    let slashes = match is_between_slashes(pattern) {
        true => "; slashes are a part of the pattern here: leave them out, and pass the letters behind them as flags",
        false => "",
    };
    let message = format!("{}: {why}{slashes}", e.message());
    let e = e.saying(message).coded_about(ErrorCode::ImpossiblePart, kind);
    e.moved_to(SourcePlace::Offset(at)).showing(pattern)
}

/// Whether a pattern looks like `/.../i`.
fn is_between_slashes(pattern: &str) -> bool {
    let flags = pattern.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    flags.is_some_and(|(_, flags)| flags.bytes().all(|b| b.is_ascii_lowercase()))
}

/// The offset of a part of a pattern that can never hold, a sentence about it, and the subject of its
/// [`ErrorCode::ImpossiblePart`]; `None` if no such part is found.
fn impossible_part(
    pattern: &str,
    options: &RegexOptions,
    search: bool,
    limits: &Limits,
) -> Option<(usize, String, &'static str)> {
    if pattern.len() > MOST_BYTES {
        return None;
    }
    let parts = Assertions::find(pattern, options, limits).ok()?;
    if parts.count() > MOST_PARTS {
        return None;
    }
    let accepts_nothing = |left_out: &[bool]| {
        let outcome = limited(limits.max_compile_steps / SHARE, || -> Result<Index> {
            let mut exprs = Exprs::new(limits.max_expr_nodes);
            let expr = parts.lower_without(&mut exprs, |i| left_out[i], search, limits)?;
            Index::from_expr(&mut exprs, expr, "", &bytes()?, limits)
        });
        outcome.is_err_and(|e| e.kind() == ErrorKind::Unsatisfiable)
    };
    let mut left_out = vec![false; parts.count()];
    if !accepts_nothing(&left_out) {
        return None;
    }
    for i in 0..parts.count() {
        left_out[i] = true;
        left_out[i] = accepts_nothing(&left_out);
    }
    let left: Vec<usize> = (0..parts.count()).filter(|&i| !left_out[i]).collect();
    let first = parts.offset(*left.first()?);
    let sentence = match left.as_slice() {
        [one] => format!("{} can never stand here", parts.name(*one)),
        several => {
            let named = several.iter().map(|&i| format!("{} (offset {})", parts.name(i), parts.offset(i)));
            format!("at least one of these can never hold: {}", named.collect::<Vec<_>>().join(", "))
        }
    };
    let is_any = |kind: &str| left.iter().any(|&i| parts.kind(i) == kind);
    let kind = ["look", "edge"].into_iter().find(|kind| is_any(kind)).unwrap_or("other");
    Some((first, sentence, kind))
}

/// Says of a grammar that accepts nothing which of its rules never ends, where that is why.
pub(super) fn of_grammar(e: Error, text: &str, options: &GrammarOptions, limits: &Limits) -> Error {
    if e.kind() != ErrorKind::Unsatisfiable {
        return e;
    }
    // What was compiled has other rules by now than those of the text.
    let Ok(grammar) = parse(text, options, limits) else { return e };
    let Some(rule) = endless_rule(&grammar) else { return e };
    e.saying(format!("the grammar accepts nothing: {} never comes to an end", rule.name))
        .coded_about(ErrorCode::EndlessRule, &rule.name)
}

/// Says of a schema that accepts nothing which of its keywords leave nothing.
pub(super) fn of_schema(e: Error, text: &str, options: &SchemaOptions, limits: &Limits) -> Error {
    let SourcePlace::Pointer { pointer, .. } = e.place() else { return e };
    if e.kind() != ErrorKind::Unsatisfiable {
        return e;
    }
    let why = named_contradiction(pointer, text).or_else(|| contradicting_keywords(pointer, text, options, limits));
    let Some(why) = why else { return e };
    let message = format!("{}: {why}", e.message());
    e.saying(message)
}

/// A least set of keywords at `pointer` that leave nothing, as a sentence; `None` if none is found.
fn contradicting_keywords(pointer: &str, text: &str, options: &SchemaOptions, limits: &Limits) -> Option<String> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let mut document = serde_json::from_str::<Value>(text).ok()?;
    let accepts_nothing = |document: &Value| {
        let outcome = limited(limits.max_compile_steps / SHARE, || {
            let (model, mut report) = parse_schema(&document.to_string(), options, limits)?;
            lower(&model, options, limits, &mut report)
        });
        outcome.is_err_and(|e| e.kind() == ErrorKind::Unsatisfiable)
    };
    let keywords = document.pointer(pointer)?.as_object()?.clone();
    let said: Vec<&String> = keywords.keys().filter(|name| !SILENT.contains(&name.as_str())).collect();
    if said.len() > MOST_PARTS || !accepts_nothing(&document) {
        return None;
    }
    let mut kept = keywords.clone();
    for name in said {
        let without: Map<String, Value> =
            kept.iter().filter(|(key, _)| *key != name).map(|(key, value)| (key.clone(), value.clone())).collect();
        *document.pointer_mut(pointer)? = Value::Object(without.clone());
        if accepts_nothing(&document) {
            kept = without;
        }
    }
    kept.retain(|name, _| !SILENT.contains(&name.as_str()));
    let pattern = kept.get("pattern").and_then(Value::as_str).and_then(|pattern| {
        let dialect = RegexOptions { dialect: Dialect::Ecma, flags: String::new() };
        let (at, why, _) = impossible_part(pattern, &dialect, true, limits)?;
        Some(format!("the pattern {pattern:?} matches no text: {why} (its offset {at})"))
    });
    let named: Vec<String> = kept.iter().map(|(name, value)| format!("{name} {}", shortened(value))).collect();
    pattern.or_else(|| match named.as_slice() {
        [] => None,
        [one] => Some(format!("{one} allows nothing")),
        [all @ .., last] => Some(format!("{} and {last} leave nothing together", all.join(", "))),
    })
}

/// The beginning of a value's text.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => text[..at].to_owned() + "...",
        None => text,
    }
}
