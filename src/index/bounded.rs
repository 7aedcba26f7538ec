//! Tables that are bounded in bytes and emptied when they are full.
//!
//! Whatever is looked up again and again, and could be made again, is kept in a [`Store`]: crossing tokens, finished
//! parts and rows, forced runs, tokens over sets of characters, spelled names. Emptying it costs time and never changes
//! an answer. Nobody needs an order of age: what is in use comes back with the next look-ups.

use hashbrown::{Equivalent, HashMap};
use std::hash::Hash;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What was kept under keys, in at most `MOST` bytes. A key stands for one value for ever, so that it does not matter
/// which of two threads keeps it. The hash is seeded, since outputs choose some keys.
pub struct Store<K, V, const MOST: usize> {
    table: RwLock<HashMap<K, V>>,
    bytes: AtomicUsize,
}

impl<K, V, const MOST: usize> Default for Store<K, V, MOST> {
    fn default() -> Self {
        Store { table: RwLock::default(), bytes: AtomicUsize::new(0) }
    }
}

impl<K: Eq + Hash, V: Clone, const MOST: usize> Store<K, V, MOST> {
    /// What is kept under a key.
    #[inline]
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<V> {
        self.table.read().unwrap_or_else(|p| p.into_inner()).get(key).cloned()
    }

    /// Keeps a value of which `size` is what it takes, its key and its place in the table. If it does not fit beside the
    /// others these are forgotten; if it fits nowhere it is not kept.
    pub fn keep(&self, key: K, value: V, size: usize) {
        if size > MOST {
            return;
        }
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        if self.bytes.load(Ordering::Relaxed) + size > MOST {
            table.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if table.insert(key, value).is_none() {
            self.bytes.fetch_add(size, Ordering::Relaxed);
        }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        table.clear();
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Bytes that are held, as far as who kept them has counted.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
