//! Candidates: the elements of an array that still agree with what was read of the open one.
//!
//! An element that differs from what was read differs from everything that follows it. A mask asks behind each of the
//! many prefixes that tokens make, and a large array has few candidates left after a few bytes. So the candidates are
//! remembered behind the byte that was read last, and only they are asked behind the next ones. As with everything in
//! an arena, going back forgets what was found since.

use crate::util::rollback_log::RollbackLog;

/// Fewer elements than this are compared again.
const FEW: usize = 16;
/// Places that are remembered, the latest ones: tokens have few more bytes.
const MOST_PLACES: usize = 64;

/// Elements that agree behind one byte.
#[derive(Clone)]
struct CandidateRange {
    /// The last element of the array.
    last: u32,
    elements: Box<[u32]>,
}

/// The elements that agree with what was read of an open one, by the frame behind the byte that was read last.
#[derive(Clone, Default)]
pub struct Candidates {
    /// By their bytes, in the arena's `keys`.
    places: RollbackLog<CandidateRange>,
}

impl Candidates {
    /// Forgets what was found behind bytes that are not among the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: u32) {
        self.places.truncate(len);
    }

    /// The elements that agreed behind the last one of `traces`, which go from the last byte that was read to the
    /// first, in the array of which `last` is the last element.
    pub fn find(&self, traces: impl Iterator<Item = u32>, last: u32) -> Option<&[u32]> {
        let mut places = self.places.latest().filter(|p| p.1.last == last).peekable();
        for trace in traces {
            while places.next_if(|p| p.0 > trace).is_some() {}
            if let Some(place) = places.next_if(|p| p.0 == trace) {
                return Some(&place.1.elements);
            }
            places.peek()?;
        }
        None
    }

    /// Notes which of `asked` elements agree behind a byte, where that saves comparing them again.
    pub fn note(&mut self, trace: u32, last: u32, asked: usize, elements: Vec<u32>) {
        if asked <= FEW || trace == u32::MAX || self.places.last().is_some_and(|at| at > trace) {
            return;
        }
        self.places.push(trace, CandidateRange { last, elements: elements.into() }, MOST_PLACES);
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let elements: usize = self.places.latest().map(|p| p.1.elements.len() * 4).sum();
        self.places.memory_bytes() + elements
    }
}
