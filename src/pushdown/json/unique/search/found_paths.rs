//! Completions that a search found, kept for the bytes that follow.
//!
//! A search for an unused value may write all elements of the array before it finds one, and each byte asks again. Yet
//! a completion that was found stays one for as long as the open element goes that way, since no element is added
//! meanwhile. So it is kept, with the byte behind which it begins, and only whether what was read since is its
//! beginning is asked. As with everything in an arena, going back forgets what was found since.

use std::sync::Arc;

use crate::pushdown::json::frame::KeyByte;
use crate::util::rollback_log::RollbackLog;

/// Ways that are remembered, the latest ones.
const MOST_PATHS: usize = 64;

/// A way on from one place.
#[derive(Clone)]
pub(super) struct FoundPath {
    /// Where the trace of the open element begins, in the arena's `keys`.
    pub(super) key: u32,
    /// The last byte that was read.
    pub(super) trace: u32,
    /// The bytes that lead to a new element from `read` on, as the trace has them.
    pub(super) way: Arc<[u8]>,
    pub(super) read: usize,
}

/// Completions of open elements that searches found, each with the byte behind which it begins.
#[derive(Clone, Default)]
pub struct FoundPaths {
    /// By the last byte that was read.
    list: RollbackLog<FoundPath>,
}

impl FoundPaths {
    /// Forgets what was found behind bytes that are not among the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: u32) {
        self.list.truncate(len);
    }

    /// Bytes held, at most.
    pub fn memory_bytes(&self) -> usize {
        self.list.memory_bytes() + self.list.latest().map(|w| w.1.way.len()).sum::<usize>()
    }

    pub(super) fn push(&mut self, witness: FoundPath) {
        if self.list.last().is_none_or(|at| at <= witness.trace) {
            self.list.push(witness.trace, witness, MOST_PATHS);
        }
    }

    /// The way that the element with the trace from `key` to `trace` is on, as it stands there, and how many bytes ago
    /// it was noted. `keys` are the bytes that were read.
    pub(super) fn find(&self, keys: &[KeyByte], key: u32, trace: u32) -> Option<(FoundPath, usize)> {
        let known = self.list.latest().map(|w| &w.1).find(|w| w.key == key && w.trace <= trace)?;
        let left = known.way.len() - known.read;
        let mut at = trace;
        let mut since: Vec<u8> = Vec::new();
        while at != known.trace {
            let byte = keys.get(at as usize).filter(|_| at > known.trace && since.len() < left)?;
            since.push(byte.byte);
            at = byte.before;
        }
        let is_on = since.iter().rev().eq(&known.way[known.read..][..since.len()]);
        let read = known.read + since.len();
        is_on.then(|| (FoundPath { trace, read, ..known.clone() }, since.len()))
    }
}
