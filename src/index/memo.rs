//! Masks of whole configurations, remembered.
//!
//! Requests and documents of one schema pass the same structural places again and again. An index remembers the masks
//! that were put together before, by everything that a mask can depend on: the description of the whole stack with its
//! registers, compared byte by byte, so two configurations never share a mask by chance. Registers that no token can
//! tell apart are written alike: lengths of strings away from their bounds, counts of arrays and objects that no
//! bound, position or `contains` is left to look at, and lexeme states that share their masks.
//!
//! A mask is kept as what it was put together from: masks of lexeme states and patches that exist anyway, and the few
//! tokens that were stepped one by one. Where tokens were taken back on the way, the row itself is kept. The memo is
//! bounded in bytes; when it is full it is emptied, which costs time and never changes an answer. Configurations inside
//! arrays of unique elements, and those with so many keys or levels that describing them would cost more than it saves,
//! are left out.

use hashbrown::HashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use super::share::{Patch, patch};
use super::submask::SubMask;
use crate::automaton::arena::{Arena, Kind, NodeId};
use crate::automaton::program::Program;

/// Bytes that one index holds on to.
const MEMO_BYTES: usize = 4 << 20;
/// Levels of a configuration that is described.
const LEVELS: usize = 64;
/// Keys without a name, over all levels, and their bytes.
const KEYS: usize = 16;
const KEY_BYTES: u32 = 512;
/// With more words than this a row is kept whole.
const WORDS: usize = 512;
/// More tokens than this become a patch.
const TOKENS: usize = 16;
/// What an entry costs beside its parts: the table's slot and two allocations.
const OVERHEAD: usize = 128;

/// A part of a mask.
pub enum Part {
    /// Inner tokens of a lexeme state.
    Inner(Arc<SubMask>),
    /// Some tokens.
    Patch(Patch),
    /// Tokens of up to so many bytes of whitespace.
    Blanks(u32),
    /// A whole row.
    Row(Arc<[u32]>),
}

/// What a mask is the union of.
#[derive(Default)]
pub struct Composition {
    /// Parts that others have, too.
    pub parts: SmallVec<[Part; 6]>,
    /// Single tokens.
    pub tokens: Vec<u32>,
}

impl Composition {
    /// The composition of a row.
    pub fn of(row: &[u32]) -> Composition {
        let set = || row.iter().zip(0u32..).filter(|w| *w.0 != 0).map(|(&w, i)| (i, w));
        let part = if set().nth(WORDS).is_some() { Part::Row(row.into()) } else { Part::Patch(set().collect()) };
        Composition { parts: smallvec::smallvec![part], tokens: Vec::new() }
    }

    /// Bytes, those of patches included: they outlive the store that shares them.
    fn memory_bytes(&self) -> usize {
        let part = |p: &Part| match p {
            Part::Inner(_) | Part::Blanks(_) => 0,
            Part::Patch(p) => p.len() * 8,
            Part::Row(r) => r.len() * 4,
        };
        self.parts.iter().map(part).sum::<usize>() + self.tokens.len() * 4 + OVERHEAD
    }
}

/// See the module's story. The table's hash is seeded per process, since outputs choose the keys.
#[derive(Default)]
pub struct Memo {
    table: RwLock<HashMap<Box<[u8]>, Arc<Composition>>>,
    bytes: AtomicUsize,
}

impl Memo {
    /// Writes the key of a configuration to `key`; false if it is not remembered.
    pub fn describe(program: &Program, arena: &Arena, top: NodeId, key: &mut Vec<u8>) -> bool {
        key.clear();
        let (mut levels, mut keys, mut bytes) = (0, 0, 0u32);
        let mut at = top;
        while let Some(n) = arena.nodes.get(at as usize) {
            levels += 1;
            if n.kind == Kind::Object {
                let mut s = n.seen;
                while let Some(seen) = arena.seen.get(s as usize) {
                    keys += 1;
                    bytes = bytes.saturating_add(seen.len);
                    if keys > KEYS || bytes > KEY_BYTES {
                        return false;
                    }
                    s = seen.before;
                }
                let mut k = n.key;
                while let Some(byte) = arena.keys.get(k as usize) {
                    bytes += 1;
                    if bytes > KEY_BYTES {
                        return false;
                    }
                    k = byte.before;
                }
            }
            if levels > LEVELS {
                return false;
            }
            at = n.parent;
        }
        arena.describe_alike(program, top, key);
        true
    }

    /// What the mask is made of, if it is remembered.
    pub fn read(&self, key: &[u8]) -> Option<Arc<Composition>> {
        self.table.read().unwrap_or_else(|p| p.into_inner()).get(key).cloned()
    }

    /// Remembers a mask.
    pub fn keep(&self, key: &[u8], mut composition: Composition) {
        if composition.tokens.len() > TOKENS {
            composition.parts.push(Part::Patch(patch(std::mem::take(&mut composition.tokens))));
        }
        let bytes = key.len() + composition.memory_bytes();
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        if self.bytes.load(Ordering::Relaxed) + bytes > MEMO_BYTES {
            table.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if table.insert(key.into(), Arc::new(composition)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
