//! `uri`, `uri-reference` (RFC 3986), `iri`, `iri-reference` (RFC 3987) and `uri-template` (RFC 6570).
//!
//! The grammars are the standards' own, and exact. A host that looks like an IPv4 address is a `reg-name` as well, so
//! it needs no rule.

use crate::expr::{ExprId, Exprs};
use crate::schema::format::abnf::{ALNUM, DIGIT, HEX, Part, alt, any, ascii, cat, opt, some, text, times};
use crate::schema::format::host::{ip_literal, port};

fn percent() -> Part {
    cat![text("%"), HEX, HEX]
}

/// Characters beyond ASCII that an IRI may hold: planes 0 to 14 without private use and noncharacters.
fn ucschar() -> Part {
    let mut ranges = vec![('\u{A0}', '\u{D7FF}'), ('\u{F900}', '\u{FDCF}'), ('\u{FDF0}', '\u{FFEF}')];
    for plane in 1..=14u32 {
        let first = if plane == 14 { 0xE1000 } else { plane << 16 };
        if let (Some(a), Some(b)) = (char::from_u32(first), char::from_u32((plane << 16) | 0xFFFD)) {
            ranges.push((a, b));
        }
    }
    Part::Chars(ranges)
}

/// Private use characters, which a query of an IRI may hold.
fn iprivate() -> Part {
    Part::Chars(vec![('\u{E000}', '\u{F8FF}'), ('\u{F0000}', '\u{FFFFD}'), ('\u{100000}', '\u{10FFFD}')])
}

/// The pieces that URIs and IRIs share.
struct Grammar {
    /// After the scheme and its colon.
    hierarchy: Part,
    /// Before query and fragment, without a scheme.
    relative: Part,
    /// `?query#fragment`.
    tail: Part,
}

fn grammar(x: &mut Exprs, international: bool) -> Grammar {
    let unreserved = alt![ALNUM, ascii(&[(b'-', b'.'), (b'_', b'_'), (b'~', b'~')])];
    let sub_delims = ascii(&[(b'!', b'!'), (b'$', b'$'), (b'&', b','), (b';', b';'), (b'=', b'=')]);
    let plain = match international {
        true => alt![unreserved, sub_delims, ucschar()],
        false => alt![unreserved, sub_delims],
    };
    let more = |extra: &'static [(u8, u8)]| alt![plain, percent(), ascii(extra)];
    let pchar = more(&[(b':', b':'), (b'@', b'@')]).built(x);
    let segments = any(&cat![text("/"), any(&pchar)]).built(x);
    let absolute = cat![text("/"), opt(&cat![some(&pchar), segments])];
    let user = cat![any(&more(&[(b':', b':')])), text("@")];
    let future = alt![unreserved, sub_delims, text(":")];
    let host = alt![ip_literal(x, &future), any(&alt![plain, percent()])];
    let authority = cat![text("//"), opt(&user), host, opt(&port()), segments].built(x);
    let fragment = any(&alt![pchar, ascii(&[(b'/', b'/'), (b'?', b'?')])]).built(x);
    let query = match international {
        true => any(&alt![pchar, ascii(&[(b'/', b'/'), (b'?', b'?')]), iprivate()]).built(x),
        false => fragment.clone(),
    };
    let first = some(&more(&[(b'@', b'@')]));
    Grammar {
        hierarchy: opt(&alt![authority, absolute, cat![some(&pchar), segments]]),
        relative: opt(&alt![authority, absolute, cat![first, segments]]),
        tail: cat![opt(&cat![text("?"), query]), opt(&cat![text("#"), fragment])],
    }
}

/// `uri` or `iri`, and as a reference where `relative` is set.
fn identifier(x: &mut Exprs, international: bool, relative: bool) -> ExprId {
    let g = grammar(x, international);
    let letter = ascii(&[(b'A', b'Z'), (b'a', b'z')]);
    let scheme = cat![letter, any(&alt![ALNUM, ascii(&[(b'+', b'+'), (b'-', b'.')])]), text(":")];
    let absolute = cat![scheme, g.hierarchy];
    match relative {
        true => cat![alt![absolute, g.relative], g.tail].build(x),
        false => cat![absolute, g.tail].build(x),
    }
}

pub(super) fn uri(x: &mut Exprs) -> ExprId {
    identifier(x, false, false)
}

pub(super) fn uri_reference(x: &mut Exprs) -> ExprId {
    identifier(x, false, true)
}

pub(super) fn iri(x: &mut Exprs) -> ExprId {
    identifier(x, true, false)
}

pub(super) fn iri_reference(x: &mut Exprs) -> ExprId {
    identifier(x, true, true)
}

pub(super) fn uri_template(x: &mut Exprs) -> ExprId {
    // The apostrophe is allowed by erratum 6937.
    let literal = alt![
        ascii(&[
            (b'!', b'!'),
            (b'#', b'$'),
            (b'&', b';'),
            (b'=', b'='),
            (b'?', b'['),
            (b']', b']'),
            (b'_', b'_'),
            (b'a', b'z'),
            (b'~', b'~')
        ]),
        ucschar(),
        iprivate(),
        percent(),
    ];
    let letter = alt![ALNUM, text("_"), percent()];
    let name = cat![letter, any(&cat![opt(&text(".")), letter])];
    let prefix = cat![text(":"), ascii(&[(b'1', b'9')]), times(&DIGIT, 0, 3)];
    let variable = cat![name, opt(&alt![prefix, text("*")])];
    // RFC 6570, section 2.2, has the operators of levels 2 and 3, and `op-reserve` for later extensions: = , ! @ |.
    let operator = ascii(&[
        (b'!', b'!'),
        (b'#', b'#'),
        (b'&', b'&'),
        (b'+', b','),
        (b'.', b'/'),
        (b';', b';'),
        (b'=', b'='),
        (b'?', b'@'),
        (b'|', b'|'),
    ]);
    let expression = cat![text("{"), opt(&operator), variable, any(&cat![text(","), variable]), text("}")];
    any(&alt![literal, expression]).build(x)
}
