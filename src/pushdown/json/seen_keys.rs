//! Unnamed keys that an object has, in order.
//!
//! The keys of an object are a list from the last to the first, as everything in an arena. Where a class of keys is
//! finite, each byte of a key asks how many keys of the object begin like it, which takes as long as the list. So the
//! keys of a large object are sorted, from one of them on back to the first. The few keys after that one are looked at
//! one by one; when they are more, they join the sorted ones.

use smallvec::SmallVec;

use crate::pushdown::json::arena::Arena;
use crate::util::prefix_index::NEAR;

impl Arena {
    /// Puts the keys of the object of which `last` is the last one in order, where they are many and some are not.
    ///
    /// # Cost
    /// Each key is put in order once as long as no other object with many keys is asked in between.
    pub fn order_keys(&mut self, last: u32) {
        let ordered = self.ordered.from();
        let near: SmallVec<[u32; NEAR + 1]> = self.seen_from(last).take(NEAR + 1).collect();
        let Some(&from) = near.get(NEAR).filter(|_| !near.contains(&ordered)) else { return };
        let new: Vec<u32> = self.seen_from(from).take_while(|s| *s != ordered).collect();
        let goes_on = new.last().is_some_and(|s| self.seen[*s as usize].before == ordered);
        // Of another object there is nothing to keep.
        let mut index = if goes_on { std::mem::take(&mut self.ordered) } else { Default::default() };
        let text = |s: &u32| -> Box<[u8]> { self.bytes_since(self.seen[*s as usize].key, u32::MAX).into() };
        index.add(from, new.iter().map(text), Ord::cmp);
        self.ordered = index;
    }

    /// Whether at least `least` keys of the object of which `last` is the last one begin with `prefix` and are among
    /// those that `counts` says.
    pub fn are_seen(&self, least: u64, last: u32, prefix: &[u8], counts: impl Fn(&[u8]) -> bool) -> bool {
        let mut found = 0;
        let mut at = last;
        while at != self.ordered.from() {
            let Some(key) = self.seen.get(at as usize) else { return found >= least };
            found += u64::from(self.key_begins_with(key, prefix) && counts(&self.bytes_since(key.key, u32::MAX)));
            at = key.before;
        }
        // Where those in order are too few, none is looked at.
        let others = self.ordered.beginning(|text| **text < *prefix, |text| text.starts_with(prefix));
        let needed = least.saturating_sub(found) as usize;
        others.len() >= needed && others.iter().filter(|text| counts(text)).take(needed).count() == needed
    }

    /// Whether the object of which `last` is the last key has the key `text`.
    pub fn is_seen(&self, last: u32, text: &[u8]) -> bool {
        let mut at = last;
        while at != self.ordered.from() {
            let Some(key) = self.seen.get(at as usize) else { return false };
            if key.len as usize == text.len() && self.key_begins_with(key, text) {
                return true;
            }
            at = key.before;
        }
        self.ordered.items().binary_search_by(|t| (**t).cmp(text)).is_ok()
    }

    /// The numbers of an object's keys from `last` back to the first.
    pub(crate) fn seen_from(&self, last: u32) -> impl Iterator<Item = u32> {
        let before = |s: &u32| Some(self.seen[*s as usize].before).filter(|s| *s != u32::MAX);
        std::iter::successors(Some(last).filter(|s| *s != u32::MAX), before)
    }
}
