//! What no reading of a format goes beyond.
//!
//! A format that is narrower than its standard cannot be negated by its own complement: what the complement holds too
//! much would be accepted. For each of them there is a wide language here that contains every text which the standard,
//! or a validator that reads it generously, takes; what lies outside of that is certainly not of the format. It is kept
//! so wide that its states are few.

use crate::expr::{ExprId, Exprs};
use crate::schema::format::abnf::{DIGIT, Part, alt, any, ascii, cat, opt, some, text};
use crate::schema::format::time;

fn anything() -> Part {
    any(&any_char())
}

fn any_char() -> Part {
    Part::Chars(vec![('\0', char::MAX)])
}

/// The letters in either case.
fn either(upper: u8) -> Part {
    Part::Choice([upper, upper.to_ascii_lowercase()].map(|b| char::from(b).to_string()).to_vec())
}

/// Every text.
pub(super) fn any_text(x: &mut Exprs) -> ExprId {
    anything().build(x)
}

/// Seconds and offsets may be anything in two digits, and a fraction may follow a comma. Without seconds or an offset
/// it is a time of no reading of RFC 3339.
fn any_time() -> Part {
    let two = cat![DIGIT, DIGIT];
    let part = cat![text(":"), two];
    let fraction = cat![ascii(&[(b',', b','), (b'.', b'.')]), some(&DIGIT)];
    let offset = cat![ascii(&[(b'+', b'+'), (b'-', b'-')]), two, opt(&text(":")), opt(&two)];
    cat![two, part, part, opt(&fraction), alt![either(b'Z'), offset]]
}

pub(super) fn time(x: &mut Exprs) -> ExprId {
    any_time().build(x)
}

pub(super) fn date_time(x: &mut Exprs) -> ExprId {
    let date = Part::Built(time::date(x));
    let apart = alt![either(b'T'), text(" "), text("_")];
    cat![date, apart, any_time()].build(x)
}

pub(super) fn duration(x: &mut Exprs) -> ExprId {
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
    .build(x)
}

/// Of both kinds of addresses.
pub(super) fn email(x: &mut Exprs) -> ExprId {
    cat![some(&any_char()), text("@"), some(&any_char())].build(x)
}

fn in_host_names() -> Part {
    ascii(&[(b'-', b'.'), (b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')])
}

pub(super) fn hostname(x: &mut Exprs) -> ExprId {
    some(&in_host_names()).build(x)
}

pub(super) fn idn_hostname(x: &mut Exprs) -> ExprId {
    some(&alt![in_host_names(), Part::Chars(vec![('\u{80}', char::MAX)])]).build(x)
}

pub(super) fn relative_json_pointer(x: &mut Exprs) -> ExprId {
    let more = cat![ascii(&[(b'+', b'+'), (b'-', b'-')]), some(&DIGIT)];
    cat![some(&DIGIT), opt(&more), alt![text("#"), text(""), cat![text("/"), anything()]]].build(x)
}

/// What begins with a quantifier or a closing parenthesis is no pattern of any dialect.
pub(super) fn regex(x: &mut Exprs) -> ExprId {
    let first = Part::Chars(vec![('\0', '('), (',', '>'), ('@', char::MAX)]);
    opt(&cat![first, anything()]).build(x)
}
