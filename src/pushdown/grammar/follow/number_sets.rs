//! Several sets of small numbers, each a row of bits.

use std::collections::VecDeque;

#[cfg(test)]
use crate::util::bits::ones;

/// Adds to sets what others hold, given as pairs of who takes and who gives, until nothing is new. A set gives again
/// only when it has grown: along a chain of sets what is new goes once, and not all sets of it at each of its steps.
pub(super) fn until_closed(pairs: &mut Vec<(usize, usize)>, mut add: impl FnMut(usize, usize) -> bool) {
    pairs.sort_unstable_by_key(|&(to, from)| (from, to));
    pairs.dedup();
    let givers = pairs.last().map_or(0, |pair| pair.1 + 1);
    let mut waits = vec![false; givers];
    pairs.iter().for_each(|pair| waits[pair.1] = true);
    let mut open: VecDeque<usize> = (0..givers).filter(|&set| waits[set]).collect();
    while let Some(from) = open.pop_front() {
        waits[from] = false;
        let first = pairs.partition_point(|pair| pair.1 < from);
        for &(to, _) in pairs[first..].iter().take_while(|pair| pair.1 == from) {
            if add(to, from) && to < givers && !std::mem::replace(&mut waits[to], true) {
                open.push_back(to);
            }
        }
    }
}

/// Sets of numbers below one bound.
pub(super) struct NumberSets {
    words: usize,
    bits: Vec<u64>,
}

impl NumberSets {
    /// So many empty sets of numbers below `size`.
    pub fn new(count: usize, size: usize) -> Self {
        let words = size.div_ceil(64).max(1);
        NumberSets { words, bits: vec![0; words * count] }
    }

    /// Adds a number to a set. Whether it is new there.
    pub fn insert(&mut self, set: usize, number: u32) -> bool {
        let word = &mut self.bits[set * self.words + number as usize / 64];
        let before = *word;
        *word |= 1 << (number % 64);
        *word != before
    }

    /// Adds all of the set `from` to another one. Whether any of it is new there.
    pub fn add(&mut self, to: usize, from: usize) -> bool {
        let mut grew = false;
        for w in 0..self.words {
            let more = self.bits[from * self.words + w];
            let word = &mut self.bits[to * self.words + w];
            grew |= *word | more != *word;
            *word |= more;
        }
        grew
    }

    /// Adds to sets what others hold; see [`until_closed`].
    pub fn add_until_closed(&mut self, pairs: &mut Vec<(usize, usize)>) {
        until_closed(pairs, |to, from| self.add(to, from));
    }

    /// Adds a row of the same bound to a set.
    pub fn add_row(&mut self, to: usize, row: &[u64]) {
        let words = &mut self.bits[to * self.words..][..self.words];
        words.iter_mut().zip(row).for_each(|(word, more)| *word |= more);
    }

    /// Empties all sets.
    pub fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// A set as bits.
    pub fn row(&self, set: usize) -> &[u64] {
        &self.bits[set * self.words..][..self.words]
    }

    /// The numbers of a set, ascending.
    #[cfg(test)]
    pub fn numbers(&self, set: usize) -> impl Iterator<Item = u32> + '_ {
        ones(self.row(set)).map(|number| number as u32)
    }
}
