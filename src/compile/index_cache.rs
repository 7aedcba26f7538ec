//! The compile cache: indexes that were compiled lately, found again by their sources.
//!
//! Requests come with their schema as text, and most bring one that came before. A [`CompileCache`] finds the indexes
//! of one vocabulary by everything that an index depends on, compared in full: source, options and limits. What is
//! found is the index itself, with every mask that guides have made in it since; indexes are shared freely, so nobody
//! sees a difference but the time.
//!
//! Many sources come only once. To keep their indexes would cost the next compile a tenth of its time, because it would
//! find no memory that is still near the processor. So an index is *seen* first: it is found as long as somebody else
//! holds it. When its source comes for the second time, it is *kept*.
//!
//! The cache is bounded in bytes, and the index that was not asked for the longest leaves first. Indexes grow while
//! they are used, without telling anybody, so all that are kept are measured again in turn, one whenever another comes
//! in, and one now and then when some are found.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::compile::source::Source;
use crate::index::{Index, WeakIndex};
use crate::limits::{INDEX_BYTES, Limits};
use crate::util::seeded_hash::{Seeded, SeededMap};

/// What an entry takes beside its source and its index: its places in two tables.
const OVERHEAD: usize = 512;

/// How many indexes are found until another one is measured, which takes as long as three look-ups.
const MEASURED_EVERY: u64 = 8;

/// How many entries are passed in search of one to be measured.
const PASSED: usize = 16;

/// Indexes of one vocabulary by their sources, bounded in bytes; the least recently asked leaves first.
pub struct CompileCache {
    kept: Mutex<KeptIndex>,
    most: AtomicUsize,
}

/// What a cache did and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Indexes that were found.
    pub hits: u64,
    /// Indexes that are kept now.
    pub indexes: u64,
    /// Bytes of these and of all sources, as last measured. What indexes share counts for each.
    pub bytes: u64,
}

#[derive(Default)]
struct KeptIndex {
    /// By the hash of source and limits. Of two with the same hash the older one leaves.
    entries: SeededMap<u64, Entry>,
    /// Hashes by the time of their last use, which is no two entries' the same.
    order: BTreeMap<u64, u64>,
    /// The time of the last use of all.
    now: u64,
    /// The last entry that was measured in turn, by its time.
    measured: u64,
    bytes: usize,
    hits: u64,
}

/// What there is of an index.
enum Held {
    /// The index is gone.
    Gone,
    /// The index was compiled once, and lives as long as others hold it.
    Seen(WeakIndex, Limits),
    Kept(Index, Source, Limits),
}

impl Held {
    /// The index, if it is that of this source.
    fn index(&self, source: &Source, limits: &Limits) -> Option<Index> {
        match self {
            Held::Gone => None,
            Held::Seen(index, under) => index.upgrade().filter(|i| under == limits && i.is_named(&source.name())),
            Held::Kept(index, from, under) => (under == limits && from == source).then(|| index.clone()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Held::Gone | Held::Seen(..) => OVERHEAD,
            Held::Kept(index, source, _) => index.memory_bytes() + source.memory_bytes() + OVERHEAD,
        }
    }
}

struct Entry {
    held: Held,
    used: u64,
    bytes: usize,
}

fn hash_of(source: &Source, limits: &Limits) -> u64 {
    Seeded.hash_one((source, limits))
}

impl Default for CompileCache {
    fn default() -> Self {
        CompileCache::new(INDEX_BYTES)
    }
}

impl CompileCache {
    /// A cache that holds on to at most `most` bytes, as measured.
    pub fn new(most: usize) -> Self {
        CompileCache { kept: Mutex::default(), most: AtomicUsize::new(most) }
    }

