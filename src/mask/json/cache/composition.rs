//! The composition of a mask: its ingredients.
//!
//! A row is made of ingredients that other masks have too: inner rows of lexeme states, patches, whitespace; and of
//! single tokens. A mask builder notes them while it looks at the configuration, and the row is written in the end (see
//! `composition_writer`). So a mask that an index remembers is a [`MaskComposition`]. The heavy ingredients are few and
//! come together in many places of many schemas: they are copied as one finished row (see `rows`), and the light ones,
//! which make the place, are put on top. Only inside arrays of unique elements is a row written at once.

use crate::mask::row_patch::LIGHT;
use crate::pushdown::json::frame::FrameId;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock, Weak};

use crate::mask::json::cache::patch_base::SharedPatch;
use crate::mask::json::cache::rows::CachedRow;
use crate::mask::json::crossing::suffixes::{SuffixSet, UnresolvedSuffixes};
use crate::mask::lexeme::lexeme_mask::{LexemeMask, TokenSet};
use crate::mask::row_patch::{RowPatch, patch};

/// Makes a row empty. A loop over a constant is what every compiler makes the fastest fill of.
#[inline]
pub fn empty(row: &mut [u32]) {
    for word in row {
        *word = 0;
    }
}

/// Writes the inner tokens of a lexeme state to a row that holds anything.
pub fn copy_inner(mask: &LexemeMask, row: &mut [u32]) {
    match &mask.inner {
        TokenSet::Dense(words) => row.copy_from_slice(words),
        sparse => {
            empty(row);
            sparse.or_into(row);
        }
    }
}

/// With more tokens than this parts are worth a row of their own.
const HEAVY: usize = 128;
/// The most tokens that are put on top of a row in all.
const ON_TOP: usize = 8 * LIGHT;

/// A part of a mask.
#[derive(Clone)]
pub enum Ingredient {
    /// Inner tokens of a lexeme state.
    Inner(Arc<LexemeMask>),
    /// Some tokens are allowed.
    Allow(RowPatch),
    /// Some tokens are not, whatever the parts before say.
    Forbid(RowPatch),
    /// Tokens of up to so many bytes of whitespace.
    Blanks(u32),
}

impl Ingredient {
    /// Tells a part from all others, as long as it lives.
    pub fn id(&self) -> u64 {
        let (address, kind) = match self {
            Ingredient::Inner(mask) => (Arc::as_ptr(mask) as u64, 0),
            Ingredient::Allow(p) => (Arc::as_ptr(p).cast::<u64>() as u64, 1),
            Ingredient::Forbid(p) => (Arc::as_ptr(p).cast::<u64>() as u64, 2),
            Ingredient::Blanks(most) => (u64::from(*most) << 2, 3),
        };
        // Addresses of these parts are multiples of four.
        address | kind
    }

    pub(super) fn is_row(&self) -> bool {
        matches!(self, Ingredient::Inner(mask) if matches!(mask.inner, TokenSet::Dense(_)))
    }

    /// Tokens that are written one by one, more or less.
    fn weight(&self, blanks: &[(u32, u32)]) -> usize {
        match self {
            Ingredient::Inner(mask) => match &mask.inner {
                TokenSet::Sparse(tokens) => tokens.len(),
                TokenSet::Dense(_) => 0,
            },
            Ingredient::Allow(p) | Ingredient::Forbid(p) => p.len(),
            Ingredient::Blanks(most) => blanks.partition_point(|b| b.0 <= *most),
        }
    }
}

/// A place inside a string, away from the bounds of its length: what decides the mask there.
#[derive(Clone, Copy)]
pub(crate) struct PlaceInString<'l> {
    /// The node below the string, and the rule that accepts it.
    pub(super) parent: FrameId,
    pub(super) tag: u32,
    /// The mask of the lexeme's state. Threads share it, and so the line on which its references are counted: it is not
    /// cloned to be looked at.
    pub(super) mask: &'l Arc<LexemeMask>,
}

/// The string that a guide filled last, and what its masks are made of.
#[derive(Clone)]
pub struct TextRow {
    pub(super) parent: FrameId,
    pub(super) tag: u32,
    pub(super) mask: Arc<LexemeMask>,
    /// The tokens that may close it.
    pub(super) closing: SharedPatch,
    /// The row of the mask and what is heavy of these tokens, once it was found; it may be gone.
    pub(super) row: Option<Weak<CachedRow>>,
}

