//! The enforcement report: a row for each keyword and location that is enforced otherwise than exactly, or only
//! annotates; and one row at the root for each option that accepts less than the specification.

use crate::json::rules::Rules;
use crate::json::string_escape::EscapeUse;
use crate::schema::number::{FRACTION_DIGITS, WHOLE_DIGITS};
use crate::schema::options::{PropertyOrder, SchemaOptions, Whitespace};

/// How a keyword is enforced, where that is not exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// Accepts less than the source says.
    Narrower,
    /// The source's own draft says that it asserts nothing.
    Annotation,
    /// The source's own draft says that it is ignored here.
    Ignored,
    /// Accepts more than the source says; only where the caller asked for that.
    Wider,
}

/// The reason of the row of a keyword that JSON Schema does not know.
pub const UNKNOWN_KEYWORD: &str = "not a keyword of JSON Schema";
/// How the reason of a format ends that no version of JSON Schema has.
pub const UNKNOWN_FORMAT: &str = "is not known";

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRow {
    /// JSON Pointer of the schema that holds the keyword.
    pub pointer: String,
    /// The keyword, or the option that narrows the whole schema.
    pub keyword: String,
    /// How it is enforced.
    pub enforcement: Enforcement,
    /// Why.
    pub reason: String,
}

/// The rows for what the options leave out of every schema that has it: the keyword is the option's name, `numbers` for
/// the caps on digits.
pub(crate) fn option_rows(rules: &Rules, options: &SchemaOptions, most_blanks: u16) -> Vec<ReportRow> {
    let objects = rules.rules.iter().any(|r| !r.objects.is_empty());
    let nested = objects || rules.rules.iter().any(|r| !r.arrays.is_empty());
    let blanks = match options.whitespace {
        Whitespace::Flexible => format!("runs of whitespace have at most {most_blanks} bytes, so that they end"),
        Whitespace::Compact => "no whitespace is written".to_string(),
        Whitespace::Spaced => "whitespace is one space after each comma and colon".to_string(),
        Whitespace::Pattern(_) => "whitespace is what the option's pattern matches".to_string(),
    };
    let order = "keys come in the order in which they are declared, others after them".to_string();
    let digits = format!(
        "numbers without bounds have at most {WHOLE_DIGITS} digits before the point and {FRACTION_DIGITS} after it, \
         and bounded exponents, so that they end"
    );
    let named = rules.rules.iter().any(|r| r.objects.iter().any(|o| !o.properties.is_empty()));
    let constants = options.has_plain_constants() && (named || rules.plain_constants);
    let (plain, spelling) = match options.string_escapes() {
        EscapeUse::Needed => (
            objects || rules.plain_constants || rules.rules.iter().any(|r| !r.strings.is_empty()),
            "strings have only the escapes that JSON needs, integers have neither point nor exponent and are never \
             -0, and numbers of enum and const are spelled as json.dumps writes them"
                .to_string(),
        ),
        _ => (
            constants,
            "names of properties and the values of enum and const are spelled as json.dumps writes them".to_string(),
        ),
    };
    [
        (nested, "whitespace", blanks),
        (objects && options.property_order == PropertyOrder::Schema, "property_order", order),
        (plain, "spelling", spelling),
        (rules.capped_numbers, "numbers", digits),
    ]
    .into_iter()
    .filter(|row| row.0)
    .map(|(_, keyword, reason)| ReportRow {
        pointer: String::new(),
        keyword: keyword.to_string(),
        enforcement: Enforcement::Narrower,
        reason,
    })
    .collect()
}
