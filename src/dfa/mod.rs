//! The flat automaton: all configurations of an index as the states of one minimal automaton over byte classes.
//!
//! Registers expand here: a string of at most 20 characters makes 20 states, an object of k keys in any order 2^k. So
//! an index is *flat* only if its configurations are fewer than a limit; recursion, sets of keys and large counts are
//! not. [`explore`] numbers configurations, `minimize` merges those that accept the same continuations, and the states
//! that remain are numbered breadth-first from the start, by ascending classes: the same language over the same classes
//! has the same numbers, however it was explored. [`language_comparison`] and [`language_members`] answer questions
//! about what is accepted.
//!
//! `docs/internals/language-questions.md` has an example.

mod byte_readers;
pub mod explore;
pub mod language_comparison;
pub mod language_members;
pub mod language_size;
mod minimize;
#[cfg(test)]
mod tests;

use crate::dfa::explore::{ByteClasses, ConfigSource, Explorer};
use crate::error::{Error, Result};

/// No successor.
pub const NO_SUCCESSOR: u32 = u32::MAX;

/// Transitions of the explored automaton, missing ones included, for each state that the limit allows, and how many
/// there may be at least. One takes about 25 bytes while states are merged.
const TRANSITIONS: usize = 20;
const LEAST_TRANSITIONS: usize = 1 << 22;

/// A deterministic automaton over byte classes in which every state can be reached and can still accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatDfa {
    /// The classes; no two of a minimal automaton act alike.
    pub classes: ByteClasses,
    /// `next[s * classes.len() + c]` is the successor of `s` under class `c`, or [`NO_SUCCESSOR`]. The start is 0.
    pub next: Vec<u32>,
    /// Whether the output may end in a state.
    pub accepting: Vec<bool>,
}

impl FlatDfa {
    /// The minimal automaton of a source.
    ///
    /// # Errors
    /// `Limit` if the source has more than `max_states` configurations, or these have too many transitions.
    pub fn build(source: ConfigSource<'_>, max_states: usize) -> Result<FlatDfa> {
        Ok(FlatDfa::explore(&mut Explorer::new(source, max_states))?.0)
    }

    /// The minimal automaton of what a fresh explorer finds, and for each of its states the number of one of the
    /// configurations that it stands for.
    ///
    /// # Errors
    /// As [`build`](FlatDfa::build).
    pub fn explore(explorer: &mut Explorer<'_>) -> Result<(FlatDfa, Vec<u32>)> {
        FlatDfa::explore_and_tell(explorer, |_, _| {})
    }

    /// [`explore`](FlatDfa::explore) that tells of each configuration but the start, in the order of their numbers,
    /// from which other one it was found and by which byte.
    ///
    /// # Errors
    /// As [`build`](FlatDfa::build).
    pub fn explore_and_tell(
        explorer: &mut Explorer<'_>,
        mut found: impl FnMut(u32, u8),
    ) -> Result<(FlatDfa, Vec<u32>)> {
        let classes = explorer.classes().clone();
        let mut next = Vec::new();
        let mut accepting = Vec::new();
        let mut id = 0;
        let most = explorer.max_states().saturating_mul(TRANSITIONS).max(LEAST_TRANSITIONS);
        while id < explorer.len() as u32 {
            accepting.push(explorer.is_accepting(id));
            let (from, mut new) = (next.len(), explorer.len() as u32);
            explorer.row(id, &mut next)?;
            for (&to, &byte) in next[from..].iter().zip(&classes.first) {
                if to == new {
                    found(id, byte);
                    new += 1;
                }
            }
            if next.len() > most {
                let all = next.len() as u64;
                return Err(Error::limit("transitions of flat states", most as u64, all).set_by("max_flat_states"));
            }
            id += 1;
        }
        minimize::minimize(&FlatDfa { classes, next, accepting })
    }

    /// Number of states; at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.accepting.len()
    }

    /// The successors of a state by class.
    pub fn row(&self, state: u32) -> &[u32] {
        let width = self.classes.len();
        &self.next[state as usize * width..][..width]
    }

    /// The successor of a state under a byte, or [`NO_SUCCESSOR`].
    #[inline]
    pub fn step(&self, state: u32, byte: u8) -> u32 {
        self.next[state as usize * self.classes.len() + self.classes.of[byte as usize] as usize]
    }

    /// The edges of a state: each successor, ascending, with the ranges of bytes that lead to it.
    pub fn edges(&self, state: u32) -> Vec<(u32, Vec<(u8, u8)>)> {
        let mut out: Vec<(u32, Vec<(u8, u8)>)> = Vec::new();
        for b in 0..=255u8 {
            let to = self.step(state, b);
            if to == NO_SUCCESSOR {
                continue;
            }
            let i = match out.binary_search_by_key(&to, |e| e.0) {
                Ok(i) => i,
                Err(i) => {
                    out.insert(i, (to, Vec::new()));
                    i
                }
            };
            match out[i].1.last_mut() {
                Some(last) if last.1.checked_add(1) == Some(b) => last.1 = b,
                _ => out[i].1.push((b, b)),
            }
        }
        out
    }

    /// Pairs of states that some byte joins.
    pub fn num_transitions(&self) -> usize {
        let mut all: Vec<u32> = Vec::new();
        (0..self.len() as u32)
            .map(|s| {
                all.clear();
                all.extend(self.row(s).iter().filter(|&&t| t != NO_SUCCESSOR));
                all.sort_unstable();
                all.dedup();
                all.len()
            })
            .sum()
    }
}
