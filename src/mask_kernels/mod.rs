//! Masks applied to logits: minus infinity wherever the bit is 0.
//!
//! A *mask row* is a slice of 32-bit words; bit `t & 31` of word `t >> 5` says whether token `t` is allowed. Logits
//! are only ever overwritten with one constant, never computed with, so the kernel works on the bit patterns of the
//! lanes: one function serves every float of the same width, and `bfloat16`, which neither Rust nor NumPy has, costs
//! nothing extra.
//!
//! Words of all ones are skipped without touching the logits (the mask after the end of an output is all ones), and
//! words of all zeros are a plain fill. Everything else is a select per lane that the compiler vectorises.

/// A floating-point format of logits, as far as masking needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LogitKind {
    /// IEEE 754 binary64.
    Float64,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary16.
    Float16,
    /// The upper half of binary32.
    BFloat16,
}

impl LogitKind {
    /// Bytes of one logit.
    pub fn size(self) -> usize {
        match self {
            LogitKind::Float64 => 8,
            LogitKind::Float32 => 4,
            LogitKind::Float16 | LogitKind::BFloat16 => 2,
        }
    }
}

/// A bit pattern of one logit.
trait Lane: Copy {
    /// This lane where `bit` is not 0, `other` elsewhere.
    fn or(self, bit: u32, other: Self) -> Self;
}

impl Lane for u16 {
    #[inline(always)]
    fn or(self, bit: u32, other: u16) -> u16 {
        if bit != 0 { self } else { other }
    }
}

impl Lane for u32 {
    #[inline(always)]
    fn or(self, bit: u32, other: u32) -> u32 {
        if bit != 0 { self } else { other }
    }
}

impl Lane for u64 {
    /// Without a comparison: the baseline of x86-64 has none for vectors of this width, and a branch for each lane is
    /// mispredicted half the time.
    #[inline(always)]
    fn or(self, bit: u32, other: u64) -> u64 {
        let keep = 0u64.wrapping_sub(u64::from(bit != 0));
        (self & keep) | (other & !keep)
    }
}

/// One row of logits, as bit patterns of its width.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogitRow<'a> {
    /// Patterns of binary64.
    Bits64(&'a mut [u64]),
    /// Patterns of binary32.
    Bits32(&'a mut [u32]),
    /// Patterns of a 16-bit format, and minus infinity in it.
    Bits16(&'a mut [u16], u16),
}

/// Minus infinity in binary16.
pub const NEG_INFINITY_F16: u16 = 0xFC00;
/// Minus infinity in bfloat16.
pub const NEG_INFINITY_BF16: u16 = 0xFF80;

/// Write minus infinity over every logit whose bit is 0, and over every logit beyond the mask's last bit. Bits beyond
/// the last logit are ignored.
///
/// # Cost
/// One pass: about 5 us for 128,000 binary32 logits in cache.
pub fn apply_row(logits: LogitRow<'_>, words: &[u32]) {
    match logits {
        LogitRow::Bits64(lanes) => apply(lanes, words, f64::NEG_INFINITY.to_bits()),
        LogitRow::Bits32(lanes) => apply(lanes, words, f32::NEG_INFINITY.to_bits()),
        LogitRow::Bits16(lanes, neg_infinity) => apply(lanes, words, neg_infinity),
    }
}

fn apply<T: Lane>(lanes: &mut [T], words: &[u32], neg_infinity: T) {
    let covered = lanes.len().min(words.len().saturating_mul(32));
    let (masked, beyond) = lanes.split_at_mut(covered);
    for (chunk, &word) in masked.chunks_mut(32).zip(words) {
        match word {
            u32::MAX => {}
            0 => chunk.fill(neg_infinity),
            // The fixed length lets the compiler unroll and use vector selects.
            _ => match <&mut [T; 32]>::try_from(&mut *chunk) {
                Ok(full) => select(&mut full[..], word, neg_infinity),
                Err(_) => select(chunk, word, neg_infinity),
            },
        }
    }
    beyond.fill(neg_infinity);
}

#[inline(always)]
fn select<T: Lane>(lanes: &mut [T], word: u32, neg_infinity: T) {
    for (t, lane) in lanes.iter_mut().enumerate() {
        *lane = lane.or(word & (1u32 << t), neg_infinity);
    }
}

#[cfg(test)]
mod tests;
