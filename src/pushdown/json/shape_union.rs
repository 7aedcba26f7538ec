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
//! names; so an object may end if it has all of `need`. That is exact where keys come in any order and none requires
//! another, and only such shapes are united.
//!
//! Where an object is almost full, an alternative may have room for nothing but what it needs. Then the names that only
//! such alternatives allow and none of them needs count as seen, too, and a member leaves open what still has room for
//! what it lacks.

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
    /// The properties that some alternative needs.
    needed: Box<[u64]>,
    /// Words of a set of properties.
    names: usize,
    /// Of how many names an alternative needs the most.
    most_required: u64,
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
        let all = (0..len).map(|i| &required[i * names..][..names]);
        let most_required = all.map(|set| set.iter().map(|w| u64::from(w.count_ones())).sum()).max().unwrap_or(0);
        let mut needed: Box<[u64]> = vec![0; names].into();
        for alternative in (0..len).map(|i| &required[i * names..][..names]) {
            needed.iter_mut().zip(alternative).for_each(|(all, word)| *all |= word);
        }
        ShapeUnion { len, named, classes, required, needed, names, most_required }
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

    /// The properties that some alternative needs.
    pub(crate) fn needed(&self) -> &[u64] {
        &self.needed
    }

    /// Of how many names an alternative needs the most.
    pub(crate) fn most_required(&self) -> u64 {
        self.most_required
    }

    /// Whether some alternative may lack as many names as members may still come, or more.
    pub(crate) fn is_tight(&self, room: u64) -> bool {
        room <= self.most_required
    }

    /// How many names an alternative needs that are not `seen`.
    fn missing(&self, alternative: usize, seen: &[u64]) -> u64 {
        self.required(alternative).iter().zip(seen).map(|(r, s)| u64::from((r & !s).count_ones())).sum()
    }

    /// The open alternatives that lack at most `room` names.
    pub(crate) fn with_room(&self, open: &[u64], seen: &[u64], room: u64) -> AlternativeSet {
        let mut out = AlternativeSet::from_slice(open);
        if self.is_tight(room) {
            for alternative in ones(open).filter(|&alternative| self.missing(alternative, seen) > room) {
                out[alternative / 64] &= !(1 << (alternative % 64));
            }
        }
        out
    }

    /// Adds the properties that none of the open alternatives allows to `seen`, where `room` members may still come and
    /// each of the alternatives has room for what it lacks.
    pub(crate) fn close_names(&self, open: &[u64], seen: &mut [u64], room: u64) {
        let mut needed: AlternativeSet = SmallVec::from_elem(0, seen.len());
        let mut free = AlternativeSet::from_slice(open);
        if self.is_tight(room) {
            free = self.with_room(open, seen, room.saturating_sub(1));
            for alternative in ones(open).filter(|alternative| free[alternative / 64] >> (alternative % 64) & 1 == 0) {
                needed.iter_mut().zip(self.required(alternative)).for_each(|(all, word)| *all |= word);
            }
        }
        for (i, sets) in self.named.iter().enumerate() {
            let (word, bit) = (i / 64, 1u64 << (i % 64));
            if (seen[word] | needed[word]) & bit == 0 && !sets.iter().any(|(_, set)| meet(set, &free)) {
                seen[word] |= bit;
            }
        }
    }

    /// What an open alternative needs that lacks the fewest of its names; the first of those.
    pub(crate) fn nearest(&self, open: &[u64], seen: &[u64]) -> &[u64] {
        let mut nearest = (u64::MAX, [].as_slice());
        for alternative in ones(open) {
            let missing = self.missing(alternative, seen);
            if missing < nearest.0 {
                nearest = (missing, self.required(alternative));
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
