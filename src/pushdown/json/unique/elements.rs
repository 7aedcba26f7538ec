//! The elements of arrays with `uniqueItems`, and looking one up among them.
//!
//! The elements of one array are a list from the last to the first, as everything in an arena: an array that was left
//! by going back, or that is only tried, shares the beginning of its list with others. Comparing a value with all of
//! them takes as long as the array, for each way to end each token of a mask. So the list that is asked most is
//! *indexed*: by a table of all elements from one of them on back to the first. The elements after that one are
//! compared one by one, and join the table when they are more than a few. How many strings of a lexeme begin alike is
//! told by a prefix index of them.

#[cfg(test)]
mod tests;

use std::hash::Hasher;

use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::util::prefix_index::{NEAR, PrefixIndex};
use crate::util::seeded_hash::seeded;

/// Orders that are kept, the latest ones: one for each lexeme that is asked, and for each array around another.
const MOST_ORDERS: usize = 32;

/// What is asked of the rest of a string, if anything is.
pub type GoesOn<'a> = Option<&'a dyn Fn(&[u8]) -> bool>;

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
    fn belongs(&mut self, lexeme: u32, accepts: impl Fn(&[u8]) -> bool) -> bool {
        let known = self.belongs.filter(|known| known.0 == lexeme);
        known
            .unwrap_or_else(|| *self.belongs.insert((lexeme, self.value.starts_with(b"\"\"") && accepts(&self.value))))
            .1
    }
}

/// The elements of arrays with `uniqueItems`, as lists that share their beginnings, and the table of one of them.
#[derive(Clone)]
pub struct ArrayElements {
    list: Vec<ArrayElement>,
    /// The elements from `indexed` on, by their values; none where that is `u32::MAX`.
    table: HashTable<u32>,
    indexed: u32,
    /// By a lexeme, the numbers of the elements that are strings of it, of one array.
    orders: Vec<(u32, PrefixIndex<u32>)>,
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
            + self.orders.iter().map(|order| size_of_val(order) + order.1.memory_bytes()).sum::<usize>()
    }

    /// An element by its number; `None` for `u32::MAX`, which stands before the first one of an array.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&ArrayElement> {
        self.list.get(number as usize)
    }

    /// The numbers of an array's elements, from `last` back to the first.
    pub fn up_to(&self, last: u32) -> Vec<u32> {
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
            self.orders.retain(|order| (order.1.from() as usize) < len);
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

impl ArrayElements {
    /// How many strings of the array of which `last` is the last element begin with `beginning`, belong to `lexeme`,
    /// which `accepts` says of a value, and go on behind that as `goes_on` says.
    ///
    /// # Cost
    /// A few comparisons and as many look-ups as it takes to find a place among the elements, once they are in order;
    /// each of them is put there once as long as not too many arrays and lexemes are asked in between. `goes_on` is
    /// asked of all that begin so.
    pub fn num_beginning(
        &mut self,
        last: u32,
        lexeme: u32,
        beginning: &[u8],
        accepts: impl Fn(&[u8]) -> bool,
        goes_on: GoesOn<'_>,
    ) -> u64 {
        let goes_on_as = |value: &[u8]| goes_on.is_none_or(|goes_on| goes_on(&value[beginning.len()..]));
        let mut found = 0;
        let mut at = last;
        let mut passed = 0;
        let order = loop {
            if let Some(known) = self.order(lexeme, at) {
                break known;
            }
            if passed == NEAR {
                break self.put_in_order(lexeme, at, &accepts);
            }
            let Some(element) = self.list.get_mut(at as usize) else { return found };
            let begins = element.value.starts_with(beginning) && goes_on_as(&element.value);
            found += u64::from(begins && element.belongs(lexeme, &accepts));
            at = element.before;
            passed += 1;
        };
        let value = |number: &u32| &*self.list[*number as usize].value;
        let order = &self.orders[order].1;
        let strings = order.beginning(|s| value(s) < beginning, |s| value(s).starts_with(beginning));
        found
            + match goes_on {
                None => strings.len() as u64,
                Some(_) => strings.iter().filter(|s| goes_on_as(value(s))).count() as u64,
            }
    }

    /// The strings of a lexeme that are in order from an element on.
    fn order(&self, lexeme: u32, from: u32) -> Option<usize> {
        self.orders.iter().position(|order| (order.0, order.1.from()) == (lexeme, from))
    }

    /// Puts the strings of a lexeme in order from the element `from` on.
    fn put_in_order(&mut self, lexeme: u32, from: u32, accepts: impl Fn(&[u8]) -> bool) -> usize {
        let mut new: SmallVec<[u32; NEAR]> = SmallVec::new();
        let mut at = from;
        let known = loop {
            if let Some(known) = self.order(lexeme, at) {
                break known;
            }
            let Some(element) = self.list.get_mut(at as usize) else {
                // Another array.
                if self.orders.len() == MOST_ORDERS {
                    self.orders.remove(0);
                }
                self.orders.push((lexeme, PrefixIndex::default()));
                break self.orders.len() - 1;
            };
            if element.belongs(lexeme, &accepts) {
                new.push(at);
            }
            at = element.before;
        };
        let ArrayElements { list, orders, .. } = self;
        let value = |number: &u32| &*list[*number as usize].value;
        orders[known].1.add(from, new.into_iter(), |a, b| value(a).cmp(value(b)));
        known
    }
}

fn hash(value: &[u8]) -> u64 {
    let mut hasher = seeded();
    hasher.write(value);
    hasher.finish()
}
