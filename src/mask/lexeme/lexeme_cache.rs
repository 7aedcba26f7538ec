//! The cache of a vocabulary's lexemes with their masks, looked up by content.
//!
//! All indexes of the vocabulary share it. It is bounded in bytes and evicts the lexemes that were used longest ago,
//! those of one compile together. An index keeps its own lexemes alive, so eviction never breaks one.
//!
//! Lexemes grow while they are used. Measuring all of them takes a millisecond where there are many, so they are
//! measured when enough has [grown](crate::util::memory_growth).

use hashbrown::HashTable;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::util::seeded_hash::seeded;

/// How the cache key of a lexeme begins that is kept for all bounds.
pub(crate) const UNBOUNDED: [u32; 3] = [3, 0, 0];

/// Steps of a compile that a new lexeme takes, whatever it reads.
pub(crate) const LEXEME_STEPS: usize = 48;

#[derive(Default)]
pub(crate) struct LexemeCache {
    pub(in crate::mask) lexemes: Vec<KeptLexeme>,
    /// Places in that list, by cache key.
    pub(in crate::mask) table: HashTable<u32>,
    /// What all hold, as of when each was measured.
    pub(in crate::mask) bytes: usize,
    /// Compiles that have ended.
    pub(in crate::mask) clock: u64,
}

pub(crate) struct KeptLexeme {
    hash: u64,
    key: Box<[u32]>,
    pub(in crate::mask) lexeme: Arc<MaskedLexeme>,
    /// As it was measured last.
    bytes: usize,
}

fn hash_of(key: &[u32]) -> u64 {
    let mut h = seeded();
    key.hash(&mut h);
    h.finish()
}

impl LexemeCache {
    pub(in crate::mask) fn get(&self, key: &[u32]) -> Option<&Arc<MaskedLexeme>> {
        let hash = hash_of(key);
        self.place_of(hash, key).map(|i| &self.lexemes[i].lexeme).filter(|l| !l.lexeme.has_given_up())
    }

    fn place_of(&self, hash: u64, key: &[u32]) -> Option<usize> {
        let same = |kept: &KeptLexeme| kept.hash == hash && *kept.key == *key;
        self.table.find(hash, |&i| same(&self.lexemes[i as usize])).map(|&i| i as usize)
    }

    /// Keeps `made`, unless another of the same content is there that goes on finding states.
    pub(in crate::mask) fn keep(&mut self, key: Box<[u32]>, made: Arc<MaskedLexeme>) -> Arc<MaskedLexeme> {
        if let Some(known) = self.get(&key) {
            return known.clone();
        }
        let (hash, bytes) = (hash_of(&key), made.memory_bytes());
        if let Some(i) = self.place_of(hash, &key) {
            // One that finds no more states makes room.
            self.lexemes[i].lexeme = made.clone();
            return made;
        }
        let lexemes = &self.lexemes;
        self.table.insert_unique(hash, lexemes.len() as u32, |&i| lexemes[i as usize].hash);
        self.lexemes.push(KeptLexeme { hash, key, lexeme: made.clone(), bytes });
        self.bytes += bytes;
        made
    }

    /// Measures all.
    pub(in crate::mask) fn measure(&mut self) {
        self.lexemes.iter_mut().for_each(|kept| kept.bytes = kept.lexeme.memory_bytes());
        self.bytes = self.lexemes.iter().map(|kept| kept.bytes).sum();
    }

    /// Gives up what was used longest ago, down to three quarters of `limit`, if there is more than that; answers how
    /// many. The next ones find room, so that they do not evict again.
    pub(in crate::mask) fn evict(&mut self, limit: usize) -> usize {
        if self.bytes <= limit {
            return 0;
        }
        let used = |kept: &KeptLexeme| kept.lexeme.used.load(Ordering::Relaxed);
        let mut by_age: Vec<(u64, usize)> = self.lexemes.iter().map(|kept| (used(kept), kept.bytes)).collect();
        by_age.sort_unstable();
        let mut total: usize = by_age.iter().map(|l| l.1).sum();
        let mut last = None;
        for (age, bytes) in by_age {
            if total <= limit / 4 * 3 {
                break;
            }
            total = total.saturating_sub(bytes);
            last = Some(age);
        }
        let before = self.lexemes.len();
        self.lexemes.retain(|kept| last.is_none_or(|last| used(kept) > last));
        self.bytes = self.lexemes.iter().map(|kept| kept.bytes).sum();
        let (lexemes, table) = (&self.lexemes, &mut self.table);
        table.clear();
        for (i, kept) in (0u32..).zip(lexemes) {
            table.insert_unique(kept.hash, i, |&i| lexemes[i as usize].hash);
        }
        before - self.lexemes.len()
    }
}

/// Monotonic counters of one vocabulary's cache.
#[derive(Default)]
pub(crate) struct TableCounters {
    pub(crate) lexeme_hits: AtomicU64,
    pub(crate) lexeme_misses: AtomicU64,
    pub(crate) mask_walks: AtomicU64,
    pub(crate) mask_hits: AtomicU64,
    pub(crate) mask_misses: AtomicU64,
    pub(crate) evictions: AtomicU64,
}

/// A reading of the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStats {
    /// Lexemes found in the cache.
    pub lexeme_hits: u64,
    /// Lexemes compiled.
    pub lexeme_misses: u64,
    /// Walks of a trie to make a mask.
    pub mask_walks: u64,
    /// Masks that an index remembered.
    pub mask_hits: u64,
    /// Masks that an index put together to remember them.
    pub mask_misses: u64,
    /// Parts of masks put together for all indexes.
    pub parts: u64,
    /// Lexemes evicted.
    pub evictions: u64,
    /// Lexemes held.
    pub lexemes: u64,
    /// Bytes held by lexemes, their masks and parts of masks.
    pub bytes: u64,
}
