//! The compositions of masks, remembered by an index.
//!
//! Requests and documents of one schema pass the same configurations again and again. An index remembers the masks that
//! were put together before, under the key of everything that one token can see (see `mask_key`), compared byte by
//! byte: two configurations never share a mask by chance.
//!
//! A mask is kept as its composition: masks of lexeme states and patches that exist anyway, and the few tokens that
//! were stepped one by one. The cache is bounded in bytes. Emptying it never changes an answer, because numbers of
//! stacks are never given twice. Configurations inside arrays of unique elements are left out, and so are those inside
//! strings, where finding the ingredients costs no more than a look-up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::mask::json::cache::composition::MaskComposition;
use crate::mask::json::cache::patches::PatchCache;
use crate::mask::json::cache::spelled_names::{Spelled, SpelledAt};
use crate::mask::json::cache_key::mask_key::{StackIds, StackInterner, describe};
use crate::mask::json::cache_key::visible_keys::{KeyEncoder, VisibleKeys};
use crate::mask::json::crossing::suffixes::{SuffixSet, UnresolvedSuffixes};
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::FrameId;
use crate::pushdown::json::program::Program;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::{MASKS, NAMES, STACK_NUMBERS, SUFFIXES};

/// What an entry costs beside its parts: the table's slot and two allocations.
pub(crate) const OVERHEAD: usize = 128;

/// The masks that an index remembers as compositions, with the viable suffixes and the names that it remembers.
#[derive(Default)]
pub struct MaskCache {
    masks: BoundedCache<Box<[u8]>, Box<MaskComposition>, MASKS>,
    stacks: BoundedCache<Box<[u8]>, u64, STACK_NUMBERS>,
    suffixes: BoundedCache<Box<[u8]>, Box<(SuffixSet, UnresolvedSuffixes)>, SUFFIXES>,
    spelled_names: BoundedCache<SpelledAt, Arc<Spelled>, NAMES>,
    /// The last number of a stack.
    last: AtomicU64,
    views: VisibleKeys,
}

/// What a guide last asked a cache for.
#[derive(Clone, Default)]
pub struct CacheProbe {
    key: Vec<u8>,
    /// The key describes the whole configuration.
    whole: bool,
    /// The key is that of a place inside names: see `partial_name`.
    partial_name: bool,
}

impl StackInterner for MaskCache {
    fn number(&self, content: &[u8]) -> u64 {
        self.stacks.get(content).unwrap_or_else(|| {
            // Another thread that is here now gives another number, which costs a look-up and nothing more.
            let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
            self.stacks.keep(content.into(), number, content.len() + OVERHEAD);
            number
        })
    }
}

impl MaskCache {
    /// Describes `top`, to be looked up or kept. False if it is not worth remembering.
    pub fn describe(
        &self,
        (program, arena): (&Program, &Arena),
        tables: &VocabTables,
        top: FrameId,
        levels: &mut StackIds,
        probe: &mut CacheProbe,
    ) -> bool {
        let encoder = KeyEncoder { program, tables, views: &self.views };
        probe.partial_name = encoder.names_only(arena, top, &mut probe.key);
        probe.whole = probe.partial_name || describe((encoder, arena), top, self, levels, &mut probe.key);
        probe.whole
    }

    /// Writes the description of `top` to `out`. False if it is not worth remembering.
    pub(crate) fn describe_place(
        &self,
        (program, arena): (&Program, &Arena),
        tables: &VocabTables,
        top: FrameId,
        levels: &mut StackIds,
        out: &mut Vec<u8>,
    ) -> bool {
        let encoder = KeyEncoder { program, tables, views: &self.views };
        describe((encoder, arena), top, self, levels, out)
    }

    /// The suffixes that may follow what `key` describes, if they are remembered.
    pub(crate) fn suffixes(&self, key: &[u8]) -> Option<(SuffixSet, UnresolvedSuffixes)> {
        self.suffixes.with(key, |found| (**found).clone())
    }

    /// Remembers the suffixes that may follow what `key` describes.
    pub(crate) fn keep_suffixes(&self, key: &[u8], found: &(SuffixSet, UnresolvedSuffixes)) {
        let size = size_of_val(found) + key.len() + found.0.len() * 8 + found.1.len() * 4;
        self.suffixes.keep(key.into(), Box::new(found.clone()), size + OVERHEAD);
    }

    /// What tokens spell of the names at a place, made by `make` once.
    pub(crate) fn spelled(&self, place: SpelledAt, make: impl FnOnce() -> Spelled) -> Arc<Spelled> {
        self.spelled_names.get(&place).unwrap_or_else(|| {
            let made = Arc::new(make());
            self.spelled_names.keep(place, made.clone(), made.memory_bytes() + OVERHEAD);
            made
        })
    }

    /// What the mask that was described is made of, passed to `found`, if it is remembered. It is lent, not cloned:
    /// threads that share an index would count its references on one line of memory.
    pub fn find<T>(
        &self,
        patches: &PatchCache,
        probe: &CacheProbe,
        found: impl FnOnce(&MaskComposition) -> T,
    ) -> Option<T> {
        if probe.partial_name {
            return patches.partial_name_mask(&probe.key).map(|composition| found(&composition));
        }
        self.masks.with(probe.key.as_slice(), |composition| found(composition))
    }

    /// Remembers the mask that was asked for last; false if it is not worth it.
    pub fn keep(&self, patches: &PatchCache, probe: &CacheProbe, composition: MaskComposition) -> bool {
        if !probe.whole {
            return false;
        }
        if probe.partial_name {
            patches.keep_partial_name_mask(&probe.key, composition);
            return true;
        }
        let size = probe.key.len() + composition.memory_bytes() + OVERHEAD;
        self.masks.keep(probe.key.as_slice().into(), Box::new(composition), size);
        true
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        let kept = self.masks.memory_bytes() + self.stacks.memory_bytes() + self.suffixes.memory_bytes();
        kept + self.views.memory_bytes() + self.spelled_names.memory_bytes()
    }
}

impl CacheProbe {
    /// Whether a mask that was asked for is remembered.
    pub fn is_kept(&self) -> bool {
        self.whole
    }

    /// Nothing was asked.
    pub fn clear(&mut self) {
        self.whole = false;
    }
}

#[cfg(test)]
mod tests;
