//! Several sets of small numbers of which most have few.
//!
//! A grammar of thousands of tools has thousands of terminals, and behind nearly all of them only one may come: rows of
//! bits would take memory by the square of their number.

use crate::pushdown::grammar::follow::number_sets::until_closed;
use crate::util::bits::ones;

/// A set of numbers below one bound.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NumberSet {
    /// Its numbers, ascending.
    Few(Vec<u32>),
    /// A bit for each number.
    Many(Box<[u64]>),
}

impl NumberSet {
    /// The set of a row of bits.
    pub fn of_bits(bits: &[u64]) -> NumberSet {
        NumberSet::Few(ones(bits).map(|number| number as u32).collect()).settled(bits.len())
    }

    /// The set as it takes least room, if rows of bits take so many words.
    fn settled(self, words: usize) -> NumberSet {
        match self {
            NumberSet::Few(numbers) if numbers.len() > 2 * words => {
                let mut bits = vec![0; words].into_boxed_slice();
                numbers.iter().for_each(|&number| bits[number as usize / 64] |= 1 << (number % 64));
                NumberSet::Many(bits)
            }
            settled => settled,
        }
    }

    /// Whether it has a number.
    pub fn has(&self, number: u32) -> bool {
        match self {
            NumberSet::Few(numbers) => numbers.binary_search(&number).is_ok(),
            NumberSet::Many(bits) => bits[number as usize / 64] >> (number % 64) & 1 == 1,
        }
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (few, many): (&[u32], &[u64]) = match self {
            NumberSet::Few(numbers) => (numbers, &[]),
            NumberSet::Many(bits) => (&[], bits),
        };
        few.iter().copied().chain(ones(many).map(|number| number as u32))
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        match self {
            NumberSet::Few(numbers) => numbers.capacity() * 4 + 32,
            NumberSet::Many(bits) => bits.len() * 8 + 32,
        }
    }
}

/// Sets of numbers below one bound.
pub(super) struct SparseSets {
    words: usize,
    sets: Vec<NumberSet>,
}

impl SparseSets {
    /// So many empty sets of numbers below `size`.
    pub fn new(count: usize, size: usize) -> Self {
        SparseSets { words: size.div_ceil(64).max(1), sets: vec![NumberSet::Few(Vec::new()); count] }
    }

    /// Adds a number to a set. Whether it is new there.
    pub fn insert(&mut self, set: usize, number: u32) -> bool {
        let set = &mut self.sets[set];
        let is_new = !set.has(number);
        match set {
            NumberSet::Few(numbers) if is_new => {
                let at = numbers.partition_point(|&known| known < number);
                numbers.insert(at, number);
                if numbers.len() > 2 * self.words {
                    *set = std::mem::replace(set, NumberSet::Few(Vec::new())).settled(self.words);
                }
            }
            NumberSet::Many(bits) => bits[number as usize / 64] |= 1 << (number % 64),
            NumberSet::Few(_) => {}
        }
        is_new
    }

    /// Adds all of the set `from` to another one. Whether any of it is new there.
    pub fn add(&mut self, to: usize, from: usize) -> bool {
        if to == from {
            return false;
        }
        let mut set = std::mem::replace(&mut self.sets[to], NumberSet::Few(Vec::new()));
        let more = &self.sets[from];
        let grew = match (&mut set, more) {
            (NumberSet::Many(bits), NumberSet::Many(more)) => {
                let mut grew = false;
                for (word, more) in bits.iter_mut().zip(more) {
                    grew |= *word | more != *word;
                    *word |= more;
                }
                grew
            }
            (NumberSet::Many(bits), NumberSet::Few(more)) => {
                let mut grew = false;
                for &number in more {
                    let word = &mut bits[number as usize / 64];
                    grew |= *word >> (number % 64) & 1 == 0;
                    *word |= 1 << (number % 64);
                }
                grew
            }
            // A row of bits has more numbers than a list may, so some of them are new.
            (NumberSet::Few(numbers), NumberSet::Many(more)) => {
                let mut bits = more.clone();
                numbers.iter().for_each(|&number| bits[number as usize / 64] |= 1 << (number % 64));
                set = NumberSet::Many(bits);
                true
            }
            (NumberSet::Few(numbers), NumberSet::Few(more)) => {
                let is_new = |number: &u32| numbers.binary_search(number).is_err();
                let fresh: Vec<u32> = more.iter().copied().filter(is_new).collect();
                let grew = !fresh.is_empty();
                if grew {
                    numbers.extend(fresh);
                    numbers.sort_unstable();
                    set = set.settled(self.words);
                }
                grew
            }
        };
        self.sets[to] = set;
        grew
    }

    /// Adds to sets what others hold; see [`until_closed`].
    pub fn add_until_closed(&mut self, pairs: &mut Vec<(usize, usize)>) {
        until_closed(pairs, |to, from| self.add(to, from));
    }

    /// A set.
    pub fn set(&self, set: usize) -> &NumberSet {
        &self.sets[set]
    }

    /// The numbers of a set, ascending.
    pub fn numbers(&self, set: usize) -> impl Iterator<Item = u32> + '_ {
        self.sets[set].iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pushdown::grammar::follow::number_sets::NumberSets;
    use crate::util::rng::Rng;

    /// Rows of bits are the slow twin.
    #[test]
    fn sets_are_those_of_bits() {
        let mut rng = Rng(7);
        for round in 0..200 {
            let (count, size) = (1 + rng.below(20), 1 + rng.below(if round % 2 == 0 { 40 } else { 900 }));
            let (mut sparse, mut bits) = (SparseSets::new(count, size), NumberSets::new(count, size));
            let mut pairs = Vec::new();
            for _ in 0..rng.below(300) {
                let (set, number) = (rng.below(count), rng.below(size) as u32);
                assert_eq!(sparse.insert(set, number), bits.insert(set, number));
                if rng.below(4) == 0 {
                    let (to, from) = (rng.below(count), rng.below(count));
                    assert_eq!(sparse.add(to, from), bits.add(to, from));
                    pairs.push((rng.below(count), rng.below(count)));
                }
            }
            sparse.add_until_closed(&mut pairs.clone());
            bits.add_until_closed(&mut pairs);
            for set in 0..count {
                assert!(sparse.numbers(set).eq(bits.numbers(set)));
                assert_eq!(*sparse.set(set), NumberSet::of_bits(bits.row(set)));
                assert!((0..size as u32).all(|n| sparse.set(set).has(n) == bits.numbers(set).any(|known| known == n)));
            }
        }
    }
}
