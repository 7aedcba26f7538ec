//! The arena: frames of configurations as immutable nodes in plain vectors.
//!
//! A configuration is a linked list of frames from the top down. Stepping appends frames and never changes old ones. So
//! a mask can try thousands of continuations and forget them by truncating the arena, a guide rolls back by remembering
//! one mark per token, and frames that did not change their items share them. Everything is an index into plain
//! vectors; a frame is a few words.

use crate::json::rules::RuleId;
use crate::json::string_escape::EscapeState;
use crate::lexeme::StateId;
use crate::pushdown::json::program::Gap;
use crate::pushdown::json::seen_keys::SeenKeys;
use crate::pushdown::json::unique::candidates::Candidates;
use crate::pushdown::json::unique::elements::ArrayElements;
use crate::pushdown::json::unique::found_paths::FoundPaths;
use crate::pushdown::json::unique::known_distinct::KnownDistinct;
use crate::pushdown::json::unique::search::TriedStates;

/// Index of a node.
pub type FrameId = u32;

/// No node: the byte was refused.
pub const NONE: FrameId = u32::MAX;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// Below the document's value.
    Root,
    /// The document is complete.
    Done,
    /// Before a value; items are rules.
    Value,
    /// Inside a scalar; items are lexeme states.
    Scalar,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Where in its container a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// After the opening bracket.
    First,
    /// An element or member value is open above.
    Inside,
    /// After an element or member.
    After,
    /// Object: after a comma, before the next key.
    BeforeKey,
    /// Object: between the quotes of a key.
    Key,
    /// Object: after a key.
    BeforeColon,
}

/// One frame, or the value at its top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The node below.
    pub parent: FrameId,
    /// What this is.
    pub kind: FrameKind,
    /// Where it is.
    pub phase: Phase,
    /// Which whitespace may follow.
    pub gap: u8,
    /// How much of it was read: a state of the gap's automaton.
    pub blank: u16,
    /// First item in the kind's own vector.
    pub start: u32,
    /// Number of items.
    pub len: u32,
    /// Scalar: code points read. Array, object: elements or members begun.
    pub count: u32,
    /// Object: the list of keys without a name, newest first.
    pub seen: u32,
    /// Object, in a key: the state of "any text".
    pub text: StateId,
    /// Object, in a key: how far into an escape.
    pub sub: EscapeState,
    /// Object, in a key: its decoded bytes, last first. Array of unique elements, with an element open: where its
    /// trace begins.
    pub key: u32,
    /// Inside an element of an array of unique elements: the bytes of the element so far, last first.
    pub trace: u32,
    /// Array: it was opened while what was read before was not known ([`Arena::unchecked`]), so its own elements are.
    pub spelled: bool,
}

/// One lexeme of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarItem {
    /// Index of the rule among those of the value.
    pub tag: u32,
    /// Index of the lexeme in the program.
    pub lexeme: u32,
    /// The state of the lexeme.
    pub state: StateId,
}

/// One array shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayItem {
    /// Index of the rule among those of the value.
    pub tag: u32,
    /// Index of the shape.
    pub shape: u32,
    /// Index, among the element's rules, of the rule that this item waits for.
    pub child: u32,
    /// What the element counts for if that rule accepts it.
    pub matches: u32,
    /// Match counts so far, in [`Arena::counts`].
    pub counts: u32,
}

/// One object shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectItem {
    /// Index of the rule among those of the value.
    pub tag: u32,
    /// Index of the shape.
    pub shape: u32,
    /// Named keys seen, in [`Arena::bits`].
    pub seen: u32,
    /// Named keys needed in the end, in [`Arena::bits`].
    pub need: u32,
    /// In a key: named keys that it may still become, in [`Arena::bits`].
    pub allowed: u32,
    /// In a key: it may still become a key without a name.
    pub others: bool,
    /// In a key: the node of the names' trie, or `u32::MAX`.
    pub name: u32,
    /// In a key: states of the key classes, in [`Arena::states`].
    pub classes: u32,
    /// Declared order: properties before this one are gone.
    pub position: u32,
    /// After a key: the rule of its value. With the value open: that rule's index among the value's rules.
    pub child: u32,
    /// Witnesses found so far, the open member included: the item lives on only where its rule accepts the value.
    pub witnessed: u32,
}

/// A key without a name that an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The one before, or `u32::MAX`.
    pub before: u32,
    /// Its last decoded byte, in [`Arena::keys`], or `u32::MAX` for the empty key.
    pub key: u32,
    /// Its length in bytes.
    pub len: u32,
}

