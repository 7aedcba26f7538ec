//! The cache of a vocabulary's lexemes with their masks, looked up by content.
//!
//! All indexes of the vocabulary share it. It is bounded in bytes and evicts the lexeme that was used longest ago. An
//! index keeps its own lexemes alive, so eviction never breaks one.
//!
//! Lexemes grow while they are used. Measuring all of them takes a millisecond where there are many, so each new lexeme
//! has a few others measured again, in turn.

use hashbrown::HashTable;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::expr::{ExprId, Exprs, INF};
use crate::lexeme::{Lexeme, LexemeKind};
use crate::limits::{CACHE_BYTES, Limits, MEASURE_BYTES};
use crate::mask::vocab_tables::{LexemeRole, MaskedLexeme, VocabTables};
use crate::util::cancel::spend;
use crate::util::hash::seeded;

/// How the key of a lexeme begins that is kept for all bounds.
const UNBOUNDED: [u32; 3] = [3, 0, 0];

/// Steps of a compile that a new lexeme takes, whatever it reads.
const LEXEME_STEPS: usize = 48;

/// Lexemes that are measured again for each new one.
const MEASURED: usize = 4;

#[derive(Default)]
pub(crate) struct LexemeCache {
    lexemes: Vec<KeptLexeme>,
    /// Places in that list, by key.
    table: HashTable<u32>,
    /// What all hold, as of when each was measured.
    bytes: usize,
    /// The entry that is measured next.
    hand: usize,
    clock: u64,
}

struct KeptLexeme {
    hash: u64,
    key: Box<[u32]>,
    lexeme: Arc<MaskedLexeme>,
    /// The bytes that the lexeme held when it was measured last.
    bytes: usize,
}

fn hash_of(key: &[u32]) -> u64 {
    let mut h = seeded();
    key.hash(&mut h);
    h.finish()
}

impl LexemeCache {
    fn get(&self, key: &[u32]) -> Option<&Arc<MaskedLexeme>> {
        let hash = hash_of(key);
        let same = |kept: &KeptLexeme| kept.hash == hash && *kept.key == *key;
        self.table.find(hash, |&i| same(&self.lexemes[i as usize])).map(|&i| &self.lexemes[i as usize].lexeme)
    }

    /// Keeps `made`, unless another of the same content is there.
    fn keep(&mut self, key: Box<[u32]>, made: Arc<MaskedLexeme>) -> Arc<MaskedLexeme> {
        if let Some(known) = self.get(&key) {
            return known.clone();
        }
        let (hash, bytes) = (hash_of(&key), made.memory_bytes());
        let lexemes = &self.lexemes;
        self.table.insert_unique(hash, lexemes.len() as u32, |&i| lexemes[i as usize].hash);
        self.lexemes.push(KeptLexeme { hash, key, lexeme: made.clone(), bytes });
        self.bytes += bytes;
        made
    }

    /// Measures the next `n`.
    fn measure(&mut self, n: usize) {
        for _ in 0..n.min(self.lexemes.len()) {
            self.hand = if self.hand < self.lexemes.len() { self.hand } else { 0 };
            if let Some(kept) = self.lexemes.get_mut(self.hand) {
                let now = kept.lexeme.memory_bytes();
                self.bytes = self.bytes.saturating_sub(kept.bytes) + now;
                kept.bytes = now;
            }
            self.hand += 1;
        }
    }

