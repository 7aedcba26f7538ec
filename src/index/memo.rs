//! Masks of whole configurations, remembered.
//!
//! Requests and documents of one schema pass the same structural places again and again. An index remembers the masks
//! that were put together before, by everything that a mask can depend on: the description of the whole stack with its
//! registers, compared byte by byte, so two configurations never share a mask by chance. Registers that no token can
//! tell apart are written alike: lengths of strings away from their bounds, counts of arrays and objects that no
//! bound, position or `contains` is left to look at, and lexeme states that share their masks.
//!
//! A mask is kept as the words in which it differs from a row that exists anyway (nothing, any text, or the row of the
//! lexeme it is inside), so most take some hundred bytes. The memo is bounded in bytes; when it is full it is emptied,
//! which costs time and never changes an answer. Configurations inside arrays of unique elements, and those with so
//! many keys or levels that describing them would cost more than it saves, are left out.

use hashbrown::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use crate::automaton::arena::{Arena, Kind, NodeId};
use crate::automaton::program::Program;

/// Bytes that one index holds on to.
const MEMO_BYTES: usize = 4 << 20;
/// Levels of a configuration that is described.
const LEVELS: usize = 64;
/// Keys without a name, over all levels, and their bytes.
const KEYS: usize = 16;
const KEY_BYTES: u32 = 512;
/// With more words than this a mask is kept as a row of its own.
const PATCHES: usize = 512;
/// What an entry costs beside its parts: the table's slot and two allocations.
const OVERHEAD: usize = 96;

/// A mask: a row and the words that differ from it.
struct Kept {
    base: Option<Arc<[u32]>>,
    patches: Box<[(u32, u32)]>,
}

/// See the module's story. The table's hash is seeded per process, since outputs choose the keys.
#[derive(Default)]
pub struct Memo {
    table: RwLock<HashMap<Box<[u8]>, Arc<Kept>>>,
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

    /// Writes the remembered mask to `row`, if there is one.
    pub fn read(&self, key: &[u8], row: &mut [u32]) -> bool {
        let kept = {
            let table = self.table.read().unwrap_or_else(|p| p.into_inner());
            let Some(kept) = table.get(key) else { return false };
            kept.clone()
        };
        match &kept.base {
            Some(base) => row.copy_from_slice(base),
            None => row.fill(0),
        }
        for &(word, bits) in kept.patches.iter() {
            row[word as usize] = bits;
        }
        true
    }

    /// Remembers the mask `row`; `bases` are rows that others keep alive.
    pub fn keep(&self, key: &[u8], row: &[u32], bases: &[Arc<[u32]>]) {
        let mut best: Option<Kept> = None;
        for base in bases.iter().map(Some).chain([None]) {
            let most = best.as_ref().map_or(PATCHES, |b| b.patches.len());
            if let Some(patches) = differences(row, base, most) {
                best = Some(Kept { base: base.cloned(), patches });
            }
        }
        let (kept, own) = match best {
            Some(kept) => (kept, 0),
            None => (Kept { base: Some(row.into()), patches: Box::default() }, row.len() * 4),
        };
        let bytes = key.len() + kept.patches.len() * 8 + own + OVERHEAD;
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        if self.bytes.load(Ordering::Relaxed) + bytes > MEMO_BYTES {
            table.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if table.insert(key.into(), Arc::new(kept)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// The words of `row` that differ from `base` (nothing without one); `None` if they are not fewer than `most`.
fn differences(row: &[u32], base: Option<&Arc<[u32]>>, most: usize) -> Option<Box<[(u32, u32)]>> {
    let mut out: smallvec::SmallVec<[(u32, u32); PATCHES]> = smallvec::SmallVec::new();
    const BLOCK: usize = 16;
    let (blocks, rest) = row.as_chunks::<BLOCK>();
    let rest = (blocks.len() * BLOCK, rest);
    for (from, now) in blocks.iter().enumerate().map(|(i, b)| (i * BLOCK, b.as_slice())).chain([rest]) {
        let same = match base {
            Some(b) => now == &b[from..from + now.len()],
            None => match now.first_chunk::<BLOCK>() {
                Some(block) => block.iter().fold(0, |a, w| a | w) == 0,
                None => now.iter().all(|&w| w == 0),
            },
        };
        if same {
            continue;
        }
        for (j, &w) in now.iter().enumerate() {
            if w != base.map_or(0, |b| b[from + j]) {
                out.push(((from + j) as u32, w));
            }
        }
        if out.len() >= most {
            return None;
        }
    }
    Some(out.as_slice().into())
}

#[cfg(test)]
mod tests;
