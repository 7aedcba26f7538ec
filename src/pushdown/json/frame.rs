//! Frames of configurations, and what their items hold.
//!
//! Everything is an index into the vectors of an [`Arena`](crate::pushdown::json::arena::Arena); a frame is a few
//! words.

use std::ops::Range;

use crate::json::string_escape::EscapeState;
use crate::json::whitespace::Gap;
use crate::lexeme::StateId;

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
    /// Array: it was opened while what was read before was not known (`unchecked` in the arena), so its own elements
    /// are.
    pub spelled: bool,
}

/// One lexeme of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarItem {
    /// Index of the rule among those of the value.
    pub tag: u32,
    /// Index of the lexeme in the program.
    pub lexeme: u32,
    /// Its state.
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
    /// Match counts so far, in the arena's `counts`.
    pub counts: u32,
}

/// One object shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectItem {
    /// Index of the rule among those of the value.
    pub tag: u32,
    /// Index of the shape.
    pub shape: u32,
    /// Named keys seen, in the arena's `bits`.
    pub seen: u32,
    /// Named keys needed in the end, in the arena's `bits`.
    pub need: u32,
    /// In a key: named keys that it may still become, in the arena's `bits`.
    pub allowed: u32,
    /// In a key: it may still become a key without a name.
    pub others: bool,
    /// In a key: the node of the names' trie, or `u32::MAX`.
    pub name_node: u32,
    /// In a key: states of the key classes, in the arena's `states`.
    pub classes: u32,
    /// Declared order: properties before this one are gone.
    pub position: u32,
    /// After a key: the rule of its value. With the value open: that rule's index among the value's rules.
    pub child: u32,
    /// Witnesses found so far, the open member included: the item lives on only where its rule accepts the value.
    pub witnessed: u32,
    /// Of a united shape: the alternatives that are still open, in the arena's `bits`.
    pub alternatives: u32,
    /// Of a united shape: what is open has changed since `seen` and `need` were set by it.
    pub unsettled: bool,
}

/// A key without a name that an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The one before, or `u32::MAX`.
    pub before: u32,
    /// Its last decoded byte, in the arena's `keys`, or `u32::MAX` for the empty key.
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

    /// The numbers of its items in their kind's own vector.
    #[inline]
    pub fn items(&self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}
