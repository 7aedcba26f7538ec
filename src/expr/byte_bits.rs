//! Sets of bytes as bits: four words for the 256 bytes.

use crate::expr::ByteSet;

/// A bit for each byte.
pub type ByteBits = [u64; 4];

/// The bytes from `lo` to `hi`.
pub(crate) fn range(lo: u8, hi: u8) -> ByteBits {
    let mut out = [0; 4];
    for b in lo..=hi {
        out[b as usize >> 6] |= 1 << (b & 63);
    }
    out
}

/// The bytes of a set as bits.
pub(crate) fn bits(set: &ByteSet) -> ByteBits {
    let mut out = [0; 4];
    (0..256).filter(|&b| set[b]).for_each(|b| out[b / 64] |= 1 << (b % 64));
    out
}

/// The set that the bits are of.
pub(crate) fn set_of(all: ByteBits) -> ByteSet {
    std::array::from_fn(|b| all[b >> 6] >> (b & 63) & 1 == 1)
}

/// The bytes of both.
pub(crate) fn union(a: ByteBits, b: ByteBits) -> ByteBits {
    std::array::from_fn(|i| a[i] | b[i])
}

/// The bytes that both have.
pub(crate) fn intersection(a: ByteBits, b: ByteBits) -> ByteBits {
    std::array::from_fn(|i| a[i] & b[i])
}
