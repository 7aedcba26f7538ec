//! What may pass a state whatever it is: strings over some set of bytes, up to some length.
//!
//! A mask asks which tokens a state lets through. Most states that let many through do so for a simple reason: a
//! repetition of a class stands in front of them (`[a-z0-9-]{1,63}`, `\S+`), or anything at all may come before what is
//! looked for (a pattern without `^`). Then whole subtrees of the vocabulary's trie need not be walked: the bytes below
//! a node are known ([`Groups`]), and where the state is [`Free`] in them, every token below passes. Counts need not be
//! counted either, so the states of a long repetition are not made for the sake of a mask.
//!
//! The answer is read off the expression. It is a lower bound: bytes outside of the set, or strings that are longer,
//! may pass as well. What it says is exact because an expression without intersection and complement accepts nothing
//! only if it *is* `NEVER`, so what follows a repetition does not matter. Intersections are looked into where nothing
//! that they derive to is dead, or where only finitely many texts are taken from something that goes on for ever.
//!
//! Free strings are meant as far as they are text: whether a string of free bytes is (the beginning of) well-formed
//! UTF-8 is not asked here, but by whoever knows which tokens are. That all members of a lexeme are text is checked once
//! for each ([`is_text`]).

use rustc_hash::FxHashMap;

use super::lengths::{LengthTable, lengths};
use crate::ir::{Edge, Expr, ExprId, Exprs, INF};

/// A set of bytes, by groups that usually go together: a bit for each of [`GROUPS`].
pub type Groups = u64;

/// Punctuation and spaces have a group each; digits and letters have few, and so have the first bytes of characters
/// beyond ASCII. Bytes inside of such characters have none, for a character is known by its first byte. Bytes that no
/// text contains share the last one.
const RANGES: [(u8, u8); 28] = [
    (b'0', b'9'),
    (b'a', b'f'),
    (b'g', b'z'),
    (b'A', b'F'),
    (b'G', b'Z'),
    (b'\t', b'\t'),
    (b'\n', b'\n'),
    (b'\r', b'\r'),
    (0xC2, 0xC2),
    (0xC3, 0xC3),
    (0xC4, 0xCA),
    (0xCB, 0xCF),
    (0xD0, 0xD1),
    (0xD2, 0xD7),
    (0xD8, 0xDF),
    (0xE0, 0xE0),
    (0xE1, 0xE1),
    (0xE2, 0xE2),
    (0xE3, 0xE3),
    (0xE4, 0xE4),
    (0xE5, 0xE8),
    (0xE9, 0xE9),
    (0xEA, 0xEA),
    (0xEB, 0xEC),
    (0xED, 0xED),
    (0xEE, 0xEF),
    (0xF0, 0xF0),
    (0xF1, 0xF4),
];
/// The group of the control characters of JSON but tabulators and ends of lines.
const CONTROL: u8 = 28;
/// The group of the last byte of ASCII.
const DELETE: u8 = 62;
/// Bytes that begin no character.
const INVALID: u8 = 63;
/// Inside of a character.
const INSIDE: u8 = 255;

const fn group_table() -> [u8; 256] {
    let mut out = [INVALID; 256];
    let mut next = CONTROL + 1;
    let mut b = 0;
    while b < 256 {
        let mut i = 0;
        while i < RANGES.len() && !(RANGES[i].0 as usize <= b && b <= RANGES[i].1 as usize) {
            i += 1;
        }
        out[b] = if i < RANGES.len() {
            i as u8
        } else if b < 0x20 {
            CONTROL
        } else if b == 0x7F {
            DELETE
        } else if b < 0x80 {
            next += 1;
            next - 1
        } else if b < 0xC0 {
            INSIDE
        } else {
            INVALID
        };
        b += 1;
    }
    // Each mark of punctuation and the space have a group of their own.
    assert!(next == DELETE);
    out
}

/// The group of each byte.
static GROUPS: [u8; 256] = group_table();

/// The groups of one byte.
#[inline]
pub fn group_of(byte: u8) -> Groups {
    match GROUPS[byte as usize] {
        INSIDE => 0,
        g => 1 << g,
    }
}

/// All that text consists of.
const ALL: Groups = !(1 << INVALID);

