//! How short the members of an expression may be, and how long.
//!
//! A search for the nearest end of a lexeme goes straight there if it knows how much is missing at least. Structure
//! tells exactly that but for intersections, complements and recursion, where it tells a bound. How long members may be
//! says which tokens are too long for a state.

use rustc_hash::FxHashMap;

use crate::ir::{Expr, ExprId, Exprs, INF};

/// Memo of [`least`], or of [`most`].
pub type LeastTable = FxHashMap<ExprId, u32>;

/// No member of `e` has fewer bytes; `u32::MAX` where it has no member, or all are immensely long.
pub fn least(x: &Exprs, table: &mut LeastTable, e: ExprId) -> u32 {
    // Post-order with an explicit stack: literals of a million bytes are as deep.
    let mut stack = vec![(e, false)];
    while let Some((cur, ready)) = stack.pop() {
        if table.contains_key(&cur) {
            continue;
        }
        if !ready {
            stack.push((cur, true));
            match x.get(cur) {
                Expr::Step { nullable: false, edges } => stack.extend(edges.iter().map(|e| (e.to, false))),
                Expr::Cat(a, b) => stack.extend([(*a, false), (*b, false)]),
                Expr::Alt(v) | Expr::And(v) => stack.extend(v.iter().map(|&e| (e, false))),
                Expr::Rep { body, min: 1.., .. } => stack.push((*body, false)),
                _ => {}
            }
            continue;
        }
        let of = |e: &ExprId| table.get(e).copied().unwrap_or(0);
        let bytes = match x.get(cur) {
            Expr::Never => u32::MAX,
            Expr::Step { nullable: false, edges } => {
                edges.iter().map(|e| of(&e.to).saturating_add(1)).min().unwrap_or(u32::MAX)
            }
            Expr::Cat(a, b) => of(a).saturating_add(of(b)),
            Expr::Alt(v) => v.iter().map(of).min().unwrap_or(u32::MAX),
            Expr::And(v) => v.iter().map(of).max().unwrap_or(0),
            Expr::Rep { body, min: min @ 1.., .. } => of(body).saturating_mul(*min),
            _ => 0,
        };
        table.insert(cur, bytes);
    }
    table.get(&e).copied().unwrap_or(0)
}

/// No member of `e` has more code points; [`INF`] where that is not known. A code point is counted at its first byte.
pub fn most(x: &Exprs, table: &mut LeastTable, e: ExprId) -> u32 {
    let mut stack = vec![(e, false)];
    while let Some((cur, ready)) = stack.pop() {
        if table.contains_key(&cur) {
            continue;
        }
        if !ready {
            stack.push((cur, true));
            match x.get(cur) {
                Expr::Step { edges, .. } => stack.extend(edges.iter().map(|e| (e.to, false))),
                Expr::Cat(a, b) => stack.extend([(*a, false), (*b, false)]),
                Expr::Alt(v) | Expr::And(v) => stack.extend(v.iter().map(|&e| (e, false))),
                Expr::Rep { body, max, .. } if *max < INF => stack.push((*body, false)),
                _ => {}
            }
            continue;
        }
        let of = |e: &ExprId| table.get(e).copied().unwrap_or(INF);
        let chars = match x.get(cur) {
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
        };
        table.insert(cur, chars);
    }
    table.get(&e).copied().unwrap_or(INF)
}
