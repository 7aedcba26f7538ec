//! Caches that are bounded in bytes and emptied in generations.
//!
//! A [`BoundedCache`] keeps what is looked up again and again and could be made again: crossing sets, patches, finished
//! rows, forced runs, tokens over sets of characters, spelled names, compositions of masks. Emptying it costs time and
//! never changes an answer. No order of age is kept: what is in use comes back with the next look-ups.
//!
//! Dropping all entries at once takes as long as a hundred masks, and one mask would have to wait for it. So the
//! entries are dropped in small steps. When a table is full, a new empty one takes its place. The old one is *leaving*:
//! nothing is found in it any more, and each entry that the new table takes drops some of it. The fuller the new table,
//! the fewer old entries stay: with half of the bytes used, at most half of them. So both together hold about what one
//! full table holds.

use hashbrown::{Equivalent, HashMap, hash_map};
use std::hash::Hash;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::util::cache_register::{CACHES, is_absent};
use crate::util::seeded_hash::Seeded;

/// A map from keys to values, of at most as many bytes as row `ID` of the register of caches says. A key stands for one
/// value for ever, so that it does not matter which of two threads keeps it. The hash is seeded, since outputs choose
/// some keys. A table that grows from nothing is made anew with the first, fourth, eighth and fifteenth entry; one with
/// room for the row's first entries is made once.
pub struct BoundedCache<K, V, const ID: usize> {
    table: RwLock<Generation<K, V>>,
    /// The bytes of the entries of `found`.
    bytes: AtomicUsize,
}

/// The table in use, and what is not dropped yet of the full one before it.
struct Generation<K, V> {
    /// Where keys are looked up.
    found: HashMap<K, V, Seeded>,
    /// The entries of the full table that are not dropped yet.
    leaving: Option<hash_map::IntoIter<K, V>>,
    /// How many entries the full table had.
    left: usize,
}

impl<K, V> Default for Generation<K, V> {
    fn default() -> Self {
        Generation { found: HashMap::default(), leaving: None, left: 0 }
    }
}

impl<K, V> Generation<K, V> {
    /// Drops leaving entries until at most `share` / 256 of those that the full table had are left: 256 drops none, 0
    /// drops all.
    fn leave(&mut self, share: usize) {
        let most = self.left * share / 256;
        if let Some(leaving) = &mut self.leaving {
            while leaving.len() > most && leaving.next().is_some() {}
            if leaving.len() == 0 {
                self.leaving = None;
            }
        }
    }
}

impl<K, V, const ID: usize> Default for BoundedCache<K, V, ID> {
    fn default() -> Self {
        BoundedCache { table: RwLock::default(), bytes: AtomicUsize::new(0) }
    }
}

impl<K: Eq + Hash, V, const ID: usize> BoundedCache<K, V, ID> {
    /// Bytes that are kept at most.
    const MOST_BYTES: usize = CACHES[ID].most_bytes;

    /// What is kept under a key.
    #[inline]
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<V>
    where
        V: Clone,
    {
        self.with(key, V::clone)
    }

    /// Passes to `found` what is kept under a key. The table is locked for reading until `found` returns, so a thread
    /// that keeps an entry waits for it.
    #[inline]
    pub fn with<Q: Hash + Equivalent<K> + ?Sized, T>(&self, key: &Q, found: impl FnOnce(&V) -> T) -> Option<T> {
        self.table.read().unwrap_or_else(|p| p.into_inner()).found.get(key).map(found)
    }

    /// Keeps a value. `size` is its bytes, with its key and its place in the table. If it does not fit beside the
    /// others, these are forgotten; if it is larger than the whole bound, it is not kept.
    pub fn keep(&self, key: K, value: V, size: usize) {
        if size > Self::MOST_BYTES || is_absent(ID) {
            return;
        }
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        let mut bytes = self.bytes.load(Ordering::Relaxed);
        if bytes + size > Self::MOST_BYTES {
            table.leave(0);
            table.left = table.found.len();
            // As many will come again.
            let room = HashMap::with_capacity_and_hasher(table.left, Seeded);
            table.leaving = Some(std::mem::replace(&mut table.found, room).into_iter());
            bytes = 0;
        }
        if table.found.capacity() == 0 {
            table.found.reserve(CACHES[ID].first_entries);
        }
        if table.found.insert(key, value).is_none() {
            bytes += size;
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        // As much of the old table stays as the new one has bytes free, so that both together take no more than one
        // full table did, as far as all entries are alike.
        table.leave(256 - (bytes / (Self::MOST_BYTES / 256).max(1) + 1).min(256));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        *table = Generation::default();
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// How many entries can be found.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.table.read().unwrap_or_else(|p| p.into_inner()).found.len()
    }

    /// The bytes of all entries that can be found, by the sizes that [`keep`](Self::keep) was told. Leaving entries are
    /// not counted.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