/// Strings that may pass: over bytes of `groups`, up to `len` characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Free {
    /// The bytes.
    pub groups: Groups,
    /// The most characters; [`INF`] for any number.
    pub len: u32,
}

impl Free {
    /// Nothing is known to pass.
    pub const NONE: Free = Free { groups: 0, len: 0 };
    /// Any text.
    pub const OPEN: Free = Free { groups: !0, len: INF };

    /// Whether all text may pass.
    pub fn is_open(&self) -> bool {
        *self == Free::OPEN
    }

    /// Whether all strings of these bytes, up to so many, may pass.
    #[inline]
    pub fn covers(&self, groups: Groups, bytes: u32) -> bool {
        groups & !self.groups == 0 && bytes <= self.len
    }

    /// `self`, or anything that is free after one copy of a class of `groups`.
    fn after(groups: Groups, copies: u32, rest: Free) -> Free {
        let common = groups & rest.groups;
        let longer = Free { groups: common, len: copies.saturating_add(rest.len) };
        let own = Free { groups, len: copies };
        if common != 0 { own.better(longer) } else { own }
    }

    /// The one that lets more tokens pass, by a guess.
    fn better(self, other: Free) -> Free {
        /// Few tokens have more characters.
        const LONG: u32 = 16;
        let worth = |f: &Free| f.groups.count_ones() * f.len.min(LONG);
        if worth(&other) > worth(&self) || (worth(&other) == worth(&self) && other.len > self.len) {
            other
        } else {
            self
        }
    }

    /// The same for JSON strings, whose decoded text this is about: what is not written as it is is not free there,
    /// and control characters are not written at all, neither here nor in any text.
    pub fn encoded(self, plain: bool) -> Free {
        let escaped = group_of(b'"') | group_of(b'\\');
        match self {
            open if open.is_open() && !plain => open,
            Free { groups, len } => {
                let control = 1 << CONTROL | group_of(b'\t') | group_of(b'\n') | group_of(b'\r');
                let written = groups & ALL & !escaped;
                Free { groups: if written == 0 { 0 } else { written | control }, len }
            }
        }
    }
}

/// Memo of [`free`].
pub type FreeTable = FxHashMap<ExprId, Free>;

/// How deep an expression is looked into, and how many characters of a literal are.
const DEPTH: u32 = 200;

/// What is free in `e`, every derivative of which that is not `NEVER` accepts something, or which contains intersections
/// or complements; `all_live` says that nothing that `e` derives to is dead at all.
pub fn free(x: &Exprs, memo: &mut FreeTable, table: &mut LengthTable, all_live: bool, e: ExprId) -> Free {
    free_at(x, memo, table, all_live, e, DEPTH)
}

fn free_at(x: &Exprs, memo: &mut FreeTable, table: &mut LengthTable, all_live: bool, e: ExprId, depth: u32) -> Free {
    if let Some(&known) = memo.get(&e) {
        return known;
    }
    let Some(depth) = depth.checked_sub(1) else { return Free::NONE };
    let mut of = |e: ExprId| free_at(x, memo, table, all_live, e, depth);
    let found = match x.get(e) {
        Expr::Step { edges, .. } => step(x, edges, &mut of),
        // A repetition of nothing but a class; otherwise what its first copy lets pass.
        Expr::Rep { body, max, .. } => match class(x, *body) {
            Some(groups) => Free { groups, len: *max },
            None if x.is_boolean(e) => Free::NONE,
            None => of(*body),
        },
        Expr::Cat(..) if x.is_boolean(e) => Free::NONE,
        Expr::Cat(a, b) => {
            let (a, b) = (*a, *b);
            let first = match x.get(a) {
                Expr::Rep { body, max, .. } if *max < INF => match class(x, *body) {
                    Some(groups) => Free::after(groups, *max, of(b)),
                    None => of(a),
                },
                _ => match class(x, a) {
                    Some(groups) => Free::after(groups, 1, of(b)),
                    None => of(a),
                },
            };
            if x.nullable(a) && !first.is_open() { first.better(of(b)) } else { first }
        }
        Expr::Alt(parts) => {
            let mut best = Free::NONE;
            for &p in parts.iter() {
                best = best.better(of(p));
                if best.is_open() {
                    break;
                }
            }
            best
        }
        Expr::And(parts) => {
            let (mut all, mut plain, mut finite) = (Free::OPEN, 0, true);
            for &p in parts.iter() {
                if let Expr::Not(inner) = *x.get(p) {
                    let known = !x.is_boolean(inner) && inner != Exprs::NEVER;
                    finite &= known && lengths(x, table, inner).is_some_and(|l| l.last().is_none_or(|r| r.1 < INF));
                } else if x.is_boolean(p) {
                    return Free::NONE;
                } else {
                    plain += 1;
                    let f = free_at(x, memo, table, all_live, p, depth);
                    all = Free { groups: all.groups & f.groups, len: all.len.min(f.len) };
                }
            }
            let complements = plain < parts.len();
            match () {
                // Finitely many texts taken from what goes on for ever.
                () if finite && all.len == INF && (plain == 1 || (plain > 1 && all_live)) => all,
                () if !complements && all_live => all,
                () => Free::NONE,
            }
        }
        Expr::Never | Expr::Eps | Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) => Free::NONE,
    };
    let found = if found.groups & ALL == ALL && found.len == INF { Free::OPEN } else { found };
    memo.insert(e, found);
    found
}

