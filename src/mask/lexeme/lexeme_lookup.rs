//! Looks up a lexeme in its vocabulary's cache, or compiles it; clears a vocabulary's caches, and counts what they
//! hold.

use crate::error::Result;
use crate::expr::{ExprId, Exprs, INF};
use crate::lexeme::{Lexeme, LexemeKind};
use crate::limits::{Limits, mask_cache_bytes, measure_bytes};
use crate::mask::lexeme::lexeme_cache::LexemeCache;
use crate::mask::lexeme::lexeme_cache::{LEXEME_STEPS, UNBOUNDED};
use crate::mask::lexeme::masked_lexeme::{LexemeRole, MaskedLexeme};
use crate::mask::vocab_tables::{TableStats, VocabTables};
use crate::util::cancel::charge;
use crate::util::free_pages;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
            LexemeKind::Text { min, max, escapes } => vec![1 | (escapes as u32) << 8, min, max],
        };
        source.content(expr, &mut key);
        // Bounded text whose states know their lengths is kept once for all bounds, under a key without them.
        let with_bounds = [key[0], key[1], key[2]];
        let without_bounds = [UNBOUNDED[0] | (kind.escapes() as u32) << 8, UNBOUNDED[1], UNBOUNDED[2]];
        let bounds = match kind {
            LexemeKind::Text { min, max, .. } if min > 0 || max < INF => Some((min, max)),
            _ => None,
        };
        {
            let cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
            let hit = |l: &Arc<MaskedLexeme>| {
                l.used.store(cache.clock, Ordering::Relaxed);
                self.counters.lexeme_hits.fetch_add(1, Ordering::Relaxed);
            };
            if let Some((min, max)) = bounds {
                key[..3].copy_from_slice(&without_bounds);
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
        charge(LEXEME_STEPS);
        // Decided in the compile's own arena, where lexemes that have parts in common share what is derived of them.
        // Bounds on the length of a product are a part of it, which the lexeme makes.
        if bounds.is_none() && source.is_product(expr) {
            source.decide_live(expr, limits.max_explored_states)?;
        }
        let Some(lexeme) = Lexeme::compile(source, expr, kind, self.reach, limits)? else { return Ok(None) };
        let made = Arc::new(MaskedLexeme::new(lexeme, role == LexemeRole::Value));
        made.masks.grow(key.len() * 4);
        let shares = bounds.is_some() && made.lexeme.has_lengths();
        if shares {
            key[..3].copy_from_slice(&without_bounds);
        }
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        made.used.store(cache.clock, Ordering::Relaxed);
        let kept = cache.keep(key.into_boxed_slice(), made);
        self.evict_from(&mut cache);
        match bounds {
            // Another thread may have made it first, with bounds of its own.
            Some((min, max)) if shares => Ok(kept.with_bounds(min, max)),
            _ => Ok(Some(kept)),
        }
    }

    /// Forgets the lexemes that were used longest ago, until the others have at most the bytes that the process allows.
    pub fn evict(&self) {
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        cache.measure();
        self.evict_from(&mut cache);
    }

    /// Ends a compile: what it took from the cache has one age, and is forgotten together. Lexemes of one compile lie
    /// beside each other in memory, so that what is forgotten together can be given back.
    pub(in crate::mask) fn end_compile(&self) {
        self.cache.lock().unwrap_or_else(|p| p.into_inner()).clock += 1;
        self.evict_grown();
        free_pages::release_if_due();
    }

    /// [`evict`](Self::evict) where lexemes have grown since they were measured. A few nanoseconds where they have not.
    pub fn evict_grown(&self) {
        if self.measured.has_passed(measure_bytes()) {
            self.evict();
        }
    }

    fn evict_from(&self, cache: &mut LexemeCache) {
        let before = cache.bytes;
        let evicted = cache.evict(mask_cache_bytes());
        self.kept.set(cache.bytes);
        free_pages::count(before.saturating_sub(cache.bytes));
        self.counters.evictions.fetch_add(evicted as u64, Ordering::Relaxed);
    }

    /// Forgets what the vocabulary's indexes share: every cached lexeme with the masks of its states, and what masks
    /// are made of. These are sets of crossing tokens (`crosses`), patches and their bases (`patches.kept`,
    /// `patches.cores`), masks inside names (`patches.partial_names`), values of members (`patches.members`), finished
    /// rows (`finished`), known sets of characters (`slice_sets`), and rows of the tokens over such sets
    /// (`char_postings.rows`).
    ///
    /// Indexes and guides keep what they hold of these, so nothing is answered differently. The vocabulary's own tries
    /// stay: they are made once, and the same for all sources.
    pub fn clear(&self) {
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        self.counters.evictions.fetch_add(cache.lexemes.len() as u64, Ordering::Relaxed);
        free_pages::count(cache.bytes);
        *cache = LexemeCache { clock: cache.clock, ..LexemeCache::default() };
        self.kept.set(0);
        self.crosses.0.clear();
        self.patches.kept.clear();
        self.patches.cores.clear();
        self.patches.partial_names.clear();
        self.patches.members.0.clear();
        self.finished.rows.clear();
        self.slice_sets.0.clear();
        self.char_postings.rows.clear();
    }

    /// The counters now. `bytes` counts what [`clear`](Self::clear) forgets, but for the bases of patches: each base is
    /// a part of the patches that have it, and [`SharedPatch::memory_bytes`] counts it with every one of them. So
    /// `patches.cores` would count them once more. Bases that no patch has any longer are not counted; `patch_base`
    /// lets all bases together grow to about a mebibyte.
    ///
    /// [`SharedPatch::memory_bytes`]: crate::mask::json::cache::patch_base::SharedPatch::memory_bytes
    pub fn stats(&self) -> TableStats {
        let cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        let c = &self.counters;
        TableStats {
            lexeme_hits: c.lexeme_hits.load(Ordering::Relaxed),
            lexeme_misses: c.lexeme_misses.load(Ordering::Relaxed),
            mask_walks: c.mask_walks.load(Ordering::Relaxed),
            mask_hits: c.mask_hits.load(Ordering::Relaxed),
            mask_misses: c.mask_misses.load(Ordering::Relaxed),
            parts: self.patches.made(),
            evictions: c.evictions.load(Ordering::Relaxed),
            lexemes: cache.lexemes.len() as u64,
            bytes: cache.lexemes.iter().map(|kept| kept.lexeme.memory_bytes() as u64).sum::<u64>()
                + (self.crosses.0.memory_bytes()
                    + self.patches.kept.memory_bytes()
                    + self.patches.partial_names.memory_bytes()
                    + self.patches.members.0.memory_bytes()
                    + self.finished.rows.memory_bytes()
                    + self.slice_sets.0.memory_bytes()
                    + self.char_postings.rows.memory_bytes()) as u64,
        }
    }

    /// Counts a mask that an index remembered, or did not.
    pub(crate) fn count_mask(&self, remembered: bool) {
        let counter = if remembered { &self.counters.mask_hits } else { &self.counters.mask_misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
