//! The last bytes of an expression's members.
//!
//! The structure tells, without a state of an automaton: the last byte of a concatenation is that of its second part,
//! or of the first where the second may be empty.

use rustc_hash::FxHashMap;

use crate::expr::byte_bits::{ByteBits, intersection, range, set_of, union};
use crate::expr::{ByteSet, Expr, ExprId, Exprs};

/// The last bytes of members of `e`: all of them, perhaps some more where complements, intersections and recursion are
/// involved. Linear in the nodes of `e`.
pub(crate) fn last_bytes(x: &Exprs, e: ExprId) -> ByteSet {
    const ALL: ByteBits = [u64::MAX; 4];
    let mut known: FxHashMap<ExprId, ByteBits> = FxHashMap::default();
    for n in x.reachable(e) {
        let of = |e: &ExprId| known.get(e).copied().unwrap_or(ALL);
        let found = match x.get(n) {
            Expr::Never | Expr::Eps => [0; 4],
            Expr::Step { edges, .. } => edges.iter().fold([0; 4], |all, edge| {
                let all = union(all, of(&edge.to));
                if x.nullable(edge.to) { union(all, range(edge.lo, edge.hi)) } else { all }
            }),
            Expr::Cat(a, b) if x.nullable(*b) => union(of(a), of(b)),
            Expr::Cat(_, b) => of(b),
            Expr::Alt(all) => all.iter().fold([0; 4], |found, part| union(found, of(part))),
            Expr::And(all) => all.iter().fold(ALL, |found, part| intersection(found, of(part))),
            Expr::Rep { body, .. } => of(body),
            Expr::Multiple(_) => union(range(b'0', b'9'), range(b'.', b'.')),
            Expr::Not(_) | Expr::Fix(_) => ALL,
        };
        known.insert(n, found);
    }
    set_of(known.get(&e).copied().unwrap_or(ALL))
}
