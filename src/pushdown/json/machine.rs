//! The JSON machine: steps a configuration by a byte.
//!
//! [`JsonMachine`] joins a program and an arena. `step` takes the top frame of a configuration and a byte and returns
//! the new top, or [`NONE`]. All alternatives of an overlapping union run side by side as items of one frame. A value
//! that ends tells its parent *which* of the parent's awaited rules accepted it, and the parent keeps the items that
//! waited for one of those. That is the subset construction for visibly pushdown automata (Alur and Madhusudan 2004),
//! done lazily and with registers in the items.
//!
//! Invariant: every item of every frame can be completed. Guards refuse a byte before it leads to an item that cannot,
//! so a configuration that exists is live and a mask needs no second look.

use crate::json::rules::RuleId;
use crate::json::string_escape::EscapeState;
use crate::json::whitespace::Gap;
use crate::lexeme::{CLOSED, DEAD_STATE, LexemeKind};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{ArrayItem, Frame, FrameId, FrameKind, NONE, Phase, ScalarItem};
use crate::pushdown::json::literal_trie::{LiteralNode, NO_SET};
use crate::pushdown::json::program::Program;
use crate::pushdown::json::unique::state::ElementEnd;

/// A program over an arena.
pub struct JsonMachine<'a> {
    /// What to step.
    pub program: &'a Program,
    /// Where its nodes are.
    pub arena: &'a mut Arena,
}

impl<'a> JsonMachine<'a> {
    /// The start configuration; the arena must be empty.
    pub fn start(&mut self) -> FrameId {
        let root = self.arena.push(Frame::new(NONE, FrameKind::Root, Phase::Inside, Gap::Start));
        let start = self.arena.rules.len() as u32;
        self.arena.rules.push(self.program.root);
        self.arena.push(Frame { start, len: 1, ..Frame::new(root, FrameKind::Value, Phase::First, Gap::Start) })
    }

    /// Whether the document may end here.
    pub fn is_accepting(&mut self, top: FrameId) -> bool {
        let node = self.arena.nodes[top as usize];
        match node.kind {
            FrameKind::Done => true,
            // A number at the root ends where the text ends. A string ends with its quote: the items of a node are
            // either all strings or all not.
            FrameKind::Scalar => {
                if !self.is_raw(&node) {
                    return false;
                }
                let after = self.end_scalar(top);
                after != NONE && self.arena.nodes[after as usize].kind == FrameKind::Done
            }
            _ => false,
        }
    }

    /// The configuration after `byte`, or [`NONE`] if it is refused.
    pub fn step(&mut self, from: FrameId, byte: u8) -> FrameId {
        let mut top = from;
        let next = loop {
            let node = self.arena.nodes[top as usize];
            self.arena.trace = node.trace;
            match node.kind {
                FrameKind::Root | FrameKind::Done => return NONE,
                FrameKind::Value => break self.step_value(node, byte),
                FrameKind::Object => break self.step_object(node, byte),
                FrameKind::Scalar => match self.step_scalar(node, byte) {
                    Some(next) => break next,
                    // A number or word has no closing byte of its own: it ends in front of this one.
                    None => top = self.end_scalar(top),
                },
                FrameKind::Array => match self.step_array(node, byte) {
                    Some(next) => break next,
                    None => top = self.first_element(node),
                },
            }
            if top == NONE {
                return NONE;
            }
        };
        if next != NONE && self.program.has_unique && !self.read_byte(from, next, byte) {
            return NONE;
        }
        next
    }

    /// The node with one more byte of whitespace, if the gap allows it.
    #[inline]
    pub(crate) fn blank(&mut self, node: Frame, byte: u8) -> Option<FrameId> {
        let blank = self.program.gaps[node.gap as usize].step(node.blank, byte)?;
        Some(self.arena.push(Frame { blank, ..node }))
    }

    /// Whether the whitespace read so far may end.
    #[inline]
    pub fn gap_may_end(&self, node: &Frame) -> bool {
        self.program.gaps[node.gap as usize].accepting[node.blank as usize]
    }

    /// Whether `most` bytes of any whitespace may stand at `top`.
    pub fn has_room_for_blanks(&self, top: FrameId, most: u32) -> bool {
        let n = &self.arena.nodes[top as usize];
        let between = match (n.kind, n.phase) {
            (FrameKind::Value, _) => true,
            (FrameKind::Array | FrameKind::Object, phase) => !matches!(phase, Phase::Inside | Phase::Key),
            _ => false,
        };
        between && self.program.gaps[n.gap as usize].most.is_some_and(|m| u32::from(m.saturating_sub(n.blank)) >= most)
    }

