//! Finished rows, shared by every index of a vocabulary.
//!
//! Most masks consist of the row of a lexeme state and one or two patches that many masks have: the inside of a string
//! is any text and the tokens that close it. Setting the thousand bits of a patch costs more than copying a row. So
//! heavy ingredients that were put together for the third time, by whatever indexes, are kept as one row under the ids
//! of these ingredients. The configurations of a new schema are new, but most of what their masks are made of is not. A
//! row for each configuration would be too many: they would lie in far memory.
//!
//! Ids are addresses of ingredients. An entry holds on to its ingredients, so an address stands for one ingredient as
//! long as the entry exists.

use smallvec::SmallVec;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::mask::json::cache::composition::Ingredient;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::FINISHED_ROWS;
use crate::util::seeded_hash::seeded;

/// What an entry costs beside its row.
const OVERHEAD: usize = 256;
/// Parts that are put together so often have a row.
const TIMES: u32 = 3;
/// Slots in which parts without a row are counted, a power of two.
const SLOTS: usize = 1 << 12;

/// The ids of parts.
pub type IngredientIds = SmallVec<[u64; 8]>;

/// A row with what it was made of.
pub struct CachedRow {
    /// The ingredients, held so that they keep their addresses.
    _parts: Box<[Ingredient]>,
    row: Box<[u32]>,
}

impl CachedRow {
    /// The row.
    #[inline]
    pub fn row(&self) -> &[u32] {
        &self.row
    }
}

/// How often parts were put together: in each slot 24 bits of a hash of their ids, and a count of the last ids that
/// were there. A count that is wrong, because ids share a slot or addresses are given again, makes a row early or
/// late.
struct SightingCounts(Box<[AtomicU32]>);

impl Default for SightingCounts {
    fn default() -> Self {
        SightingCounts((0..SLOTS).map(|_| AtomicU32::new(0)).collect())
    }
}

impl SightingCounts {
    /// Counts once more; how often it was, up to 255.
    fn count(&self, ids: &IngredientIds) -> u32 {
        let mut hasher = seeded();
        ids.iter().for_each(|&id| hasher.write_u64(id));
        let hash = hasher.finish();
        let Some(slot) = self.0.get(hash as usize % SLOTS) else { return 0 };
        let tag = (hash >> 32) as u32 & !0xFF;
        let last = slot.load(Ordering::Relaxed);
        let times = if last & !0xFF == tag { (last & 0xFF).saturating_add(1).min(0xFF) } else { 1 };
        slot.store(tag | times, Ordering::Relaxed);
        times
    }
}

/// The finished rows of a vocabulary, by the ids of their ingredients.
#[derive(Default)]
pub struct RowCache {
    pub(crate) rows: BoundedCache<IngredientIds, Arc<CachedRow>, FINISHED_ROWS>,
    counts: SightingCounts,
}

impl RowCache {
    /// The row of some parts, if it is kept.
    pub fn get(&self, ids: &IngredientIds) -> Option<Arc<CachedRow>> {
        self.rows.get(ids)
    }

    /// Whether parts without a row are put together so often that they are worth one; that is asked each time.
    pub fn is_due(&self, ids: &IngredientIds) -> bool {
        self.counts.count(ids) >= TIMES
    }

    /// Keeps the row of some parts.
    pub fn keep(&self, ids: IngredientIds, parts: &[Ingredient], row: &[u32]) -> Arc<CachedRow> {
        let made = Arc::new(CachedRow { _parts: parts.into(), row: row.into() });
        self.rows.keep(ids, made.clone(), OVERHEAD + row.len() * 4);
        made
    }
}

#[cfg(test)]
mod tests;