    /// Holds on to at most `most` bytes from now on; with 0 nothing is kept.
    pub fn set_most(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
        let gone = self.lock().shrink(most);
        drop(gone);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, KeptIndex> {
        self.kept.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// The index of this source under these limits, if it was compiled before and is held by anybody.
    pub fn get(&self, source: &Source, limits: &Limits) -> Option<Index> {
        let hash = hash_of(source, limits);
        let mut kept = self.lock();
        let entry = kept.entries.get_mut(&hash)?;
        let found = entry.held.index(source, limits)?;
        let is_new = matches!(entry.held, Held::Seen(..));
        if is_new {
            entry.held = Held::Kept(found.clone(), source.clone(), *limits);
        }
        kept.hits += 1;
        let is_turn = kept.hits.is_multiple_of(MEASURED_EVERY);
        let gone = kept.used(hash, is_new, is_turn, self.most());
        drop(kept);
        // To let go of an index takes time, for which nobody should have to wait.
        drop(gone);
        Some(found)
    }

    /// Tells of an index that was compiled: seen if its source is new, kept if it is not, as far as it fits.
    pub fn put(&self, source: Source, limits: Limits, index: &Index) {
        if self.most() == 0 {
            return;
        }
        let hash = hash_of(&source, &limits);
        let mut kept = self.lock();
        // That another source has the same hash costs it no more than being kept at once.
        let before = kept.remove(hash);
        let held = match before {
            Some(_) => Held::Kept(index.clone(), source, limits),
            None => Held::Seen(index.downgrade(), limits),
        };
        kept.entries.insert(hash, Entry { held, used: 0, bytes: 0 });
        let gone = kept.used(hash, true, true, self.most());
        drop(kept);
        drop((before, gone));
    }

    /// Forgets all indexes. Who has one keeps it.
    pub fn clear(&self) {
        let mut kept = self.lock();
        let hits = kept.hits;
        let gone = std::mem::replace(&mut *kept, KeptIndex { hits, ..KeptIndex::default() });
        drop(kept);
        drop(gone);
    }

    /// What this cache did and holds.
    pub fn stats(&self) -> CacheStats {
        let kept = self.lock();
        let indexes = kept.entries.values().filter(|entry| matches!(entry.held, Held::Kept(..))).count() as u64;
        CacheStats { hits: kept.hits, indexes, bytes: kept.bytes as u64 }
    }
}

impl KeptIndex {
    /// Makes an entry the one that was used last, measures it if it `is_new` and others if it `is_turn`. What has no
    /// room any more.
    fn used(&mut self, hash: u64, is_new: bool, is_turn: bool, most: usize) -> Vec<Entry> {
        let Some(entry) = self.entries.get_mut(&hash) else { return Vec::new() };
        self.order.remove(&entry.used);
        self.now += 1;
        entry.used = self.now;
        self.order.insert(self.now, hash);
        if is_new {
            self.measure(hash);
        }
        if is_turn {
            self.measure_next();
        }
        self.shrink(most)
    }

    fn measure(&mut self, hash: u64) {
        let Some(entry) = self.entries.get_mut(&hash) else { return };
        let bytes = entry.held.bytes();
        self.bytes = self.bytes - entry.bytes + bytes;
        entry.bytes = bytes;
    }

    /// Measures the index that comes next in turn, if one of the next entries has one. What is left on the way of
    /// indexes that nobody holds is let go of.
    fn measure_next(&mut self) {
        for _ in 0..PASSED {
            let next = self.order.range((Bound::Excluded(self.measured), Bound::Unbounded)).next();
            let Some((&used, &hash)) = next.or_else(|| self.order.iter().next()) else { return };
            self.measured = used;
            let Some(entry) = self.entries.get_mut(&hash) else { return };
            match &entry.held {
                Held::Gone => {}
                Held::Seen(index, _) if index.is_held() => {}
                Held::Seen(..) => entry.held = Held::Gone,
                Held::Kept(..) => return self.measure(hash),
            }
        }
    }

    fn remove(&mut self, hash: u64) -> Option<Entry> {
        let entry = self.entries.remove(&hash)?;
        self.order.remove(&entry.used);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Takes out what was not used for the longest, until the others fit.
    fn shrink(&mut self, most: usize) -> Vec<Entry> {
        let mut gone = Vec::new();
        while self.bytes > most {
            let Some((_, &hash)) = self.order.iter().next() else { break };
            gone.extend(self.remove(hash));
        }
        gone
    }
}

#[cfg(test)]
mod tests;
