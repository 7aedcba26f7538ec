//! The complete tables of a flat index: what a file of it would hold.
//!
//! [`BuiltTables`] is plain numbers in slices: a flat automaton over byte classes, and per state the mask of the tokens
//! that keep the output live and the next state by *token class*. Tokens are of one class if they lead every state to
//! the same state; class 0 is that of tokens that no state allows, ids without text among them. Equal masks are stored
//! once. All numbers are 32-bit and every array is generic over where it lies, so a reader may point it into a mapped
//! file; [`BuiltTables::new`] checks every index once, and no look-up can go wrong afterwards.

mod build;
mod make;

use std::collections::VecDeque;

use crate::automaton::flat::Flat;
use crate::error::{Error, ErrorKind, Result};

pub(crate) use build::Built;
pub use make::build;

/// No successor.
pub const DEAD: u32 = u32::MAX;

/// The arrays of [`BuiltTables`], each owned or borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<A> {
    /// The byte class of each of 256 bytes.
    pub byte_classes: A,
    /// Per state and byte class the next state, or [`DEAD`].
    pub byte_next: A,
    /// Per 32 states one word; a bit is set where the output may end.
    pub accepting: A,
    /// The token class of each id of the vocabulary's size.
    pub token_classes: A,
    /// Per state the number of its mask.
    pub mask_of: A,
    /// Distinct masks, each of as many words as a row of the vocabulary has.
    pub masks: A,
    /// Per state where its row of next states begins in `row_classes`; one entry more than states.
    pub row_start: A,
    /// The token classes that a state allows, ascending within a row.
    pub row_classes: A,
    /// The next state for each of them.
    pub row_next: A,
}

/// See the module's story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltTables<A> {
    parts: Parts<A>,
    byte_class_count: usize,
    words: usize,
    token_class_count: usize,
}

fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Artifact, format!("the tables of the index are damaged: {what}"))
}

impl<A: AsRef<[u32]>> BuiltTables<A> {
    /// Tables for a vocabulary of `size` ids.
    ///
    /// # Errors
    /// `Artifact` if lengths do not fit each other or a number lies outside of what it numbers.
    ///
    /// # Cost
    /// One pass over everything but the masks.
    pub fn new(parts: Parts<A>, size: usize) -> Result<Self> {
        let words = size.div_ceil(32);
        let classes = parts.byte_classes.as_ref();
        let byte_class_count = classes.iter().max().map_or(0, |&c| c as usize + 1);
        if classes.len() != 256 || byte_class_count > 256 {
            return Err(damaged("byte classes"));
        }
        let states = parts.mask_of.as_ref().len();
        if states == 0 || states >= DEAD as usize || parts.byte_next.as_ref().len() != states * byte_class_count {
            return Err(damaged("number of states"));
        }
        let known = |&to: &u32| (to as usize) < states;
        if !parts.byte_next.as_ref().iter().all(|to| *to == DEAD || known(to)) {
            return Err(damaged("next states by byte"));
        }
        if parts.accepting.as_ref().len() != states.div_ceil(32) {
            return Err(damaged("accepting states"));
        }
        if parts.token_classes.as_ref().len() != size {
            return Err(damaged("token classes"));
        }
        let token_class_count = parts.token_classes.as_ref().iter().max().map_or(0, |&c| c as usize + 1);
        let masks = parts.masks.as_ref().len();
        if words == 0 || !masks.is_multiple_of(words) || token_class_count > size + 1 {
            return Err(damaged("masks"));
        }
        if !parts.mask_of.as_ref().iter().all(|&m| (m as usize) < masks / words) {
            return Err(damaged("masks of states"));
        }
        let (start, rows) = (parts.row_start.as_ref(), parts.row_classes.as_ref());
        if start.len() != states + 1 || start[0] != 0 || start[states] as usize != rows.len() {
            return Err(damaged("rows of states"));
        }
        for pair in start.windows(2) {
            let row = rows.get(pair[0] as usize..pair[1] as usize).ok_or_else(|| damaged("rows of states"))?;
            if !row.windows(2).all(|w| w[0] < w[1]) || !row.iter().all(|&c| c > 0 && (c as usize) < token_class_count) {
                return Err(damaged("classes of a row"));
            }
        }
        let next = parts.row_next.as_ref();
        if next.len() != rows.len() || !next.iter().all(known) {
            return Err(damaged("next states by token"));
        }
        Ok(BuiltTables { parts, byte_class_count, words, token_class_count })
    }

    /// The arrays, for a writer.
    pub fn parts(&self) -> &Parts<A> {
        &self.parts
    }

