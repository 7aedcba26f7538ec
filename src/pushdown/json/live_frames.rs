//! The live frames of an arena: a configuration on its own, without the frames that only going back needs.
//!
//! An arena keeps every frame that was ever on top. A guide that has taken many tokens copies the stack on which it
//! stands to an arena of its own and puts the old one away as a piece of its history (see `guide::history`).

use rustc_hash::FxHashMap;

use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::Frame;
use crate::pushdown::json::frame::{ArrayItem, FrameId, FrameKind, KeyByte, NONE, ObjectItem, Phase, ScalarItem, Seen};
use crate::pushdown::json::program::Program;

impl Arena {
    /// Bytes in use by frames and what their items hold; elements of unique arrays aside.
    pub(crate) fn used_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Frame>()
            + self.scalars.len() * size_of::<ScalarItem>()
            + self.arrays.len() * size_of::<ArrayItem>()
            + self.objects.len() * size_of::<ObjectItem>()
            + self.bits.len() * 8
            + (self.rules.len() + self.counts.len() + self.states.len()) * 4
            + self.seen.len() * size_of::<Seen>()
            + self.keys.len() * size_of::<KeyByte>()
    }

    /// An arena that holds nothing but the configuration at `top`, and where its top is.
    ///
    /// # Cost
    /// As much as the configuration holds. Where elements must differ, all bytes and elements that were ever read are
    /// taken along.
    pub(crate) fn live(&self, program: &Program, top: FrameId) -> (Arena, FrameId) {
        let keeps_keys = program.has_unique;
        let mut copy = LiveCopy { from: self, to: Arena::with_room(), bits: FxHashMap::default(), keeps_keys };
        if program.has_unique {
            // Traces and elements are named by their numbers.
            copy.to.keys.clone_from(&self.keys);
            copy.to.unique = self.unique.clone();
            copy.to.unique.truncate(0, self.unique.num_elements());
            copy.to.trace = self.trace;
        }
        copy.to.unchecked = self.unchecked;
        let parent = |at: &FrameId| Some(self.nodes[*at as usize].parent).filter(|parent| *parent != NONE);
        let mut stack: Vec<FrameId> = std::iter::successors(Some(top), parent).collect();
        stack.reverse();
        let last = stack.into_iter().fold(NONE, |below, at| copy.frame(program, at, below));
        (copy.to, last)
    }
}

struct LiveCopy<'a> {
    from: &'a Arena,
    to: Arena,
    /// Where sets of bits are now: items share them.
    bits: FxHashMap<u32, u32>,
    /// The bytes of keys and elements are all there, by their old numbers.
    keeps_keys: bool,
}

impl LiveCopy<'_> {
    /// Copies a frame, to stand on the frame `below`.
    fn frame(&mut self, program: &Program, at: FrameId, below: FrameId) -> FrameId {
        let old = &self.from.nodes[at as usize];
        let mut node = Frame { parent: below, ..*old };
        match old.kind {
            FrameKind::Root | FrameKind::Done => {}
            FrameKind::Value => {
                node.start = self.to.rules.len() as u32;
                self.to.rules.extend_from_slice(&self.from.rules[old.items()]);
            }
            FrameKind::Scalar => {
                node.start = self.to.scalars.len() as u32;
                self.to.scalars.extend_from_slice(&self.from.scalars[old.items()]);
            }
            FrameKind::Array => {
                node.start = self.to.arrays.len() as u32;
                for item in &self.from.arrays[old.items()] {
                    let width = program.arrays[item.shape as usize].contains.len();
                    let counts = self.to.counts.len() as u32;
                    self.to.counts.extend_from_slice(&self.from.counts[item.counts as usize..][..width]);
                    self.to.arrays.push(ArrayItem { counts, ..*item });
                }
            }
            FrameKind::Object => {
                node.start = self.to.objects.len() as u32;
                for item in &self.from.objects[old.items()] {
                    let item = self.object_item(program, item, old.phase);
                    self.to.objects.push(item);
                }
                node.seen = self.seen(old.seen);
                if !program.has_unique {
                    node.key = self.key(old.key);
                }
            }
        }
        self.to.push(node)
    }

    fn object_item(&mut self, program: &Program, item: &ObjectItem, phase: Phase) -> ObjectItem {
        let p = &program.objects[item.shape as usize];
        let mut copy = *item;
        copy.seen = self.set(item.seen, p.words);
        copy.need = self.set(item.need, p.words);
        copy.alternatives = self.set(item.alternatives, p.union.as_ref().map_or(0, |union| union.words()));
        if phase == Phase::Key {
            copy.allowed = self.set(item.allowed, p.words);
            copy.classes = self.to.states.len() as u32;
            self.to.states.extend_from_slice(&self.from.states[item.classes as usize..][..p.others.len()]);
        }
        copy
    }

    /// Copies a set of bits, once.
    fn set(&mut self, at: u32, words: usize) -> u32 {
        if words == 0 {
            return self.to.bits.len() as u32;
        }
        *self.bits.entry(at).or_insert_with(|| {
            let copy = self.to.bits.len() as u32;
            self.to.bits.extend_from_slice(&self.from.bits[at as usize..][..words]);
            copy
        })
    }

    /// Copies the keys that an object has, from the first to `last`.
    fn seen(&mut self, last: u32) -> u32 {
        let mut keys: Vec<u32> = self.from.seen_from(last).collect();
        keys.reverse();
        keys.into_iter().fold(u32::MAX, |before, at| {
            let seen = self.from.seen[at as usize];
            // Where traces are kept all bytes are where they were.
            let key = if self.keeps_keys { seen.key } else { self.key(seen.key) };
            self.to.seen.push(Seen { before, key, ..seen });
            self.to.seen.len() as u32 - 1
        })
    }

    /// Copies the bytes of a key.
    fn key(&mut self, last: u32) -> u32 {
        let bytes = self.from.bytes_since(last, u32::MAX);
        bytes.into_iter().fold(u32::MAX, |before, byte| {
            self.to.keys.push(KeyByte { before, byte });
            self.to.keys.len() as u32 - 1
        })
    }
}
