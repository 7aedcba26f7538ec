//! The memo of one guide: what it has found about the frames on which it stands.
//!
//! It holds as long as the guide does not go back, and needs no lock.

use crate::mask::json::cache::composition::TextRow;
use crate::mask::json::cache::patch_base::SharedPatch;
use crate::mask::json::cache_key::mask_key::StackIds;
use crate::mask::json::crossing::suffixes::{SuffixSet, UnresolvedSuffixes};
use crate::mask::lexeme::lexeme_mask::CrossingTokens;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{ArrayItem, Frame, FrameId, ObjectItem};
use crate::pushdown::json::unique::Sorted;
use smallvec::SmallVec;

/// What a node of a configuration consists of, but for where in the arena its items are.
#[derive(Clone, PartialEq)]
pub(crate) struct FrameContent {
    pub(crate) node: Frame,
    pub(crate) objects: SmallVec<[ObjectItem; 1]>,
    pub(crate) arrays: SmallVec<[ArrayItem; 1]>,
}

/// Which suffixes may follow a configuration below a node of the suffixes' trie. The configuration is known by the
/// content of its top node, whose indices point below what was there before the mask was made, and so stay what they
/// are as long as the guide does not go back.
#[derive(Clone)]
pub struct ViableAnswer {
    pub(crate) below: u32,
    /// The configuration stands behind a key that is not known; then second keys of the same object are left open.
    pub(crate) unnamed: bool,
    /// The element in front of it is not known; then what uniqueness may refuse is left open.
    pub(crate) unchecked: bool,
    pub(crate) content: FrameContent,
    pub(crate) bits: SuffixSet,
    pub(crate) unresolved: UnresolvedSuffixes,
}

/// What a guide has found about the frames that it stands on. It holds as long as the guide does not go back.
#[derive(Clone, Default)]
pub struct GuideMemo {
    pub(crate) values: Vec<AfterValue>,
    pub(crate) answers: Vec<ViableAnswer>,
    /// The numbers of the stacks below.
    pub(crate) levels: StackIds,
    /// Room for a description.
    pub(crate) scratch: Vec<u8>,
    /// The string that was filled last.
    pub(crate) text: Option<TextRow>,
    /// Lengths of the arena when the mask was begun: what lies below stays as it is.
    pub(crate) nodes: u32,
    pub(crate) bits: u32,
    pub(crate) counts: u32,
    pub(crate) seen: u32,
    pub(crate) elements: u32,
    pub(crate) sorted: Option<Sorted>,
}

impl GuideMemo {
    /// Forgets everything: the guide goes back.
    pub fn clear(&mut self) {
        self.values.clear();
        self.answers.clear();
        self.levels.clear();
        self.text = None;
        self.sorted = None;
    }

    /// Forgets what does not hold where a guide went back to.
    pub fn go_back(&mut self, arena: &Arena) {
        // An array has the elements that it had as long as none of them is gone.
        let sorted = self.sorted.take().filter(|sorted| sorted.is_among(arena.unique.num_elements()));
        self.clear();
        self.sorted = sorted;
    }

    /// What was found before, if that is at hand.
    pub(crate) fn answer(
        &self,
        below: u32,
        unnamed: bool,
        unchecked: bool,
        content: Option<&FrameContent>,
    ) -> Option<&ViableAnswer> {
        let asked = (below, unnamed, unchecked, content?);
        self.answers.iter().find(|a| (a.below, a.unnamed, a.unchecked, &a.content) == asked)
    }

    /// Notes what is in the arena before a mask is made.
    pub fn settle(&mut self, arena: &Arena) {
        self.nodes = arena.nodes.len() as u32;
        self.bits = arena.bits.len() as u32;
        self.counts = arena.counts.len() as u32;
        self.seen = arena.seen.len() as u32;
        self.elements = arena.unique.num_elements();
    }
}

/// Which of the vocabulary's suffixes may follow a value. That depends on the node below the value and the rule that
/// accepts it, and so holds before the value, in it and at its end, as long as its guide does not go back.
#[derive(Clone)]
pub struct AfterValue {
    /// The frame below the value.
    pub(crate) parent: FrameId,
    /// The rule that accepts the value.
    pub(crate) tag: u32,
    /// The suffixes that may follow it.
    pub(crate) bits: SuffixSet,
    /// Those that `bits` does not decide: their tokens are stepped whole.
    pub(crate) unresolved: UnresolvedSuffixes,
    /// Crossing tokens that were asked for, and which of them are allowed.
    pub(crate) closing: SmallVec<[(u64, SharedPatch); 2]>,
}

/// How many of them are at hand: one for each rule of a value that is awaited.
pub(crate) const AFTER_VALUES: usize = 4;

/// How many patches each of them has at hand.
pub(crate) const CLOSING: usize = 8;

impl AfterValue {
    pub(crate) fn keep(&mut self, cross: &CrossingTokens, patch: &SharedPatch) {
        if self.closing.len() == CLOSING {
            self.closing.clear();
        }
        self.closing.push((cross.id, patch.clone()));
    }
}

impl GuideMemo {
    pub(crate) fn add(&mut self, (parent, tag): (FrameId, u32), bits: &SuffixSet, unresolved: &UnresolvedSuffixes) {
        if self.values.len() >= AFTER_VALUES {
            self.values.clear();
        }
        let (bits, unresolved) = (bits.clone(), unresolved.clone());
        self.values.push(AfterValue { parent, tag, bits, unresolved, closing: SmallVec::new() });
    }

    /// The crossing tokens that may end the value above `parent` by rule `tag`, if that was asked before, and the
    /// suffixes whose tokens are to be stepped whole.
    pub(crate) fn closing(
        &self,
        parent: FrameId,
        tag: u32,
        cross: &CrossingTokens,
    ) -> Option<(SharedPatch, UnresolvedSuffixes)> {
        let after = self.values.iter().find(|a| (a.parent, a.tag) == (parent, tag))?;
        after.closing.iter().find(|c| c.0 == cross.id).map(|c| (c.1.clone(), after.unresolved.clone()))
    }
}
