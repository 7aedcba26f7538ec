//! Masks applied to logits: minus infinity wherever the bit is 0.
//!
//! A *mask row* is a slice of 32-bit words; bit `t & 31` of word `t >> 5` says whether token `t` is allowed. Logits
//! are only ever overwritten with one constant, never computed with, so the kernel works on the bit patterns of the
//! lanes: one function serves every float of the same width, and `bfloat16`, which neither Rust nor NumPy has, costs
//! nothing extra.
//!
//! Runs of words of all ones are skipped without touching the logits (the mask after the end of an output is all ones),
//! runs of words of all zeros are a plain fill, and a word with few zeros among them costs a store for each. Everything
//! else is a select per lane that the compiler vectorises, on memory that is asked for ahead. The same kernel masks a
//! row in place or copies it on the way.

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
    /// A number of the same width for each of a word's 32 tokens, with one bit set: its place in [`Lane::part`].
    const BITS: [Self; 32];
    /// The part of a mask word, of the lane's own width, that holds token `t`: comparing numbers of one width is what
    /// vectors do.
    fn part(word: u32, t: usize) -> Self;
    /// This lane where `part` and `bit` have a bit in common, `other` elsewhere.
    fn or(self, part: Self, bit: Self, other: Self) -> Self;
}

macro_rules! bits {
    ($lane:ty, $per_part:literal) => {{
        let mut bits = [0 as $lane; 32];
        let mut t = 0;
        while t < 32 {
            bits[t] = 1 << (t % $per_part);
            t += 1;
        }
        bits
    }};
}

impl Lane for u16 {
    const BITS: [u16; 32] = bits!(u16, 16);
    #[inline(always)]
    fn part(word: u32, t: usize) -> u16 {
        (word >> (t & 16)) as u16
    }
    #[inline(always)]
    fn or(self, part: u16, bit: u16, other: u16) -> u16 {
        if part & bit != 0 { self } else { other }
    }
}

impl Lane for u32 {
    const BITS: [u32; 32] = bits!(u32, 32);
    #[inline(always)]
    fn part(word: u32, _: usize) -> u32 {
        word
    }
    #[inline(always)]
    fn or(self, part: u32, bit: u32, other: u32) -> u32 {
        if part & bit != 0 { self } else { other }
    }
}

impl Lane for u64 {
    const BITS: [u64; 32] = bits!(u64, 32);
    #[inline(always)]
    fn part(word: u32, _: usize) -> u64 {
        word.into()
    }
    /// Without a comparison: the baseline of x86-64 has none for vectors of this width, and a branch for each lane is
    /// mispredicted half the time.
    #[inline(always)]
    fn or(self, part: u64, bit: u64, other: u64) -> u64 {
        let keep = 0u64.wrapping_sub(u64::from(part & bit != 0));
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
        LogitRow::Bits64(lanes) => run(lanes, None, words, f64::NEG_INFINITY.to_bits()),
        LogitRow::Bits32(lanes) => run(lanes, None, words, f32::NEG_INFINITY.to_bits()),
        LogitRow::Bits16(lanes, neg_infinity) => run(lanes, None, words, neg_infinity),
    }
}

/// Write into `logits` what [`apply_row`] would make of `source`, without a pass of its own for the copy. Answers
/// false, and writes nothing, if the two rows differ in their format or length.
pub fn copy_row(logits: LogitRow<'_>, source: &LogitRow<'_>, words: &[u32]) -> bool {
    match (logits, source) {
        (LogitRow::Bits64(to), LogitRow::Bits64(from)) if to.len() == from.len() => {
            run(to, Some(from), words, f64::NEG_INFINITY.to_bits());
        }
        (LogitRow::Bits32(to), LogitRow::Bits32(from)) if to.len() == from.len() => {
            run(to, Some(from), words, f32::NEG_INFINITY.to_bits());
        }
        (LogitRow::Bits16(to, infinity), LogitRow::Bits16(from, same))
            if to.len() == from.len() && infinity == *same =>
        {
            run(to, Some(from), words, infinity);
        }
        _ => return false,
    }
    true
}

/// The kernel proper, compiled once for each set of vector instructions.
#[inline(always)]
fn masked<T: Lane>(lanes: &mut [T], source: Option<&[T]>, words: &[u32], neg_infinity: T) {
    let covered = lanes.len().min(words.len().saturating_mul(32));
    let words = &words[..covered.div_ceil(32)];
    let mut at = 0;
    while let Some(&word) = words.get(at) {
        // Runs of equal words are one fill or copy: most masks allow either few tokens or most of them.
        let run = match word {
            0 | u32::MAX => run_length(&words[at..], word),
            _ => mixed_length(&words[at..]),
        };
        let words = &words[at..at + run];
        let range = at * 32..((at + run) * 32).min(covered);
        let chunk = &mut lanes[range.clone()];
        if word != 0
            && let Some(from) = source
        {
            chunk.copy_from_slice(&from[range]);
        }
        match (word, words) {
            (0, _) => chunk.fill(neg_infinity),
            (u32::MAX, _) => {}
            (_, words) if words.len() < LONG => {
                for (lanes, &word) in chunk.chunks_mut(32).zip(words) {
                    match <&mut [T; 32]>::try_from(&mut *lanes) {
                        Ok(full) if word.count_zeros() > FEW => select(full, word, neg_infinity),
                        _ => forbid(lanes, word, neg_infinity),
                    }
                }
            }
            _ => mixed(chunk, words, neg_infinity),
        }
        at += run;
    }
    lanes[covered..].fill(neg_infinity);
}

