//! `uniqueItems`: arrays whose elements must differ.
//!
//! While an element of such an array is open, its bytes are recorded along the frames. When it closes, it is brought to
//! a canonical text (numbers by value, strings by what they decode to, objects without order) and compared with the
//! elements before it. A repetition is refused at its last byte. So that this refusal is never a dead end, an open
//! element always has an unused completion. A container that can grow has one; for others see `cardinality`. A scalar
//! has one unless few members are left, and then those are counted, or listed and compared.
//!
//! The machine makes four calls: [`opened`](JsonMachine::opened) when an element begins,
//! [`read_byte`](JsonMachine::read_byte) behind each byte, [`may_end`](JsonMachine::may_end) before an element begins
//! or ends, and [`closed`](JsonMachine::closed) when a value ended. A mask asks for
//! [`exceptions`](JsonMachine::exceptions): where a byte may lead to a repetition. An arena holds a [`state`], and a
//! program a [`memo`].
//!
//! `docs/internals/unique-items.md` has an example.

mod agreement;
mod candidates;
mod cardinality;
pub(crate) mod compile;
mod completions;
mod duplicates;
mod elements;
mod exhaustible;
mod infinite_rules;
mod known_distinct;
pub(crate) mod memo;
mod search;
pub(crate) mod state;
mod trace;
mod unused;

use crate::json::canonical::canonical;
use crate::json::whitespace::Gap;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind};
use crate::pushdown::json::machine::JsonMachine;
pub use crate::pushdown::json::unique::completions::is_decimal;
pub use crate::pushdown::json::unique::duplicates::{DuplicateRisk, ScalarRests, Sorted};
use crate::pushdown::json::unique::elements::ArrayElement;
use crate::pushdown::json::unique::state::ElementEnd;

impl JsonMachine<'_> {
    /// An element of the array on the node `array` was opened: `value` is in front of it, and whitespace as `gap` says.
    pub(crate) fn opened(&mut self, array: FrameId, value: FrameId, gap: Gap) {
        self.begin_trace(array, value, gap);
    }

    /// `byte` led from `from` to `next`. False if it leads only to elements that their arrays have already.
    pub(crate) fn read_byte(&mut self, from: FrameId, next: FrameId, byte: u8) -> bool {
        if !self.keep_unused(from, next, byte) {
            return false;
        }
        self.record(next, byte);
        // What a number that ends here became was not asked about by itself.
        self.stays_live(from, next)
    }

    /// Whether an element of `array` may end as one that the array does not have. The text of one that ends now is kept
    /// until it is [`closed`](Self::closed).
    pub(crate) fn may_end(&mut self, array: &Frame, end: ElementEnd) -> bool {
        match end {
            ElementEnd::OfRule(rule) => self.has_unused(array, rule),
            ElementEnd::Now(closing) => {
                let value = if array.key == u32::MAX { None } else { self.element_value(array, closing) };
                let is_new = value.as_ref().is_none_or(|v| !self.has_element(array, v));
                self.arena.unique.ending = value;
                is_new
            }
        }
    }

    /// The value above `parent` ended, which led to `next`: what was read goes on there, and an array has one more
    /// element.
    pub(crate) fn closed(&mut self, parent: &Frame, next: FrameId) {
        if parent.kind == FrameKind::Array
            && let Some(value) = self.arena.unique.ending.take()
        {
            let number = self.arena.unique.elements.push(ArrayElement::new(parent.seen, value));
            self.arena.nodes[next as usize].seen = number;
        }
        let trace = if self.is_traced(next) { self.arena.trace } else { u32::MAX };
        self.arena.nodes[next as usize].trace = trace;
    }

    /// How the bytes after `top` may lead to an element that its array has, for every array of unique elements with one
    /// open. With `keep`, where `top` is where a guide stands, arrays whose elements differ from all others are noted.
    /// `sorted` is what was found before, and is added to where it lasts: of elements among the first `settled`.
    pub fn exceptions(&mut self, top: FrameId, keep: bool, settled: u32, sorted: &mut Option<Sorted>) -> DuplicateRisk {
        self.repeats(top, keep, settled, sorted)
    }
}

/// What is asked of arrays and their elements.
impl JsonMachine<'_> {
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

    /// Whether the elements of an array are not known for certain.
    #[inline]
    pub(crate) fn is_unchecked(&self, array: &Frame) -> bool {
        self.arena.unchecked && !array.spelled
    }

    /// The canonical text of the element that ends now.
    fn element_value(&self, array: &Frame, closing: Option<u8>) -> Option<Box<[u8]>> {
        if self.is_unchecked(array) {
            return None;
        }
        let mut text = self.arena.bytes_since(self.arena.trace, array.key);
        text.extend(closing);
        canonical(&text)
    }

    fn has_element(&mut self, array: &Frame, value: &[u8]) -> bool {
        self.arena.unique.elements.has(array.seen, value)
    }
}