impl TextRow {
    pub(super) fn is_of(&self, inside: &PlaceInString<'_>) -> bool {
        (self.parent, self.tag) == (inside.parent, inside.tag) && Arc::ptr_eq(&self.mask, inside.mask)
    }
}

/// What a mask is made of, in this order.
#[derive(Default)]
pub struct MaskComposition {
    pub(super) parts: SmallVec<[Ingredient; 6]>,
    /// How many ingredients at the beginning are shared: other masks have them, under equal ids.
    shared: usize,
    /// How many of the shared ingredients have a row together, see [`arrange`](Self::arrange).
    pub(super) base: usize,
    /// Single tokens that are allowed.
    pub(super) tokens: Vec<u32>,
    /// The row of the base, once it was found; it may be gone.
    pub(super) row: OnceLock<Weak<CachedRow>>,
    /// The suffixes that may follow the value, at a place where one begins or goes on.
    pub(super) suffixes_by_tag: SuffixesByTag,
}

impl MaskComposition {
    /// The parts, in the order in which they are written.
    pub fn parts(&self) -> &[Ingredient] {
        &self.parts
    }

    /// Single tokens that are allowed beside them, whatever the parts forbid.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Makes room for so many single tokens at once.
    pub fn expect(&mut self, tokens: usize) {
        self.tokens.reserve(tokens);
    }

    /// Adds a part that other masks have, too.
    pub fn share(&mut self, part: Ingredient) {
        self.shared += (self.shared == self.parts.len()) as usize;
        debug_assert!(self.row.get().is_none(), "nothing is added to what was written");
        self.parts.push(part);
    }

    /// Brings the heavy ones of the shared parts to the front, where they are the base. `blanks` are the tokens of
    /// whitespace.
    pub(super) fn arrange(&mut self, blanks: &[(u32, u32)]) {
        let shared = &mut self.parts[..self.shared];
        // What is allowed may come in any order, but not before what is taken back from others.
        let fixed = shared.iter().rposition(|part| matches!(part, Ingredient::Forbid(_))).map_or(0, |last| last + 1);
        let mut heavy: usize = shared[..fixed].iter().map(|part| part.weight(blanks)).sum();
        let (mut base, mut light) = (fixed, 0);
        for i in fixed..shared.len() {
            let weight = shared[i].weight(blanks);
            if weight > LIGHT || shared[i].is_row() {
                shared[base..=i].rotate_right(1);
                base += 1;
                heavy += weight;
            } else {
                light += weight;
            }
        }
        if light > ON_TOP {
            (base, heavy) = (shared.len(), heavy + light);
        }
        self.base = if heavy > HEAVY { base } else { 0 };
    }

    pub(super) fn forbid(&mut self, patch: RowPatch, shared: bool) {
        self.settle();
        match shared {
            true => self.share(Ingredient::Forbid(patch)),
            false => self.parts.push(Ingredient::Forbid(patch)),
        }
    }

    /// Makes a part of the single tokens so far.
    fn settle(&mut self) {
        if !self.tokens.is_empty() {
            self.parts.push(Ingredient::Allow(patch(std::mem::take(&mut self.tokens))));
        }
    }

    /// Bytes, those of patches included: they outlive the store that shares them.
    pub fn memory_bytes(&self) -> usize {
        let part = |p: &Ingredient| match p {
            Ingredient::Inner(_) | Ingredient::Blanks(_) => 0,
            Ingredient::Allow(p) | Ingredient::Forbid(p) => p.len() * 8,
        };
        let after = |a: &(u32, SuffixSet, UnresolvedSuffixes)| size_of_val(a) + a.1.len() * 8 + a.2.len() * 4;
        let by_tag: usize = self.suffixes_by_tag.iter().map(after).sum();
        size_of::<MaskComposition>() + by_tag + self.parts.iter().map(part).sum::<usize>() + self.tokens.len() * 4
    }
}

/// What may follow a value that is to begin, by rule: kept with the mask of its place, so that a guide for which that
/// mask was remembered knows it as well.
pub(crate) type SuffixesByTag = Box<[(u32, SuffixSet, UnresolvedSuffixes)]>;
