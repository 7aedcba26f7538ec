//! The lexemes of a vocabulary, with their masks, by content.
//!
//! All indexes of the vocabulary share them. The cache is bounded in bytes and gives up what was used longest ago; an
//! index keeps its own lexemes alive, so that never breaks one.

use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{MaskedLexeme, Role, Tables};
use crate::automaton::lexeme::{Kind, Lexeme};
use crate::error::Result;
use crate::ir::{ExprId, Exprs, INF};
use crate::limits::{CACHE_BYTES, Limits, MEASURE_BYTES};
use crate::work::spend;

/// Steps of a compile that a new lexeme takes, whatever it reads.
const LEXEME_STEPS: usize = 48;

#[derive(Default)]
pub(super) struct Cache {
    lexemes: FxHashMap<Box<[u32]>, Arc<MaskedLexeme>>,
    clock: u64,
}

/// Monotonic counters of one vocabulary's cache.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) lexeme_hits: AtomicU64,
    pub(super) lexeme_misses: AtomicU64,
    pub(super) mask_walks: AtomicU64,
    pub(super) mask_hits: AtomicU64,
    pub(super) mask_misses: AtomicU64,
    pub(super) evictions: AtomicU64,
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

impl Tables {
    /// The lexeme of `expr`, from the cache if any index compiled it before. `None` if it accepts nothing.
    pub fn lexeme(
        &self,
        source: &mut Exprs,
        expr: ExprId,
        kind: Kind,
        role: Role,
        limits: &Limits,
    ) -> Result<Option<Arc<MaskedLexeme>>> {
        let mut key = match kind {
            Kind::Raw => vec![if role == Role::Value { 0 } else { 2 }, 0, 0],
            Kind::Text { min, max } => vec![1, min, max],
            Kind::Constant => vec![4, 0, 0],
        };
        source.content(expr, &mut key);
        // Bounded text whose states know their lengths is kept once for all bounds, under a key without them.
        let bounds = match kind {
            Kind::Text { min, max } if min > 0 || max < INF => Some((min, max)),
            _ => None,
        };
        let unbounded = |key: &[u32]| -> Box<[u32]> { [&[3, 0, 0], &key[3..]].concat().into() };
        {
            let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
            cache.clock += 1;
            let hit = |l: &Arc<MaskedLexeme>| {
                l.used.store(cache.clock, Ordering::Relaxed);
                self.counters.lexeme_hits.fetch_add(1, Ordering::Relaxed);
            };
            if let Some((min, max)) = bounds
                && let Some(l) = cache.lexemes.get(&unbounded(&key))
            {
                hit(l);
                return Ok(l.with_bounds(min, max));
            }
            if let Some(l) = cache.lexemes.get(key.as_slice()) {
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
        let made = Arc::new(MaskedLexeme::new(lexeme, role == Role::Value));
        made.masks.bytes.store(key.len() * 4, Ordering::Relaxed);
        let shares = bounds.is_some() && made.lexeme.has_lengths();
        let key = if shares { unbounded(&key).into_vec() } else { key };
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        made.used.store(cache.clock, Ordering::Relaxed);
        let kept = cache.lexemes.entry(key.into_boxed_slice()).or_insert(made).clone();
        if cache.lexemes.len().is_multiple_of(64) || self.unmeasured.load(Ordering::Relaxed) > MEASURE_BYTES {
            self.unmeasured.store(0, Ordering::Relaxed);
            self.evict(&mut cache, CACHE_BYTES);
        }
        match bounds {
            // Another thread may have made it first, with bounds of its own.
            Some((min, max)) if shares => Ok(kept.with_bounds(min, max)),
            _ => Ok(Some(kept)),
        }
    }

    fn evict(&self, cache: &mut Cache, limit: usize) {
        let size = |l: &MaskedLexeme| l.masks.bytes.load(Ordering::Relaxed) + l.lexeme.memory_bytes();
        let mut total: usize = cache.lexemes.values().map(|l| size(l)).sum();
        if total <= limit {
            return;
        }
        let mut by_age: Vec<(u64, Box<[u32]>)> =
            cache.lexemes.iter().map(|(k, l)| (l.used.load(Ordering::Relaxed), k.clone())).collect();
        by_age.sort_unstable();
        for (_, key) in by_age {
            // Leave room, so that the next insertions do not evict again.
            if total <= limit / 4 * 3 {
                break;
            }
            if let Some(l) = cache.lexemes.remove(&key) {
                total -= size(&l).min(total);
                self.counters.evictions.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Forgets every cached lexeme. Indexes keep their own.
    pub fn clear(&self) {
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        self.counters.evictions.fetch_add(cache.lexemes.len() as u64, Ordering::Relaxed);
        cache.lexemes.clear();
        self.crosses.0.clear();
        self.shares.kept.clear();
        self.shares.names.clear();
        self.finished.rows.clear();
        self.sets.0.clear();
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
            bytes: cache
                .lexemes
                .values()
                .map(|l| (l.masks.bytes.load(Ordering::Relaxed) + l.lexeme.memory_bytes()) as u64)
                .sum::<u64>()
                + (self.crosses.0.memory_bytes()
                    + self.shares.kept.memory_bytes()
                    + self.shares.names.memory_bytes()
                    + self.finished.rows.memory_bytes()
                    + self.sets.0.memory_bytes()) as u64,
        }
    }

    /// Counts a mask that an index remembered, or did not.
    pub(in crate::index) fn count_mask(&self, remembered: bool) {
        let counter = if remembered { &self.counters.mask_hits } else { &self.counters.mask_misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
