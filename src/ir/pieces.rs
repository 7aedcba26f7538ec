//! Several rows read at once: the derivative of an intersection, before anybody makes an expression of it.
//!
//! Rows split the bytes at different borders. A *piece* is a range that all of them tell alike; where one of the rows
//! has a hole there is none.

use smallvec::SmallVec;

use super::expr::Edge;
use crate::work::spend;

/// Pieces before one that are compared with it.
const RECENT: usize = 4;

/// What the rows lead to, for each piece: as many numbers as there are rows, one piece after the other. Pieces with
/// holes between them often lead to one place, which is then mostly there once.
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
            spend(looked / 64);
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
            if before.rchunks_exact(width.max(1)).take(RECENT).any(|p| p == piece) {
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
