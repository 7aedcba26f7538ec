//! `hostname` (RFC 1123), `ipv4`, `ipv6` (RFC 4291, text forms of RFC 3986) and `email` (RFC 5321 mailboxes).
//!
//! A name has at most 253 characters. Counting them exactly beside the 63 of each label would take 16,000 states, so
//! labels are charged in units of eight characters, their dot included: 1, 2, 4 or 8 units for a label of up to 7, 15,
//! 31 or 63 characters, and at most 31 units (247 characters) for a name. Every accepted name is short enough; names
//! of more than 31 labels, and some others that come near the limit of units, are refused.
//!
//! Labels whose third and fourth characters are hyphens are refused: they are reserved, and the only ones in use,
//! `xn--` labels, hold Punycode, whose validity no finite automaton decides.

use crate::expr::{Edge, ExprId, Exprs};
use crate::schema::format::abnf::{ALNUM, DIGIT, HEX, Part, alt, any, ascii, cat, opt, some, text, times};

/// Why `hostname` and the formats that contain one are narrower than their standards.
pub(super) const HOST_DEPARTURES: &str = "labels with hyphens in third and fourth place (xn--), names of more than 31 \
                                          labels and some names longer than 62 characters are refused";

/// Why `email` and `idn-email` are narrower than their standards.
pub(super) const MAIL_DEPARTURES: &str =
    "domains are limited as in hostname or idn-hostname; quoted local parts hold no < and no escaped space";

/// Units of one name of a mail address: the most letters, or escaped characters, before its next dot.
const NAME_UNITS: usize = 31;

/// `(fewest, most, units)` of the characters of a label.
const CLASSES: [(u32, u32, usize); 4] = [(1, 7, 1), (8, 15, 2), (16, 31, 4), (32, 63, 8)];

/// A label of `min` to `max` characters: `first`, then `last` or hyphens, then `last`. `min` is 1 or at
/// least 5, `max` at least 4.
pub(super) fn label(first: &Part, last: &Part, min: u32, max: u32) -> Part {
    let inner = alt![last, text("-")];
    let tail = |used: u32| match min {
        1 if max == used => Part::Text(""),
        1 => opt(&cat![times(&inner, 0, max - used - 1), last]),
        _ => cat![times(&inner, min - used - 1, max - used - 1), last],
    };
    // The third character, or else the fourth, is no hyphen.
    let long = cat![first, inner, alt![cat![last, tail(3)], cat![text("-"), last, tail(4)]]];
    if min == 1 { alt![first, cat![first, last], long] } else { long }
}

/// ASCII labels that begin with `first`, with their cost in units.
pub(super) fn ascii_labels(first: &Part) -> Vec<(Part, usize)> {
    CLASSES.iter().map(|&(min, max, cost)| (label(first, &ALNUM, min, max), cost)).collect()
}

/// Labels with `dot` between them, at most [`NAME_UNITS`] in all. Labels come with their cost.
pub(super) fn name(x: &mut Exprs, labels: &[(Part, usize)], dot: &Part) -> ExprId {
    let dot = dot.build(x);
    let labels: Vec<(ExprId, usize)> = labels.iter().map(|(l, cost)| (l.build(x), *cost)).collect();
    // rest[u]: names that cost at most u units.
    let mut rest = vec![Exprs::NEVER];
    for units in 1..=NAME_UNITS {
        let mut ways = Vec::new();
        for &(label, cost) in &labels {
            if let Some(&more) = units.checked_sub(cost).and_then(|u| rest.get(u)) {
                let more = x.cat(dot, more);
                let more = x.opt(more);
                ways.push(x.cat(label, more));
            }
        }
        rest.push(x.alt(&ways));
    }
    rest[NAME_UNITS]
}

pub(super) fn hostname(x: &mut Exprs) -> ExprId {
    name(x, &ascii_labels(&ALNUM), &text("."))
}

pub(super) fn ipv4_part() -> Part {
    let octet = alt![
        DIGIT,
        cat![ascii(&[(b'1', b'9')]), DIGIT],
        cat![text("1"), DIGIT, DIGIT],
        cat![text("2"), ascii(&[(b'0', b'4')]), DIGIT],
        cat![text("25"), ascii(&[(b'0', b'5')])],
    ];
    let next = cat![text("."), octet];
    cat![octet, next, next, next]
}

pub(super) fn ipv6_part(x: &mut Exprs) -> Part {
    let h16 = times(&HEX, 1, 4);
    let group = cat![h16, text(":")];
    let last = alt![cat![group, h16], ipv4_part()].built(x);
    let gap = text("::");
    // At most `n` groups before the gap.
    let upto = |n: u32| match n {
        0 => Part::Text(""),
        _ => opt(&cat![times(&group, 0, n - 1), h16]),
    };
    alt![
        cat![times(&group, 6, 6), last],
        cat![gap, times(&group, 5, 5), last],
        cat![upto(1), gap, times(&group, 4, 4), last],
        cat![upto(2), gap, times(&group, 3, 3), last],
        cat![upto(3), gap, times(&group, 2, 2), last],
        cat![upto(4), gap, group, last],
        cat![upto(5), gap, last],
        cat![upto(6), gap, h16],
        cat![upto(7), gap],
    ]
    .built(x)
}