    /// Gives up what was used longest ago, down to three quarters of `limit`, if there is more than that; answers how
    /// many. The next ones find room, so that they do not evict again.
    fn evict(&mut self, limit: usize) -> usize {
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

impl VocabTables {
    /// The lexeme of `expr`, from the cache if any index compiled it before. `None` if it accepts nothing.
    pub fn lexeme(
        &self,
        source: &mut Exprs,
        expr: ExprId,
        kind: LexemeKind,
        role: LexemeRole,
        limits: &Limits,
    ) -> Result<Option<Arc<MaskedLexeme>>> {
        let mut key = match kind {
            LexemeKind::Raw => vec![if role == LexemeRole::Value { 0 } else { 2 }, 0, 0],
            LexemeKind::Text { min, max } => vec![1, min, max],
            LexemeKind::Constant => vec![4, 0, 0],
        };
        source.content(expr, &mut key);
        // Bounded text whose states know their lengths is kept once for all bounds, under a key without them.
        let with_bounds = [key[0], key[1], key[2]];
        let bounds = match kind {
            LexemeKind::Text { min, max } if min > 0 || max < INF => Some((min, max)),
            _ => None,
        };
        {
            let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
            cache.clock += 1;
            let hit = |l: &Arc<MaskedLexeme>| {
                l.used.store(cache.clock, Ordering::Relaxed);
                self.counters.lexeme_hits.fetch_add(1, Ordering::Relaxed);
            };
            if let Some((min, max)) = bounds {
                key[..3].copy_from_slice(&UNBOUNDED);
                if let Some(l) = cache.get(&key) {
                    hit(l);
                    return Ok(l.with_bounds(min, max));
                }
                key[..3].copy_from_slice(&with_bounds);
            }
            if let Some(l) = cache.get(&key) {
                hit(l);
                return Ok(Some(l.clone()));
            }
        }
        self.counters.lexeme_misses.fetch_add(1, Ordering::Relaxed);
        spend(LEXEME_STEPS);
        // Decided in the compile's own arena, where lexemes that have parts in common share what is derived of them.
        // Bounds on the length of a product are a part of it, which the lexeme makes.
        if bounds.is_none() && source.is_product(expr) {
            source.decide_live(expr, limits.max_explored_states)?;
        }
        let Some(lexeme) = Lexeme::compile(source, expr, kind, self.reach, limits)? else { return Ok(None) };
        let made = Arc::new(MaskedLexeme::new(lexeme, role == LexemeRole::Value));
        made.masks.bytes.store(key.len() * 4, Ordering::Relaxed);
        let shares = bounds.is_some() && made.lexeme.has_lengths();
        if shares {
            key[..3].copy_from_slice(&UNBOUNDED);
        }
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        made.used.store(cache.clock, Ordering::Relaxed);
        let kept = cache.keep(key.into_boxed_slice(), made);
        let unmeasured = self.unmeasured.load(Ordering::Relaxed) > MEASURE_BYTES;
        if unmeasured {
            self.unmeasured.store(0, Ordering::Relaxed);
        }
        cache.measure(if unmeasured { usize::MAX } else { MEASURED });
        let evicted = cache.evict(CACHE_BYTES);
        self.counters.evictions.fetch_add(evicted as u64, Ordering::Relaxed);
        match bounds {
            // Another thread may have made it first, with bounds of its own.
            Some((min, max)) if shares => Ok(kept.with_bounds(min, max)),
            _ => Ok(Some(kept)),
        }
    }

    /// Forgets every cached lexeme. Indexes keep their own.
    pub fn clear(&self) {
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        self.counters.evictions.fetch_add(cache.lexemes.len() as u64, Ordering::Relaxed);
        *cache = LexemeCache { clock: cache.clock, ..LexemeCache::default() };
        self.crosses.0.clear();
        self.shares.kept.clear();
        self.shares.cores.clear();
        self.shares.names.clear();
        self.shares.members.0.clear();
        self.finished.rows.clear();
        self.sets.0.clear();
        self.holders.rows.clear();
    }

    /// The counters now.
    pub fn stats(&self) -> TableStats {
        let cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        let c = &self.counters;
        TableStats {
            lexeme_hits: c.lexeme_hits.load(Ordering::Relaxed),
            lexeme_misses: c.lexeme_misses.load(Ordering::Relaxed),
            mask_walks: c.mask_walks.load(Ordering::Relaxed),
            mask_hits: c.mask_hits.load(Ordering::Relaxed),
            mask_misses: c.mask_misses.load(Ordering::Relaxed),
            parts: self.shares.made(),
            evictions: c.evictions.load(Ordering::Relaxed),
            lexemes: cache.lexemes.len() as u64,
            bytes: cache.lexemes.iter().map(|kept| kept.lexeme.memory_bytes() as u64).sum::<u64>()
                + (self.crosses.0.memory_bytes()
                    + self.shares.kept.memory_bytes()
                    + self.shares.names.memory_bytes()
                    + self.shares.members.0.memory_bytes()
                    + self.finished.rows.memory_bytes()
                    + self.sets.0.memory_bytes()
                    + self.holders.rows.memory_bytes()) as u64,
        }
    }

    /// Counts a mask that an index remembered, or did not.
    pub(crate) fn count_mask(&self, remembered: bool) {
        let counter = if remembered { &self.counters.mask_hits } else { &self.counters.mask_misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