/// The groups that lie within a class of characters; `None` if `e` is not one.
fn class(x: &Exprs, e: ExprId) -> Option<Groups> {
    let Expr::Step { nullable: false, edges } = x.get(e) else { return None };
    let groups = groups_to(x, edges, Exprs::EPS);
    (groups != 0).then_some(groups)
}

/// What is free in a choice by one byte: the characters that lead to the target that most of them do, and what is free
/// there.
fn step(x: &Exprs, edges: &[Edge], of: &mut impl FnMut(ExprId) -> Free) -> Free {
    let mut best: Option<(u32, ExprId)> = None;
    for e in edges.iter().filter(|e| e.hi < 0x80) {
        let width: u32 = edges.iter().filter(|o| o.to == e.to).map(|o| u32::from(o.hi - o.lo) + 1).sum();
        if best.is_none_or(|b| width > b.0) {
            best = Some((width, e.to));
        }
    }
    let Some((_, target)) = best.filter(|b| !x.is_boolean(b.1)) else { return Free::NONE };
    let groups = groups_to(x, edges, target);
    match groups {
        0 => Free::NONE,
        _ if target == Exprs::EPS => Free { groups, len: 1 },
        _ => Free::after(groups, 1, of(target)),
    }
}

/// The groups all of whose characters lead to `target` by `edges`.
fn groups_to(x: &Exprs, edges: &[Edge], target: ExprId) -> Groups {
    let mut missing: Groups = 0;
    let mut next = 0usize;
    for e in edges {
        (next..e.lo as usize).for_each(|b| missing |= group_of(b as u8));
        next = e.hi as usize + 1;
        for b in e.lo..=e.hi {
            let whole = if b < 0x80 { e.to == target } else { is_rest(x, b, e.to, target) };
            if !whole {
                missing |= group_of(b);
            }
        }
    }
    (next..256).for_each(|b| missing |= group_of(b as u8));
    ALL & !missing
}

/// Whether `e` reads the rest of any character that begins with `lead`, and then what `target` does.
fn is_rest(x: &Exprs, lead: u8, e: ExprId, target: ExprId) -> bool {
    // UTF-8 by the standard's table of well-formed sequences.
    let (second, more) = match lead {
        0xC2..=0xDF => ((0x80, 0xBF), 0),
        0xE0 => ((0xA0, 0xBF), 1),
        0xED => ((0x80, 0x9F), 1),
        0xE1..=0xEF => ((0x80, 0xBF), 1),
        0xF0 => ((0x90, 0xBF), 2),
        0xF4 => ((0x80, 0x8F), 2),
        0xF1..=0xF3 => ((0x80, 0xBF), 2),
        _ => return false,
    };
    let mut at = e;
    for (lo, hi) in std::iter::once(second).chain(std::iter::repeat_n((0x80, 0xBF), more)) {
        match x.get(at) {
            Expr::Step { nullable: false, edges } if matches!(**edges, [e] if (e.lo, e.hi) == (lo, hi)) => {
                at = edges[0].to;
            }
            _ => return false,
        }
    }
    at == target
}

