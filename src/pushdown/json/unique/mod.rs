//! `uniqueItems`: arrays whose elements must differ.
//!
//! While an element of such an array is open, its bytes are recorded along the frames. When it closes, it is brought to
//! a canonical text (numbers by value, strings by what they decode to, objects without order) and compared with the
//! elements before it. A repetition is refused at its last byte. So that this refusal is never a dead end, an open
//! element always has an unused completion. A container that can grow has one; for others see `cardinality`. A scalar
//! has one unless few members are left, and then those are counted, or listed and compared.
//!
//! `docs/internals/unique-items.md` has an example.

pub mod candidates;
pub mod cardinality;
pub mod completions;
pub(crate) mod distinct_completions;
pub mod duplicates;
pub mod elements;
pub(crate) mod exhaustible;
pub(crate) mod found_paths;
pub(crate) mod infinite_rules;
pub mod known_distinct;
pub(crate) mod prefix_index;
pub(crate) mod search;
pub(crate) mod search_keys;

use smallvec::SmallVec;
use std::ops::Range;

pub use crate::json::canonical::{canonical, escape};
use crate::json::rules::RuleId;
use crate::json::string_escape::{EscapeState, decode};
use crate::lexeme::{LexemeKind, StateId};
use crate::pushdown::json::arena::{Frame, FrameId, FrameKind, KeyByte, Phase, ScalarItem};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::Gap;
use crate::pushdown::json::unique::completions::{Completion, is_decimal};
use crate::pushdown::json::unique::elements::ArrayElement;

/// No character has a longer escape in canonical text.
const ESCAPE: usize = 6;

