//! Distinct masks in little room: a mask is a row of bits, or nothing, with some bits turned over.
//!
//! Masks of one index are alike: inside two strings nearly the same tokens are allowed, and a mask with few tokens is a
//! short list. So a set of masks keeps few whole rows and for each mask its *base*, which is nothing, a row, or another
//! mask (one that has no mask for its base itself), and the ids of the tokens in which it differs from that. Ids are
//! kept as gaps between them, two bytes each. Reading a mask is a copy and as many turned bits. Equal masks are kept
//! once, under one number, and numbers depend on nothing but the order in which masks were added.

use rustc_hash::FxHashMap;

use crate::pages::Slice;

/// The base of a mask that is a list of ids.
pub const NO_BASE: u32 = u32::MAX;
/// Set in a base that is another mask: the rest is its number. Without it a base is the number of a row.
pub const OF_MASK: u32 = 1 << 31;
/// A gap that only leads on, without an id at its end.
const ON: u16 = u16::MAX;
/// How many rows, and how many lists, a mask is compared with, the latest first.
const COMPARED: usize = 16;

/// A set of masks, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskSet {
    /// Per mask its base: [`NO_BASE`], a row, or [`OF_MASK`].
    pub base: Slice<u32>,
    /// Per mask where its gaps begin; one entry more than masks.
    pub start: Slice<u32>,
    /// Gaps between the ids whose bits are turned over, the first from zero. A gap of 65,535 leads on without an id.
    pub gaps: Slice<u16>,
    /// The rows, each of as many words as one of the vocabulary has.
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

/// A set of masks in the making.
pub struct MaskSetBuilder {
    words: usize,
    base: Vec<u32>,
    start: Vec<u32>,
    ids: Vec<u32>,
    rows: Vec<u32>,
    by_hash: FxHashMap<u64, Vec<u32>>,
}

/// A hash of a row; equal hashes are compared.
pub fn hash(row: &[u32]) -> u64 {
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

/// In how many ids two ascending lists differ, if in no more than `most`.
fn unlike(a: &[u32], b: &[u32], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let (mut i, mut j, mut n) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        n += usize::from(x != y);
        if n > most {
            return None;
        }
    }
    n += a.len() - i + b.len() - j;
    (n <= most).then_some(n)
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
        }
    }

    fn ids_of(&self, mask: usize) -> &[u32] {
        &self.ids[self.start[mask] as usize..self.start[mask + 1] as usize]
    }

    fn row(&self, number: u32) -> &[u32] {
        &self.rows[number as usize * self.words..][..self.words]
    }

    /// Whether `row` is mask `number`, put together in `scratch`.
    fn is(&self, number: u32, row: &[u32], scratch: &mut Vec<u32>) -> bool {
        let mut base = self.base[number as usize];
        let mut lists = vec![number as usize];
        if base != NO_BASE && base & OF_MASK != 0 {
            lists.push((base & !OF_MASK) as usize);
            base = self.base[(base & !OF_MASK) as usize];
        }
        scratch.clear();
        match base {
            NO_BASE => scratch.resize(self.words, 0),
            b => scratch.extend_from_slice(self.row(b)),
        }
        for mask in lists {
            self.ids_of(mask).iter().for_each(|&id| scratch[id as usize >> 5] ^= 1 << (id & 31));
        }
        scratch == row
    }

    /// The number of a mask, which is added if it is new. `row` has the set's width.
    pub fn add(&mut self, row: &[u32]) -> u32 {
        self.add_hashed(hash(row), row)
    }

    /// [`add`](Self::add) of a mask whose [`hash`] is known.
    pub fn add_hashed(&mut self, hash: u64, row: &[u32]) -> u32 {
        let mut scratch = Vec::new();
        let known = self.by_hash.get(&hash).map_or(&[][..], Vec::as_slice);
        if let Some(&number) = known.iter().find(|&&number| self.is(number, row, &mut scratch)) {
            return number;
        }
        let number = self.base.len() as u32;
        self.by_hash.entry(hash).or_default().push(number);
        // Three quarters of a row are no saving that pays for turning bits one by one.
        let most = self.words * 3 / 4;
        let mut best: (usize, u32) = (row.iter().map(|w| w.count_ones() as usize).sum(), NO_BASE);
        let rows = self.rows.len() / self.words.max(1);
        for b in (rows.saturating_sub(COMPARED)..rows).rev() {
            let base = self.row(b as u32);
            if let Some(n) = difference(row, base, most.min(best.0.saturating_sub(1))) {
                best = (n, b as u32);
            }
        }
        if best.0 > most {
            self.rows.extend_from_slice(row);
            best = (0, rows as u32);
        }
        let mut ids = Vec::with_capacity(best.0);
        let mut turned = |i: usize, mut w: u32| {
            while w != 0 {
                ids.push(i as u32 * 32 + w.trailing_zeros());
                w &= w - 1;
            }
        };
        match best.1 {
            NO_BASE => row.iter().enumerate().for_each(|(i, &w)| turned(i, w)),
            b => row.iter().zip(self.row(b)).enumerate().for_each(|(i, (w, base))| turned(i, w ^ base)),
        }
        if let Some((mask, ids)) = self.like(&ids, best.1) {
            self.base.push(OF_MASK | mask);
            self.ids.extend(ids);
        } else {
            self.base.push(best.1);
            self.ids.extend(ids);
        }
        self.start.push(self.ids.len() as u32);
        number
    }

    /// A mask on the same base as a list of ids, and in what these differ, if that is at most half as much.
    fn like(&self, ids: &[u32], base: u32) -> Option<(u32, Vec<u32>)> {
        /// Shorter lists are not worth a look.
        const FEW: usize = 8;
        let mut best = None;
        let mut most = ids.len() / 2;
        if ids.len() < FEW {
            return None;
        }
        let alike = (0..self.base.len()).rev().filter(|&mask| self.base[mask] == base);
        for mask in alike.take(COMPARED) {
            if let Some(n) = unlike(ids, self.ids_of(mask), most) {
                best = Some(mask);
                most = n.saturating_sub(1);
            }
        }
        let mask = best?;
        let other = self.ids_of(mask);
        let mut differs: Vec<u32> = ids.iter().filter(|id| other.binary_search(id).is_err()).copied().collect();
        differs.extend(other.iter().filter(|id| ids.binary_search(id).is_err()));
        differs.sort_unstable();
        Some((mask as u32, differs))
    }

    /// Bytes held so far.
    pub fn bytes(&self) -> usize {
        4 * (self.base.len() + self.start.len() + self.ids.len() + self.rows.len())
    }

    /// The set.
    pub fn finish(self) -> MaskSet {
        let mut gaps: Vec<u16> = Vec::with_capacity(self.ids.len());
        let mut start = vec![0u32];
        for mask in 0..self.base.len() {
            let mut last = 0;
            for &id in self.ids_of(mask) {
                let mut gap = id - last;
                last = id;
                while gap >= ON.into() {
                    gaps.push(ON);
                    gap -= u32::from(ON);
                }
                gaps.push(gap as u16);
            }
            start.push(gaps.len() as u32);
        }
        fn exact<T: crate::pages::Plain>(mut v: Vec<T>) -> Slice<T> {
            v.shrink_to_fit();
            v.into()
        }
        MaskSet { base: exact(self.base), start: exact(start), gaps: exact(gaps), rows: exact(self.rows) }
    }
}
