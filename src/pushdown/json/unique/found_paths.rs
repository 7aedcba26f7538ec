//! Completions that a search found, kept for the bytes that follow.
//!
//! A search for an unused value may write all elements of the array before it finds one, and each byte asks again. Yet
//! a completion that was found stays one for as long as the open element goes that way, since no element is added
//! meanwhile. So it is kept, with the byte behind which it begins, and only whether what was read since is its
//! beginning is asked. As with everything in an arena, going back forgets what was found since.

use std::sync::Arc;

use crate::pushdown::json::arena::{Arena, FrameId, FrameKind, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::unique::exhaustible::ExhaustibleArrays;

/// Ways that are remembered, the latest ones.
const MOST: usize = 64;

/// The distance from where a completion was noted at which it is noted again, or each byte would go back to there.
const FAR: usize = 32;

/// A way on from one place.
#[derive(Clone)]
struct FoundPath {
    /// Where the trace of the open element begins, in [`Arena::keys`].
    key: u32,
    /// The last byte that was read.
    trace: u32,
    /// The bytes that lead to a new element from `read` on, as the trace has them.
    way: Arc<[u8]>,
    read: usize,
}

/// Completions of open elements that searches found, each with the byte behind which it begins.
#[derive(Clone, Default)]
pub struct FoundPaths {
    /// Ascending by the bytes read.
    list: Vec<FoundPath>,
}

impl FoundPaths {
    /// Forgets what was found behind bytes that are not among the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: u32) {
        while self.list.last().is_some_and(|w| w.trace >= len) {
            self.list.pop();
        }
    }

    /// Bytes held, at most.
    pub fn memory_bytes(&self) -> usize {
        self.list.capacity() * size_of::<FoundPath>() + self.list.iter().map(|w| w.way.len()).sum::<usize>()
    }

    fn push(&mut self, witness: FoundPath) {
        if self.list.last().is_some_and(|w| w.trace > witness.trace) {
            return;
        }
        if self.list.len() == MOST {
            self.list.remove(0);
        }
        self.list.push(witness);
    }
}

impl Arena {
    /// The way that the element with the trace from `key` to `trace` is on, as it stands there, and how many bytes ago
    /// it was noted.
    fn witness(&self, key: u32, trace: u32) -> Option<(FoundPath, usize)> {
        let known = self.witnesses.list.iter().rev().find(|w| w.key == key && w.trace <= trace)?;
        let left = known.way.len() - known.read;
        let mut at = trace;
        let mut since: Vec<u8> = Vec::new();
        while at != known.trace {
            let byte = self.keys.get(at as usize).filter(|_| at > known.trace && since.len() < left)?;
            since.push(byte.byte);
            at = byte.before;
        }
        let is_on = since.iter().rev().eq(&known.way[known.read..][..since.len()]);
        let read = known.read + since.len();
        is_on.then(|| (FoundPath { trace, read, ..known.clone() }, since.len()))
    }
}

impl JsonMachine<'_> {
    /// The way that the element of `array` that is open at `top` is on, and how many bytes ago it was noted.
    fn witness(&self, top: FrameId, array: FrameId) -> Option<(FoundPath, usize)> {
        let (key, top) = (self.arena.nodes[array as usize].key, &self.arena.nodes[top as usize]);
        let found = self.arena.witness(key, top.trace).filter(|_| !self.arena.unchecked)?;
        // A number ends without a byte of its own, and the way may go on with it.
        let (way, read) = (&found.0.way, found.0.read);
        let is_inside = read > 0 && way.get(read - 1..=read).is_some_and(|pair| pair.iter().all(is_of_number));
        (!is_inside || top.kind == FrameKind::Scalar || top.phase == Phase::Key).then_some(found)
    }

    /// Whether the element of `array` that is open at `top` is on a way to a new one.
    pub(crate) fn has_witness(&mut self, top: FrameId, array: FrameId) -> bool {
        // Where the way was just noted, a number that it goes on with may have ended.
        let Some((witness, since)) = self.witness(top, array).filter(|w| w.1 > 0) else { return false };
        if since > FAR {
            self.arena.witnesses.push(witness);
        }
        true
    }

    /// Notes that `way` leads to a new element from `top`.
    pub(crate) fn note_witness(&mut self, top: FrameId, array: FrameId, way: Vec<u8>) {
        let (key, trace) = (self.arena.nodes[array as usize].key, self.arena.nodes[top as usize].trace);
        if !self.arena.unchecked {
            self.arena.witnesses.push(FoundPath { key, trace, way: way.into(), read: 0 });
        }
    }

    /// Keeps ways on from `before` behind a blank, which is on none of them and led to `top`. Of another byte that is
    /// on none, such as one of an escape, nothing follows, whether it decided something or not.
    pub(crate) fn keep_witnesses(&mut self, before: FrameId, top: FrameId, scarce: &ExhaustibleArrays) {
        let trace = self.arena.nodes[top as usize].trace;
        for &(array, _) in scarce {
            if let Some((witness, _)) = self.witness(before, array).filter(|w| w.0.trace != trace) {
                self.arena.witnesses.push(FoundPath { trace, ..witness });
            }
        }
    }
}

/// Whether a number may have the byte.
fn is_of_number(byte: &u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}
