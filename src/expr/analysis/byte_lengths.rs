//! The least and greatest lengths in bytes of the members of an expression.
//!
//! A search for the shortest end of a lexeme goes straight there if it knows how much is missing at least. The
//! structure tells exactly that but for intersections, complements and recursion, where it tells a bound. The greatest
//! length says which tokens are too long for a state.

use rustc_hash::FxHashMap;

use crate::expr::analysis::postorder::{Todo, fill};
use crate::expr::{Edge, Expr, ExprId, Exprs, INF};

/// Memo of [`least`], [`least_chars`], [`least_of_all_parts`] or [`most`].
pub type ByteLengthTable = FxHashMap<ExprId, u32>;

/// No member of `e` has fewer bytes; `u32::MAX` where it has no member, or all are immensely long.
pub fn least(x: &Exprs, table: &mut ByteLengthTable, e: ExprId) -> u32 {
    least_by(x, table, e, |_| 1, |parts| parts.max())
}

/// No member of `e` has fewer code points, each counted at its first byte.
pub fn least_chars(x: &Exprs, table: &mut ByteLengthTable, e: ExprId) -> u32 {
    let begins_char = |edge: &Edge| u32::from(edge.hi < 0x80 || edge.lo >= 0xC0);
    least_by(x, table, e, begins_char, |parts| parts.max())
}

/// [`least`], but an intersection counts the bytes of all its parts. This is no bound, for one byte may bring several
/// parts nearer to their ends; so a search that goes where it is least reads first what most of them wait for.
pub fn least_of_all_parts(x: &Exprs, table: &mut ByteLengthTable, e: ExprId) -> u32 {
    least_by(x, table, e, |_| 1, |parts| parts.reduce(u32::saturating_add))
}

fn least_by(
    x: &Exprs,
    table: &mut ByteLengthTable,
    e: ExprId,
    of_edge: impl Fn(&Edge) -> u32,
    of_intersection: impl Fn(&mut dyn Iterator<Item = u32>) -> Option<u32>,
) -> u32 {
    let parts = |e, todo: &mut Todo| match x.get(e) {
        Expr::Step { nullable: false, edges } => todo.ask(edges.iter().map(|e| e.to)),
        Expr::Cat(a, b) => todo.ask([*a, *b]),
        Expr::Alt(v) | Expr::And(v) => todo.ask(v.iter().copied()),
        Expr::Rep { body, min: 1.., .. } => todo.ask([*body]),
        _ => {}
    };
    let bytes = |e, table: &ByteLengthTable| {
        let of = |e: &ExprId| table.get(e).copied().unwrap_or(0);
        match x.get(e) {
            Expr::Never => u32::MAX,
            Expr::Step { nullable: false, edges } => {
                edges.iter().map(|e| of(&e.to).saturating_add(of_edge(e))).min().unwrap_or(u32::MAX)
            }
            Expr::Cat(a, b) => of(a).saturating_add(of(b)),
            Expr::Alt(v) => v.iter().map(of).min().unwrap_or(u32::MAX),
            Expr::And(v) => of_intersection(&mut v.iter().map(of)).unwrap_or(0),
            Expr::Rep { body, min: min @ 1.., .. } => of(body).saturating_mul(*min),
            Expr::Multiple(digits) => digits.least_bytes(),
            _ => 0,
        }
    };
    fill(table, e, parts, bytes);
    table.get(&e).copied().unwrap_or(0)
}

/// No member of `e` has more code points; [`INF`] where that is not known. A code point is counted at its first byte.
pub fn most(x: &Exprs, table: &mut ByteLengthTable, e: ExprId) -> u32 {
    let parts = |e, todo: &mut Todo| match x.get(e) {
        Expr::Step { edges, .. } => todo.ask(edges.iter().map(|e| e.to)),
        Expr::Cat(a, b) => todo.ask([*a, *b]),
        Expr::Alt(v) | Expr::And(v) => todo.ask(v.iter().copied()),
        Expr::Rep { body, max, .. } if *max < INF => todo.ask([*body]),
        _ => {}
    };
    let chars = |e, table: &ByteLengthTable| {
        let of = |e: &ExprId| table.get(e).copied().unwrap_or(INF);
        match x.get(e) {
            Expr::Never | Expr::Eps => 0,
            Expr::Step { edges, .. } => {
                let begins = |lo: u8, hi: u8| u32::from(lo < 0x80 || hi >= 0xC0);
                edges.iter().map(|e| of(&e.to).saturating_add(begins(e.lo, e.hi))).max().unwrap_or(0)
            }
            Expr::Cat(a, b) => of(a).saturating_add(of(b)),
            Expr::Alt(v) => v.iter().map(of).max().unwrap_or(0),
            Expr::And(v) => v.iter().map(of).min().unwrap_or(INF),
            Expr::Rep { body, max, .. } if *max < INF => of(body).saturating_mul(*max),
            _ => INF,
        }
    };
    fill(table, e, parts, chars);
    table.get(&e).copied().unwrap_or(INF)
}