    fn step_value(&mut self, node: Frame, byte: u8) -> FrameId {
        if let Some(n) = self.blank(node, byte) {
            return n;
        }
        if !self.gap_may_end(&node) {
            return NONE;
        }
        match byte {
            b'{' => self.open_object(node),
            b'[' => self.open_array(node),
            _ => self.open_scalar(node, byte),
        }
    }

    fn open_scalar(&mut self, node: Frame, byte: u8) -> FrameId {
        let program = self.program;
        let start = self.arena.scalars.len() as u32;
        let rules = &self.arena.rules[node.start as usize..(node.start + node.len) as usize];
        let set = program.constants.find_or_build(program, rules);
        let mut open = |tag: u32, lexeme: u32| {
            let l = &program.lexemes[lexeme as usize];
            let state = l.next(l.start(), byte);
            if state > CLOSED {
                self.arena.scalars.push(ScalarItem { tag, lexeme, state });
            }
        };
        match set {
            Some((_, set)) => set.others.iter().for_each(|&(tag, lexeme)| open(tag, lexeme)),
            None => {
                for (rule, tag) in rules.iter().zip(0..) {
                    program.rules[rule.0 as usize].lexemes.iter().for_each(|&lexeme| open(tag, lexeme));
                }
            }
        }
        let len = self.arena.scalars.len() as u32 - start;
        let seen = set.filter(|_| byte == b'"').map_or(NO_SET, |(number, _)| number);
        if len == 0 && seen == NO_SET {
            return NONE;
        }
        self.arena.push(Frame {
            start,
            len,
            seen,
            ..Frame::new(node.parent, FrameKind::Scalar, Phase::Inside, Gap::Start)
        })
    }

    /// `None` if the scalar, if at all, ends in front of `byte`.
    fn step_scalar(&mut self, node: Frame, byte: u8) -> Option<FrameId> {
        let program = self.program;
        let start = self.arena.scalars.len() as u32;
        let mut count = node.count;
        let mut alive = false;
        // Rules whose string the byte closes: a text lexeme says so, a listed string is at its end.
        let mut closed: smallvec::SmallVec<[u32; 8]> = smallvec::SmallVec::new();
        let mut closes = false;
        for i in node.start..node.start + node.len {
            let item = self.arena.scalars[i as usize];
            let l = &program.lexemes[item.lexeme as usize];
            let source = l.state(item.state);
            let state = l.next_from(item.state, source, byte);
            if state == DEAD_STATE {
                continue;
            }
            if state == CLOSED {
                closes = true;
                if l.may_close(node.count) && closed.last() != Some(&item.tag) {
                    closed.push(item.tag);
                }
                continue;
            }
            if l.kind() != LexemeKind::Raw {
                // All text items read the same characters, so they agree on the count.
                let n = node.count + l.starts_char(source, byte) as u32;
                if !l.live_at(l.state(state), n) {
                    continue;
                }
                count = n;
            }
            alive = true;
            self.arena.scalars.push(ScalarItem { state, ..item });
        }
        let (mut seen, mut text, mut sub) = (NO_SET, 0, EscapeState::Plain);
        if let Some(set) = program.constants.get(node.seen) {
            match set.step(node.text, node.sub, byte) {
                LiteralNode::Dead => {}
                LiteralNode::Closed => {
                    closes = true;
                    closed.extend_from_slice(set.texts.tokens(node.text));
                }
                LiteralNode::At(to, within) => (seen, text, sub) = (node.seen, to, within),
            }
        }
        if closes {
            for i in start as usize..self.arena.scalars.len() {
                let item = self.arena.scalars[i];
                let l = &program.lexemes[item.lexeme as usize];
                if l.kind() == LexemeKind::Raw && l.state(item.state).accepting {
                    closed.push(item.tag);
                }
            }
            closed.sort_unstable();
            closed.dedup();
            return Some(if closed.is_empty() { NONE } else { self.finish(node.parent, &closed, Some(byte)) });
        }
        let len = self.arena.scalars.len() as u32 - start;
        if len > 0 || seen != NO_SET {
            return Some(self.arena.push(Frame { start, len, count, seen, text, sub, ..node }));
        }
        if self.is_raw(&node) && !alive { None } else { Some(NONE) }
    }

