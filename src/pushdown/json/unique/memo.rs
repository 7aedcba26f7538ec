//! What a program remembers about unique elements: completions of its lexemes, and how many values its rules have.

use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crate::json::rules::RuleId;
use crate::util::seeded_hash::SeededMap;

/// Bytes of lists that are remembered, of each kind; all are made again when there are more.
const LISTS_BYTES: usize = 16 << 20;
/// What a list and each of its texts takes beside the bytes of the texts.
pub(super) const ENTRY: usize = 128;
pub(super) const OVERHEAD: usize = 32;
/// Numbers that are remembered; all are found again when there are more.
const MOST_NUMBERS: usize = 1 << 12;
const MOST_COUNTS: usize = 1 << 18;

/// Numbers of texts, by a lexeme, a state and a count of code points.
pub(super) type CompletionCounts = SeededMap<(u32, u32, u32), u64>;

pub(super) type CompletionList = Arc<[Box<[u8]>]>;
pub(super) type CompletionTexts = Option<CompletionList>;

/// A value that a scalar may become.
pub struct Completion {
    /// Its canonical text.
    pub value: Box<[u8]>,
    /// The bytes that end it.
    pub rest: Box<[u8]>,
}

/// All that a program remembers about unique elements.
#[derive(Default)]
pub struct UniqueMemo {
    pub(super) completions: CompletionMemo,
    pub(super) cardinalities: CardinalityMemo,
}

/// Memo: for a lexeme, a state and a count of code points, the byte strings that end it; and how many there are.
#[derive(Default)]
pub(super) struct CompletionMemo {
    pub(super) texts: ListMemo<(u32, u32, u32), CompletionList>,
    counts: Mutex<CompletionCounts>,
    /// For a number or word and its state, how many byte strings end it at least after any one token, and how many
    /// decimals.
    pub(super) least: Mutex<SeededMap<(u32, u32), (u64, u64)>>,
    /// For a number and its state, how many decimals end it at least.
    pub(super) decimals: Mutex<SeededMap<(u32, u32), u64>>,
    /// By a lexeme and the bytes that were read of it.
    pub(super) values: CompletionValues,
    varied: VariedEnds,
}

/// Ends of a lexeme from one place in it that are different values.
pub(super) struct DistinctCompletions {
    /// The bytes of each.
    pub ends: Vec<Box<[u8]>>,
    /// Whether these are all there are, or as many as were asked for.
    pub is_enough: bool,
}

/// By the lexeme, a state and a count of code points, how many they are to be, and the bytes that were read.
type VariedEnds = ListMemo<(u32, u32, u32, usize, Box<[u8]>), Arc<DistinctCompletions>>;

pub(super) type CompletionValues = ListMemo<(u32, Box<[u8]>), Arc<[Completion]>>;

/// Lists that are remembered, and how many bytes they take.
pub(super) struct ListMemo<K, V>(Mutex<(SeededMap<K, V>, usize)>);

impl<K, V> Default for ListMemo<K, V> {
    fn default() -> Self {
        ListMemo(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> ListMemo<K, V> {
    /// What is remembered under a key, or `make` makes, with the bytes of it; another thread may make it as well.
    pub(super) fn get_or(&self, key: K, make: impl FnOnce() -> (V, usize)) -> V {
        let lock = || self.0.lock().unwrap_or_else(|p| p.into_inner());
        if let Some(known) = lock().0.get(&key) {
            return known.clone();
        }
        let (made, bytes) = make();
        let mut memo = lock();
        if memo.1 + bytes > LISTS_BYTES {
            *memo = Default::default();
        }
        memo.1 += bytes;
        memo.0.insert(key, made.clone());
        made
    }
}

impl CompletionMemo {
    /// Ends that are remembered, or `make` makes.
    pub(super) fn varied_ends(
        &self,
        key: (u32, u32, u32, usize, Box<[u8]>),
        make: impl FnOnce() -> DistinctCompletions,
    ) -> Arc<DistinctCompletions> {
        let read = key.4.len();
        self.varied.get_or(key, || {
            let made = make();
            let bytes = made.ends.iter().map(|end| end.len() + OVERHEAD).sum::<usize>() + read + ENTRY;
            (Arc::new(made), bytes)
        })
    }

    /// The numbers of texts that are known, with room for more.
    pub(super) fn counts(&self) -> MutexGuard<'_, CompletionCounts> {
        let mut counts = self.counts.lock().unwrap_or_else(|p| p.into_inner());
        if counts.len() > MOST_COUNTS {
            counts.clear();
        }
        counts
    }
}

/// Memo of `variety`.
#[derive(Default)]
pub(super) struct CardinalityMemo {
    pub(super) known: Mutex<FxHashMap<RuleId, u64>>,
    /// Answers by rule, read without a lock; zero until asked for. An object asks for each of its members.
    pub(super) asked: OnceLock<Box<[AtomicU64]>>,
    pub(super) endless: OnceLock<Vec<bool>>,
}

/// What a memo has under a key, or `make` makes; another thread may make it as well.
pub(super) fn remembered<K: Eq + Hash, V: Clone>(memo: &Mutex<SeededMap<K, V>>, key: K, make: impl FnOnce() -> V) -> V {
    let lock = || memo.lock().unwrap_or_else(|p| p.into_inner());
    if let Some(known) = lock().get(&key) {
        return known.clone();
    }
    let made = make();
    let mut memo = lock();
    if memo.len() > MOST_NUMBERS {
        memo.clear();
    }
    memo.insert(key, made.clone());
    made
}

#[cfg(test)]
mod tests;
