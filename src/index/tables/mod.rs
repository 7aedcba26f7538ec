//! Tables of an index: an automaton over byte classes and the mask of each of its states.
//!
//! [`DenseTables`] is plain numbers in slices, owned or mapped from a file. Two forms:
//!
//! * *Complete*: all configurations of the index, as its minimal automaton. It answers for the index.
//! * A *beginning*, for an index with recursion or too many configurations: those nearest to the start. A byte that
//!   leads beyond them leads [`OUTSIDE`], where somebody else has to go on.
//!
//! Tokens are stepped byte by byte, which costs a look-up for each. Classes of tokens that act alike in every state
//! need a table as wide as the vocabulary and are derived only when asked for ([`token_classes`]). [`DenseTables::new`]
//! checks every number once, so no look-up in tables that came from a file can go wrong afterwards.
//!
//! `docs/internals/tables-and-artifacts.md` has an example.

mod assemble;
mod build;
mod dedup;
mod mask_delta;
pub mod mask_set;
pub mod packed_rows;
mod pipeline;
#[cfg(test)]
mod tests;
pub mod token_classes;
mod worker;

use crate::dfa::FlatDfa;
use crate::error::{Error, ErrorKind, Result};
use crate::index::tables::mask_set::MaskSet;
use crate::index::tables::packed_rows::PackedRows;
use crate::util::mapped::MappedSlice;

pub use crate::index::tables::assemble::{beginning, complete};
pub(crate) use crate::index::tables::build::CompleteIndex;
pub use crate::index::tables::build::MAX_CONFIGURATIONS;

/// No successor.
pub const DEAD_ENTRY: u16 = u16::MAX;
/// A successor that the tables do not hold.
pub const OUTSIDE: u16 = u16::MAX - 1;
/// States have lower numbers.
pub const MAX_STATES: usize = OUTSIDE as usize;

/// The arrays of [`DenseTables`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableArrays {
    /// The byte class of each of 256 bytes; classes are numbered by their least byte.
    pub byte_classes: MappedSlice<u8>,
    /// Per state and byte class the next state, [`DEAD_ENTRY`] or [`OUTSIDE`]. The start is 0.
    pub rows: PackedRows,
    /// Per 32 states one word; a bit is set where the output may end.
    pub accepting: MappedSlice<u32>,
    /// Per state the number of its mask.
    pub mask_of: MappedSlice<u16>,
    /// The distinct masks.
    pub masks: MaskSet,
}

/// An automaton over byte classes with the mask of each of its states, as slices that are owned or mapped from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseTables {
    parts: TableArrays,
    width: usize,
    complete: bool,
}

fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Artifact, format!("the tables of the index are damaged: {what}"))
}

/// The number of classes of all bytes. `None` unless they are numbered by their least byte: who reads the tables as an
/// automaton finds the bytes of a class by that.
fn width(byte_classes: &[u8]) -> Option<usize> {
    let mut width = 0;
    for &class in byte_classes {
        let class = usize::from(class);
        if class > width {
            return None;
        }
        width = width.max(class + 1);
    }
    (byte_classes.len() == 256).then_some(width)
}

impl DenseTables {
    /// Tables for a vocabulary of `size` ids.
    ///
    /// # Errors
    /// `Artifact` if lengths do not fit each other or a number lies outside of what it numbers.
    ///
    /// # Cost
    /// One pass over everything but the whole rows of masks.
    pub fn new(parts: TableArrays, size: usize) -> Result<Self> {
        let width = width(&parts.byte_classes).ok_or_else(|| damaged("byte classes"))?;
        let states = parts.mask_of.len();
        if states == 0 || states > MAX_STATES || parts.rows.len() != states {
            return Err(damaged("number of states"));
        }
        if !parts.rows.fits(width) {
            return Err(damaged("next states"));
        }
        if parts.accepting.len() != states.div_ceil(32) {
            return Err(damaged("accepting states"));
        }
        if !parts.masks.fits(size) || parts.mask_of.iter().any(|&m| m as usize >= parts.masks.len()) {
            return Err(damaged("masks"));
        }
        let complete = !parts.rows.next.contains(&OUTSIDE);
        Ok(DenseTables { parts, width, complete })
    }

    /// The arrays, for a writer.
    pub fn parts(&self) -> &TableArrays {
        &self.parts
    }