/// Whether all members of `e` are well-formed UTF-8. False where the structure does not tell.
pub fn is_text(x: &Exprs, e: ExprId) -> bool {
    /// Expressions of more nodes are not looked at: making the rows of their masks takes longer anyway.
    const MOST: usize = 1 << 20;
    /// A string that is no text.
    const NO: u16 = 1 << 15;
    // For each node, by the place in a character where its members begin, the places where they may end.
    type Ends = [u16; PLACES];
    let compose = |a: &Ends, b: &Ends| -> Ends {
        a.map(|ends| (0..PLACES).fold(ends & NO, |all, p| if ends >> p & 1 == 1 { all | b[p] } else { all }))
    };
    let join = |a: &Ends, b: &Ends| -> Ends { std::array::from_fn(|p| a[p] | b[p]) };
    let none: Ends = std::array::from_fn(|p| 1 << p);
    let unknown: Ends = [NO; PLACES];
    let order = x.reachable(e);
    if order.len() > MOST {
        return false;
    }
    let mut ends: FxHashMap<ExprId, Ends> = FxHashMap::default();
    for n in order {
        let of = |e: &ExprId| ends.get(e).copied().unwrap_or(unknown);
        let value: Ends = match x.get(n) {
            Expr::Never => [0; PLACES],
            Expr::Eps => none,
            Expr::Step { nullable, edges } => {
                let mut all = if *nullable { none } else { [0; PLACES] };
                for edge in edges.iter() {
                    let to = of(&edge.to);
                    // Bytes between these act alike in every place.
                    for b in ALIKE.into_iter().filter(|&b| b > edge.lo && b <= edge.hi).chain([edge.lo]) {
                        for (p, all) in all.iter_mut().enumerate() {
                            *all |= place_after(p, b).map_or(NO, |q| to[q]);
                        }
                    }
                }
                all
            }
            Expr::Cat(a, b) => compose(&of(a), &of(b)),
            Expr::Alt(v) => v.iter().fold([0; PLACES], |all, e| join(&all, &of(e))),
            Expr::And(v) => v.iter().fold([u16::MAX; PLACES], |all, e| {
                let of = of(e);
                std::array::from_fn(|p| all[p] & of[p])
            }),
            Expr::Rep { body, min, .. } => {
                let body = of(body);
                let mut some = join(&none, &body);
                for _ in 0..PLACES {
                    some = join(&some, &compose(&some, &body));
                }
                if *min == 0 { some } else { compose(&body, &some) }
            }
            // Digits, each a character of its own.
            Expr::Multiple(_) => std::array::from_fn(|p| if p == 0 { 1 } else { NO }),
            Expr::Not(_) => [u16::MAX; PLACES],
            Expr::Fix(_) => unknown,
        };
        ends.insert(n, value);
    }
    ends.get(&e).is_some_and(|ends| ends[0] & !1 == 0)
}

/// Places in a character: its beginning, before its last byte, before the last two or three, and where the second byte
/// is restricted, after `E0`, `ED`, `F0` and `F4`.
const PLACES: usize = 8;

/// The first bytes of the ranges that lead from every place to one place.
const ALIKE: [u8; 13] = [0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5];

fn place_after(place: usize, byte: u8) -> Option<usize> {
    let next = match (place, byte) {
        (0, 0..=0x7F) => 0,
        (0, 0xC2..=0xDF) => 1,
        (0, 0xE0) => 4,
        (0, 0xED) => 5,
        (0, 0xE1..=0xEF) => 2,
        (0, 0xF0) => 6,
        (0, 0xF1..=0xF3) => 3,
        (0, 0xF4) => 7,
        (1, 0x80..=0xBF) => 0,
        (2, 0x80..=0xBF) | (4, 0xA0..=0xBF) | (5, 0x80..=0x9F) => 1,
        (3, 0x80..=0xBF) | (6, 0x90..=0xBF) | (7, 0x80..=0x8F) => 2,
        _ => return None,
    };
    Some(next)
}

#[cfg(test)]
mod tests;