pub(super) fn ipv4(x: &mut Exprs) -> ExprId {
    ipv4_part().build(x)
}

pub(super) fn ipv6(x: &mut Exprs) -> ExprId {
    ipv6_part(x).build(x)
}

/// Octets of a local part.
const LOCAL_OCTETS: usize = 64;

/// Up to 64 octets of a mailbox before the `@`: atoms with single dots between them, or a quoted string.
/// `international` adds every character beyond ASCII (RFC 6531).
fn local_part(x: &mut Exprs, international: bool) -> ExprId {
    let wide: Vec<(ExprId, usize)> = match international {
        true => [('\u{80}', '\u{7FF}'), ('\u{800}', '\u{FFFF}'), ('\u{10000}', char::MAX)]
            .iter()
            .zip(2..)
            .map(|(&range, octets)| (x.class(&[range]), octets))
            .collect(),
        false => Vec::new(),
    };
    // `state(n)`: what may follow when n more octets are allowed; `bytes` lead to `state(n - 1)`.
    let char_then = |x: &mut Exprs, bytes: &[(u8, u8)], n: usize, states: &[ExprId], extra: Vec<Edge>, end: bool| {
        let mut edges = extra;
        if let Some(&to) = n.checked_sub(1).and_then(|n| states.get(n)) {
            edges.extend(bytes.iter().map(|&(lo, hi)| Edge { lo, hi, to }));
        }
        let mut ways = vec![x.step(end, edges)];
        for &(class, octets) in &wide {
            if let Some(&to) = n.checked_sub(octets).and_then(|n| states.get(n)) {
                ways.push(x.cat(class, to));
            }
        }
        x.alt(&ways)
    };
    const ATEXT: &[(u8, u8)] = &[
        (b'!', b'!'),
        (b'#', b'\''),
        (b'*', b'+'),
        (b'-', b'-'),
        (b'/', b'9'),
        (b'=', b'='),
        (b'?', b'?'),
        (b'A', b'Z'),
        (b'^', b'~'),
    ];
    const QTEXT: &[(u8, u8)] = &[(b' ', b'!'), (b'#', b';'), (b'=', b'['), (b']', b'~')];
    // In an atom; at the start of one.
    let (mut inside, mut start) = (Vec::new(), Vec::new());
    let mut quoted: Vec<ExprId> = Vec::new();
    for n in 0..=LOCAL_OCTETS {
        let dot = n.checked_sub(1).and_then(|n| start.get(n)).map(|&to| Edge { lo: b'.', hi: b'.', to });
        let new = char_then(x, ATEXT, n, &inside, dot.into_iter().collect(), true);
        start.push(char_then(x, ATEXT, n, &inside, Vec::new(), false));
        inside.push(new);
        // Inside quotes, with one more octet kept for the closing one.
        let mut edges = vec![Edge { lo: b'"', hi: b'"', to: Exprs::EPS }];
        if let Some(&to) = n.checked_sub(2).and_then(|n| quoted.get(n)) {
            // An escaped space and a `<` are allowed by the standard, but readers differ on them. Without any `<`, no
            // address holds a delimiter of a tool call.
            let escaped = x.step(false, vec![Edge { lo: b'!', hi: b';', to }, Edge { lo: b'=', hi: b'~', to }]);
            edges.push(Edge { lo: b'\\', hi: b'\\', to: escaped });
        }
        let new = char_then(x, QTEXT, n, &quoted, edges, false);
        quoted.push(new);
    }
    let open = x.literal_then(b"\"", quoted[LOCAL_OCTETS - 2]);
    x.alt(&[start[LOCAL_OCTETS], open])
}

fn mailbox(x: &mut Exprs, international: bool, domain: ExprId) -> ExprId {
    let local = Part::Built(local_part(x, international));
    let literal = cat![text("["), alt![ipv4_part(), cat![text("IPv6:"), ipv6_part(x)]], text("]")];
    cat![local, text("@"), alt![Part::Built(domain), literal]].build(x)
}

pub(super) fn email(x: &mut Exprs) -> ExprId {
    let domain = hostname(x);
    mailbox(x, false, domain)
}

pub(super) fn idn_email(x: &mut Exprs) -> ExprId {
    let domain = crate::schema::format::idn::hostname(x);
    mailbox(x, true, domain)
}

/// A host of a URI in brackets.
pub(super) fn ip_literal(x: &mut Exprs, future: &Part) -> Part {
    let version = cat![ascii(&[(b'V', b'V'), (b'v', b'v')]), some(&HEX), text("."), some(future)];
    cat![text("["), alt![ipv6_part(x), version], text("]")]
}

/// A port of a URI.
pub(super) fn port() -> Part {
    cat![text(":"), any(&DIGIT)]
}
