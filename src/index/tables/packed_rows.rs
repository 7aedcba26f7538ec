//! Next states in little room: rows of few entries that stand in each other's gaps.
//!
//! A state has a successor under few of the classes of bytes, most of the others are refused. So the rows of all states
//! are laid over each other in one array, each shifted so far that its entries fall where no other row has any (Tarjan
//! and Yao, *Storing a sparse table*, 1979). Beside each entry stands the class that it is for: rows that differ begin
//! at different places, so an entry that is found under another class belongs to another row, and there is no
//! successor. Equal rows are kept once.

use crate::index::tables::{DEAD_ENTRY, OUTSIDE};
use crate::util::mapped::MappedSlice;
use crate::util::seeded_hash::SeededMap;

/// Places that a row is tried at before it goes to the end.
const TRIED: usize = 1 << 13;

/// Rows of next states by byte class, laid into each other's gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedRows {
    /// Per state where its row begins.
    pub start: MappedSlice<u32>,
    /// Per entry the class that it is for.
    pub class: MappedSlice<u8>,
    /// Per entry the next state, [`DEAD_ENTRY`] or [`OUTSIDE`].
    pub next: MappedSlice<u16>,
}

impl PackedRows {
    /// The rows of a table of `width` classes per state.
    pub fn pack(table: &[u16], width: usize) -> PackedRows {
        let rows: Vec<&[u16]> = table.chunks(width.max(1)).collect();
        let mut known: SeededMap<&[u16], usize> = SeededMap::default();
        // Per state the number of its row, and the rows.
        let mut distinct: Vec<&[u16]> = Vec::new();
        let row_of: Vec<usize> = rows
            .iter()
            .map(|&row| {
                *known.entry(row).or_insert_with(|| {
                    distinct.push(row);
                    distinct.len() - 1
                })
            })
            .collect();
        // There are no more classes than bytes.
        let entries = |row: &[u16]| -> Vec<u8> {
            row.iter().zip(0..=u8::MAX).filter(|(to, _)| **to != DEAD_ENTRY).map(|(_, class)| class).collect()
        };
        let mut order: Vec<(usize, Vec<u8>)> = distinct.iter().map(|row| entries(row)).enumerate().collect();
        // Full rows first: the others fill the gaps that they leave.
        order.sort_by_key(|(_, classes)| std::cmp::Reverse(classes.len()));
        let mut place = RowLayout::default();
        let mut starts = vec![0u32; distinct.len()];
        for (number, classes) in &order {
            starts[*number] = place.put(distinct[*number], classes) as u32;
        }
        place.class.shrink_to_fit();
        place.next.shrink_to_fit();
        let start: Vec<u32> = row_of.into_iter().map(|row| starts[row]).collect();
        PackedRows { start: start.into(), class: place.class.into(), next: place.next.into() }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Whether reading any of them under `width` classes stays inside the arrays and leads to one of them or outside.
    pub fn fits(&self, width: usize) -> bool {
        let states = self.len();
        self.class.len() == self.next.len()
            && self.start.iter().all(|&start| start as usize + width <= self.next.len())
            && self.next.iter().all(|&to| (to as usize) < states || to >= OUTSIDE)
    }

    /// The successor of a state under a class.
    #[inline]
    pub fn step(&self, state: u16, class: u8) -> u16 {
        let at = self.start[state as usize] as usize + class as usize;
        if self.class[at] == class { self.next[at] } else { DEAD_ENTRY }
    }

    /// Bytes of all arrays, wherever they lie.
    pub fn bytes(&self) -> usize {
        4 * self.start.len() + self.class.len() + 2 * self.next.len()
    }

    /// Bytes of this process's own memory.
    pub fn memory_bytes(&self) -> usize {
        self.start.memory_bytes() + self.class.memory_bytes() + self.next.memory_bytes()
    }
}

/// Places as bits.
#[derive(Default)]
struct Occupied(Vec<u64>);

impl Occupied {
    fn set(&mut self, at: usize) {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// The bits of 64 places from `at` on.
    #[inline]
    fn from(&self, at: usize) -> u64 {
        let word = |i: usize| self.0.get(i).copied().unwrap_or_default();
        match at % 64 {
            0 => word(at / 64),
            shift => word(at / 64) >> shift | word(at / 64 + 1) << (64 - shift),
        }
    }
}

/// The array that rows are laid into.
#[derive(Default)]
struct RowLayout {
    class: Vec<u8>,
    next: Vec<u16>,
    taken: Occupied,
    /// Where rows begin.
    starts: Occupied,
    /// Where rows with entries under these classes need not be tried again: before.
    tried: SeededMap<Box<[u8]>, usize>,
}

impl RowLayout {
    /// The first of the places from `first` to before `last` where a row with entries under `classes` fits.
    fn find(&self, classes: &[u8], first: usize, last: usize) -> Option<usize> {
        for at in (first..last).step_by(64) {
            let mut no = self.starts.from(at);
            for &class in classes {
                if no == u64::MAX {
                    break;
                }
                no |= self.taken.from(at + class as usize);
            }
            if no != u64::MAX {
                return Some(at + no.trailing_ones() as usize).filter(|&found| found < last);
            }
        }
        None
    }

    /// Lays a row with entries under `classes`. Where it begins.
    fn put(&mut self, row: &[u16], classes: &[u8]) -> usize {
        let first = self.tried.get(classes).copied().unwrap_or_default();
        // At the end every place is free, and no row begins beyond it.
        let end = self.next.len();
        let start = self.find(classes, first, end.min(first + TRIED)).unwrap_or(end);
        self.tried.insert(classes.into(), end.min(start + 1).min(first + TRIED));
        let end = (start + row.len()).max(end);
        self.starts.set(start);
        // What no row takes says that there is no successor, whoever reads it.
        self.class.resize(end, 0);
        self.next.resize(end, DEAD_ENTRY);
        for &class in classes {
            let at = start + class as usize;
            self.taken.set(at);
            self.class[at] = class;
            self.next[at] = row[class as usize];
        }
        start
    }
}
