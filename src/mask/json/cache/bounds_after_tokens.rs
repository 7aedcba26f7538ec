//! What completes a document behind each token that is allowed at a position: bounds, for budgets.
//!
//! The guides of an index come to the same positions, and near the end of a budget each asks how many tokens complete
//! the output behind any token. Where the bounds of frames tell that, it is kept with the description of the whole
//! position, compared byte by byte.

use std::sync::Arc;

use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::BOUNDS_AFTER_TOKENS;

/// Pairs of a bound and a token, ascending: so many tokens complete the output behind the token at most.
pub(crate) type BoundsAfterTokens = Arc<[(u32, u32)]>;

/// Descriptions of positions that are longer are not kept.
const MAX_KEY: usize = 2_048;

/// The bounds that the guides of an index found, by the description of their positions.
#[derive(Default)]
pub(crate) struct BoundsAfterTokensCache(BoundedCache<Box<[u8]>, BoundsAfterTokens, BOUNDS_AFTER_TOKENS>);

impl BoundsAfterTokensCache {
    /// Whether bounds of this position may be kept.
    pub fn takes(key: &[u8]) -> bool {
        key.len() <= MAX_KEY
    }

    /// The bounds of a position that were found before.
    pub fn get(&self, key: &[u8]) -> Option<BoundsAfterTokens> {
        self.0.get(key)
    }

    /// Remembers the bounds of a position.
    pub fn keep(&self, key: &[u8], mut bounds: Vec<(u32, u32)>) -> BoundsAfterTokens {
        bounds.sort_unstable();
        let bounds: BoundsAfterTokens = bounds.into();
        self.0.keep(key.into(), bounds.clone(), key.len() + size_of_val(&*bounds) + 96);
        bounds
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
