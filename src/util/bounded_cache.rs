//! Caches that are bounded in bytes and emptied in generations.
//!
//! A [`BoundedCache`] keeps what is looked up again and again and could be made again: crossing sets, patches, finished
//! rows, forced runs, tokens over sets of characters, spelled names, recipes of masks. Emptying it costs time and never
//! changes an answer. No order of age is kept: what is in use comes back with the next look-ups.
//!
//! Letting go of everything at once takes as long as a hundred masks, and would fall to one of them. So a full table is
//! put aside, where nothing is found any more, and what is kept from then on pays for it by and by.

use hashbrown::{Equivalent, HashMap, hash_map};
use std::hash::Hash;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::util::cache_register::{CACHES, is_absent};
use crate::util::hash::Seeded;

/// What was kept under keys, in as many bytes as row `ID` of the register of caches says. A key stands for one value
/// for ever, so that it does not matter which of two threads keeps it. The hash is seeded, since outputs choose some
/// keys. A table that grows from nothing is made anew with the first, fourth, eighth and fifteenth entry; one with room
/// for the row's first entries is made once.
pub struct BoundedCache<K, V, const ID: usize> {
    table: RwLock<Generation<K, V>>,
    /// The bytes of what is found.
    bytes: AtomicUsize,
}

struct Generation<K, V> {
    found: HashMap<K, V, Seeded>,
    /// What a table held that was full, as far as it was not let go of yet, and how much that was.
    leaving: Option<hash_map::IntoIter<K, V>>,
    left: usize,
}

impl<K, V> Default for Generation<K, V> {
    fn default() -> Self {
        Generation { found: HashMap::default(), leaving: None, left: 0 }
    }
}

impl<K, V> Generation<K, V> {
    /// Lets go of so much of what is leaving that no more than `share` in 256 of it stays.
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
    const MOST: usize = CACHES[ID].most_bytes;

    /// What is kept under a key.
    #[inline]
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<V>
    where
        V: Clone,
    {
        self.with(key, V::clone)
    }

    /// Passes to `found` what is kept under a key. It is lent: who keeps more must wait.
    #[inline]
    pub fn with<Q: Hash + Equivalent<K> + ?Sized, T>(&self, key: &Q, found: impl FnOnce(&V) -> T) -> Option<T> {
        self.table.read().unwrap_or_else(|p| p.into_inner()).found.get(key).map(found)
    }

    /// Keeps a value of which `size` is what it takes, its key and its place in the table. If it does not fit beside
    /// the others these are forgotten; if it fits nowhere it is not kept.
    pub fn keep(&self, key: K, value: V, size: usize) {
        if size > Self::MOST || is_absent(ID) {
            return;
        }
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        let mut bytes = self.bytes.load(Ordering::Relaxed);
        if bytes + size > Self::MOST {
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
        // Both together take no more than the one did that was full, as far as all entries are alike.
        table.leave(256 - (bytes / (Self::MOST / 256).max(1) + 1).min(256));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        *table = Generation::default();
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// How many entries are found.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.table.read().unwrap_or_else(|p| p.into_inner()).found.len()
    }

    /// Bytes that are held and found, as far as who kept them has counted.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
