//! Deduplication of the masks of an index.
//!
//! Masks come as differences from rows. These rows are few; each of them is kept, or said by its differences from one
//! that is kept, once for all masks on it. Then lists of masks on one row are compared, and one that is like another is
//! kept as what they differ in. Equal masks get one number, whatever rows they came on. Numbers and the way in which a
//! mask is kept depend on nothing but the masks and the order in which they were added.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::index::tables::mask_delta::{MaskDelta, ids_of};
use crate::index::tables::mask_set::{MaskSet, NO_BASE, OF_MASK, ON};
use crate::util::mapped::MappedSlice;

/// How many rows, and how many lists, a mask is compared with, the latest first.
const COMPARED: usize = 16;
/// Rows of deltas that are remembered; all are forgotten when there are more.
const SOURCES: usize = 512;

/// A set of masks in the making.
pub struct MaskSetBuilder {
    words: usize,
    base: Vec<u32>,
    start: Vec<u32>,
    ids: Vec<u32>,
    rows: Vec<u32>,
    by_hash: FxHashMap<u64, Vec<u32>>,
    /// The rows that deltas stand on, by their hashes.
    sources: FxHashMap<u64, MaskSource>,
    /// Masks that stand on no other mask, by what they stand on.
    direct: FxHashMap<u32, Vec<u32>>,
}

/// A row that deltas stand on.
struct MaskSource {
    row: Arc<[u32]>,
    /// How it is kept: nothing or a row, and the ids in which it differs from that.
    base: u32,
    ids: Vec<u32>,
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
fn num_differing(a: &[u32], b: &[u32], most: usize) -> Option<usize> {
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

/// The ids that are in one of two ascending lists and not in both.
fn differing(a: &[u32], b: &[u32]) -> Vec<u32> {
    if b.is_empty() {
        return a.to_vec();
    }
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        if x != y {
            out.push(x.min(y));
        }
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
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
            sources: FxHashMap::default(),
            direct: FxHashMap::default(),
        }
    }

    /// Lists that are longer than this are no saving over a row: bits are turned one by one.
    fn most(&self) -> usize {
        self.words * 3 / 4
    }

    fn ids_of(&self, mask: u32) -> &[u32] {
        &self.ids[self.start[mask as usize] as usize..self.start[mask as usize + 1] as usize]
    }

    fn row(&self, number: u32) -> &[u32] {
        &self.rows[number as usize * self.words..][..self.words]
    }

    /// What mask `number` stands on, and where it differs from that.
    fn parts(&self, number: u32) -> (u32, Vec<u32>) {
        let base = self.base[number as usize];
        if base == NO_BASE || base & OF_MASK == 0 {
            return (base, self.ids_of(number).to_vec());
        }
        let other = base & !OF_MASK;
        (self.base[other as usize], differing(self.ids_of(other), self.ids_of(number)))
    }

    /// The whole row of nothing or a row, and ids in which it differs from that.
    fn written(&self, base: u32, ids: &[u32]) -> Vec<u32> {
        let mut row = if base == NO_BASE { vec![0; self.words] } else { self.row(base).to_vec() };
        ids.iter().for_each(|&id| row[id as usize >> 5] ^= 1 << (id & 31));
        row
    }

    /// Keeps a row of its own. Its number.
    fn add_row(&mut self, row: &[u32]) -> u32 {
        self.rows.extend_from_slice(row);
        (self.rows.len() / self.words.max(1)) as u32 - 1
    }

    /// How a row that deltas stand on is kept.
    fn source(&mut self, row: &Arc<[u32]>, hash: u64) -> (u32, &[u32]) {
        let known = self.sources.get(&hash).is_some_and(|s| Arc::ptr_eq(&s.row, row) || s.row == *row);
        if !known {
            if self.sources.len() >= SOURCES {
                self.sources.clear();
            }
            let mut best = (row.iter().map(|w| w.count_ones() as usize).sum::<usize>(), NO_BASE);
            let rows = self.rows.len() / self.words.max(1);
            for b in (rows.saturating_sub(COMPARED)..rows).rev() {
                let most = self.most().min(best.0.saturating_sub(1));
                if let Some(n) = difference(row, self.row(b as u32), most) {
                    best = (n, b as u32);
                }
            }
            let mut ids = Vec::new();
            match best {
                (n, _) if n > self.most() => best.1 = self.add_row(row),
                (_, NO_BASE) => row.iter().enumerate().for_each(|(i, &w)| ids_of(i, w, &mut ids)),
                (_, b) => row.iter().zip(self.row(b)).enumerate().for_each(|(i, (w, o))| ids_of(i, w ^ o, &mut ids)),
            }
            self.sources.insert(hash, MaskSource { row: row.clone(), base: best.1, ids });
        }
        self.sources.get(&hash).map_or((NO_BASE, &[]), |s| (s.base, &s.ids))
    }

    /// The number of a mask, which is added if it is new. Its row has the set's width.
    pub fn add(&mut self, sketch: &MaskDelta) -> u32 {
        let (mut base, mut ids) = match &sketch.base {
            None => (NO_BASE, sketch.ids.clone()),
            Some((row, hash)) => {
                let (base, ids) = self.source(row, *hash);
                (base, differing(&sketch.ids, ids))
            }
        };
        let known = self.by_hash.get(&sketch.hash).map_or(&[][..], Vec::as_slice);
        let same = |&&number: &&u32| {
            let (other, others) = self.parts(number);
            if other == base { others == ids } else { self.written(other, &others) == self.written(base, &ids) }
        };
        if let Some(&number) = known.iter().find(same) {
            return number;
        }
        let number = self.base.len() as u32;
        self.by_hash.entry(sketch.hash).or_default().push(number);
        if ids.len() > self.most() {
            let row = self.written(base, &ids);
            base = self.add_row(&row);
            ids.clear();
        }
        if let Some((mask, ids)) = self.like(&ids, base) {
            self.base.push(OF_MASK | mask);
            self.ids.extend(ids);
        } else {
            self.base.push(base);
            self.ids.extend(ids);
            self.direct.entry(base).or_default().push(number);
        }
        self.start.push(self.ids.len() as u32);
        number
    }

    /// A mask on the same base as a list of ids, and in what these differ, if that is at most half as much.
    fn like(&self, ids: &[u32], base: u32) -> Option<(u32, Vec<u32>)> {
        /// Shorter lists are not worth a look.
        const FEW: usize = 8;
        if ids.len() < FEW {
            return None;
        }
        let mut best = None;
        let mut most = ids.len() / 2;
        for &mask in self.direct.get(&base)?.iter().rev().take(COMPARED) {
            if let Some(n) = num_differing(ids, self.ids_of(mask), most) {
                best = Some(mask);
                if n == 0 {
                    break;
                }
                most = n - 1;
            }
        }
        best.map(|mask| (mask, differing(ids, self.ids_of(mask))))
    }

    /// Bytes held so far.
    pub fn bytes(&self) -> usize {
        4 * (self.base.len() + self.start.len() + self.ids.len() + self.rows.len())
    }

    /// The set.
    pub fn finish(self) -> MaskSet {
        let mut gaps: Vec<u16> = Vec::with_capacity(self.ids.len());
        let mut start = vec![0u32];
        for mask in 0..self.base.len() as u32 {
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
        fn exact<T: crate::util::mapped::Plain>(mut v: Vec<T>) -> MappedSlice<T> {
            v.shrink_to_fit();
            v.into()
        }
        MaskSet { base: exact(self.base), start: exact(start), gaps: exact(gaps), rows: exact(self.rows) }
    }
}