    /// Whether a scalar is a number or a word: the items of a node are either all strings or all not.
    pub(crate) fn is_raw(&self, node: &Frame) -> bool {
        let first = self.arena.scalars[node.start as usize..][..node.len as usize].first();
        first.is_some_and(|item| self.program.lexemes[item.lexeme as usize].kind() == LexemeKind::Raw)
    }

    /// The configuration after the number or word at `top` ends here; strings end at their closing quote only.
    pub fn end_scalar(&mut self, top: FrameId) -> FrameId {
        let node = self.arena.nodes[top as usize];
        self.arena.trace = node.trace;
        let mut tags: smallvec::SmallVec<[u32; 8]> = smallvec::SmallVec::new();
        for i in node.start..node.start + node.len {
            let item = self.arena.scalars[i as usize];
            let l = &self.program.lexemes[item.lexeme as usize];
            if l.kind() == LexemeKind::Raw && l.state(item.state).accepting && tags.last() != Some(&item.tag) {
                tags.push(item.tag);
            }
        }
        tags.sort_unstable();
        tags.dedup();
        if tags.is_empty() { NONE } else { self.finish(node.parent, &tags, None) }
    }

    /// The configuration after the value above `parent` was accepted by the rules `tags` (ascending).
    pub(crate) fn finish(&mut self, parent: FrameId, tags: &[u32], closing: Option<u8>) -> FrameId {
        let node = self.arena.nodes[parent as usize];
        self.arena.tags.clear();
        self.arena.tags.extend_from_slice(tags);
        let next = match node.kind {
            FrameKind::Root => self.arena.push(Frame::new(parent, FrameKind::Done, Phase::After, Gap::Start)),
            FrameKind::Array => self.element_done(node, tags, closing),
            FrameKind::Object => self.member_done(node, tags),
            FrameKind::Done | FrameKind::Value | FrameKind::Scalar => NONE,
        };
        if next != NONE && self.program.has_unique {
            self.closed(&node, next);
        }
        next
    }

    /// The configuration after the rules `tags` (ascending) of the value above `parent` accepted, outside unique
    /// elements.
    pub fn finish_by(&mut self, parent: FrameId, tags: &[u32]) -> FrameId {
        self.finish(parent, tags, None)
    }

    /// Pushes the value above `parent`, which waits for `rules` (ascending, distinct).
    pub(crate) fn push_value(&mut self, parent: FrameId, rules: &[RuleId], gap: Gap) -> FrameId {
        let start = self.arena.rules.len() as u32;
        self.arena.rules.extend_from_slice(rules);
        self.arena.push(Frame {
            start,
            len: rules.len() as u32,
            ..Frame::new(parent, FrameKind::Value, Phase::First, gap)
        })
    }

    fn open_array(&mut self, node: Frame) -> FrameId {
        let program = self.program;
        let start = self.arena.arrays.len() as u32;
        for tag in 0..node.len {
            let rule = self.arena.rules[(node.start + tag) as usize];
            for &shape in &program.rules[rule.0 as usize].arrays {
                let counts = self.arena.counts.len() as u32;
                let contains = program.arrays[shape as usize].contains.len();
                self.arena.counts.extend(std::iter::repeat_n(0, contains));
                self.arena.arrays.push(ArrayItem { tag, shape, child: 0, matches: 0, counts });
            }
        }
        let len = self.arena.arrays.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        let spelled = self.arena.unchecked;
        self.arena.push(Frame {
            start,
            len,
            spelled,
            ..Frame::new(node.parent, FrameKind::Array, Phase::First, Gap::Before)
        })
    }

    /// `None` if the first element begins with `byte`.
    fn step_array(&mut self, node: Frame, byte: u8) -> Option<FrameId> {
        Some(match node.phase {
            Phase::First | Phase::After => {
                if let Some(n) = self.blank(node, byte) {
                    return Some(n);
                }
                if !self.gap_may_end(&node) {
                    return Some(NONE);
                }
                match (node.phase, byte) {
                    (_, b']') => self.close_array(node),
                    (Phase::After, b',') => self.next_element(node, Gap::After),
                    (Phase::First, _) => return None,
                    _ => NONE,
                }
            }
            _ => NONE,
        })
    }

    /// The value node of an array's first element, with the array's own whitespace taken over; [`NONE`] if the array
    /// must be empty.
    pub fn first_element(&mut self, node: Frame) -> FrameId {
        self.arena.trace = node.trace;
        let value = self.next_element(node, Gap::Before);
        if value != NONE {
            self.arena.nodes[value as usize].blank = node.blank;
        }
        value
    }