    /// Whether no byte leads outside: the tables are all of the index.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Number of states. The start is state 0.
    pub fn num_states(&self) -> usize {
        self.parts.mask_of.len()
    }

    /// Number of distinct masks.
    pub fn num_masks(&self) -> usize {
        self.parts.masks.len()
    }

    /// Number of states where the output may end.
    pub fn num_accepting_states(&self) -> usize {
        (0..self.num_states() as u16).filter(|&s| self.is_accepting(s)).count()
    }

    /// Whether the output may end in a state.
    #[inline]
    pub fn is_accepting(&self, state: u16) -> bool {
        self.parts.accepting[state as usize / 32] >> (state % 32) & 1 == 1
    }

    /// Writes the mask of a state into a row of the vocabulary's words: bit `t & 31` of word `t >> 5`; stop tokens are
    /// the guide's.
    #[inline]
    pub fn fill(&self, state: u16, row: &mut [u32]) {
        self.parts.masks.read(self.parts.mask_of[state as usize] as usize, row);
    }

    /// The state after a byte, [`DEAD_ENTRY`] or [`OUTSIDE`].
    #[inline]
    pub fn step(&self, state: u16, byte: u8) -> u16 {
        self.parts.rows.step(state, self.parts.byte_classes[byte as usize])
    }

    /// Per byte class the state after its bytes.
    fn row(&self, state: u16) -> impl Iterator<Item = u16> {
        (0..self.width).map(move |class| self.parts.rows.step(state, class as u8))
    }

    /// The state after bytes: [`DEAD_ENTRY`] as soon as one is refused, [`OUTSIDE`] as soon as one leads there.
    #[inline]
    pub fn advance(&self, state: u16, bytes: &[u8]) -> u16 {
        let mut at = state;
        for &b in bytes {
            at = self.step(at, b);
            if at >= OUTSIDE {
                break;
            }
        }
        at
    }

    /// The only byte that can follow, with the state after it; `None` where there is a choice, or nothing follows.
    pub fn forced(&self, state: u16) -> Option<(u8, u16)> {
        let mut only = None;
        for byte in 0..=255u8 {
            let to = self.step(state, byte);
            if to != DEAD_ENTRY && only.replace((byte, to)).is_some() {
                return None;
            }
        }
        only
    }

    /// Whether no byte can follow.
    pub fn is_end(&self, state: u16) -> bool {
        self.row(state).all(|to| to == DEAD_ENTRY)
    }

    /// Bytes of all arrays, wherever they lie.
    pub fn bytes(&self) -> usize {
        let p = &self.parts;
        p.byte_classes.len() + p.rows.bytes() + 2 * p.mask_of.len() + 4 * p.accepting.len() + p.masks.bytes()
    }

    /// Bytes of this process's own memory: none if the tables are mapped.
    pub fn memory_bytes(&self) -> usize {
        let p = &self.parts;
        p.byte_classes.memory_bytes()
            + p.rows.memory_bytes()
            + p.mask_of.memory_bytes()
            + p.accepting.memory_bytes()
            + p.masks.memory_bytes()
    }
}

/// Accepting states as bits.
fn bits(accepting: &[bool]) -> MappedSlice<u32> {
    let mut words = vec![0u32; accepting.len().div_ceil(32)];
    for (s, _) in accepting.iter().enumerate().filter(|(_, a)| **a) {
        words[s / 32] |= 1 << (s % 32);
    }
    words.into()
}

/// The automaton of complete tables; `None` for a beginning.
pub(crate) fn flat(tables: &DenseTables) -> Option<FlatDfa> {
    if !tables.complete {
        return None;
    }
    let p = &tables.parts;
    let mut of = [0u8; 256];
    of.copy_from_slice(&p.byte_classes);
    let mut first = Vec::new();
    for (byte, &class) in of.iter().enumerate() {
        if class as usize == first.len() {
            first.push(byte as u8);
        }
    }
    let states = 0..tables.num_states() as u16;
    let all = states.clone().flat_map(|s| tables.row(s));
    let next = all.map(|to| if to == DEAD_ENTRY { crate::dfa::NO_SUCCESSOR } else { to.into() }).collect();
    let accepting = states.map(|s| tables.is_accepting(s)).collect();
    Some(FlatDfa { classes: crate::dfa::explore::ByteClasses { of, first }, next, accepting })
}