    /// Number of states. The start is state 0.
    pub fn num_states(&self) -> usize {
        self.parts.mask_of.as_ref().len()
    }

    /// Number of distinct masks.
    pub fn num_masks(&self) -> usize {
        self.parts.masks.as_ref().len() / self.words
    }

    /// Number of token classes, that of tokens which no state allows included.
    pub fn num_token_classes(&self) -> usize {
        self.token_class_count
    }

    /// Pairs of a state and a token class that it allows.
    pub fn num_transitions(&self) -> usize {
        self.parts.row_classes.as_ref().len()
    }

    /// Number of states where the output may end.
    pub fn num_accepting_states(&self) -> usize {
        (0..self.num_states() as u32).filter(|&s| self.is_accepting(s)).count()
    }

    /// Whether the output may end in a state.
    #[inline]
    pub fn is_accepting(&self, state: u32) -> bool {
        self.parts.accepting.as_ref()[state as usize / 32] >> (state % 32) & 1 == 1
    }

    /// The mask of a state: bit `t & 31` of word `t >> 5`; stop tokens are the guide's.
    #[inline]
    pub fn mask(&self, state: u32) -> &[u32] {
        let at = self.parts.mask_of.as_ref()[state as usize] as usize * self.words;
        &self.parts.masks.as_ref()[at..at + self.words]
    }

    /// The state after a token, or `None` if it is refused. One look-up in a row of the state's token classes.
    #[inline]
    pub fn advance(&self, state: u32, token: u32) -> Option<u32> {
        let class = *self.parts.token_classes.as_ref().get(token as usize)?;
        let start = self.parts.row_start.as_ref();
        let (from, to) = (start[state as usize] as usize, start[state as usize + 1] as usize);
        let found = self.parts.row_classes.as_ref()[from..to].binary_search(&class).ok()?;
        Some(self.parts.row_next.as_ref()[from + found])
    }

    /// The state after a byte, or [`DEAD`].
    #[inline]
    pub fn step(&self, state: u32, byte: u8) -> u32 {
        let class = self.parts.byte_classes.as_ref()[byte as usize] as usize;
        self.parts.byte_next.as_ref()[state as usize * self.byte_class_count + class]
    }

    /// The token classes that a state allows, each with the next state.
    pub fn classes(&self, state: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let start = self.parts.row_start.as_ref();
        let row = start[state as usize] as usize..start[state as usize + 1] as usize;
        let (classes, next) = (self.parts.row_classes.as_ref(), self.parts.row_next.as_ref());
        row.map(|i| (classes[i], next[i]))
    }

    /// The class of a token; 0 for ids beyond the vocabulary.
    pub fn class_of(&self, token: u32) -> u32 {
        self.parts.token_classes.as_ref().get(token as usize).copied().unwrap_or(0)
    }

    /// For every state, the fewest tokens from it to a state where the output may end; [`u32::MAX`] for none.
    ///
    /// # Cost
    /// One breadth-first search backwards over all transitions.
    pub fn distances(&self) -> Vec<u32> {
        let states = self.num_states() as u32;
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); states as usize];
        for state in 0..states {
            for (_, to) in self.classes(state) {
                // Classes of one state that lead to one state come one after the other more often than not.
                if before[to as usize].last() != Some(&state) {
                    before[to as usize].push(state);
                }
            }
        }
        let mut distances = vec![u32::MAX; states as usize];
        let mut queue: VecDeque<u32> = (0..states).filter(|&s| self.is_accepting(s)).collect();
        queue.iter().for_each(|&s| distances[s as usize] = 0);
        while let Some(state) = queue.pop_front() {
            for &from in &before[state as usize] {
                if distances[from as usize] == u32::MAX {
                    distances[from as usize] = distances[state as usize] + 1;
                    queue.push_back(from);
                }
            }
        }
        distances
    }

    /// Bytes of all arrays.
    pub fn memory_bytes(&self) -> usize {
        let p = &self.parts;
        let all = [&p.byte_classes, &p.byte_next, &p.accepting, &p.token_classes, &p.mask_of];
        let rest = [&p.masks, &p.row_start, &p.row_classes, &p.row_next];
        all.iter().chain(&rest).map(|a| a.as_ref().len() * 4).sum()
    }
}

/// The arrays that come from the automaton alone.
fn bits(flat: &Flat) -> Vec<u32> {
    let mut words = vec![0u32; flat.len().div_ceil(32)];
    for (s, _) in flat.accepting.iter().enumerate().filter(|(_, a)| **a) {
        words[s / 32] |= 1 << (s % 32);
    }
    words
}

#[cfg(test)]
mod tests;
