//! Texts in order, to find those that begin alike.
//!
//! The texts are entries of a list that is linked from the last one back to the first, as everything in an arena. An
//! index has those from one entry on back to the first; its owner looks at the few behind that entry one by one, and
//! adds them when they are more than [`NEAR`].

use std::cmp::Ordering;

/// Entries that are looked at one by one.
pub(crate) const NEAR: usize = 16;

/// The entries of a list from one of them on, ascending by their texts. An item is a text, or says where one stands.
#[derive(Clone)]
pub struct PrefixIndex<T> {
    from: u32,
    items: Vec<T>,
}

impl<T> Default for PrefixIndex<T> {
    fn default() -> Self {
        PrefixIndex { from: u32::MAX, items: Vec::new() }
    }
}

impl<T> PrefixIndex<T> {
    /// The entry from which on they are in order; `u32::MAX`, which stands in front of the first one, where none are.
    #[inline]
    pub(crate) fn from(&self) -> u32 {
        self.from
    }

    /// The items, ascending by their texts.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// Forgets everything if the entry from which on they are in order is not among the first `len`.
    #[inline]
    pub(crate) fn truncate(&mut self, len: u32) {
        if self.from != u32::MAX && self.from >= len {
            *self = PrefixIndex::default();
        }
    }

    /// Adds those from the entry `from` back to where they were in order.
    pub(crate) fn add(
        &mut self,
        from: u32,
        new: impl ExactSizeIterator<Item = T>,
        compare: impl Fn(&T, &T) -> Ordering,
    ) {
        self.from = from;
        if new.len() <= NEAR {
            for item in new {
                let at = self.items.partition_point(|other| compare(other, &item).is_lt());
                self.items.insert(at, item);
            }
        } else {
            self.items.extend(new);
            self.items.sort_unstable_by(compare);
        }
    }

    /// The items whose texts begin with a prefix: `is_before` says which ones are less than it, `begins` which begin
    /// so.
    pub(crate) fn beginning(&self, is_before: impl Fn(&T) -> bool, begins: impl Fn(&T) -> bool) -> &[T] {
        let start = self.items.partition_point(is_before);
        let len = self.items[start..].partition_point(begins);
        &self.items[start..start + len]
    }

    /// Bytes held, without what the items hold.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }
}

#[cfg(test)]
mod tests;
