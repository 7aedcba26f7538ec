//! Finished rows, shared by every index of a vocabulary.
//!
//! Most masks consist of a row of a lexeme state and one or two patches that many masks have: the inside of a string is
//! any text and the tokens that close it. Setting the thousand bits of a patch costs more than copying a row. So what is
//! asked for again and again is kept as a row, under the names of its parts. The first time only the names are noted.
//!
//! Names are addresses of parts; an entry holds on to its parts, so an address stands for one part as long as the entry
//! is there. Names that were only noted may come to stand for another part, which makes a row a little early. The store is
//! bounded in bytes and emptied when it is full.

use hashbrown::HashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use super::composition::Part;

/// Bytes that one vocabulary holds on to: a thousand rows for 128,000 tokens.
const FINISHED_BYTES: usize = 16 << 20;
/// What an entry costs beside its row.
const OVERHEAD: usize = 256;

/// The names of parts.
pub type Names = SmallVec<[u64; 8]>;

/// A row with what it was made of.
pub struct FinishedRow {
    /// They keep their addresses.
    _parts: Box<[Part]>,
    row: Box<[u32]>,
}

impl FinishedRow {
    /// The row.
    #[inline]
    pub fn row(&self) -> &[u32] {
        &self.row
    }
}

/// What is known about some parts.
pub enum Asked {
    /// They were never asked for.
    First,
    /// They were asked for before.
    Again,
    /// Their row.
    Row(Arc<FinishedRow>),
}

/// See the module's story.
#[derive(Default)]
pub struct Finished {
    table: RwLock<HashMap<Names, Option<Arc<FinishedRow>>>>,
    bytes: AtomicUsize,
}

impl Finished {
    /// Asks for the row of some parts.
    pub fn ask(&self, names: &Names) -> Asked {
        match self.table.read().unwrap_or_else(|p| p.into_inner()).get(names) {
            Some(Some(row)) => return Asked::Row(row.clone()),
            Some(None) => return Asked::Again,
            None => {}
        }
        self.insert(names, None, OVERHEAD);
        Asked::First
    }

    /// Keeps the row of some parts.
    pub fn keep(&self, names: &Names, parts: &[Part], row: &[u32]) -> Arc<FinishedRow> {
        let made = Arc::new(FinishedRow { _parts: parts.into(), row: row.into() });
        self.insert(names, Some(made.clone()), OVERHEAD + row.len() * 4);
        made
    }

    fn insert(&self, names: &Names, made: Option<Arc<FinishedRow>>, bytes: usize) {
        let mut table = self.table.write().unwrap_or_else(|p| p.into_inner());
        if self.bytes.load(Ordering::Relaxed) + bytes > FINISHED_BYTES {
            table.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        // Another thread may have made the row in between.
        if !matches!(table.get(names), Some(Some(_))) {
            table.insert(names.clone(), made);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
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