    fn close_array(&mut self, node: Frame) -> FrameId {
        let mut tags: smallvec::SmallVec<[u32; 8]> = smallvec::SmallVec::new();
        for i in node.start..node.start + node.len {
            let item = self.arena.arrays[i as usize];
            let shape = &self.program.arrays[item.shape as usize];
            let counts = &self.arena.counts[item.counts as usize..][..shape.contains.len()];
            if shape.may_end(node.count as u64, counts) && tags.last() != Some(&item.tag) {
                tags.push(item.tag);
            }
        }
        if tags.is_empty() { NONE } else { self.finish(node.parent, &tags, Some(b']')) }
    }

    /// Opens the element at index `node.count`: one item per way that can still be completed.
    fn next_element(&mut self, node: Frame, gap: Gap) -> FrameId {
        let program = self.program;
        let index = node.count as u64;
        let start = self.arena.arrays.len() as u32;
        let mut rules: smallvec::SmallVec<[RuleId; 8]> = smallvec::SmallVec::new();
        let mut after: smallvec::SmallVec<[u32; 4]> = smallvec::SmallVec::new();
        for i in node.start..node.start + node.len {
            let item = self.arena.arrays[i as usize];
            let shape = &program.arrays[item.shape as usize];
            if index >= shape.max {
                continue;
            }
            for way in shape.ways(index) {
                if shape.unique && !self.may_end(&node, ElementEnd::OfRule(way.rule)) {
                    continue;
                }
                let counts = &self.arena.counts[item.counts as usize..][..shape.contains.len()];
                after.clear();
                after.extend(counts.iter().zip(0..).map(|(&c, b)| c.saturating_add(way.matches >> b & 1)));
                if !shape.feasible(index + 1, &after) {
                    continue;
                }
                rules.push(way.rule);
                self.arena.arrays.push(ArrayItem { child: way.rule.0, matches: way.matches, ..item });
            }
        }
        let len = self.arena.arrays.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        rules.sort_unstable();
        rules.dedup();
        for item in &mut self.arena.arrays[start as usize..] {
            item.child = rules.binary_search(&RuleId(item.child)).unwrap_or(0) as u32;
        }
        let array = self.arena.push(Frame { start, len, phase: Phase::Inside, blank: 0, ..node });
        let value = self.push_value(array, &rules, gap);
        if program.has_unique {
            self.opened(array, value, gap);
        }
        value
    }

    fn element_done(&mut self, node: Frame, tags: &[u32], closing: Option<u8>) -> FrameId {
        let program = self.program;
        let repeated = program.has_unique && !self.may_end(&node, ElementEnd::Now(closing));
        let start = self.arena.arrays.len() as u32;
        for i in node.start..node.start + node.len {
            let item = self.arena.arrays[i as usize];
            if tags.binary_search(&item.child).is_err() {
                continue;
            }
            let shape = &program.arrays[item.shape as usize];
            if repeated && shape.unique {
                continue;
            }
            let mut counts = item.counts;
            if item.matches != 0 {
                let old = counts as usize;
                counts = self.arena.counts.len() as u32;
                for (b, c) in shape.contains.iter().enumerate() {
                    let n = self.arena.counts[old + b].saturating_add(item.matches >> b & 1);
                    // Without an upper bound, more than enough is enough.
                    let most = if c.max.is_none() { u32::try_from(c.min).unwrap_or(u32::MAX) } else { u32::MAX };
                    self.arena.counts.push(n.min(most));
                }
            }
            let item = ArrayItem { child: 0, matches: 0, counts, ..item };
            let Arena { arrays, counts, .. } = &mut *self.arena;
            // Items of one shape for one rule lie side by side, and no others go on alike: of an enumeration of arrays
            // there are as many shapes as alternatives.
            let differs = |other: &ArrayItem| (other.tag, other.shape) != (item.tag, item.shape);
            let made = start as usize;
            let made = arrays[made..].iter().rposition(differs).map_or(made, |last| made + last + 1);
            if arrays[made..].iter().any(|other| shape.goes_on_as(other, &item, counts)) {
                continue;
            }
            // Nor is an earlier one of use that this one goes on as.
            arrays.extract_if(made.., |other| shape.goes_on_as(&item, other, counts)).for_each(drop);
            arrays.push(item);
        }
        let len = self.arena.arrays.len() as u32 - start;
        if len == 0 {
            return NONE;
        }
        let count = node.count.saturating_add(1);
        let key = u32::MAX;
        self.arena.push(Frame { start, len, count, key, phase: Phase::After, gap: Gap::Before as u8, blank: 0, ..node })
    }
}
