//! `uuid` (RFC 4122), `json-pointer` (RFC 6901) and `relative-json-pointer`.

use crate::expr::{ExprId, Exprs};
use crate::schema::format::abnf::{DIGIT, HEX, Part, alt, any, ascii, cat, opt, text, times};

pub(super) fn uuid(x: &mut Exprs) -> ExprId {
    let group = |n: u32| times(&HEX, n, n);
    let middle = cat![text("-"), group(4)];
    cat![group(8), middle, middle, middle, text("-"), group(12)].build(x)
}

/// Why `relative-json-pointer` is narrower than its latest draft.
pub(super) const RELATIVE_DEPARTURES: &str = "the index manipulation of later drafts (0+1) is refused";

fn pointer() -> Part {
    let unescaped = Part::Chars(vec![('\0', '.'), ('0', '}'), ('\u{7F}', char::MAX)]);
    let escaped = cat![text("~"), ascii(&[(b'0', b'1')])];
    any(&cat![text("/"), any(&alt![unescaped, escaped])])
}

pub(super) fn json_pointer(x: &mut Exprs) -> ExprId {
    pointer().build(x)
}

pub(super) fn relative_json_pointer(x: &mut Exprs) -> ExprId {
    let number = alt![text("0"), cat![ascii(&[(b'1', b'9')]), any(&DIGIT)]];
    cat![number, opt(&alt![text("#"), pointer()])].build(x)
}
