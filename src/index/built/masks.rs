//! Distinct masks in little room: a mask is a row of bits, or nothing, with some bits turned over.
//!
//! Masks of one index are alike: inside two strings nearly the same tokens are allowed, and a mask with few tokens is a
//! short list. So a set of masks keeps few whole rows, its *bases*, and for each mask the number of a base (or none) and
//! the ids of the tokens in which it differs. Reading one is a copy and as many turned bits. Equal masks are kept once,
//! under one number, and numbers depend on nothing but the order in which masks were added.

use rustc_hash::FxHashMap;

use crate::pages::Slice;

/// The base of a mask that is a list of ids.
pub const NO_BASE: u32 = u32::MAX;
/// How many bases a mask is compared with, the latest first.
const COMPARED: usize = 24;

/// A set of masks, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskSet {
    /// Per mask the number of its base, or [`NO_BASE`].
    pub base: Slice<u32>,
    /// Per mask where its ids begin; one entry more than masks.
    pub start: Slice<u32>,
    /// Ids whose bits are turned over.
    pub ids: Slice<u32>,
    /// The bases, each of as many words as a row of the vocabulary has.
    pub rows: Slice<u32>,
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
        self.rows.len().is_multiple_of(words)
            && self.base.iter().all(|&b| b == NO_BASE || (b as usize) < self.rows.len() / words)
            && self.start.len() == self.base.len() + 1
            && self.start.first() == Some(&0)
            && self.start.last().is_some_and(|&end| end as usize == self.ids.len())
            && self.start.windows(2).all(|w| w[0] <= w[1])
            && self.ids.iter().fold(0, |most, &id| most.max(id)) < size.max(1) as u32
    }

    /// Writes mask `number` into a row.
    #[inline]
    pub fn read(&self, number: usize, row: &mut [u32]) {
        read([&self.base, &self.start, &self.ids, &self.rows], number, row);
    }

    /// Bytes of all arrays, wherever they lie.
    pub fn bytes(&self) -> usize {
        4 * (self.base.len() + self.start.len() + self.ids.len() + self.rows.len())
    }

    /// Bytes of this process's own memory.
    pub fn memory_bytes(&self) -> usize {
        [&self.base, &self.start, &self.ids, &self.rows].iter().map(|s| s.memory_bytes()).sum()
    }
}

/// A set of masks in the making.
pub struct MaskSetBuilder {
    words: usize,
    base: Vec<u32>,
    start: Vec<u32>,
    ids: Vec<u32>,
    rows: Vec<u32>,
    by_hash: FxHashMap<u64, Vec<u32>>,
    scratch: Vec<u32>,
}

/// A hash of a row; equal hashes are compared.
fn hash(row: &[u32]) -> u64 {
    let mut lanes = [0x9E37_79B9_7F4A_7C15u64; 4];
    for words in row.chunks(8) {
        for (lane, pair) in lanes.iter_mut().zip(words.chunks(2)) {
            let word = u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
            *lane = (lane.rotate_left(29) ^ word).wrapping_mul(0xA24B_AED4_963E_E407);
        }
    }
    lanes.iter().fold(0, |h, &lane| (h ^ lane).rotate_left(23).wrapping_mul(0x9FB2_1C65_1E98_DF25))
}

/// In how many bits two rows differ, if in no more than `most`.
fn difference(a: &[u32], b: &[u32], most: usize) -> Option<usize> {
    let mut n = 0;
    for (a, b) in a.chunks(64).zip(b.chunks(64)) {
        n += a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones() as usize).sum::<usize>();
        if n > most {
            return None;
        }
    }
    Some(n)
}

impl MaskSetBuilder {
    /// An empty set of rows of so many words.
    pub fn new(words: usize) -> Self {
        MaskSetBuilder {
            words,
            base: Vec::new(),
            start: vec![0],
            ids: Vec::new(),
            rows: Vec::new(),
            by_hash: FxHashMap::default(),
            scratch: vec![0; words],
        }
    }

    /// The number of a mask, which is added if it is new. `row` has the set's width.
    pub fn add(&mut self, row: &[u32]) -> u32 {
        let same_hash = self.by_hash.entry(hash(row)).or_default();
        for &number in same_hash.iter() {
            read([&self.base, &self.start, &self.ids, &self.rows], number as usize, &mut self.scratch);
            if self.scratch == row {
                return number;
            }
        }
        let number = self.base.len() as u32;
        same_hash.push(number);
        // Three quarters of a row are no saving that pays for turning bits one by one.
        let most = self.words * 3 / 4;
        let mut best: (usize, u32) = (row.iter().map(|w| w.count_ones() as usize).sum(), NO_BASE);
        let bases = self.rows.len() / self.words.max(1);
        for b in (bases.saturating_sub(COMPARED)..bases).rev() {
            let base = &self.rows[b * self.words..][..self.words];
            if let Some(n) = difference(row, base, most.min(best.0.saturating_sub(1))) {
                best = (n, b as u32);
            }
        }
        if best.0 > most {
            self.rows.extend_from_slice(row);
            best = (0, bases as u32);
        }
        let nothing = vec![0; self.words];
        let base = match best.1 {
            NO_BASE => &nothing[..],
            b => &self.rows[b as usize * self.words..][..self.words],
        };
        for (i, (a, b)) in row.iter().zip(base).enumerate() {
            let mut w = a ^ b;
            while w != 0 {
                self.ids.push(i as u32 * 32 + w.trailing_zeros());
                w &= w - 1;
            }
        }
        self.base.push(best.1);
        self.start.push(self.ids.len() as u32);
        number
    }

    /// Bytes held so far.
    pub fn bytes(&self) -> usize {
        4 * (self.base.len() + self.start.len() + self.ids.len() + self.rows.len())
    }

    /// The set.
    pub fn finish(self) -> MaskSet {
        let exact = |mut v: Vec<u32>| -> Slice<u32> {
            v.shrink_to_fit();
            v.into()
        };
        MaskSet { base: exact(self.base), start: exact(self.start), ids: exact(self.ids), rows: exact(self.rows) }
    }
}

#[inline]
fn read([base, start, ids, rows]: [&[u32]; 4], number: usize, row: &mut [u32]) {
    match base[number] {
        NO_BASE => row.fill(0),
        b => row.copy_from_slice(&rows[b as usize * row.len()..][..row.len()]),
    }
    for &id in &ids[start[number] as usize..start[number + 1] as usize] {
        row[id as usize >> 5] ^= 1 << (id & 31);
    }
}
