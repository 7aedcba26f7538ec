//! Several `contains` on one array: whether what is missing still fits.
//!
//! One element may count for several of them, or for one and against another, so each may be in reach while all
//! together are not: `[1, …]` of two elements has room for a 2 and for a 3, but not for both. Where that can happen,
//! the answer is looked up. A *vector* holds how many elements have matched each `contains`, as far as its bounds can
//! tell. For each vector, at each position that has ways of its own and at all positions behind these, the numbers of
//! further elements are found with which the array may end: from the last position back to the first, and from the
//! highest counts down, because an element never lowers a count.
//!
//! These numbers are intervals. Where an element may come that changes no count any more, they have no end.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::json::rules::{Contains, Element};
use crate::util::cancel::charge;

/// Vectors at all positions that are told apart, and with their ways: a vector is an alternative in the frames, so more
/// of them would be slow as well as large.
const VECTORS: u64 = 4_096;
const STEPS: u64 = 1 << 20;

/// Numbers of further elements: ascending intervals with gaps between them, ends included.
type ArrayLengths = SmallVec<[(u64, u64); 1]>;

/// Which numbers of further elements complete an array with several `contains`, by what was counted so far.
#[derive(Clone, Debug)]
pub struct ContainsCounting {
    counts: SmallVec<[ContainsCount; 4]>,
    /// By position, the last one standing for all that follow, and by vector.
    more: Vec<Vec<ArrayLengths>>,
}

/// One place of a vector.
#[derive(Clone, Debug)]
struct ContainsCount {
    min: u64,
    /// The highest count that is told.
    top: u64,
    /// No element may match beyond it.
    bounded: bool,
    /// By how much the vector's number grows with the count.
    stride: usize,
}

impl ContainsCounting {
    /// For an array with these ways and bounds. `None` where each `contains` can be looked at by itself: one alone, or
    /// lower bounds only, which any number of further elements may meet.
    ///
    /// # Errors
    /// `Limit` where too many vectors would have to be told apart.
    pub fn build(
        (prefix, rest): (&[Vec<Element>], &[Element]),
        contains: &[Contains],
        max: Option<u64>,
    ) -> Result<Option<ContainsCounting>> {
        let in_rest = rest.iter().fold(0, |all, way| all | way.matches);
        let apart = |(c, bit): (&Contains, u32)| c.max.is_none() && (c.min == 0 || in_rest >> bit & 1 == 1);
        if contains.len() < 2 || (max.is_none() && contains.iter().zip(0..).all(apart)) {
            return Ok(None);
        }
        let positions = prefix.len() as u64 + 1;
        let (mut counts, mut vectors) = (SmallVec::new(), 1u64);
        for c in contains {
            let top = c.max.unwrap_or(c.min);
            counts.push(ContainsCount { min: c.min, top, bounded: c.max.is_some(), stride: vectors as usize });
            vectors = vectors.saturating_mul(top.saturating_add(1));
            let told = vectors.saturating_mul(positions);
            if told > VECTORS {
                return Err(Error::limit("counts of contains told apart", VECTORS, told));
            }
        }
        let ways = prefix.iter().map(Vec::len).sum::<usize>() + rest.len();
        let steps = vectors.saturating_mul(ways as u64);
        if steps > STEPS {
            return Err(Error::limit("the work that contains takes beside minContains and maxContains", STEPS, steps));
        }
        let mut counting = ContainsCounting { counts, more: Vec::new() };
        let mut found = vec![ArrayLengths::new(); vectors as usize];
        for vector in (0..found.len()).rev() {
            let mut of_vector = counting.at_end(vector);
            let mut endless = false;
            for way in rest {
                match counting.step(vector, way.matches) {
                    Some(to) if to == vector => endless = true,
                    Some(to) => add_after(&mut of_vector, &found[to]),
                    None => {}
                }
            }
            if let (true, Some(&(least, _))) = (endless, of_vector.first()) {
                of_vector = SmallVec::from_elem((least, u64::MAX), 1);
            }
            found[vector] = of_vector;
            charge(rest.len().max(1));
        }
        let mut more = vec![found];
        for ways in prefix.iter().rev() {
            let behind = &more[more.len() - 1];
            let mut found = Vec::with_capacity(behind.len());
            for vector in 0..behind.len() {
                let mut of_vector = counting.at_end(vector);
                for to in ways.iter().filter_map(|way| counting.step(vector, way.matches)) {
                    add_after(&mut of_vector, &behind[to]);
                }
                found.push(of_vector);
                charge(ways.len().max(1));
            }
            more.push(found);
        }
        more.reverse();
        counting.more = more;
        Ok(Some(counting))
    }

    /// Whether an array of `len` elements with these match counts can still end with a length within the bounds.
    pub fn feasible(&self, len: u64, counts: &[u32], (min, max): (u64, u64)) -> bool {
        let mut vector = 0;
        for (c, &n) in self.counts.iter().zip(counts) {
            if c.bounded && u64::from(n) > c.top {
                return false;
            }
            vector += u64::from(n).min(c.top) as usize * c.stride;
        }
        let Some(room) = max.checked_sub(len) else { return false };
        let at = usize::try_from(len).unwrap_or(usize::MAX).min(self.more.len() - 1);
        let fewest = min.saturating_sub(len);
        self.more[at][vector].iter().any(|&(from, to)| from <= room && to >= fewest)
    }

    /// The array may end here, or no element may follow that makes it so.
    fn at_end(&self, vector: usize) -> ArrayLengths {
        let good = self.counts.iter().all(|c| self.count(vector, c) >= c.min);
        if good { SmallVec::from_elem((0, 0), 1) } else { ArrayLengths::new() }
    }

    fn count(&self, vector: usize, c: &ContainsCount) -> u64 {
        (vector / c.stride) as u64 % (c.top + 1)
    }

    /// The vector after an element that counts for `matches`; `None` where some bound forbids it.
    fn step(&self, vector: usize, matches: u32) -> Option<usize> {
        let mut to = vector;
        for (c, _) in self.counts.iter().zip(0..).filter(|(_, bit)| matches >> bit & 1 == 1) {
            match self.count(vector, c) < c.top {
                true => to += c.stride,
                false if c.bounded => return None,
                false => {}
            }
        }
        Some(to)
    }
}

/// Adds to `lengths` those that `behind` has after one more element.
fn add_after(lengths: &mut ArrayLengths, behind: &ArrayLengths) {
    if behind.is_empty() {
        return;
    }
    lengths.extend(behind.iter().map(|&(from, to)| (from.saturating_add(1), to.saturating_add(1))));
    lengths.sort_unstable();
    let mut kept = 0;
    for i in 1..lengths.len() {
        let (from, to) = lengths[i];
        if from <= lengths[kept].1.saturating_add(1) {
            lengths[kept].1 = lengths[kept].1.max(to);
        } else {
            kept += 1;
            lengths[kept] = (from, to);
        }
    }
    lengths.truncate(kept + 1);
}

#[cfg(test)]
mod tests;
