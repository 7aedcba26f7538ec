//! Forced runs that the guides of an index found.
//!
//! A run is long to find and short to keep: each of its bytes was one out of 256. Most requests of an index pass the
//! same positions, so a run that one guide found is looked up by the others. The key is the description of the whole
//! position, compared byte by byte.

use std::sync::Arc;

use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::FORCED_RUNS;

/// What must follow a position, and what may follow that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForcedRun {
    /// The only bytes that can follow.
    pub bytes: Vec<u8>,
    /// The bytes that can follow those, ascending.
    pub next: Vec<u8>,
    /// Whether the output may end behind the run.
    pub may_end: bool,
}

/// The forced runs that the guides of an index found, by the description of their positions.
#[derive(Default)]
pub(crate) struct ForcedRuns(BoundedCache<Box<[u8]>, Arc<ForcedRun>, FORCED_RUNS>);

impl ForcedRuns {
    /// The run of a position that was found before.
    pub fn get(&self, key: &[u8]) -> Option<Arc<ForcedRun>> {
        self.0.get(key)
    }

    /// Remembers the run of a position.
    pub fn keep(&self, key: Vec<u8>, run: ForcedRun) -> Arc<ForcedRun> {
        let run = Arc::new(run);
        let size = key.len() + run.bytes.len() + run.next.len() + 128;
        self.0.keep(key.into(), run.clone(), size);
        run
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
