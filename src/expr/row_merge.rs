//! Merged rows: the derivative of an intersection or a union, before anybody makes an expression of it.
//!
//! Rows split the bytes at different borders. A *piece* is a range that all of them treat alike. An intersection has
//! none where one of the rows has a hole, a union where all of them have.

use smallvec::SmallVec;
use std::sync::Arc;

use crate::expr::arena::{Edge, ExprId};
use crate::util::cancel::charge;

/// Pieces before one that are compared with it.
const RECENT: usize = 4;

/// The most rows of which all are looked at for each piece of a union.
const FEW: usize = 8;

/// Expressions side by side.
pub(super) type ExprList = SmallVec<[ExprId; 8]>;

/// What the rows of an intersection lead to, for each piece: as many numbers as there are rows, one piece after the
/// other. Pieces with holes between them often lead to one place, which is then mostly there once.
pub(super) fn read_together<'r>(rows: impl Iterator<Item = &'r [Edge]>, out: &mut Vec<u32>) {
    // The edge at hand of each row, and those after it.
    let mut at: SmallVec<[Edge; 16]> = SmallVec::new();
    let mut after: SmallVec<[&[Edge]; 16]> = SmallVec::new();
    for row in rows {
        let Some((&first, rest)) = row.split_first() else { return };
        at.push(first);
        after.push(rest);
    }
    let (at, after) = (at.as_mut_slice(), after.as_mut_slice());
    let width = at.len();
    let mut looked = 0;
    loop {
        // Many rows over many pieces take longer than a step.
        looked += width;
        if looked >= 64 {
            charge(looked / 64);
            looked %= 64;
        }
        let (mut lo, mut hi) = (0, 255);
        for edge in at.iter() {
            (lo, hi) = (edge.lo.max(lo), edge.hi.min(hi));
        }
        if lo <= hi {
            let from = out.len();
            for edge in at.iter() {
                out.push(edge.to.0);
            }
            let (before, piece) = out.split_at(from);
            // A few numbers: a call to compare them takes longer than they do.
            let is_piece = |before: &[u32]| before.iter().zip(piece).all(|(a, b)| a == b);
            if before.rchunks_exact(width.max(1)).take(RECENT).any(is_piece) {
                out.truncate(from);
            }
        }
        if hi == 255 {
            return;
        }
        for (edge, rest) in at.iter_mut().zip(after.iter_mut()) {
            if edge.hi == hi {
                let Some((&next, others)) = rest.split_first() else { return };
                (*edge, *rest) = (next, others);
            }
        }
    }
}

/// Calls `visit` with the borders of each piece of a union, in order, and what the rows that have it lead to.
pub(super) fn split_at_borders(rows: &[Arc<[Edge]>], visit: impl FnMut(u8, u8, &mut ExprList)) {
    if rows.len() <= FEW { split_few(rows, visit) } else { split_many(rows, visit) }
}

/// [`split_at_borders`] along all rows at once.
fn split_few(rows: &[Arc<[Edge]>], mut visit: impl FnMut(u8, u8, &mut ExprList)) {
    let mut rest: SmallVec<[&[Edge]; FEW]> = rows.iter().map(|row| &**row).collect();
    let mut targets = ExprList::new();
    let mut from = 0;
    while let Some(lo) = rest.iter().filter_map(|row| row.first()).map(|edge| edge.lo.max(from)).min() {
        let mut hi = 255;
        targets.clear();
        for edge in rest.iter().filter_map(|row| row.first()) {
            if edge.lo <= lo {
                targets.push(edge.to);
                hi = edge.hi.min(hi);
            } else {
                hi = hi.min(edge.lo - 1);
            }
        }
        visit(lo, hi, &mut targets);
        for row in &mut rest {
            if row.first().is_some_and(|edge| edge.hi == hi) {
                *row = &row[1..];
            }
        }
        let Some(next) = hi.checked_add(1) else { break };
        from = next;
    }
}

/// [`split_at_borders`] with all edges in the order of their beginnings: they enter there and leave after their end.
fn split_many(rows: &[Arc<[Edge]>], mut visit: impl FnMut(u8, u8, &mut ExprList)) {
    // A bit for every byte at which some edge starts or has ended.
    let mut starts = [0u64; 5];
    let mut all: Vec<Edge> = Vec::with_capacity(rows.iter().map(|r| r.len()).sum());
    for row in rows {
        for e in row.iter() {
            let after = e.hi as usize + 1;
            starts[e.lo as usize / 64] |= 1 << (e.lo % 64);
            starts[after / 64] |= 1 << (after % 64);
        }
        all.extend_from_slice(row);
    }
    all.sort_unstable_by_key(|e| e.lo);
    let mut active: SmallVec<[Edge; 16]> = SmallVec::new();
    let mut targets = ExprList::new();
    let mut next = 0;
    let mut lo = 0usize;
    while lo < 256 {
        let hi = next_start(&starts, lo + 1) - 1;
        active.retain(|e| e.hi as usize >= lo);
        while next < all.len() && all[next].lo as usize <= lo {
            active.push(all[next]);
            next += 1;
        }
        if !active.is_empty() {
            targets.clear();
            targets.extend(active.iter().map(|e| e.to));
            visit(lo as u8, hi as u8, &mut targets);
        }
        lo = hi + 1;
    }
}

/// The first place from `at` on at which a range starts or has ended; 256 is the last.
#[inline]
fn next_start(starts: &[u64; 5], at: usize) -> usize {
    let mut word = at / 64;
    let mut bits = starts[word] & (!0 << (at % 64));
    while bits == 0 {
        word += 1;
        match starts.get(word) {
            Some(&more) => bits = more,
            None => return 256,
        }
    }
    (word * 64 + bits.trailing_zeros() as usize).min(256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::Rng;

    /// Rows of pseudorandom edges that do not overlap.
    fn some_rows(count: usize, rng: &mut Rng) -> Vec<Arc<[Edge]>> {
        (0..count)
            .map(|_| {
                let (mut edges, mut at) = (Vec::new(), rng.below(40));
                while at < 256 {
                    let hi = (at + rng.below(30)).min(255);
                    edges.push(Edge { lo: at as u8, hi: hi as u8, to: ExprId(rng.below(6) as u32) });
                    at = hi + 1 + rng.below(3) * rng.below(20);
                }
                edges.into()
            })
            .collect()
    }

    #[test]
    fn few_and_many_rows_are_split_as_each_byte_says() {
        let mut rng = Rng(1);
        for count in (0..=12).cycle().take(600) {
            let rows = some_rows(count, &mut rng);
            let mut expected: Vec<Vec<ExprId>> = Vec::new();
            for byte in 0..=255u8 {
                let mut to: Vec<ExprId> =
                    rows.iter().flat_map(|r| r.iter()).filter(|e| e.lo <= byte && byte <= e.hi).map(|e| e.to).collect();
                to.sort_unstable();
                expected.push(to);
            }
            for few in [true, false] {
                let mut found = vec![Vec::new(); 256];
                let mut ended = 0;
                let visit = |lo: u8, hi: u8, targets: &mut ExprList| {
                    assert!(usize::from(lo) >= ended && lo <= hi);
                    ended = usize::from(hi) + 1;
                    targets.sort_unstable();
                    found[usize::from(lo)..ended].fill(targets.to_vec());
                };
                if few {
                    split_few(&rows, visit)
                } else {
                    split_many(&rows, visit)
                }
                assert_eq!(found, expected);
            }
        }
    }
}
