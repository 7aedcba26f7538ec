//! Values of keywords: numbers, counts, names and types, or an error that says what was expected.

use crate::error::near_name::did_you_mean;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::json::decimal::{Decimal, MAX_EXPONENT};
use crate::schema::json_tape::{Tape, TapeId, TapeKind};
use crate::schema::model::Types;
use serde_json::Value;

fn expected<T>(what: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Schema, format!("{what} is expected")))
}

/// A string.
pub fn string<'a>(tape: &'a Tape<'_>, node: TapeId) -> Result<&'a str> {
    tape.string(node).map_or_else(|| expected("a string"), Ok)
}

/// `true` or `false`.
pub fn boolean(tape: &Tape<'_>, node: TapeId) -> Result<bool> {
    match tape.kind(node) {
        TapeKind::Bool(b) => Ok(*b),
        _ => expected("a boolean"),
    }
}

/// An object; returns how many members it has.
pub fn object(tape: &Tape<'_>, node: TapeId) -> Result<u32> {
    match tape.kind(node) {
        TapeKind::Object(n) => Ok(*n),
        _ => expected("an object"),
    }
}

/// An array of strings.
pub fn strings(tape: &Tape<'_>, node: TapeId) -> Result<Vec<String>> {
    each_string(tape, node, str::to_owned)
}

/// What `of` makes of each string of an array.
pub fn each_string<T>(tape: &Tape<'_>, node: TapeId, mut of: impl FnMut(&str) -> T) -> Result<Vec<T>> {
    let TapeKind::Array(n) = tape.kind(node) else { return expected("an array of strings") };
    let mut out = Vec::with_capacity(*n as usize);
    for item in tape.items(node) {
        match tape.string(item) {
            Some(s) => out.push(of(s)),
            None => return expected("an array of strings"),
        }
    }
    Ok(out)
}

/// Any value.
pub fn value(tape: &Tape<'_>, node: TapeId) -> Result<Value> {
    let far = |text: &&str| text.contains(['e', 'E']) && Decimal::parse(text).is_none();
    match tape.numbers(node).find(far) {
        Some(text) => Err(out_of_range(text)),
        None => tape.to_value(node),
    }
}

/// An array of any values.
pub fn values(tape: &Tape<'_>, node: TapeId) -> Result<Vec<Value>> {
    let TapeKind::Array(_) = tape.kind(node) else { return expected("an array") };
    tape.items(node).map(|i| value(tape, i)).collect()
}

/// The refusal of a number that is too far from one to be computed with.
fn out_of_range(text: &str) -> Error {
    let exponent = text.rsplit(['e', 'E']).next().unwrap_or_default();
    let beyond = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(u64::MAX);
    Error::limit("the exponent of a number", MAX_EXPONENT.unsigned_abs(), beyond)
}

/// A number of any precision.
pub fn number(tape: &Tape<'_>, node: TapeId) -> Result<Decimal> {
    let TapeKind::Number(text) = tape.kind(node) else { return expected("a number") };
    match Decimal::parse(text) {
        Some(d) => Ok(d),
        None => Err(out_of_range(text)),
    }
}

/// A number above zero.
pub fn positive(tape: &Tape<'_>, node: TapeId) -> Result<Decimal> {
    let d = number(tape, node)?;
    if d.negative || d.digits.is_empty() { expected("a number above zero") } else { Ok(d) }
}

/// A whole number that is not negative, however it is written. What exceeds 64 bits becomes the largest value: no
/// string, array or object is that long, so the meaning is the same.
pub fn count(tape: &Tape<'_>, node: TapeId) -> Result<u64> {
    let TapeKind::Number(text) = tape.kind(node) else { return expected("a whole number") };
    let d = Decimal::parse(text).ok_or_else(|| out_of_range(text))?;
    if d.negative || d.exponent < 0 {
        return expected("a whole number that is not negative");
    }
    let mut n: u64 = 0;
    for digit in &d.digits {
        n = n.saturating_mul(10).saturating_add(u64::from(*digit));
    }
    // Twenty more digits saturate any number but zero, which has exponent 0.
    for _ in 0..d.exponent.min(20) {
        n = n.saturating_mul(10);
    }
    Ok(n)
}

/// One type or several.
pub fn types(tape: &Tape<'_>, node: TapeId) -> Result<Types> {
    let one = |n: TapeId| {
        Ok(match tape.string(n) {
            Some("null") => Types::NULL,
            Some("boolean") => Types::BOOLEAN,
            Some("integer") => Types::INTEGER,
            Some("number") => Types::NUMBER,
            Some("string") => Types::STRING,
            Some("array") => Types::ARRAY,
            Some("object") => Types::OBJECT,
            Some(other) => {
                let meant = match type_meant(other) {
                    Some(name) => format!("; did you mean {name:?}?"),
                    None => did_you_mean(other, TYPES.into_iter()),
                };
                let message = format!(
                    "{} is not a type: null, boolean, integer, number, string, array or object is expected{meant}",
                    quoted(other)
                );
                return Err(Error::new(ErrorKind::Schema, message));
            }
            None => return expected("the name of a type or an array of such names"),
        })
    };
    match tape.kind(node) {
        TapeKind::Array(0) => expected("at least one type"),
        TapeKind::Array(_) => tape.items(node).try_fold(Types::default(), |all, n| Ok(Types(all.0 | one(n)?.0))),
        _ => one(node),
    }
}

/// The names of types.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The type that a word of another language stands for.
fn type_meant(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "str" | "string" | "text" => "string",
        "int" | "integer" => "integer",
        "float" | "number" | "double" | "decimal" => "number",
        "bool" | "boolean" => "boolean",
        "list" | "array" => "array",
        "dict" | "object" => "object",
        "null" | "none" => "null",
        _ => return None,
    })
}

/// The error for a value that is no schema, where one must stand; a text may be meant as the name of a type.
pub(super) fn no_schema(text: Option<&str>) -> String {
    match text.and_then(type_meant) {
        Some(name) => format!("a schema must be an object or a boolean: write {{\"type\": {name:?}}}"),
        None => "a schema must be an object or a boolean".into(),
    }
}
