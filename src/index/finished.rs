//! Finished rows, shared by every index of a vocabulary.
//!
//! Most masks consist of a row of a lexeme state and one or two patches that many masks have: the inside of a string is
//! any text and the tokens that close it. Setting the thousand bits of a patch costs more than copying a row. So what
//! an index or a guide remembers and is asked for again is kept as a row, under the names of its parts, and found by
//! whoever puts the same parts together.
//!
//! Names are addresses of parts; an entry holds on to its parts, so an address stands for one part as long as the entry
//! is there.

use smallvec::SmallVec;
use std::sync::Arc;

use super::bounded::Store;
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

/// See the module's story.
#[derive(Default)]
pub struct Finished(pub(super) Store<Names, Arc<FinishedRow>, FINISHED_BYTES>);

impl Finished {
    /// The row of some parts, if it is kept.
    pub fn get(&self, names: &Names) -> Option<Arc<FinishedRow>> {
        self.0.get(names)
    }

    /// Keeps the row of some parts.
    pub fn keep(&self, names: Names, parts: &[Part], row: &[u32]) -> Arc<FinishedRow> {
        let made = Arc::new(FinishedRow { _parts: parts.into(), row: row.into() });
        self.0.keep(names, made.clone(), OVERHEAD + row.len() * 4);
        made
    }
}

#[cfg(test)]
mod tests;
