//! The side tables of an arena for unique arrays: their elements, and what was found of the open ones.
//!
//! As everything in an arena, all of it is given back by going back.

use crate::json::rules::RuleId;
use crate::pushdown::json::frame::FrameId;
use crate::pushdown::json::unique::candidates::Candidates;
use crate::pushdown::json::unique::elements::{ArrayElement, ArrayElements};
use crate::pushdown::json::unique::known_distinct::KnownDistinct;
use crate::pushdown::json::unique::search::found_paths::FoundPaths;

/// The side tables of the arrays of unique elements of an arena.
#[derive(Clone, Default)]
pub struct UniqueState {
    /// The elements that ended.
    pub(super) elements: ArrayElements,
    /// Which of them agree with open ones.
    pub(super) candidates: Candidates,
    /// Arrays whose open element differs from all others, however it goes on.
    pub(super) known_distinct: KnownDistinct,
    /// Nodes, ascending, behind which ways to an element that its array does not have were looked for in vain, but not
    /// all of them.
    pub(super) guessed: Vec<FrameId>,
    /// How often that was so.
    pub(super) guesses: u64,
    /// Ways to such an element that were found.
    pub(super) found_paths: FoundPaths,
    /// While ways to end an element of an array are tried: that array. Only arrays inside the element are asked whether
    /// theirs can differ.
    pub(super) searching: FrameId,
    /// What was stepped for that.
    pub(super) tried: TriedStates,
    /// The canonical text of the element that ends now.
    pub(super) ending: Option<Box<[u8]>>,
}

/// How an element may end.
#[derive(Clone, Copy)]
pub enum ElementEnd {
    /// It begins, and may be any value of a rule.
    OfRule(RuleId),
    /// It ends now, behind what was read of it and this byte.
    Now(Option<u8>),
}

/// What a search has stepped, with those inside it.
#[derive(Clone, Default)]
pub(super) struct TriedStates {
    /// One is under way. What it steps may lead to arrays inside the element that have no way on: then it finds none
    /// there either and goes back, which takes less than asking behind each byte.
    pub(super) on: bool,
    pub(super) bytes: u64,
    /// How many they may be, once they are more than one search may step.
    pub(super) most: Option<u64>,
}

impl UniqueState {
    /// How many elements there are, of all arrays.
    pub fn num_elements(&self) -> u32 {
        self.elements.len() as u32
    }

    /// Whether it was noted that the open element of an array differs from all others, however it goes on.
    pub fn is_distinct(&self, array: FrameId) -> bool {
        self.known_distinct.has(array)
    }

    /// Whether the elements of an array, from `last` back to the first, have this canonical text.
    pub fn has(&mut self, last: u32, value: &[u8]) -> bool {
        self.elements.has(last, value)
    }

    /// The canonical texts of an array's elements, from `last` back to the first.
    pub fn values(&self, last: u32) -> impl Iterator<Item = &[u8]> {
        let before = |element: &&ArrayElement| self.elements.get(element.before);
        std::iter::successors(self.elements.get(last), before).map(|element| &*element.value)
    }

    /// Forgets what was found at nodes that are not among the first `nodes`, and all but the first `elements`.
    #[inline]
    pub fn truncate(&mut self, nodes: u32, elements: u32) {
        self.known_distinct.truncate(nodes);
        while self.guessed.last().is_some_and(|top| *top >= nodes) {
            self.guessed.pop();
        }
        self.elements.truncate(elements as usize);
    }

    /// Forgets what was found behind bytes that are not among the first `len`.
    #[inline]
    pub fn truncate_bytes(&mut self, len: u32) {
        self.candidates.truncate(len);
        self.found_paths.truncate(len);
    }

    /// Forgets which open elements differ from all others, for whoever goes to another configuration without going
    /// back.
    pub fn forget_distinct(&mut self) {
        self.known_distinct.clear();
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.elements.memory_bytes()
            + self.candidates.memory_bytes()
            + self.found_paths.memory_bytes()
            + self.known_distinct.memory_bytes()
            + self.guessed.capacity() * size_of::<FrameId>()
    }
}
