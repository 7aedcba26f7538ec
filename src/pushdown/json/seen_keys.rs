//! Unnamed keys that an object has, in order.
//!
//! The keys of an object are a list from the last to the first, as everything in an arena. Where a class of keys is
//! finite, each byte of a key asks how many keys of the object begin like it, which takes as long as the list. So the
//! keys of a large object are sorted, from one of them on back to the first. The few keys after that one are looked at
//! one by one; when they are more, they join the sorted ones.

use smallvec::SmallVec;

use crate::pushdown::json::arena::Arena;

/// Keys that are looked at one by one.
const NEAR: usize = 16;

/// The unnamed keys of an object, sorted from one entry of its list on back to the first.
#[derive(Clone)]
pub struct SeenKeys {
    /// The key, in [`Arena::seen`], from which on they are in order; `u32::MAX` where none are.
    from: u32,
    texts: Vec<Box<[u8]>>,
}

impl Default for SeenKeys {
    fn default() -> Self {
        SeenKeys { from: u32::MAX, texts: Vec::new() }
    }
}

impl SeenKeys {
    /// Forgets everything if the key that it begins with is not among the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: u32) {
        if self.from != u32::MAX && self.from >= len {
            *self = SeenKeys::default();
        }
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.texts.capacity() * size_of::<Box<[u8]>>() + self.texts.iter().map(|t| t.len()).sum::<usize>()
    }

    /// The keys that begin with `prefix`.
    fn beginning(&self, prefix: &[u8]) -> &[Box<[u8]>] {
        let start = self.texts.partition_point(|t| **t < *prefix);
        let len = self.texts[start..].partition_point(|t| t.starts_with(prefix));
        &self.texts[start..start + len]
    }
}

impl Arena {
    /// Puts the keys of the object of which `last` is the last one in order, where they are many and some are not.
    ///
    /// # Cost
    /// Each key is put in order once as long as no other object with many keys is asked in between.
    pub fn order_keys(&mut self, last: u32) {
        let ordered = self.ordered.from;
        let near: SmallVec<[u32; NEAR + 1]> = self.seen_from(last).take(NEAR + 1).collect();
        let Some(&from) = near.get(NEAR).filter(|_| !near.contains(&ordered)) else { return };
        let new: Vec<u32> = self.seen_from(from).take_while(|s| *s != ordered).collect();
        let goes_on = new.last().is_some_and(|s| self.seen[*s as usize].before == ordered);
        let mut texts = std::mem::take(&mut self.ordered.texts);
        let text = |s: &u32| -> Box<[u8]> { self.bytes_since(self.seen[*s as usize].key, u32::MAX).into() };
        if goes_on && new.len() <= NEAR {
            for text in new.iter().map(text) {
                texts.insert(texts.partition_point(|t| *t < text), text);
            }
        } else {
            // Of another object there is nothing to keep.
            texts.truncate(if goes_on { texts.len() } else { 0 });
            texts.extend(new.iter().map(text));
            texts.sort_unstable();
        }
        self.ordered = SeenKeys { from, texts };
    }

    /// Whether at least `least` keys of the object of which `last` is the last one begin with `prefix` and are among
    /// those that `counts` says.
    pub fn are_seen(&self, least: u64, last: u32, prefix: &[u8], counts: impl Fn(&[u8]) -> bool) -> bool {
        let mut found = 0;
        let mut at = last;
        while at != self.ordered.from {
            let Some(key) = self.seen.get(at as usize) else { return found >= least };
            found += u64::from(self.key_begins_with(key, prefix) && counts(&self.bytes_since(key.key, u32::MAX)));
            at = key.before;
        }
        // Where those in order are too few, none is looked at.
        let others = self.ordered.beginning(prefix);
        let needed = least.saturating_sub(found) as usize;
        others.len() >= needed && others.iter().filter(|text| counts(text)).take(needed).count() == needed
    }

    /// Whether the object of which `last` is the last key has the key `text`.
    pub fn is_seen(&self, last: u32, text: &[u8]) -> bool {
        let mut at = last;
        while at != self.ordered.from {
            let Some(key) = self.seen.get(at as usize) else { return false };
            if key.len as usize == text.len() && self.key_begins_with(key, text) {
                return true;
            }
            at = key.before;
        }
        self.ordered.texts.binary_search_by(|t| (**t).cmp(text)).is_ok()
    }

    /// The numbers of an object's keys from `last` back to the first.
    pub(crate) fn seen_from(&self, last: u32) -> impl Iterator<Item = u32> {
        let before = |s: &u32| Some(self.seen[*s as usize].before).filter(|s| *s != u32::MAX);
        std::iter::successors(Some(last).filter(|s| *s != u32::MAX), before)
    }
}
