//! Masked lexemes: a lexeme with the masks of its states over one vocabulary.
//!
//! Most states have one mask, kept at the root of the vocabulary's trie for ever. States near a bound on the length
//! have one for each distance from it, and these are forgotten when they fill their room.

use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::limits::MASK_BYTES;
use crate::mask::lexeme::lexeme_mask::{LexemeMask, TokenSet};
use crate::mask::trie_kind::TrieKind;
use crate::util::append_vec::AppendVec;
use crate::util::memory_growth;
use crate::util::seeded_hash::SeededMap;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

/// Tokens by how many code points are needed behind them, where some are; tokens that the state does not let pass may
/// be among them.
pub type PendingLengths = Box<[(u32, TokenSet)]>;

/// What a lexeme is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexemeRole {
    /// A whole pattern: nothing follows it.
    Whole,
    /// A JSON document.
    Value,
    /// The keys of an object, as they decode: nothing follows them, because their quoted form is asked for next.
    Keys,
}

/// Of the masks of one lexeme, which it is. The cache key of a whole configuration's mask is in
/// `json/cache_key/mask_key.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct LexemeMaskKey {
    pub(in crate::mask) state: StateId,
    pub(in crate::mask) room: u32,
    pub(in crate::mask) need: u32,
    /// Most less fewest code points, where the bounds matter: lexemes of one expression share masks.
    pub(in crate::mask) span: u32,
    pub(in crate::mask) walked: TrieKind,
    pub(in crate::mask) node: u32,
}

/// A lexeme and its masks over one vocabulary.
pub struct MaskedLexeme {
    /// The automaton.
    pub lexeme: Arc<Lexeme>,
    pub(in crate::mask) masks: Arc<StateMasks>,
    pub(in crate::mask) used: AtomicU64,
}

/// Masks by state; lexemes that share their states share these.
pub(crate) struct StateMasks {
    /// No other has this number, now or later.
    number: u64,
    /// What a compile makes before it is asked for was made.
    early: AtomicBool,
    /// Masks list crossing tokens: the lexeme is part of something. A whole pattern is not.
    pub(in crate::mask) crosses: bool,
    pub(in crate::mask) roots: AppendVec<Arc<LexemeMask>>,
    /// Emptied when full: nobody holds a mask for long.
    pub(in crate::mask) others: RwLock<SeededMap<LexemeMaskKey, Arc<LexemeMask>>>,
    pub(in crate::mask) others_bytes: AtomicUsize,
    /// What is needed behind tokens, by state; forgotten with the other masks.
    pub(in crate::mask) needs: RwLock<SeededMap<StateId, Option<Arc<PendingLengths>>>>,
    /// Pairs of states whose masks were compared.
    pub(in crate::mask) idle: RwLock<SeededMap<(StateId, StateId), bool>>,
    /// Bytes of masks that are kept.
    pub(in crate::mask) most: AtomicUsize,
    /// Masks of a string without a pattern, between two characters, by room.
    pub(in crate::mask) rooms: OnceLock<Vec<Arc<LexemeMask>>>,
    /// Masks of a string without a pattern, inside a character or an escape, by state and room.
    pub(in crate::mask) inside: RwLock<FxHashMap<StateId, Arc<[Arc<LexemeMask>]>>>,
    pub(in crate::mask) bytes: AtomicUsize,
}

impl Drop for StateMasks {
    fn drop(&mut self) {
        memory_growth::shrink(self.bytes.load(Ordering::Relaxed));
    }
}

impl StateMasks {
    /// Counts bytes that the masks take; answers how many they took before.
    pub(in crate::mask) fn grow(&self, bytes: usize) -> usize {
        memory_growth::grow(bytes);
        self.bytes.fetch_add(bytes, Ordering::Relaxed)
    }

    /// Counts bytes that the masks take no more.
    pub(in crate::mask) fn shrink(&self, bytes: usize) {
        memory_growth::shrink(bytes);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A mask that is not among the roots.
    pub(in crate::mask) fn other(&self, key: &LexemeMaskKey) -> Option<Arc<LexemeMask>> {
        self.others.read().unwrap_or_else(|p| p.into_inner()).get(key).cloned()
    }

    /// What is needed behind the tokens of a state, if that was looked for.
    pub(in crate::mask) fn known_needs(&self, state: StateId) -> Option<Option<Arc<PendingLengths>>> {
        self.needs.read().unwrap_or_else(|p| p.into_inner()).get(&state).cloned()
    }
}

impl MaskedLexeme {
    /// Approximate bytes held by states and masks.
    pub fn memory_bytes(&self) -> usize {
        self.masks.bytes.load(Ordering::Relaxed) + self.lexeme.held_bytes()
    }

    /// This string under other bounds on its length, sharing states and masks. `None` if no member is as long.
    pub(in crate::mask) fn with_bounds(&self, min: u32, max: u32) -> Option<Arc<MaskedLexeme>> {
        if matches!(self.lexeme.kind(), LexemeKind::Text { min: own, max: most, .. } if (own, most) == (min, max)) {
            let (lexeme, masks) = (self.lexeme.clone(), self.masks.clone());
            return Some(Arc::new(MaskedLexeme { lexeme, masks, used: AtomicU64::new(0) }));
        }
        let lexeme = Arc::new(self.lexeme.with_bounds(min, max)?);
        Some(Arc::new(MaskedLexeme { lexeme, masks: self.masks.clone(), used: AtomicU64::new(0) }))
    }

    /// Keeps up to `bytes` of masks from now on, where that is more than before.
    pub(crate) fn keep_masks(&self, bytes: usize) {
        self.masks.most.fetch_max(bytes, Ordering::Relaxed);
    }

    /// The id of its masks, for ever: lexemes that share them have the same.
    pub(crate) fn number(&self) -> u64 {
        self.masks.number
    }

    /// Claims the eager masks: true for the first caller among all lexemes that share these masks, who then makes them.
    pub(crate) fn claim_eager(&self) -> bool {
        !self.masks.early.load(Ordering::Relaxed) && !self.masks.early.swap(true, Ordering::Relaxed)
    }

    /// Releases the claim on eager masks after a cancelled build: the next one makes them.
    pub(crate) fn release_eager(&self) {
        self.masks.early.store(false, Ordering::Relaxed);
    }

    /// This lexeme over a copy of its states, with no masks yet.
    pub(crate) fn over(&self, lexeme: Arc<Lexeme>) -> Self {
        let masks = MaskedLexeme::masks(self.masks.crosses);
        MaskedLexeme { lexeme, masks: Arc::new(masks), used: AtomicU64::new(0) }
    }

    pub(in crate::mask) fn new(lexeme: Lexeme, crosses: bool) -> Self {
        let masks = Arc::new(MaskedLexeme::masks(crosses));
        MaskedLexeme { lexeme: Arc::new(lexeme), masks, used: AtomicU64::new(0) }
    }

    fn masks(crosses: bool) -> StateMasks {
        static LAST: AtomicU64 = AtomicU64::new(0);
        StateMasks {
            number: LAST.fetch_add(1, Ordering::Relaxed),
            early: AtomicBool::new(false),
            crosses,
            roots: AppendVec::default(),
            others: RwLock::default(),
            others_bytes: AtomicUsize::new(0),
            needs: RwLock::default(),
            idle: RwLock::default(),
            most: AtomicUsize::new(MASK_BYTES),
            rooms: OnceLock::new(),
            inside: RwLock::default(),
            bytes: AtomicUsize::new(0),
        }
    }
}
