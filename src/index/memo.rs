//! Masks of whole configurations, remembered.
//!
//! Requests and documents of one schema pass the same places again and again. An index remembers the masks that were
//! put together before, by everything that a mask can depend on: the description of the whole stack with its registers
//! (see `describe`), compared byte by byte, so two configurations never share a mask by chance.
//!
//! A mask is kept as its composition: masks of lexeme states and patches that exist anyway, and the few tokens that
//! were stepped one by one. The memo is bounded in bytes; when it is full it is emptied, which costs time and never
//! changes an answer: numbers of stacks are never given twice. Configurations inside arrays of unique elements, and
//! inside strings, where finding the parts costs no more than a look-up, are left out.

use hashbrown::HashMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::composition::Composition;
use super::describe::{Levels, Numbers, describe};
use crate::automaton::arena::{Arena, NodeId};
use crate::automaton::program::Program;

/// Bytes that one index holds on to.
const MEMO_BYTES: usize = 4 << 20;
/// What an entry costs beside its parts: the table's slot and two allocations.
const OVERHEAD: usize = 128;

/// Masks that the first table has room for.
const FIRST_MASKS: usize = 56;

/// The tables' hash is seeded per process, since outputs choose the keys.
#[derive(Default)]
struct Kept {
    masks: HashMap<Box<[u8]>, Box<Composition>>,
    stacks: HashMap<Box<[u8]>, u64>,
    /// The last number of a stack.
    last: u64,
}

/// See the module's story.
#[derive(Default)]
pub struct Memo {
    kept: RwLock<Kept>,
    bytes: AtomicUsize,
}

/// What a guide last asked a memo for.
#[derive(Clone, Default)]
pub struct Asked {
    key: Vec<u8>,
    /// The key describes the whole configuration.
    whole: bool,
}

impl Numbers for Memo {
    fn number(&self, content: &[u8]) -> u64 {
        if let Some(&known) = self.kept.read().unwrap_or_else(|p| p.into_inner()).stacks.get(content) {
            return known;
        }
        let mut kept = self.kept.write().unwrap_or_else(|p| p.into_inner());
        let bytes = self.make_room(&mut kept, content.len());
        kept.last += 1;
        let number = kept.last;
        // Another thread may have been here in between.
        let known = *kept.stacks.entry(content.into()).or_insert(number);
        if known == number {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        known
    }
}

impl Memo {
    /// Describes `top`, to be looked up or kept. False if it is not worth remembering.
    pub fn describe(
        &self,
        (program, arena): (&Program, &Arena),
        top: NodeId,
        levels: &mut Levels,
        asked: &mut Asked,
    ) -> bool {
        asked.whole = describe((program, arena), top, self, levels, &mut asked.key);
        asked.whole
    }

    /// What the mask that was described is made of, passed to `found`, if it is remembered. It is lent, not cloned:
    /// threads that share an index would count its references on one line of memory.
    pub fn find<T>(&self, asked: &Asked, found: impl FnOnce(&Composition) -> T) -> Option<T> {
        let kept = self.kept.read().unwrap_or_else(|p| p.into_inner());
        kept.masks.get(asked.key.as_slice()).map(|composition| found(composition))
    }

    /// Remembers the mask that was asked for last; false if it is not worth it.
    pub fn keep(&self, asked: &Asked, composition: Composition) -> bool {
        if !asked.whole {
            return false;
        }
        let mut kept = self.kept.write().unwrap_or_else(|p| p.into_inner());
        let bytes = self.make_room(&mut kept, asked.key.len() + composition.memory_bytes());
        if kept.masks.capacity() == 0 {
            // A table that grows from nothing is made anew with the first, fourth, eighth and fifteenth mask.
            kept.masks.reserve(FIRST_MASKS);
        }
        if kept.masks.insert(asked.key.as_slice().into(), Box::new(composition)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        true
    }

    /// Forgets everything if an entry of `size` does not fit; the bytes that it takes.
    fn make_room(&self, kept: &mut Kept, size: usize) -> usize {
        let bytes = size + OVERHEAD;
        if self.bytes.load(Ordering::Relaxed) + bytes > MEMO_BYTES {
            kept.masks.clear();
            kept.stacks.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        bytes
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Asked {
    /// Nothing was asked.
    pub fn clear(&mut self) {
        self.whole = false;
    }
}

#[cfg(test)]
mod tests;
