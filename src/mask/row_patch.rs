//! Row patches: a few tokens of a mask, as the words of its row with the bits to set.

use std::sync::Arc;

/// Words of a row, ascending, and the bits to set in them.
pub type RowPatch = Arc<[(u32, u32)]>;

/// The patch of some tokens.
pub fn patch(mut tokens: Vec<u32>) -> RowPatch {
    tokens.sort_unstable();
    let mut out: Vec<(u32, u32)> = Vec::new();
    for t in tokens {
        let (word, bit) = (t >> 5, 1 << (t & 31));
        match out.last_mut() {
            Some(last) if last.0 == word => last.1 |= bit,
            _ => out.push((word, bit)),
        }
    }
    out.into()
}

/// Sets the bits of a patch.
#[inline]
pub fn apply(row: &mut [u32], patch: &[(u32, u32)]) {
    for &(word, bits) in patch {
        row[word as usize] |= bits;
    }
}

/// Clears the bits of a patch.
#[inline]
pub fn clear(row: &mut [u32], patch: &[(u32, u32)]) {
    for &(word, bits) in patch {
        row[word as usize] &= !bits;
    }
}

/// A part of no more tokens than this is put on top of a row: a row for each place would have to come from far memory.
pub(crate) const LIGHT: usize = 64;
