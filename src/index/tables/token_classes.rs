//! Token classes: tokens that lead every state of complete tables to the same state.
//!
//! A device that steps automata by whole tokens needs one column for each class instead of one for each token. Classes
//! are found by refining a partition of the tokens state by state, in the states' order, from one walk of the trie per
//! state; so they and everything else are the same for any number of threads. Class 0 is that of tokens which no state
//! allows, ids without text among them; the others are numbered by their least token.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

use crate::index::tables::{DEAD_ENTRY, DenseTables, OUTSIDE};
use crate::util::parallel_map::in_order;
use crate::util::seeded_hash::SeededMap;
use crate::vocab::Vocabulary;

/// States whose walks run before their rows are merged: bounds what lies in memory at once.
const CHUNK: usize = 32;

/// Next states by token class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenClasses {
    /// The class of each id of the vocabulary's size.
    pub of: Vec<u32>,
    /// Number of classes, class 0 included.
    pub count: usize,
    /// Per state the classes that it allows, ascending, with the next state of each.
    pub rows: Vec<Vec<(u32, u16)>>,
    /// Per state the fewest tokens to one where the output may end; [`u32::MAX`] where there is no way.
    pub distances: Vec<u32>,
}

/// The tokens that a state allows, with the state after each, by ascending token.
pub fn walk(tables: &DenseTables, vocabulary: &Vocabulary, state: u16) -> Vec<(u32, u16)> {
    let trie = vocabulary.trie();
    let mut found = Vec::new();
    let step = |at, byte| Some(tables.step(at, byte)).filter(|&to| to < OUTSIDE);
    trie.walk(state, step, |node, to| found.extend(trie.tokens(node).iter().map(|&t| (t, to))));
    found.sort_unstable();
    found
}

impl TokenClasses {
    /// The classes of complete tables over a vocabulary; those of a beginning say nothing of what lies outside.
    ///
    /// # Cost
    /// One walk of the trie per state, on so many threads.
    pub fn from_tables(tables: &DenseTables, vocabulary: &Vocabulary, threads: usize) -> TokenClasses {
        let mut of = vec![0u32; vocabulary.size()];
        // What tokens of a class of the states so far have in common: the class before and the next state here. Class 0
        // is refused everywhere; a class keeps its number for the tokens that a state refuses.
        let mut parents: Vec<u32> = vec![0];
        // For each class the state that made it, and the next state there.
        let mut made_by: Vec<(u16, u16)> = vec![(DEAD_ENTRY, DEAD_ENTRY)];
        let numbers: Vec<u16> = (0..tables.num_states() as u16).collect();
        for chunk in numbers.chunks(CHUNK) {
            let rows = in_order(threads, chunk.len(), |i| walk(tables, vocabulary, chunk[i]));
            for (row, &state) in rows.iter().zip(chunk) {
                let mut split: SeededMap<(u32, u16), u32> = SeededMap::default();
                for &(token, to) in row {
                    let old = of[token as usize];
                    of[token as usize] = *split.entry((old, to)).or_insert_with(|| {
                        parents.push(old);
                        made_by.push((state, to));
                        parents.len() as u32 - 1
                    });
                }
            }
        }
        // Classes that are left are numbered by their least token.
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        let mut last: Vec<u32> = vec![0];
        for class in of.iter_mut().filter(|c| **c != 0) {
            let next = last.len() as u32;
            let id = *number.entry(*class).or_insert(next);
            if id == next {
                last.push(*class);
            }
            *class = id;
        }
        // A state's class was split by later states: every class that descends from it has its next state. The way up
        // from each last class meets at most one class of every state.
        let mut rows: Vec<Vec<(u32, u16)>> = vec![Vec::new(); tables.num_states()];
        for (&class, id) in last.iter().zip(0u32..).skip(1) {
            let mut at = class;
            while at != 0 {
                let (state, to) = made_by[at as usize];
                if let Some(row) = rows.get_mut(state as usize) {
                    row.push((id, to));
                }
                at = parents[at as usize];
            }
        }
        let distances = distances(tables, &rows);
        TokenClasses { of, count: last.len(), rows, distances }
    }

    /// Pairs of a state and a token class that it allows.
    pub fn num_transitions(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }
}

/// Breadth first, backwards from the states where the output may end.
fn distances(tables: &DenseTables, rows: &[Vec<(u32, u16)>]) -> Vec<u32> {
    let states = 0..tables.num_states() as u16;
    let mut before: Vec<Vec<u16>> = vec![Vec::new(); rows.len()];
    for (state, row) in states.clone().zip(rows) {
        for &(_, to) in row {
            // Classes of one state that lead to one state come one after the other more often than not.
            if before[to as usize].last() != Some(&state) {
                before[to as usize].push(state);
            }
        }
    }
    let mut distances = vec![u32::MAX; rows.len()];
    let mut queue: VecDeque<u16> = states.filter(|&s| tables.is_accepting(s)).collect();
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
