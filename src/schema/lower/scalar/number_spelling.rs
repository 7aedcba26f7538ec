//! How a JSON writer spells a number of `enum` or `const`.
//!
//! A value has many spellings (`5`, `5.0`, `5e0`). A writer that holds the schema's own value has one: `json.dumps`
//! writes whole numbers as they are and everything with a point or an exponent as Python's `repr` of the binary64
//! value. Where that value is not exactly the schema's, the schema's own spelling is the only one that is certainly
//! right.

use crate::json::decimal::Decimal;
use crate::schema::number::NumberSpelling;

/// What `json.dumps` makes of a JSON number that is spelled `text` and whose value is `value`.
pub(crate) fn written(text: &str, value: &Decimal) -> String {
    if !text.contains(['.', 'e', 'E']) {
        return if value.digits.is_empty() { "0".to_string() } else { text.to_string() };
    }
    let own = || text.to_string();
    let Ok(float) = text.parse::<f64>() else { return own() };
    // The shortest digits that read back as the same float, as Python's repr takes them.
    let short = format!("{float:e}");
    if Decimal::parse(&short).as_ref() != Some(value) {
        return own();
    }
    let Some((mantissa, exponent)) = short.split_once('e') else { return own() };
    let Ok(exponent) = exponent.parse::<i32>() else { return own() };
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    let plain = format!("{float}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

/// Whether a number in this spelling is written as `text` is.
pub(crate) fn is_spelled(spelling: NumberSpelling, text: &str) -> bool {
    match spelling {
        NumberSpelling::Any => true,
        NumberSpelling::Bare => !text.contains(['.', 'e', 'E']),
        NumberSpelling::Pointed => text.contains('.') && !text.contains(['e', 'E']),
    }
}

#[cfg(test)]
mod tests;
