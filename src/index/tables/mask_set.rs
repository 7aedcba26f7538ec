//! Mask sets: distinct masks in little room, each a row of bits or nothing, with some bits turned over.
//!
//! Masks of one index are alike: inside two strings nearly the same tokens are allowed, and a mask with few tokens is a
//! short list. So a set of masks keeps few whole rows and for each mask its *base*, which is nothing, a row, or another
//! mask (one that has no mask for its base itself), and the ids of the tokens in which it differs from that. Ids are
//! kept as gaps between them, two bytes each. Reading a mask is a copy and as many turned bits. Equal masks are kept
//! once. How a set is made stands in `dedup`.

use crate::util::mapped::MappedSlice;

/// The base of a mask that is a list of ids.
pub const NO_BASE: u32 = u32::MAX;
/// Set in a base that is another mask: the rest is its number. Without it a base is the number of a row.
pub const OF_MASK: u32 = 1 << 31;
/// A gap that only leads on, without an id at its end.
pub(super) const ON: u16 = u16::MAX;

/// A set of masks, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskSet {
    /// Per mask its base: [`NO_BASE`], a row, or [`OF_MASK`].
    pub base: MappedSlice<u32>,
    /// Per mask where its gaps begin; one entry more than masks.
    pub start: MappedSlice<u32>,
    /// Gaps between the ids whose bits are turned over, the first from zero. A gap of 65,535 leads on without an id.
    pub gaps: MappedSlice<u16>,
    /// The rows, each of as many words as one of the vocabulary has.
    pub rows: MappedSlice<u32>,
}

impl MaskSet {
    /// Number of masks.
    pub fn len(&self) -> usize {
        self.base.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.base.is_empty()
    }

    /// Whether reading any of its masks stays inside rows of `size` bits: what a reader of files asks once.
    pub fn fits(&self, size: usize) -> bool {
        let words = size.div_ceil(32).max(1);
        let rows = self.rows.len() / words;
        let is_row = |base: u32| base == NO_BASE || (base as usize) < rows && base & OF_MASK == 0;
        let is_base = |&base: &u32| {
            is_row(base) || base & OF_MASK != 0 && self.base.get((base & !OF_MASK) as usize).is_some_and(|&b| is_row(b))
        };
        self.rows.len().is_multiple_of(words)
            && self.base.iter().all(is_base)
            && self.start.len() == self.base.len() + 1
            && self.start.first() == Some(&0)
            && self.start.last().is_some_and(|&end| end as usize == self.gaps.len())
            && self.start.windows(2).all(|w| w[0] <= w[1])
            // No id is beyond the sum of all gaps.
            && self.start.windows(2).all(|w| sum(&self.gaps[w[0] as usize..w[1] as usize]) < size.max(1) as u64)
    }

    /// Writes mask `number` into a row.
    #[inline]
    pub fn read(&self, number: usize, row: &mut [u32]) {
        let mut base = self.base[number];
        let mut other = None;
        if base != NO_BASE && base & OF_MASK != 0 {
            other = Some((base & !OF_MASK) as usize);
            base = self.base[(base & !OF_MASK) as usize];
        }
        match base {
            NO_BASE => row.fill(0),
            b => row.copy_from_slice(&self.rows[b as usize * row.len()..][..row.len()]),
        }
        for mask in other.into_iter().chain([number]) {
            let mut id = 0;
            for &gap in &self.gaps[self.start[mask] as usize..self.start[mask + 1] as usize] {
                id += gap as usize;
                if gap != ON {
                    row[id >> 5] ^= 1 << (id & 31);
                }
            }
        }
    }

    /// Bytes of all arrays, wherever they lie.
    pub fn bytes(&self) -> usize {
        4 * (self.base.len() + self.start.len() + self.rows.len()) + 2 * self.gaps.len()
    }

    /// Bytes of this process's own memory.
    pub fn memory_bytes(&self) -> usize {
        let wide: usize = [&self.base, &self.start, &self.rows].iter().map(|s| s.memory_bytes()).sum();
        wide + self.gaps.memory_bytes()
    }
}

fn sum(gaps: &[u16]) -> u64 {
    // In parts whose sum fits 32 bits, which are added many at a time.
    gaps.chunks(1 << 15).map(|part| u64::from(part.iter().map(|&gap| u32::from(gap)).sum::<u32>())).sum()
}
