//! How a JSON writer spells a number of `enum` or `const`.
//!
//! A value has many spellings (`5`, `5.0`, `5e0`). A writer that holds the schema's own value has one: `json.dumps`
//! writes whole numbers as they are and everything with a point or an exponent as Python's `repr` of the binary64
//! value. Where that value is not exactly the schema's, the schema's own spelling is the only one that is certainly
//! right.

use super::super::decimal::Decimal;
use super::super::number::Spelling;

/// What `json.dumps` makes of a JSON number that is spelled `text` and whose value is `value`.
pub(super) fn written(text: &str, value: &Decimal) -> String {
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
pub(super) fn is_spelled(spelling: Spelling, text: &str) -> bool {
    match spelling {
        Spelling::Any => true,
        Spelling::Bare => !text.contains(['.', 'e', 'E']),
        Spelling::Pointed => text.contains('.') && !text.contains(['e', 'E']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (text, expected) in [
            ("5", "5"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("5.0", "5.0"),
            ("5e0", "5.0"),
            ("1.50", "1.5"),
            ("1E5", "100000.0"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("1.25e-7", "1.25e-07"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1e100", "1e+100"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            // No float has this value, or is as large.
            ("0.12345678901234567890123", "0.12345678901234567890123"),
            ("1e400", "1e400"),
        ] {
            let value = Decimal::parse(text).unwrap();
            assert_eq!(written(text, &value), expected, "{text}");
            assert_eq!(Decimal::parse(&written(text, &value)), Some(value), "{text}");
        }
    }
}
