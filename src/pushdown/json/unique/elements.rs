//! The elements of arrays with `uniqueItems`, and looking one up among them.
//!
//! The elements of one array are a list from the last to the first, as everything in an arena: an array that was left
//! by going back, or that is only tried, shares the beginning of its list with others. Comparing a value with all of
//! them takes as long as the array, for each way to end each token of a mask. So the list that is asked most is
//! *indexed*: by a table of all elements from one of them on back to the first. The elements after that one are
//! compared one by one, and join the table when they are more than a few. `prefix_index` tells how many begin alike.

#[cfg(test)]
mod tests;

use std::hash::Hasher;

use hashbrown::HashTable;

use crate::pushdown::json::unique::prefix_index::PrefixIndex;
use crate::util::hash::seeded;

/// Elements that are compared one by one.
pub(super) const NEAR: usize = 16;

/// A closed element of an array of unique elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayElement {
    /// The one before, or `u32::MAX`.
    pub before: u32,
    /// The element's canonical text.
    pub value: Box<[u8]>,
    hash: u64,
    /// Whether it belongs to the lexeme that was asked about last.
    belongs: Option<(u32, bool)>,
}

impl ArrayElement {
    /// An element behind `before`.
    pub fn new(before: u32, value: Box<[u8]>) -> Self {
        let hash = hash(&value);
        ArrayElement { before, value, hash, belongs: None }
    }

    fn is(&self, hash: u64, value: &[u8]) -> bool {
        self.hash == hash && *self.value == *value
    }

    /// Whether it is a string of a lexeme, which `accepts` says of a value.
    pub(super) fn belongs(&mut self, lexeme: u32, accepts: impl Fn(&[u8]) -> bool) -> bool {
        let known = self.belongs.filter(|known| known.0 == lexeme);
        known
            .unwrap_or_else(|| *self.belongs.insert((lexeme, self.value.starts_with(b"\"\"") && accepts(&self.value))))
            .1
    }
}

/// The elements of arrays with `uniqueItems`, as lists that share their beginnings, and the table of one of them.
#[derive(Clone)]
pub struct ArrayElements {
    pub(super) list: Vec<ArrayElement>,
    /// The elements from `indexed` on, by their values; none where that is `u32::MAX`.
    table: HashTable<u32>,
    indexed: u32,
    pub(super) orders: Vec<PrefixIndex>,
}

impl Default for ArrayElements {
    fn default() -> Self {
        ArrayElements { list: Vec::new(), table: HashTable::new(), indexed: u32::MAX, orders: Vec::new() }
    }
}

impl ArrayElements {
    /// How many there are, of all arrays.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Approximate bytes held; it asks every element.
    pub fn memory_bytes(&self) -> usize {
        self.list.capacity() * size_of::<ArrayElement>()
            + self.list.iter().map(|e| e.value.len()).sum::<usize>()
            + self.table.allocation_size()
            + self.orders.iter().map(PrefixIndex::memory_bytes).sum::<usize>()
    }

    /// An element by its number; `None` for `u32::MAX`, which stands before the first one of an array.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&ArrayElement> {
        self.list.get(number as usize)
    }

    /// The numbers of an array's elements, from `last` back to the first.
    pub fn of(&self, last: u32) -> Vec<u32> {
        let first = Some(last).filter(|n| self.get(*n).is_some());
        std::iter::successors(first, |n| self.get(*n).map(|e| e.before).filter(|n| self.get(*n).is_some())).collect()
    }

    /// Adds an element; its number.
    pub fn push(&mut self, element: ArrayElement) -> u32 {
        self.list.push(element);
        self.list.len() as u32 - 1
    }

    /// Forgets all but the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        if self.list.len() > len {
            self.list.truncate(len);
            if self.indexed != u32::MAX && self.indexed as usize >= len {
                self.table.clear();
                self.indexed = u32::MAX;
            }
            self.orders.retain(|order| order.is_among(len));
        }
    }

    /// Whether the array of which `last` is the last element has an element of this value.
    ///
    /// # Cost
    /// A few comparisons and a look-up, once the array is indexed; each element is indexed once as long as no other
    /// array is asked in between.
    pub fn has(&mut self, last: u32, value: &[u8]) -> bool {
        let hash = hash(value);
        let mut at = last;
        for _ in 0..NEAR {
            if at == self.indexed {
                return self.is_indexed(hash, value);
            }
            let Some(element) = self.get(at) else { return false };
            if element.is(hash, value) {
                return true;
            }
            at = element.before;
        }
        self.index(at);
        self.is_indexed(hash, value)
    }

    fn is_indexed(&self, hash: u64, value: &[u8]) -> bool {
        self.table.find(hash, |&i| self.list[i as usize].is(hash, value)).is_some()
    }

    /// Indexes the elements from `last` on back to the first.
    fn index(&mut self, last: u32) {
        let mut at = last;
        while at != self.indexed
            && let Some(element) = self.get(at)
        {
            at = element.before;
        }
        if at != self.indexed {
            // Another array.
            self.table.clear();
            self.indexed = u32::MAX;
        }
        let list = &self.list;
        let mut at = last;
        while at != self.indexed
            && let Some(element) = list.get(at as usize)
        {
            self.table.insert_unique(element.hash, at, |&i| list[i as usize].hash);
            at = element.before;
        }
        self.indexed = last;
    }
}

fn hash(value: &[u8]) -> u64 {
    let mut hasher = seeded();
    hasher.write(value);
    hasher.finish()
}
