//! Arrays whose elements must differ.
//!
//! While an element of such an array is open, its bytes are recorded along the nodes. When it closes, it is brought
//! to a canonical text (numbers by value, strings by what they decode to, objects without order) and compared with the
//! elements before it: a repetition is refused at its last byte. For that refusal never to be a dead end, an open
//! element must always have an unused way to go on. Containers have one where they can grow (others are the
//! business of `variety`); scalars have one unless few members are left, and then those are listed and compared.

use super::arena::{KeyByte, Kind, Node, NodeId, Phase, ScalarItem};
use super::config::Frames;
use super::elements::Element;
use super::endings::{Ending, is_decimal};
use super::lexeme::{CLOSED, DEAD};
use super::program::Gap;
use super::text::{Sub, decode};
pub use crate::frontend::schema::decimal::canonical::canonical;
use crate::ir::RuleId;

/// Fewer texts than this are looked for among the elements, not the elements among them.
const FEW_TEXTS: u64 = 64;

impl Frames<'_> {
    /// Whether `node` lies inside an element whose bytes are recorded.
    pub(super) fn is_traced(&self, node: NodeId) -> bool {
        let parent = self.arena.nodes[node as usize].parent;
        self.arena.nodes.get(parent as usize).is_some_and(|p| {
            (p.kind == Kind::Array && p.phase == Phase::Inside && p.key != u32::MAX) || p.trace != u32::MAX
        })
    }

    /// Whether any array on the stack must have unique elements.
    pub fn is_unique_inside(&self, top: NodeId) -> bool {
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize) {
            if n.kind == Kind::Array && self.any_unique(n) {
                return true;
            }
            at = n.parent;
        }
        false
    }

    /// Whether the number that is open at `top`, or may begin there, is an element of an array of unique elements, and a
    /// decimal so far.
    pub fn reads_decimal(&self, top: NodeId) -> bool {
        let n = &self.arena.nodes[top as usize];
        let array = self.arena.nodes.get(n.parent as usize).filter(|a| a.kind == Kind::Array && a.key != u32::MAX);
        n.trace != u32::MAX && array.is_some_and(|a| is_decimal(&self.arena.bytes_since(n.trace, a.key)))
    }

    pub(super) fn any_unique(&self, node: &Node) -> bool {
        let items = &self.arena.arrays[node.start as usize..(node.start + node.len) as usize];
        items.iter().any(|i| self.program.arrays[i.shape as usize].unique)
    }

    /// Whether `parent` is an array of unique elements that has some already, with an element open.
    pub fn has_elements(&self, parent: NodeId) -> bool {
        self.arena
            .nodes
            .get(parent as usize)
            .is_some_and(|p| p.kind == Kind::Array && p.key != u32::MAX && p.seen != u32::MAX)
    }

    /// Whether the elements of the array on the node `parent` must differ in every alternative.
    pub fn all_differ(&self, parent: NodeId) -> bool {
        self.arena.nodes.get(parent as usize).filter(|n| n.kind == Kind::Array && n.key != u32::MAX).is_some_and(|n| {
            let items = &self.arena.arrays[n.start as usize..(n.start + n.len) as usize];
            items.iter().all(|i| self.program.arrays[i.shape as usize].unique)
        })
    }

    /// Adds `byte` to the trace of the element that `next` lies in, if it was part of it.
    pub(super) fn record(&mut self, next: NodeId, byte: u8) {
        let n = self.arena.nodes[next as usize];
        // The comma before an element was put down when its trace began, and the blanks after it mean nothing.
        let before_element = n.kind == Kind::Value
            && self.arena.nodes.get(n.parent as usize).is_some_and(|parent| parent.kind == Kind::Array);
        if before_element || !self.is_traced(next) {
            return;
        }
        let before = self.arena.trace;
        self.arena.keys.push(KeyByte { before, byte });
        self.arena.nodes[next as usize].trace = self.arena.keys.len() as u32 - 1;
    }

    /// Starts the trace of an element that was just opened.
    pub(super) fn begin_trace(&mut self, array: NodeId, value: NodeId, gap: Gap) {
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
    pub(super) fn is_unchecked(&self, array: &Node) -> bool {
        self.arena.unchecked && !array.spelled
    }

    /// The canonical text of the element that ends now.
    pub(super) fn element_value(&self, array: &Node, closing: Option<u8>) -> Option<Box<[u8]>> {
        if self.is_unchecked(array) {
            return None;
        }
        let mut text = self.arena.bytes_since(self.arena.trace, array.key);
        text.extend(closing);
        canonical(&text)
    }

    pub(super) fn has_element(&mut self, array: &Node, value: &[u8]) -> bool {
        self.arena.elements.has(array.seen, value)
    }

    /// Whether the array has fewer than all of these values.
    fn lacks_one(&mut self, array: &Node, endings: &[Ending]) -> bool {
        endings.len() as u64 > u64::from(array.count) || endings.iter().any(|e| !self.has_element(array, &e.value))
    }

    pub(super) fn add_element(&mut self, before: u32, value: Option<Box<[u8]>>) -> u32 {
        let Some(value) = value else { return before };
        self.arena.elements.push(Element::new(before, value))
    }

    /// Whether `rule` has a member that the array does not have yet.
    pub(super) fn has_unused(&mut self, array: &Node, rule: RuleId) -> bool {
        if array.seen == u32::MAX || self.is_unchecked(array) {
            return true;
        }
        let program = self.program;
        let r = &program.rules[rule.0 as usize];
        if !r.arrays.is_empty() || !r.objects.is_empty() {
            return true;
        }
        r.lexemes.iter().any(|&l| {
            let start = program.lexemes[l as usize].start();
            program.has_many_endings(l, start, 0, array.count, true)
                || program.values(l, start, 0, array.count, b"").is_none_or(|all| self.lacks_one(array, &all))
        })
    }

    /// Drops, from the scalar items that were just made, those that can only become an element that the array above
    /// has already.
    pub(super) fn keep_unused(&mut self, parent: NodeId, start: u32, count: u32, byte: u8) {
        let array = self.arena.nodes[parent as usize];
        if array.kind != Kind::Array || array.key == u32::MAX || array.seen == u32::MAX || self.is_unchecked(&array) {
            return;
        }
        let mut prefix = self.arena.bytes_since(self.arena.trace, array.key);
        prefix.push(byte);
        let decimal = is_decimal(&prefix);
        let mut kept = start as usize;
        for i in start as usize..self.arena.scalars.len() {
            let item = self.arena.scalars[i];
            let waits = |i: &&super::arena::ArrayItem| i.child == item.tag;
            let items = &self.arena.arrays[array.start as usize..(array.start + array.len) as usize];
            let free = items.iter().filter(waits).any(|i| !self.program.arrays[i.shape as usize].unique);
            let keep = free
                || self.program.has_many_endings(item.lexeme, item.state, count, array.count, decimal)
                || self.has_unused_end(&array, &item, count, &prefix);
            if keep {
                self.arena.scalars[kept] = item;
                kept += 1;
            }
        }
        self.arena.scalars.truncate(kept);
    }

    /// Whether some way to end an item, which stands behind `prefix`, is an element that the array does not have.
    fn has_unused_end(&mut self, array: &Node, item: &ScalarItem, count: u32, prefix: &[u8]) -> bool {
        let program = self.program;
        let l = &program.lexemes[item.lexeme as usize];
        if let Some(n) = l.num_texts(item.state).filter(|_| !prefix.contains(&b'\\')) {
            if n < FEW_TEXTS && n < u64::from(array.count) {
                let values = program.values(item.lexeme, item.state, count, array.count, prefix.trim_ascii_start());
                return values.is_none_or(|all| self.lacks_one(array, &all));
            }
            // Elements are different texts, each written once: those that end the item are counted.
            let ends = |rest: &[u8]| {
                let end = rest.iter().fold(item.state, |s, &b| if s > CLOSED { l.next(s, b) } else { DEAD });
                end == CLOSED
            };
            let prefix = prefix.trim_ascii_start();
            let mut used = 0;
            let mut e = array.seen;
            while let Some(element) = self.arena.elements.get(e) {
                let text = element.value.strip_prefix(b"\"").and_then(|text| text.strip_prefix(prefix));
                used += u64::from(text.is_some_and(ends));
                e = element.before;
            }
            return n > used;
        }
        if let Some(n) = l.num_spelled(item.state) {
            if n > u64::from(array.count) {
                return true;
            }
            // The same behind an escape, by what the elements decode to.
            let spelled = |text: &[u8]| decode(Sub::Plain, text.get(1..).unwrap_or_default().iter().copied()).0;
            let prefix = spelled(prefix.trim_ascii_start());
            let ends = |text: &[u8]| text.strip_prefix(&*prefix).is_some_and(|rest| l.spells(item.state, rest));
            let mut used = 0;
            let mut e = array.seen;
            while let Some(element) = self.arena.elements.get(e) {
                used += u64::from(match &*element.value {
                    [b'"', b'"', text @ .., b'"'] if !text.contains(&b'\\') => ends(text),
                    [b'"', text @ ..] => ends(&spelled(text)),
                    _ => false,
                });
                e = element.before;
            }
            return n > used;
        }
        let values = program.values(item.lexeme, item.state, count, array.count, prefix.trim_ascii_start());
        values.is_none_or(|all| self.lacks_one(array, &all))
    }
}
