//! The arena: frames of configurations as immutable nodes in plain vectors.
//!
//! A configuration is a linked list of frames from the top down. Stepping appends frames and never changes old ones. So
//! a mask can try thousands of continuations and forget them by truncating the arena, a guide rolls back by remembering
//! one mark per token, and frames that did not change their items share them. Everything is an index into plain
//! vectors; a frame is a few words.

use crate::json::rules::RuleId;
use crate::lexeme::StateId;
use crate::pushdown::json::frame::{ArrayItem, Frame, FrameId, FrameKind, KeyByte, NONE, ObjectItem, ScalarItem, Seen};
use crate::pushdown::json::unique::state::UniqueState;
use crate::util::prefix_index::PrefixIndex;
use smallvec::SmallVec;

/// The frames and items of configurations, in vectors that grow by steps and are truncated by going back.
#[derive(Clone, Default)]
#[allow(missing_docs)] // One vector per type above.
pub struct Arena {
    pub nodes: Vec<Frame>,
    pub rules: Vec<RuleId>,
    pub scalars: Vec<ScalarItem>,
    pub arrays: Vec<ArrayItem>,
    pub objects: Vec<ObjectItem>,
    pub bits: Vec<u64>,
    pub counts: Vec<u32>,
    pub states: Vec<StateId>,
    pub seen: Vec<Seen>,
    /// The keys of the object that was asked last, in order.
    pub(crate) ordered: PrefixIndex<Box<[u8]>>,
    pub keys: Vec<KeyByte>,
    /// What arrays of unique elements have, and what was found of the open ones.
    pub unique: UniqueState,
    /// Set while what was read of an element is not known: uniqueness is checked only in arrays that are opened then.
    pub unchecked: bool,
    /// The trace before the byte that is being stepped.
    pub trace: u32,
    /// The rules that accepted the value which ended last.
    pub tags: smallvec::SmallVec<[u32; 4]>,
}

/// The lengths of an arena at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArenaMark([u32; 11]);

impl Arena {
    /// An arena with room for a short document: without it the vectors of every request grow step by step, each while a
    /// token waits.
    pub fn with_room() -> Self {
        Arena {
            nodes: Vec::with_capacity(64),
            rules: Vec::with_capacity(32),
            scalars: Vec::with_capacity(32),
            arrays: Vec::with_capacity(8),
            objects: Vec::with_capacity(64),
            bits: Vec::with_capacity(128),
            states: Vec::with_capacity(64),
            keys: Vec::with_capacity(128),
            ..Arena::default()
        }
    }

    /// The lengths now.
    pub fn mark(&self) -> ArenaMark {
        ArenaMark([
            self.nodes.len() as u32,
            self.rules.len() as u32,
            self.scalars.len() as u32,
            self.arrays.len() as u32,
            self.objects.len() as u32,
            self.bits.len() as u32,
            self.counts.len() as u32,
            self.states.len() as u32,
            self.seen.len() as u32,
            self.keys.len() as u32,
            self.unique.num_elements(),
        ])
    }

    /// Forgets everything made since `mark`.
    #[inline]
    pub fn truncate(&mut self, mark: &ArenaMark) {
        let m = &mark.0;
        self.nodes.truncate(m[0] as usize);
        self.rules.truncate(m[1] as usize);
        self.scalars.truncate(m[2] as usize);
        self.arrays.truncate(m[3] as usize);
        self.objects.truncate(m[4] as usize);
        self.bits.truncate(m[5] as usize);
        self.counts.truncate(m[6] as usize);
        self.states.truncate(m[7] as usize);
        // What is remembered of keys and bytes goes with them.
        if self.seen.len() > m[8] as usize {
            self.seen.truncate(m[8] as usize);
            self.ordered.truncate(m[8]);
        }
        if self.keys.len() > m[9] as usize {
            self.keys.truncate(m[9] as usize);
            self.unique.truncate_bytes(m[9]);
        }
        self.unique.truncate(m[0], m[10]);
    }

