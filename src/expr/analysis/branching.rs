//! Branching: whether an expression soon has more continuations than any array uses up.
//!
//! Infinitely many texts may follow a state and yet only one of each length, as in `a*`: a bound on the length then
//! leaves few. Where prefixes multiply there are many behind a few bytes, whatever bound comes later.

use rustc_hash::FxHashMap;

use crate::expr::{ExprId, Exprs, INF};

/// Memo of [`bytes_until_many`].
pub type BranchingTable = FxHashMap<ExprId, u32>;

/// More than any array uses up, which has fewer than 2^32 elements.
pub const ENOUGH: u64 = 1 << 40;

/// Bytes that are looked at.
const FARTHEST: u32 = 64;
/// Nodes of expressions that are made for an answer, about. States may be unions of as many ways to read a text.
const MOST_NODES: usize = 50_000;
/// Expressions that are followed at once. What is left out is not counted.
const WIDEST: usize = 16;

/// The number of bytes within which members of `e` have at least [`ENOUGH`] different prefixes; [`INF`] where that is
/// not seen. Every derivative must be decided live or dead already.
pub fn bytes_until_many(x: &mut Exprs, table: &mut BranchingTable, e: ExprId) -> u32 {
    if let Some(&known) = table.get(&e) {
        return known;
    }
    let (mut level, mut bytes) = (vec![(e, 1u64)], INF);
    let before = x.own_size();
    for read in 1..=FARTHEST {
        if x.own_size() - before > MOST_NODES {
            break;
        }
        let mut next: Vec<(ExprId, u64)> = Vec::new();
        for &(at, ways) in &level {
            for edge in x.row(at).iter() {
                let more = ways.saturating_mul(u64::from(edge.hi - edge.lo) + 1);
                if let Some(known) = next.iter_mut().find(|n| n.0 == edge.to) {
                    known.1 = known.1.saturating_add(more);
                } else if next.len() < WIDEST && x.finds_live(edge.to) {
                    next.push((edge.to, more));
                }
            }
        }
        if next.iter().fold(0, |all: u64, n| all.saturating_add(n.1)) >= ENOUGH {
            bytes = read;
            break;
        }
        level = next;
    }
    table.insert(e, bytes);
    bytes
}

#[cfg(test)]
mod tests;
