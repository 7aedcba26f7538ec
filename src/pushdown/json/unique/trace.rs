//! Traces: the bytes of open elements that must differ, recorded along the frames.

use crate::json::whitespace::Gap;
use crate::pushdown::json::frame::{FrameId, FrameKind, KeyByte, Phase};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::unique::completions::is_decimal;

impl JsonMachine<'_> {
    /// Whether `node` lies inside an element whose bytes are recorded.
    pub(super) fn is_traced(&self, node: FrameId) -> bool {
        let parent = self.arena.nodes[node as usize].parent;
        self.arena.nodes.get(parent as usize).is_some_and(|p| {
            (p.kind == FrameKind::Array && p.phase == Phase::Inside && p.key != u32::MAX) || p.trace != u32::MAX
        })
    }

    /// Adds `byte` to the trace of the element that `next` lies in, if it was part of it.
    pub(super) fn record(&mut self, next: FrameId, byte: u8) {
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
    pub(super) fn begin_trace(&mut self, array: FrameId, value: FrameId, gap: Gap) {
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

    /// [`step_inside`](Self::step_inside) inside elements that must differ, where none of the bytes can lead to one
    /// that its array has: in a string that is no element itself, and while nobody asks what the elements around it may
    /// become.
    pub(super) fn step_inside_traced(&mut self, top: FrameId, bytes: &[u8]) -> Option<(FrameId, usize)> {
        let node = self.arena.nodes[top as usize];
        let one = node.kind == FrameKind::Scalar && node.len == 1 && node.seen == NO_SET;
        if !one || self.has_elements(node.parent) || (!self.arena.unique.tried.on && self.may_be_watched(top)) {
            return None;
        }
        let (next, read) = self.step_inside_text(node, bytes)?;
        if self.is_traced(next) {
            for &byte in &bytes[..read] {
                let before = self.arena.nodes[next as usize].trace;
                self.arena.keys.push(KeyByte { before, byte });
                self.arena.nodes[next as usize].trace = self.arena.keys.len() as u32 - 1;
            }
        }
        Some((next, read))
    }

    /// Whether the number that is open at `top`, or may begin there, is an element of an array of unique elements, and
    /// a decimal so far.
    pub fn reads_decimal(&self, top: FrameId) -> bool {
        let n = &self.arena.nodes[top as usize];
        let array = self.arena.nodes.get(n.parent as usize).filter(|a| a.kind == FrameKind::Array && a.key != u32::MAX);
        n.trace != u32::MAX && array.is_some_and(|a| is_decimal(&self.arena.bytes_since(n.trace, a.key)))
    }
}