    /// Keeps of what was made since `mark` only the frames that `top` stands on, and their items. Returns where `top`
    /// is now. Frames of elements that are recorded stay as they are.
    pub fn compact(&mut self, mark: &ArenaMark, top: FrameId) -> FrameId {
        let old = mark.0[0];
        if top < old {
            self.truncate(mark);
            return top;
        }
        let mut chain: SmallVec<[FrameId; 8]> = SmallVec::new();
        let (mut at, mut containers) = (top, false);
        while at >= old && at != NONE {
            let node = &self.nodes[at as usize];
            if node.trace != u32::MAX {
                return top;
            }
            containers |= matches!(node.kind, FrameKind::Array | FrameKind::Object);
            chain.push(at);
            at = node.parent;
        }
        if chain.len() == self.nodes.len() - old as usize {
            return top;
        }
        // Registers of items, keys and elements stay where they are.
        let mut kept = if containers { self.mark() } else { *mark };
        kept.0[..5].copy_from_slice(&mark.0[..5]);
        let mut below = at;
        // A frame and its items come after those of the frame below, so nothing is written over that is still to move.
        for id in chain.into_iter().rev() {
            let mut node = Frame { parent: below, ..self.nodes[id as usize] };
            let (from, to) = (node.start, node.start + node.len);
            let moved = match node.kind {
                FrameKind::Root | FrameKind::Done => None,
                FrameKind::Value => move_down(&mut self.rules, (from, to), &mut kept.0[1]),
                FrameKind::Scalar => move_down(&mut self.scalars, (from, to), &mut kept.0[2]),
                FrameKind::Array => move_down(&mut self.arrays, (from, to), &mut kept.0[3]),
                FrameKind::Object => move_down(&mut self.objects, (from, to), &mut kept.0[4]),
            };
            node.start = moved.unwrap_or(node.start);
            below = kept.0[0];
            self.nodes[below as usize] = node;
            kept.0[0] += 1;
        }
        // What was found at these nodes was found at others.
        self.unique.truncate(old, kept.0[10]);
        self.truncate(&kept);
        below
    }

    /// Whether a key that an object has begins with `prefix`.
    pub fn key_begins_with(&self, seen: &Seen, prefix: &[u8]) -> bool {
        let Some(rest) = (seen.len as usize).checked_sub(prefix.len()) else { return false };
        let bytes = self.back_to(u32::MAX, seen.key).map(|k| self.keys[k as usize].byte);
        bytes.skip(rest).eq(prefix.iter().rev().copied())
    }

    /// The numbers of a list's bytes from `last` back to just after `start` (or its beginning).
    pub(crate) fn back_to(&self, start: u32, last: u32) -> impl Iterator<Item = u32> {
        let before = move |k: &u32| Some(self.keys[*k as usize].before).filter(|k| *k != u32::MAX && *k != start);
        std::iter::successors(Some(last).filter(|k| *k != u32::MAX && *k != start), before)
    }

    /// The bytes of a list from just after `start` (or its beginning) to `last`.
    pub fn bytes_since(&self, last: u32, start: u32) -> Vec<u8> {
        let mut out: Vec<u8> = self.back_to(start, last).map(|k| self.keys[k as usize].byte).collect();
        out.reverse();
        out
    }

    /// The bytes of a list from just after `start` to `last`, and how many of them come behind each of `marks`, which
    /// are numbers of bytes of the list, from the last to the first.
    pub fn bytes_since_each(&self, last: u32, start: u32, marks: &[u32]) -> (Vec<u8>, Vec<usize>) {
        let mut out: Vec<u8> = Vec::new();
        let mut marks = marks.iter().peekable();
        let mut behind = Vec::new();
        for k in self.back_to(start, last) {
            if marks.next_if(|mark| **mark == k).is_some() {
                behind.push(out.len());
            }
            out.push(self.keys[k as usize].byte);
        }
        behind.resize(behind.len() + marks.len(), out.len());
        out.reverse();
        (out, behind)
    }

    /// Adds a node.
    #[inline]
    pub fn push(&mut self, node: Frame) -> FrameId {
        let id = self.nodes.len() as FrameId;
        self.nodes.push(node);
        id
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Frame>()
            + self.rules.capacity() * 4
            + self.scalars.capacity() * size_of::<ScalarItem>()
            + self.arrays.capacity() * size_of::<ArrayItem>()
            + self.objects.capacity() * size_of::<ObjectItem>()
            + self.bits.capacity() * 8
            + (self.counts.capacity() + self.states.capacity()) * 4
            + self.seen.capacity() * size_of::<Seen>()
            + self.keys.capacity() * size_of::<KeyByte>()
            + self.unique.memory_bytes()
            + self.ordered.memory_bytes()
            + self.ordered.items().iter().map(|text| text.len()).sum::<usize>()
    }
}

/// Moves the items of a range down to `place`, and `place` behind them, unless they are in front of it. Returns where
/// they begin now, if they were moved.
fn move_down<T: Copy>(items: &mut [T], (from, to): (u32, u32), place: &mut u32) -> Option<u32> {
    if from < *place {
        return None;
    }
    let start = *place;
    items.copy_within(from as usize..to as usize, start as usize);
    *place += to - from;
    Some(start)
}
