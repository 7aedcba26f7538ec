//! The largest distance of anything that may be left of a member from its end, in bytes.
//!
//! A token budget asks how many bytes may be missing inside a scalar, wherever it is. The structure tells that without
//! any automaton: what is left of a concatenation is what is left of its first part, and the second part; what is left
//! of a repetition is what is left of one copy, and those that must follow. That is a bound and mostly exact. Nothing
//! is said of intersections, complements and recursion.

use rustc_hash::FxHashMap;

use crate::expr::{Edge, Expr, ExprId, Exprs, INF};

/// How far the ends of an expression's members are, in bytes: at most so far, or [`INF`] where that is not known.
#[derive(Clone, Copy)]
struct Distance {
    /// From the beginning of a member: the length of the shortest one.
    whole: u32,
    /// From anywhere in a member: the largest number of bytes that its nearest end may be away.
    any: u32,
}

/// So many bytes complete any beginning of a member of `e` at most, where `cost` says how many are written for a byte;
/// [`INF`] where that is not known.
pub fn farthest_end(x: &Exprs, e: ExprId, cost: impl Fn(u8) -> u32) -> u32 {
    let unknown = Distance { whole: INF, any: INF };
    let mut known: FxHashMap<ExprId, Distance> = FxHashMap::default();
    for n in x.reachable(e) {
        let of = |e: &ExprId| known.get(e).copied().unwrap_or(unknown);
        let found = match x.get(n) {
            Expr::Never => Distance { whole: INF, any: 0 },
            Expr::Eps => Distance { whole: 0, any: 0 },
            Expr::Step { nullable, edges } => {
                let cheapest = |edge: &Edge| (edge.lo..=edge.hi).map(&cost).min().unwrap_or(INF);
                let nearest = edges.iter().map(|edge| of(&edge.to).whole.saturating_add(cheapest(edge)));
                let nearest = nearest.min().unwrap_or(INF);
                let whole = if *nullable { 0 } else { nearest };
                Distance { whole, any: edges.iter().map(|edge| of(&edge.to).any).fold(whole, u32::max) }
            }
            Expr::Cat(a, b) => {
                let (first, rest) = (of(a), of(b));
                let whole = first.whole.saturating_add(rest.whole);
                Distance { whole, any: first.any.saturating_add(rest.whole).max(rest.any).max(whole) }
            }
            Expr::Alt(all) => {
                let whole = all.iter().map(|part| of(part).whole).min().unwrap_or(INF);
                Distance { whole, any: all.iter().map(|part| of(part).any).max().unwrap_or(0) }
            }
            Expr::Rep { body, min, .. } => {
                let one = of(body);
                let whole = if *min == 0 { 0 } else { one.whole.saturating_mul(*min) };
                let others = if *min < 2 { 0 } else { one.whole.saturating_mul(*min - 1) };
                Distance { whole, any: one.any.saturating_add(others).max(whole) }
            }
            Expr::Multiple(multiple) => Distance { whole: multiple.least_bytes(), any: multiple.farthest_end() },
            Expr::And(_) | Expr::Not(_) | Expr::Fix(_) => unknown,
        };
        known.insert(n, found);
    }
    known.get(&e).map_or(INF, |found| found.any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::regex::{Dialect, RegexOptions, lower_full};

    #[test]
    fn no_beginning_is_farther_from_its_end() {
        for (pattern, expected) in [
            ("x{7}", 7),
            ("a|b[c]{50}", 50),
            ("[a-z]+", 1),
            ("(?:ab){3,}c", 7),
            ("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?", 1),
        ] {
            let limits = Limits::default();
            let mut exprs = Exprs::new(limits.max_expr_nodes);
            let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
            let expr = lower_full(&mut exprs, pattern, &options, &limits).expect("the pattern is fine");
            let found = farthest_end(&exprs, expr, |_| 1);
            // A whole alternative counts as if others had been left.
            assert!((expected..=expected + 1).contains(&found), "{pattern}: {found}");
            // Where a byte is written in two, every distance is twice as long.
            assert_eq!(farthest_end(&exprs, expr, |_| 2), 2 * found, "{pattern}");
        }
    }
}
