//! A vector that only grows, read without locks while another thread appends.
//!
//! Elements live in chunks of doubling size that never move, each behind a `OnceLock`; a reader that learned an index
//! from the writer sees the element. Writers must serialize among themselves (they hold the builder's mutex here).

use std::sync::OnceLock;

/// The first chunk is small: most lexemes never know more than their start.
const FIRST_BITS: u32 = 2;
const CHUNKS: usize = 30;

/// A vector that one writer appends to while readers index it without a lock.
pub struct AppendVec<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
}

impl<T> Default for AppendVec<T> {
    fn default() -> Self {
        AppendVec { chunks: [const { OnceLock::new() }; CHUNKS] }
    }
}

fn locate(index: u32) -> (usize, usize) {
    let shifted = index as u64 + (1 << FIRST_BITS);
    let top = 63 - shifted.leading_zeros();
    ((top - FIRST_BITS) as usize, (shifted - (1u64 << top)) as usize)
}

impl<T> AppendVec<T> {
    /// The element at `index`, if it was set.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        let (chunk, offset) = locate(index);
        self.chunks[chunk].get()?[offset].get()
    }

    /// Sets the element at `index`, once; later calls change nothing.
    pub fn set(&self, index: u32, value: T) {
        let (chunk, offset) = locate(index);
        let slots = self.chunks[chunk].get_or_init(|| {
            let len = 1usize << (chunk as u32 + FIRST_BITS);
            (0..len).map(|_| OnceLock::new()).collect()
        });
        // A second value for one index would be a bug of the writer; the first one stays.
        let _ = slots[offset].set(value);
    }
}