/// A decoded byte of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyByte {
    /// The one before, or `u32::MAX`.
    pub before: u32,
    /// The byte.
    pub byte: u8,
}

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
    pub ordered: SeenKeys,
    pub keys: Vec<KeyByte>,
    pub elements: ArrayElements,
    /// Which of them agree with open ones.
    pub agreeing: Candidates,
    /// Set while what was read of an element is not known: uniqueness is checked only in arrays that are opened then.
    pub unchecked: bool,
    /// Arrays of unique elements whose open element differs from all others, however it goes on.
    pub apart: KnownDistinct,
    /// Nodes, ascending, behind which ways to an element that its array does not have were looked for in vain, but not
    /// all of them.
    pub guessed: Vec<FrameId>,
    /// How often that was so.
    pub guesses: u64,
    /// Ways to such an element that were found.
    pub witnesses: FoundPaths,
    /// The trace before the byte that is being stepped.
    pub trace: u32,
    /// While ways to end an element of an array are tried: that array. Only arrays inside the element are asked whether
    /// theirs can differ.
    pub searching: FrameId,
    /// What was stepped for that.
    pub tried: TriedStates,
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
            self.elements.len() as u32,
        ])
    }

    /// Forgets everything made since `mark`.
    #[inline]
    pub fn truncate(&mut self, mark: &ArenaMark) {
        let m = &mark.0;
        self.nodes.truncate(m[0] as usize);
        self.apart.truncate(m[0]);
        while self.guessed.last().is_some_and(|top| *top >= m[0]) {
            self.guessed.pop();
        }
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
            self.agreeing.truncate(m[9]);
            self.witnesses.truncate(m[9]);
        }
        self.elements.truncate(m[10] as usize);
    }

    /// Keeps one node and its items of what was made since `mark`, where that is all that `top` needs: inside scalars
    /// and whitespace, which is where most tokens end. Returns where `top` is now.
    pub fn compact(&mut self, mark: &ArenaMark, top: FrameId) -> FrameId {
        let old = mark.0[0];
        if top < old {
            self.truncate(mark);
            return top;
        }
        let mut node = self.nodes[top as usize];
        if (node.parent >= old && node.parent != NONE) || node.trace != u32::MAX {
            return top;
        }
        match node.kind {
            FrameKind::Scalar => {
                let mut kept = *mark;
                if node.start >= mark.0[2] {
                    let items = node.start as usize;
                    self.scalars.copy_within(items..items + node.len as usize, mark.0[2] as usize);
                    node.start = mark.0[2];
                    kept.0[2] += node.len;
                }
                self.truncate(&kept);
            }
            FrameKind::Done => self.truncate(mark),
            _ => return top,
        }
        self.push(node)
    }

    /// Whether a key that an object has begins with `prefix`.
    pub fn key_begins_with(&self, seen: &Seen, prefix: &[u8]) -> bool {
        let Some(rest) = (seen.len as usize).checked_sub(prefix.len()) else { return false };
        let bytes = self.back_to(u32::MAX, seen.key).map(|k| self.keys[k as usize].byte);
        bytes.skip(rest).eq(prefix.iter().rev().copied())
    }

    /// The numbers of a list's bytes from `last` back to just after `start` (or its beginning).
    fn back_to(&self, start: u32, last: u32) -> impl Iterator<Item = u32> {
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

    /// The elements of an array of unique elements that may agree with an open one, of which the bytes from just after
    /// `array.key` to `trace` were read, ascending.
    pub fn candidates(&self, array: &Frame, trace: u32) -> Vec<u32> {
        match self.agreeing.of(self.back_to(array.key, trace), array.seen) {
            Some(known) => known.to_vec(),
            None => self.elements.of(array.seen),
        }
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
            + self.elements.memory_bytes()
            + self.agreeing.memory_bytes()
            + self.witnesses.memory_bytes()
            + self.apart.memory_bytes()
            + self.guessed.capacity() * 4
            + self.ordered.memory_bytes()
    }
}

impl Frame {
    /// A node of `kind` on `parent` with nothing in it.
    pub fn new(parent: FrameId, kind: FrameKind, phase: Phase, gap: Gap) -> Frame {
        Frame {
            parent,
            kind,
            phase,
            gap: gap as u8,
            blank: 0,
            start: 0,
            len: 0,
            count: 0,
            seen: u32::MAX,
            text: 0,
            sub: EscapeState::Plain,
            key: u32::MAX,
            trace: u32::MAX,
            spelled: false,
        }
    }
}