/// Up to so many forbidden tokens of a word are written one by one, without reading the others, where runs are short.
const FEW: u32 = 4;
/// Words of all zeros or all ones, one after the other, that end a run of other words.
const GAP: usize = 3;
/// In shorter runs words with few zeros cost a store for each: they stand in masks that allow most tokens, of which
/// little memory is touched.
const LONG: usize = 5;

/// How many words from the first on, which has zeros and ones, are masked together. In long runs branches that tell
/// words apart would cost more than to pass all lanes.
#[inline(always)]
fn mixed_length(words: &[u32]) -> usize {
    let is_even = |word: u32| word == 0 || word == u32::MAX;
    // Nearly always alone in a mask that allows most tokens: one branch, whatever follows.
    if let Some([_, next @ ..]) = words.first_chunk::<{ GAP + 1 }>()
        && next.iter().fold(true, |all, &word| all & is_even(word))
    {
        return 1;
    }
    let mut len = 1;
    for (&word, at) in words.iter().zip(1..) {
        len = if is_even(word) { len } else { at };
        if at - len == GAP {
            break;
        }
    }
    len
}

/// The lanes of words of any kind, of which the last may have fewer than 32.
#[inline(always)]
fn mixed<T: Lane>(lanes: &mut [T], words: &[u32], neg_infinity: T) {
    let mut full = lanes.chunks_exact_mut(32);
    for (lanes, &word) in (&mut full).zip(words) {
        if let Ok(lanes) = <&mut [T; 32]>::try_from(lanes) {
            fetch_ahead(lanes);
            select(lanes, word, neg_infinity);
        }
    }
    if let Some(&word) = words.last() {
        forbid(full.into_remainder(), word, neg_infinity);
    }
}

/// Asks for memory a kilobyte ahead. What is only written, under masks of lanes at that, the processor does not fetch
/// ahead by itself: large batches took twice the time.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch_ahead<T>(lanes: &[T; 32]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    const AHEAD: usize = 1024;
    const LINE: usize = 64;
    let ahead = lanes.as_ptr().cast::<i8>().wrapping_add(AHEAD);
    for line in 0..size_of_val(lanes) / LINE {
        // SAFETY: a prefetch is a hint. It reads nothing and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(line * LINE)) }
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn fetch_ahead<T>(_: &[T; 32]) {}

#[inline(always)]
fn forbid<T: Lane>(lanes: &mut [T], word: u32, neg_infinity: T) {
    let mut zeros = !word;
    while zeros != 0 {
        if let Some(lane) = lanes.get_mut(zeros.trailing_zeros() as usize) {
            *lane = neg_infinity;
        }
        zeros &= zeros - 1;
    }
}

/// The lanes of one word. In this shape, with both operands of the test as arrays, the compiler makes vectors of it.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn select<T: Lane>(lanes: &mut [T; 32], word: u32, neg_infinity: T) {
    let mut parts = [neg_infinity; 32];
    for t in 0..32 {
        parts[t] = T::part(word, t);
    }
    let bits = T::BITS;
    for t in 0..32 {
        lanes[t] = lanes[t].or(parts[t], bits[t], neg_infinity);
    }
}

/// How many words from the first on are `word`, sixteen at a time while that goes well.
#[inline(always)]
fn run_length(words: &[u32], word: u32) -> usize {
    let whole = words.chunks_exact(16).take_while(|c| c.iter().fold(0, |all, w| all | (w ^ word)) == 0).count() * 16;
    whole + words[whole..].iter().take_while(|&&w| w == word).count()
}

/// The kernel by the widest vectors that this processor has; the baseline of x86-64 has 16 bytes.
#[cfg(target_arch = "x86_64")]
fn run<T: Lane>(lanes: &mut [T], source: Option<&[T]>, words: &[u32], neg_infinity: T) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn wide<T: Lane>(lanes: &mut [T], source: Option<&[T]>, words: &[u32], neg_infinity: T) {
        masked(lanes, source, words, neg_infinity);
    }
    #[target_feature(enable = "avx2")]
    fn middle<T: Lane>(lanes: &mut [T], source: Option<&[T]>, words: &[u32], neg_infinity: T) {
        masked(lanes, source, words, neg_infinity);
    }
    let has_wide = std::arch::is_x86_feature_detected!("avx512bw") && std::arch::is_x86_feature_detected!("avx512vl");
    if has_wide && std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: safe code, but for instructions that this processor was just found to have.
        unsafe { wide(lanes, source, words, neg_infinity) }
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        unsafe { middle(lanes, source, words, neg_infinity) }
    } else {
        masked(lanes, source, words, neg_infinity);
    }
}

/// The kernel; elsewhere the baseline has the vectors that there are.
#[cfg(not(target_arch = "x86_64"))]
fn run<T: Lane>(lanes: &mut [T], source: Option<&[T]>, words: &[u32], neg_infinity: T) {
    masked(lanes, source, words, neg_infinity);
}

#[cfg(test)]
mod tests;
