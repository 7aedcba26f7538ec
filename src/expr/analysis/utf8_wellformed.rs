//! Whether an expression accepts nothing but well-formed UTF-8.
//!
//! Expressions read bytes, and nothing in them says that these are text, though all expressions of the frontends are.
//! What masks know of *text* as such, [slices](crate::expr::analysis::slice) among it, holds where that is certain. It
//! is read off the structure: for each part and each place inside of a character where it may begin, the places where
//! it may end.

use rustc_hash::FxHashMap;

use crate::expr::{Edge, Expr, ExprId, Exprs};

/// Whether all members of `e` are well-formed UTF-8. False where the structure does not tell.
pub fn is_text(x: &Exprs, e: ExprId) -> bool {
    /// Expressions of more nodes are not looked at: making the rows of their masks takes longer anyway.
    const MOST_NODES: usize = 1 << 20;
    let order = x.reachable(e);
    if order.len() > MOST_NODES {
        return false;
    }
    // Whatever it is that consists of ASCII is text.
    let is_ascii = |n: &ExprId| match x.get(*n) {
        Expr::Step { edges, .. } => edges.iter().all(|e| e.hi < 0x80),
        Expr::Not(_) | Expr::Fix(_) => false,
        _ => true,
    };
    if order.iter().all(is_ascii) {
        return true;
    }
    let mut ends: FxHashMap<ExprId, CharEnds> = FxHashMap::default();
    // What a name stands for may lie behind it: nothing at first, and all is looked at until nothing is new.
    let recursive = order.iter().any(|&n| matches!(x.get(n), Expr::Fix(_)));
    let first = if recursive { [0; PLACES] } else { UNKNOWN_ENDS };
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &n in &order {
            let value = ends_of(x, n, |e| ends.get(e).copied().unwrap_or(first));
            changed |= ends.insert(n, value) != Some(value);
        }
        changed &= recursive;
    }
    ends.get(&e).is_some_and(|ends| ends[0] & !1 == 0)
}

/// By the place in a character where the members of an expression begin, the places where they may end.
type CharEnds = [u16; PLACES];

/// A string that is no text.
const NO: u16 = 1 << 15;

const UNKNOWN_ENDS: CharEnds = [NO; PLACES];

/// Of the empty text: it ends where it begins.
fn empty_text() -> CharEnds {
    std::array::from_fn(|p| 1 << p)
}

/// Of one expression behind another.
fn compose(a: &CharEnds, b: &CharEnds) -> CharEnds {
    a.map(|ends| (0..PLACES).fold(ends & NO, |all, p| if ends >> p & 1 == 1 { all | b[p] } else { all }))
}

/// Of one expression or another.
fn join(a: &CharEnds, b: &CharEnds) -> CharEnds {
    std::array::from_fn(|p| a[p] | b[p])
}

/// Of a node, by what is known `of` its children.
fn ends_of(x: &Exprs, n: ExprId, of: impl Fn(&ExprId) -> CharEnds) -> CharEnds {
    match x.get(n) {
        Expr::Never => [0; PLACES],
        Expr::Eps => empty_text(),
        Expr::Step { nullable, edges } => {
            let first = if *nullable { empty_text() } else { [0; PLACES] };
            edges.iter().fold(first, |all, edge| join(&all, &ends_behind(edge, &of(&edge.to))))
        }
        Expr::Cat(a, b) => compose(&of(a), &of(b)),
        Expr::Alt(v) => v.iter().fold([0; PLACES], |all, e| join(&all, &of(e))),
        Expr::And(v) => v.iter().fold([u16::MAX; PLACES], |all, e| {
            let of = of(e);
            std::array::from_fn(|p| all[p] & of[p])
        }),
        Expr::Rep { body, min, .. } => {
            let body = of(body);
            let mut some = join(&empty_text(), &body);
            for _ in 0..PLACES {
                some = join(&some, &compose(&some, &body));
            }
            if *min == 0 { some } else { compose(&body, &some) }
        }
        // Digits, each a character of its own.
        Expr::Multiple(_) => std::array::from_fn(|p| if p == 0 { 1 } else { NO }),
        Expr::Not(_) => [u16::MAX; PLACES],
        Expr::Fix(name) => x.definition(*name).map_or(UNKNOWN_ENDS, |e| of(&e)),
    }
}

/// Of a byte of an edge and what follows it, whose ends are `to`.
fn ends_behind(edge: &Edge, to: &CharEnds) -> CharEnds {
    // Where a character may begin it may not go on.
    let places = match (edge.lo, edge.hi) {
        (_, 0..0x80) | (0xC0.., _) => 0..1,
        (0x80.., ..0xC0) => 1..PLACES,
        _ => 0..PLACES,
    };
    let mut all: CharEnds = std::array::from_fn(|p| if places.contains(&p) { 0 } else { NO });
    // Bytes between these act alike in every place.
    for b in ALIKE.into_iter().filter(|&b| b > edge.lo && b <= edge.hi).chain([edge.lo]) {
        for (p, all) in all.iter_mut().enumerate().take(places.end).skip(places.start) {
            *all |= place_after(p, b).map_or(NO, |q| to[q]);
        }
    }
    all
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
