//! Candidates: the elements of an array that still agree with what was read of the open one.
//!
//! An element that differs from what was read differs from everything that follows it. A mask asks behind each of the
//! many prefixes that tokens make, and a large array has few candidates left after a few bytes. So the candidates are
//! remembered behind the byte that was read last, and only they are asked behind the next ones. As with everything in
//! an arena, going back forgets what was found since.

/// Fewer elements than this are compared again.
const FEW: usize = 16;
/// Places that are remembered, the latest ones: tokens have few more bytes.
const MOST_PLACES: usize = 64;

/// Elements behind one byte.
#[derive(Clone)]
struct CandidateRange {
    /// The byte, in [`Arena::keys`](crate::pushdown::json::arena::Arena::keys).
    trace: u32,
    /// The last element of the array.
    last: u32,
    elements: Box<[u32]>,
}

/// The elements that agree with what was read of an open one, by the frame behind the byte that was read last.
#[derive(Clone, Default)]
pub struct Candidates {
    /// Ascending by their bytes.
    places: Vec<CandidateRange>,
}

impl Candidates {
    /// Forgets what was found behind bytes that are not among the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: u32) {
        while self.places.last().is_some_and(|p| p.trace >= len) {
            self.places.pop();
        }
    }

    /// The elements that agreed behind the last one of `traces`, which go from the last byte that was read to the
    /// first, in the array of which `last` is the last element.
    pub fn of(&self, traces: impl Iterator<Item = u32>, last: u32) -> Option<&[u32]> {
        let mut places = self.places.iter().rev().filter(|p| p.last == last).peekable();
        for trace in traces {
            while places.next_if(|p| p.trace > trace).is_some() {}
            if let Some(place) = places.next_if(|p| p.trace == trace) {
                return Some(&place.elements);
            }
            places.peek()?;
        }
        None
    }

    /// Notes which of `asked` elements agree behind a byte, where that saves comparing them again.
    pub fn note(&mut self, trace: u32, last: u32, asked: usize, elements: Vec<u32>) {
        if asked <= FEW || trace == u32::MAX || self.places.last().is_some_and(|p| p.trace > trace) {
            return;
        }
        if self.places.len() == MOST_PLACES {
            self.places.remove(0);
        }
        self.places.push(CandidateRange { trace, last, elements: elements.into() });
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let elements: usize = self.places.iter().map(|p| p.elements.len() * 4).sum();
        self.places.capacity() * size_of::<CandidateRange>() + elements
    }
}
