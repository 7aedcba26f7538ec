//! Name sums: what the names cost that an object still needs, without looking at each of them.
//!
//! Most objects need the names that their shape always needs, but for those that they have. What all of these cost
//! together is found once, so a sum takes as long as there are names that make the difference, or as there are names
//! that are missing, whichever are fewer.

use crate::util::bits::ones;

/// What the names of one object shape cost, with the sum of those that it always needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameSums {
    /// By name; `u64::MAX` is without end.
    costs: Box<[u64]>,
    usual: Box<[u64]>,
    /// The sum of the usual names, if it has an end.
    total: Option<u64>,
}

impl NameSums {
    /// The sums over names with these costs, of which a shape always needs those in `usual`.
    pub(crate) fn new(costs: impl Iterator<Item = u64>, usual: &[u64]) -> NameSums {
        let costs: Box<[u64]> = costs.collect();
        let total = ones(usual).try_fold(0u64, |sum, i| sum.checked_add(*costs.get(i)?));
        NameSums { costs, usual: usual.into(), total: total.filter(|&sum| sum < u64::MAX) }
    }

    /// What the names of `need` cost together that are not `seen`, and how many they are.
    pub(crate) fn missing(&self, seen: &[u64], need: &[u64]) -> (u64, u64) {
        let at = |bits: &[u64], word: usize| bits.get(word).copied().unwrap_or(0);
        let left = |word: usize| at(need, word) & !at(seen, word);
        let (mut missing, mut differ) = (0u64, 0u64);
        for word in 0..need.len().max(self.usual.len()) {
            missing += u64::from(left(word).count_ones());
            differ += u64::from((left(word) ^ at(&self.usual, word)).count_ones());
        }
        let words = || 0..need.len().max(self.usual.len());
        let cost = |name: usize| self.costs.get(name).copied().unwrap_or(u64::MAX);
        let Some(total) = self.total.filter(|_| differ < missing) else { return sum_missing(seen, need, cost) };
        let sum = |from: u64, word: usize, bits: u64| {
            ones(&[bits]).fold(from, |sum, bit| sum.saturating_add(cost(word * 64 + bit)))
        };
        // No usual names cost more than all of them.
        let had = words().fold(0, |had, word| sum(had, word, at(&self.usual, word) & !left(word)));
        let total = words().fold(total - had, |total, word| sum(total, word, left(word) & !at(&self.usual, word)));
        (total, missing)
    }
}

/// [`NameSums::missing`] by looking at each of the names: for costs that may still change.
pub(crate) fn sum_missing(seen: &[u64], need: &[u64], cost: impl Fn(usize) -> u64) -> (u64, u64) {
    let (mut sum, mut missing) = (0u64, 0);
    for (word, need) in need.iter().enumerate() {
        for bit in ones(&[need & !seen.get(word).copied().unwrap_or(0)]) {
            sum = sum.saturating_add(cost(word * 64 + bit));
            missing += 1;
        }
    }
    (sum, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_differences_are_those_over_names() {
        let costs: Vec<u64> = (0..200).map(|i| i * i % 17 + 1).collect();
        let usual = [u64::MAX, !5, 0, 0xFF];
        let mut seed = 1u64;
        let mut word = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 3 & seed << 7
        };
        for ends in [false, true] {
            let of = |i: usize| if ends && i == 70 { u64::MAX } else { costs[i] };
            let sums = NameSums::new((0..200).map(of), &usual);
            for round in 0..200 {
                let seen = [word() & word(), word() & word(), word(), 0];
                let need = if round % 2 == 0 { usual } else { [word(), word(), word(), word() & 0xFF] };
                let left: Vec<usize> = (0..200).filter(|i| need[i / 64] & !seen[i / 64] & 1 << (i % 64) != 0).collect();
                let sum = left.iter().fold(0u64, |sum, &i| sum.saturating_add(of(i)));
                assert_eq!(sums.missing(&seen, &need), (sum, left.len() as u64));
                let none = (0, 0);
                assert_eq!(sums.missing(&[u64::MAX; 4], &need), none);
            }
            let all = (0..200).filter(|i| usual[i / 64] & 1 << (i % 64) != 0).map(of).fold(0, u64::saturating_add);
            assert_eq!(sums.missing(&[], &usual).0, all);
        }
    }
}
