//! A sorted prefix index: how many strings among the elements of an array begin alike.
//!
//! Where few strings are left that an open one may become, each byte asks how many of them the array has, which would
//! take as long as the array. So the elements that a lexeme accepts are sorted, from one of them on back to the first.
//! The few elements after that one are looked at one by one, and join the sorted ones when they are more.

use smallvec::SmallVec;

use crate::pushdown::json::unique::elements::{ArrayElements, NEAR};

/// Orders that are kept, the latest ones: one for each lexeme that is asked, and for each array around another.
const MOST_ORDERS: usize = 32;

/// What is asked of the rest of a string, if anything is.
pub type GoesOn<'a> = Option<&'a dyn Fn(&[u8]) -> bool>;

/// The elements of an array that are strings of a lexeme.
#[derive(Clone)]
pub(crate) struct PrefixIndex {
    lexeme: u32,
    /// The element from which on they are in order.
    from: u32,
    /// Their numbers, ascending by their values.
    strings: Vec<u32>,
}

impl PrefixIndex {
    /// Whether all of them are among the first `len` elements.
    pub(crate) fn is_among(&self, len: usize) -> bool {
        (self.from as usize) < len
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<PrefixIndex>() + self.strings.capacity() * size_of::<u32>()
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
        let strings = &self.orders[order].strings;
        let from = strings.partition_point(|s| value(s) < beginning);
        let len = strings[from..].partition_point(|s| value(s).starts_with(beginning));
        let strings = &strings[from..from + len];
        found
            + match goes_on {
                None => len as u64,
                Some(_) => strings.iter().filter(|s| goes_on_as(value(s))).count() as u64,
            }
    }

    /// The strings of a lexeme that are in order from an element on.
    fn order(&self, lexeme: u32, from: u32) -> Option<usize> {
        self.orders.iter().position(|order| (order.lexeme, order.from) == (lexeme, from))
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
                self.orders.push(PrefixIndex { lexeme, from, strings: Vec::new() });
                break self.orders.len() - 1;
            };
            if element.belongs(lexeme, &accepts) {
                new.push(at);
            }
            at = element.before;
        };
        let ArrayElements { list, orders, .. } = self;
        let value = |number: &u32| &*list[*number as usize].value;
        let PrefixIndex { from: begins, strings, .. } = &mut orders[known];
        *begins = from;
        if new.len() <= NEAR {
            for s in new {
                strings.insert(strings.partition_point(|other| value(other) < value(&s)), s);
            }
        } else {
            strings.extend(new);
            strings.sort_unstable_by(|a, b| value(a).cmp(value(b)));
        }
        known
    }
}
