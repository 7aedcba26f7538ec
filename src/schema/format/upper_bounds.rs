//! What no reading of a format goes beyond.
//!
//! A format that is narrower than its standard cannot be negated by its own complement: what the complement holds too
//! much would be accepted. For each of them there is a wide language here that contains every text which the standard,
//! or a validator that reads it generously, takes; what lies outside of that is certainly not of the format. It is kept
//! so wide that its states are few.

use crate::expr::{ExprId, Exprs};
use crate::schema::format::abnf::{DIGIT, Part, alt, any, ascii, cat, opt, some, text, times};
use crate::schema::format::time;

fn anything() -> Part {
    any(&Part::Chars(vec![('\0', char::MAX)]))
}

/// The letters in either case.
fn either(upper: u8) -> Part {
    Part::Choice([upper, upper.to_ascii_lowercase()].map(|b| char::from(b).to_string()).to_vec())
}

/// Seconds and offsets may be anything in two digits, and a fraction may follow a comma. Without seconds or an offset
/// it is a time of no reading of RFC 3339.
fn time() -> Part {
    let two = cat![DIGIT, DIGIT];
    let part = cat![text(":"), two];
    let fraction = cat![ascii(&[(b',', b','), (b'.', b'.')]), some(&DIGIT)];
    let offset = cat![ascii(&[(b'+', b'+'), (b'-', b'-')]), two, opt(&text(":")), opt(&two)];
    cat![two, part, part, opt(&fraction), alt![either(b'Z'), offset]]
}

fn duration() -> Part {
    let number = cat![some(&DIGIT), opt(&cat![ascii(&[(b',', b','), (b'.', b'.')]), some(&DIGIT)])];
    let units = |all: &[u8]| {
        let each = all.iter().map(|&u| opt(&cat![number, either(u)])).collect();
        Part::Cat(each)
    };
    cat![
        opt(&ascii(&[(b'+', b'+'), (b'-', b'-')])),
        either(b'P'),
        units(b"YMWD"),
        opt(&cat![either(b'T'), units(b"HMS")])
    ]
}

/// A language that holds every text of a format which is narrower here than its standard; any text for the others.
pub fn at_most(x: &mut Exprs, format: &str) -> ExprId {
    let outside = |not: &[char]| {
        let mut from = '\0';
        let mut ranges = Vec::new();
        for &c in not {
            if c > from {
                ranges.push((from, char::from_u32(c as u32 - 1).unwrap_or(from)));
            }
            from = char::from_u32(c as u32 + 1).unwrap_or(c);
        }
        ranges.push((from, char::MAX));
        Part::Chars(ranges)
    };
    let part = match format {
        "time" => time(),
        "date-time" => {
            let date = Part::Built(time::date(x));
            let apart = alt![either(b'T'), text(" "), text("_")];
            cat![date, apart, time()]
        }
        "duration" => duration(),
        "email" | "idn-email" => {
            let c = Part::Chars(vec![('\0', char::MAX)]);
            cat![some(&c), text("@"), some(&c)]
        }
        "hostname" => some(&ascii(&[(b'-', b'.'), (b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')])),
        "idn-hostname" => some(&alt![
            ascii(&[(b'-', b'.'), (b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')]),
            Part::Chars(vec![('\u{80}', char::MAX)]),
        ]),
        "relative-json-pointer" => {
            let more = cat![ascii(&[(b'+', b'+'), (b'-', b'-')]), some(&DIGIT)];
            cat![some(&DIGIT), opt(&more), alt![text("#"), text(""), cat![text("/"), anything()]]]
        }
        // What begins with a quantifier or a closing parenthesis is no pattern of any dialect.
        "regex" => times(&cat![outside(&[')', '*', '+', '?']), anything()], 0, 1),
        _ => anything(),
    };
    part.build(x)
}
