//! Shape unions: alternatives of an object that differ only in their names, stepped as one.
//!
//! Twelve conditions that are independent of each other are 4,096 shapes, and as long as a member concerns none of
//! them, all of them go on alike. So such shapes are one shape with the names of all, and an item of it holds the *set*
//! of the alternatives that are still open. A name has one rule for each set of alternatives that give it that rule. A
//! key that ends splits its item by these rules, and the value that ends joins the items again whose rule it met: the
//! subset construction, with sets of alternatives as registers.
//!
//! The other registers of an item say what they say of any shape. `seen` also has the names that no open alternative
//! allows; so what is possible and not seen may come. `need` is what an open alternative needs that misses the fewest
//! names; so an object may end if it has all of `need`. That is exact where keys come in any order and no bound on
//! their number is in the way, and only such shapes are united.

use smallvec::SmallVec;

use crate::json::rules::RuleId;
use crate::util::bits::ones;

/// A set of alternatives.
pub(crate) type AlternativeSet = SmallVec<[u64; 4]>;

/// Disjoint sets of alternatives, each with the rule that a member has in all of them. Alternatives in none of the sets
/// forbid the member.
pub(crate) type RuleSets = SmallVec<[(RuleId, Box<[u64]>); 1]>;

/// What the alternatives of a united shape differ in.
#[derive(Debug)]
pub struct ShapeUnion {
    /// Number of alternatives.
    pub(crate) len: usize,
    /// By property.
    pub(crate) named: Vec<RuleSets>,
    /// By class of the other keys: every alternative has each class.
    pub(crate) classes: Vec<RuleSets>,
    /// The properties that each alternative needs, one after the other.
    required: Vec<u64>,
    /// Words of a set of properties.
    names: usize,
}

impl ShapeUnion {
    /// A union of `required.len() / names` alternatives, `names` being the words of a set of properties; `len` is their
    /// number where there are no names.
    pub(crate) fn new(
        len: usize,
        (named, classes): (Vec<RuleSets>, Vec<RuleSets>),
        required: Vec<u64>,
        names: usize,
    ) -> ShapeUnion {
        ShapeUnion { len, named, classes, required, names }
    }

    /// Words of a set of alternatives.
    pub(crate) fn words(&self) -> usize {
        self.len.div_ceil(64)
    }

    /// All alternatives.
    pub(crate) fn all(&self) -> AlternativeSet {
        let mut all: AlternativeSet = SmallVec::from_elem(u64::MAX, self.words());
        if !self.len.is_multiple_of(64)
            && let Some(last) = all.last_mut()
        {
            *last = (1 << (self.len % 64)) - 1;
        }
        all
    }

    /// The properties that an alternative needs.
    pub(crate) fn required(&self, alternative: usize) -> &[u64] {
        &self.required[alternative * self.names..][..self.names]
    }

    /// Adds the properties that none of the open alternatives allows to `seen`.
    pub(crate) fn close_names(&self, open: &[u64], seen: &mut [u64]) {
        for (i, sets) in self.named.iter().enumerate() {
            if seen[i / 64] >> (i % 64) & 1 == 0 && !sets.iter().any(|(_, set)| meet(set, open)) {
                seen[i / 64] |= 1 << (i % 64);
            }
        }
    }

    /// What an open alternative needs that lacks the fewest of its names; the first of those.
    pub(crate) fn nearest(&self, open: &[u64], seen: &[u64]) -> &[u64] {
        let mut nearest = (u32::MAX, [].as_slice());
        for alternative in ones(open) {
            let required = self.required(alternative);
            let missing = required.iter().zip(seen).map(|(r, s)| (r & !s).count_ones()).sum::<u32>();
            if missing < nearest.0 {
                nearest = (missing, required);
                if missing == 0 {
                    break;
                }
            }
        }
        nearest.1
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        let sets = self.named.iter().chain(&self.classes).map(|sets| sets.len()).sum::<usize>();
        self.required.len() * 8 + sets * (self.words() * 8 + 24)
    }
}

fn meet(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

#[cfg(test)]
mod tests;
