//! Crossing tokens, each set of them once.
//!
//! Many states of many lexemes have the same crossing tokens: at the end of every constant they are the quote with what
//! may stand behind it. What is put together of crossing tokens goes by their name (see `share`, and what guides
//! remember), so a state whose walk finds a set that is there already takes that one, and all that was made of it.
//!
//! A set is known by what the walk found, compared in full. Sets live as long as masks hold them. The keys are bounded
//! in bytes and forgotten when they are too many, which costs time and never changes an answer.

use hashbrown::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, Weak};

use super::submask::{Cross, Found};
use super::tables::Walked;

/// Bytes of keys that one vocabulary holds on to.
const KEY_BYTES: usize = 4 << 20;
/// What an entry costs beside its key.
const OVERHEAD: usize = 160;

/// See the module's story.
#[derive(Default)]
pub struct Crosses {
    table: RwLock<HashMap<Box<[u32]>, Weak<Cross>>>,
    bytes: AtomicUsize,
}

impl Crosses {
    /// The crossing tokens that a walk found which began at `from`; `None` if there are none. `spelled` gives the bytes
    /// of a token from there on.
    pub(super) fn of<'a>(
        &self,
        found: &Found,
        (walked, node): (Walked, u32),
        spelled: impl Fn(u32) -> &'a [u8],
    ) -> Option<Arc<Cross>> {
        if !found.crosses() {
            return None;
        }
        let mut key = vec![walked as u32, node];
        found.describe(&mut key);
        let known = self.table.read().unwrap_or_else(|p| p.into_inner()).get(key.as_slice()).and_then(Weak::upgrade);
        if known.is_some() {
            return known;
        }
        let made = found.cross(spelled)?;
        let bytes = OVERHEAD + key.len() * 4;
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        if self.bytes.load(Ordering::Relaxed) + bytes > KEY_BYTES {
            table.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if table.insert(key.into(), Arc::downgrade(&made)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Some(made)
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.table.write().unwrap_or_else(|p| p.into_inner()).clear();
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