impl JsonMachine<'_> {
    /// Whether `node` lies inside an element whose bytes are recorded.
    pub(crate) fn is_traced(&self, node: FrameId) -> bool {
        let parent = self.arena.nodes[node as usize].parent;
        self.arena.nodes.get(parent as usize).is_some_and(|p| {
            (p.kind == FrameKind::Array && p.phase == Phase::Inside && p.key != u32::MAX) || p.trace != u32::MAX
        })
    }

    /// Whether any array on the stack must have unique elements.
    pub fn is_unique_inside(&self, top: FrameId) -> bool {
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize) {
            if n.kind == FrameKind::Array && self.any_unique(n) {
                return true;
            }
            at = n.parent;
        }
        false
    }

    /// Whether the number that is open at `top`, or may begin there, is an element of an array of unique elements, and
    /// a decimal so far.
    pub fn reads_decimal(&self, top: FrameId) -> bool {
        let n = &self.arena.nodes[top as usize];
        let array = self.arena.nodes.get(n.parent as usize).filter(|a| a.kind == FrameKind::Array && a.key != u32::MAX);
        n.trace != u32::MAX && array.is_some_and(|a| is_decimal(&self.arena.bytes_since(n.trace, a.key)))
    }

    pub(crate) fn any_unique(&self, node: &Frame) -> bool {
        let items = &self.arena.arrays[node.start as usize..(node.start + node.len) as usize];
        items.iter().any(|i| self.program.arrays[i.shape as usize].unique)
    }

    /// Whether `parent` is an array of unique elements that has some already, with an element open.
    pub fn has_elements(&self, parent: FrameId) -> bool {
        self.arena
            .nodes
            .get(parent as usize)
            .is_some_and(|p| p.kind == FrameKind::Array && p.key != u32::MAX && p.seen != u32::MAX)
    }

    /// Whether the elements of the array on the node `parent` must differ in every alternative.
    pub fn all_differ(&self, parent: FrameId) -> bool {
        self.arena.nodes.get(parent as usize).filter(|n| n.kind == FrameKind::Array && n.key != u32::MAX).is_some_and(
            |n| {
                let items = &self.arena.arrays[n.start as usize..(n.start + n.len) as usize];
                items.iter().all(|i| self.program.arrays[i.shape as usize].unique)
            },
        )
    }

    /// Adds `byte` to the trace of the element that `next` lies in, if it was part of it.
    pub(crate) fn record(&mut self, next: FrameId, byte: u8) {
        let n = self.arena.nodes[next as usize];
        // The comma before an element was put down when its trace began, and the blanks after it mean nothing.
        let before_element = n.kind == FrameKind::Value
            && self.arena.nodes.get(n.parent as usize).is_some_and(|parent| parent.kind == FrameKind::Array);
        if before_element || !self.is_traced(next) {
            return;
        }
        let before = self.arena.trace;
        self.arena.keys.push(KeyByte { before, byte });
        self.arena.nodes[next as usize].trace = self.arena.keys.len() as u32 - 1;
    }

    /// Starts the trace of an element that was just opened.
    pub(crate) fn begin_trace(&mut self, array: FrameId, value: FrameId, gap: Gap) {
        let outer = self.is_traced(array);
        let mut before = u32::MAX;
        if outer {
            before = self.arena.trace;
            if gap == Gap::After {
                self.arena.keys.push(KeyByte { before, byte: b',' });
                before = self.arena.keys.len() as u32 - 1;
            }
            self.arena.nodes[array as usize].trace = before;
        }
        let node = self.arena.nodes[array as usize];
        if outer || self.any_unique(&node) {
            // A blank marks the border: it is part of the outer trace, where it means nothing.
            self.arena.keys.push(KeyByte { before, byte: b' ' });
            let start = self.arena.keys.len() as u32 - 1;
            self.arena.nodes[value as usize].trace = start;
            if self.any_unique(&node) {
                self.arena.nodes[array as usize].key = start;
            }
        }
        self.arena.trace = self.arena.nodes[value as usize].trace;
    }

    /// Whether the elements of an array are not known for certain.
    #[inline]
    pub(crate) fn is_unchecked(&self, array: &Frame) -> bool {
        self.arena.unchecked && !array.spelled
    }

    /// The canonical text of the element that ends now.
    pub(crate) fn element_value(&self, array: &Frame, closing: Option<u8>) -> Option<Box<[u8]>> {
        if self.is_unchecked(array) {
            return None;
        }
        let mut text = self.arena.bytes_since(self.arena.trace, array.key);
        text.extend(closing);
        canonical(&text)
    }

    pub(crate) fn has_element(&mut self, array: &Frame, value: &[u8]) -> bool {
        self.arena.elements.has(array.seen, value)
    }

    /// Whether the array has fewer than all of these values.
    fn lacks_one(&mut self, array: &Frame, endings: &[Completion]) -> bool {
        endings.len() as u64 > u64::from(array.count) || endings.iter().any(|e| !self.has_element(array, &e.value))
    }

    pub(crate) fn add_element(&mut self, before: u32, value: Option<Box<[u8]>>) -> u32 {
        let Some(value) = value else { return before };
        self.arena.elements.push(ArrayElement::new(before, value))
    }

    /// Whether `rule` has a member that the array does not have yet.
    pub(crate) fn has_unused(&mut self, array: &Frame, rule: RuleId) -> bool {
        if array.seen == u32::MAX || self.is_unchecked(array) {
            return true;
        }
        let program = self.program;
        let r = &program.rules[rule.0 as usize];
        if !r.arrays.is_empty() || !r.objects.is_empty() {
            return true;
        }
        r.lexemes.iter().any(|&l| {
            let lexeme = &program.lexemes[l as usize];
            let start = lexeme.start();
            program.has_many_endings(l, start, 0, array.count, true)
                || match lexeme.kind() {
                    LexemeKind::Raw => self.lacks_value(array, (l, start), b""),
                    _ => program.num_texts(l, start, 0) > self.num_used(array, (l, start), b""),
                }
        })
    }

    /// Drops, from the scalar items that were just made, those that can only become an element that the array above
    /// has already. `before` is the scalar that the byte was read in, or none where it begins one.
    pub(crate) fn keep_unused(&mut self, parent: FrameId, before: Option<&Frame>, start: u32, count: u32, byte: u8) {
        let array = self.arena.nodes[parent as usize];
        if array.kind != FrameKind::Array
            || array.key == u32::MAX
            || array.seen == u32::MAX
            || self.is_unchecked(&array)
        {
            return;
        }
        // Elements may be long, and hardly any byte asks what was read of one.
        let mut read: Option<Vec<u8>> = None;
        let items = &self.arena.arrays[array.start as usize..(array.start + array.len) as usize];
        let may_repeat = items.iter().filter(|i| !self.program.arrays[i.shape as usize].unique);
        let mut free: SmallVec<[u32; 4]> = may_repeat.map(|i| i.child).collect();
        free.sort_unstable();
        let mut old = before.map_or(0..0, items_of);
        let mut kept = start as usize;
        for i in start as usize..self.arena.scalars.len() {
            let item = self.arena.scalars[i];
            let keep = free.binary_search(&item.tag).is_ok()
                || self.program.has_many_endings(item.lexeme, item.state, count, array.count, false)
                || before.is_some_and(|before| self.ends_as_before(&mut old, &item, (before.count, count)))
                || {
                    let read = read.get_or_insert_with(|| {
                        let mut read = self.arena.bytes_since(self.arena.trace, array.key);
                        read.push(byte);
                        read
                    });
                    self.has_unused_end(&array, &item, count, read.trim_ascii_start())
                };
            if keep {
                self.arena.scalars[kept] = item;
                kept += 1;
            }
        }
        self.arena.scalars.truncate(kept);
    }

    /// Whether as much ends an item as ended it in the scalar `before` a byte: then nothing was decided by the byte,
    /// and what was left there is left here. So the bytes of a long constant that lie between two choices cost nothing.
    ///
    /// `before` are the numbers of the items there which no item before this one came from: a step keeps their order,
    /// so thousands of them are walked once for all items. `counts` are the code points read there and here.
    pub(crate) fn ends_as_before(&self, before: &mut Range<usize>, item: &ScalarItem, counts: (u32, u32)) -> bool {
        let from = before.map(|i| self.arena.scalars[i]).find(|i| (i.tag, i.lexeme) == (item.tag, item.lexeme));
        let ends = |state: StateId, count: u32| self.program.num_ends(item.lexeme, state, count);
        from.is_some_and(|from| ends(item.state, counts.1).is_some_and(|n| ends(from.state, counts.0) == Some(n)))
    }

    /// Whether some way to end an item, which stands behind `read`, is an element that the array does not have.
    fn has_unused_end(&mut self, array: &Frame, item: &ScalarItem, count: u32, read: &[u8]) -> bool {
        let program = self.program;
        let place = (item.lexeme, item.state);
        match program.lexemes[item.lexeme as usize].kind() {
            LexemeKind::Raw => {
                let many = || program.has_many_endings(item.lexeme, item.state, count, array.count, true);
                is_decimal(read) && many() || self.lacks_value(array, place, read)
            }
            // Elements are different texts, so those that end the item are counted.
            _ => match program.num_ends(item.lexeme, item.state, count) {
                Some(n) => n > self.num_used(array, place, read),
                None => true,
            },
        }
    }

    /// Whether the array has fewer than all of the values that a number or word may become behind `read`.
    fn lacks_value(&mut self, array: &Frame, (lexeme, state): (u32, StateId), read: &[u8]) -> bool {
        let values = self.program.values(lexeme, state, 0, array.count, read);
        values.is_none_or(|all| self.lacks_one(array, &all))
    }

    /// How many elements of the array a string may become behind `read`.
    fn num_used(&mut self, array: &Frame, (lexeme, state): (u32, StateId), read: &[u8]) -> u64 {
        let l = &self.program.lexemes[lexeme as usize];
        let (text, sub, _) = decode(EscapeState::Plain, read.iter().skip(1).copied());
        let mut beginning = b"\"\"".to_vec();
        escape(&text, &mut beginning);
        let accepts = |value: &[u8]| l.accepts(&value[1..]);
        let elements = &mut self.arena.elements;
        if sub == EscapeState::Plain {
            return elements.num_beginning(array.seen, lexeme, &beginning, accepts, None);
        }
        // In the middle of an escape, those of which the next character may be the escaped one.
        let goes_on = |rest: &[u8]| next_char(rest).is_some_and(|c| l.may_spell(state, c));
        elements.num_beginning(array.seen, lexeme, &beginning, accepts, Some(&goes_on))
    }
}

/// The numbers of a scalar's items.
pub(crate) fn items_of(node: &Frame) -> Range<usize> {
    node.start as usize..(node.start + node.len) as usize
}

/// The first character of what is left of a canonical string.
fn next_char(rest: &[u8]) -> Option<char> {
    let text = decode(EscapeState::Plain, rest.iter().take(ESCAPE).copied()).0;
    let len = 1 + text.iter().skip(1).take_while(|b| **b & 0xC0 == 0x80).count();
    std::str::from_utf8(text.get(..len)?).ok()?.chars().next()
}
