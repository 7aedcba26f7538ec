//! Arrays whose open element is known to differ from all others, however it goes on.
//!
//! A mask finds that what was read of an element is the prefix of none that its array has (see `duplicates`). That
//! holds until the element ends, so neither masks nor steps ask again. It holds from the place on where it was found,
//! since whoever goes back to one before has read less of the element. So it is noted with the place, and going back
//! takes just those notes with it: drafts go back behind every token, and inside hundreds of arrays nothing should be
//! found anew for each of them.

use crate::pushdown::json::frame::FrameId;
use crate::util::rollback_log::RollbackLog;

/// The arrays whose open element differs from all others, noted with the place where that was found.
#[derive(Clone, Default)]
pub struct KnownDistinct {
    /// The arrays, ascending.
    arrays: Vec<FrameId>,
    /// The arrays in the order in which they were noted, each by a node that was there then.
    noted: RollbackLog<FrameId>,
}

impl KnownDistinct {
    /// Whether the element that is open in `array` is known to differ.
    #[inline]
    pub fn has(&self, array: FrameId) -> bool {
        self.arrays.binary_search(&array).is_ok()
    }

    /// Notes that the element which is open in `array` differs, as it stands at `top`.
    pub fn note(&mut self, array: FrameId, top: FrameId) {
        let Err(at) = self.arrays.binary_search(&array) else { return };
        self.arrays.insert(at, array);
        self.noted.push(self.noted.last().map_or(top, |before| before.max(top)), array, usize::MAX);
    }

    /// Forgets what was noted at nodes that are not among the first `nodes`.
    #[inline]
    pub fn truncate(&mut self, nodes: u32) {
        while let Some(array) = self.noted.pop(nodes) {
            if let Ok(at) = self.arrays.binary_search(&array) {
                self.arrays.remove(at);
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.arrays.clear();
        self.noted.clear();
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.arrays.capacity() * size_of::<FrameId>() + self.noted.memory_bytes()
    }
}

#[cfg(test)]
mod tests;
