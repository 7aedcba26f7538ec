//! Making the tables: one walk of the trie per state, states side by side.
//!
//! A walk skips the subtrees of refused bytes and finds, for every allowed token, the state after it. Rows of tokens are
//! turned into rows of classes by refining a partition of the tokens state by state, in the states' order, so the
//! classes and everything else are the same for any number of threads.

use rayon::ThreadPool;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{BuiltTables, Parts, bits};
use crate::automaton::flat::{DEAD, Flat};
use crate::error::{Error, Result};
use crate::vocab::Vocabulary;

/// States whose walks run before their rows are merged: bounds what lies in memory at once.
const CHUNK: usize = 32;

/// The tokens that a state allows, with the state after each, by ascending token.
fn walk(flat: &Flat, vocabulary: &Vocabulary, state: u32) -> Vec<(u32, u32)> {
    let trie = vocabulary.trie();
    let mut found = Vec::new();
    let mut stack = vec![state; 64];
    let end = trie.len() as u32;
    let mut node = 1;
    while node < end {
        let depth = trie.depth[node as usize] as usize;
        let to = flat.step(stack[depth - 1], trie.byte[node as usize]);
        if to == DEAD {
            node = trie.end[node as usize];
            continue;
        }
        if depth >= stack.len() {
            stack.resize(depth * 2, to);
        }
        stack[depth] = to;
        found.extend(trie.tokens(node).iter().map(|&t| (t, to)));
        node += 1;
    }
    found.sort_unstable();
    found
}

/// The tables of `flat` over a vocabulary. States are walked on `pool`; `progress` is told states done and states in
/// all between chunks, on the calling thread, and may stop the work by an error.
///
/// # Errors
/// `Limit` if masks and rows would take more than `max_bytes`; what `progress` returns.
pub fn build(
    flat: &Flat,
    vocabulary: &Vocabulary,
    max_bytes: usize,
    pool: &ThreadPool,
    mut progress: impl FnMut(usize, usize) -> Result<()>,
) -> Result<BuiltTables<Vec<u32>>> {
    let (states, size, words) = (flat.len(), vocabulary.size(), vocabulary.words());
    let mut token_classes = vec![0u32; size];
    // What tokens of a class of the states so far have in common: the class before and the next state here. Class 0 is
    // refused everywhere; a class keeps its number for the tokens that a state refuses.
    let mut class_count = 1u32;
    let mut mask_of = Vec::with_capacity(states);
    let mut masks: Vec<u32> = Vec::new();
    let mut by_mask: FxHashMap<blake3::Hash, u32> = FxHashMap::default();
    // For each state the classes that it allows, as they were numbered then, with one token of each.
    let mut witnesses: Vec<Vec<(u32, u32)>> = Vec::with_capacity(states);
    let mut parents: Vec<u32> = vec![0];
    let numbers: Vec<u32> = (0..states as u32).collect();
    for chunk in numbers.chunks(CHUNK) {
        let rows: Vec<Vec<(u32, u32)>> =
            pool.install(|| chunk.par_iter().map(|&s| walk(flat, vocabulary, s)).collect());
        for row in rows {
            let mut mask = vec![0u32; words];
            let mut split: FxHashMap<(u32, u32), u32> = FxHashMap::default();
            for &(token, to) in &row {
                mask[token as usize >> 5] |= 1 << (token & 31);
                let old = token_classes[token as usize];
                let new = *split.entry((old, to)).or_insert_with(|| {
                    parents.push(old);
                    class_count += 1;
                    class_count - 1
                });
                token_classes[token as usize] = new;
            }
            let mut known: Vec<(u32, u32)> = split.iter().map(|(&(_, to), &class)| (class, to)).collect();
            known.sort_unstable();
            witnesses.push(known);
            let bytes: Vec<u8> = mask.iter().flat_map(|w| w.to_le_bytes()).collect();
            let next = by_mask.len() as u32;
            let id = *by_mask.entry(blake3::hash(&bytes)).or_insert(next);
            if id == next {
                masks.extend_from_slice(&mask);
            }
            mask_of.push(id);
        }
        let held = masks.len() * 4 + parents.len() * 4;
        if held > max_bytes {
            return Err(Error::limit("bytes of built tables", max_bytes as u64, held as u64));
        }
        progress(mask_of.len(), states)?;
    }
    finish(flat, token_classes, &parents, &witnesses, (mask_of, masks), size)
}

/// Numbers the classes that are left by their least token, and writes each state's row of them.
fn finish(
    flat: &Flat,
    mut token_classes: Vec<u32>,
    parents: &[u32],
    witnesses: &[Vec<(u32, u32)>],
    (mask_of, masks): (Vec<u32>, Vec<u32>),
    size: usize,
) -> Result<BuiltTables<Vec<u32>>> {
    let mut number: FxHashMap<u32, u32> = FxHashMap::default();
    let mut last: Vec<u32> = vec![0];
    for class in token_classes.iter_mut().filter(|c| **c != 0) {
        let next = last.len() as u32;
        let id = *number.entry(*class).or_insert(next);
        if id == next {
            last.push(*class);
        }
        *class = id;
    }
    // A state's class was split by later states: every class that descends from it has its next state. The way up from
    // each last class meets at most one class of every state.
    let mut state_of: Vec<(u32, u32)> = vec![(DEAD, DEAD); parents.len()];
    for (row, s) in witnesses.iter().zip(0..) {
        row.iter().for_each(|&(class, to)| state_of[class as usize] = (s, to));
    }
    let mut rows: Vec<Vec<(u32, u32)>> = vec![Vec::new(); witnesses.len()];
    for (&class, id) in last.iter().zip(0u32..).skip(1) {
        let mut at = class;
        while at != 0 {
            let (s, to) = state_of[at as usize];
            if let Some(row) = rows.get_mut(s as usize) {
                row.push((id, to));
            }
            at = parents[at as usize];
        }
    }
    let mut row_start = vec![0u32];
    let (mut row_classes, mut row_next) = (Vec::new(), Vec::new());
    for row in rows {
        row_classes.extend(row.iter().map(|r| r.0));
        row_next.extend(row.iter().map(|r| r.1));
        row_start.push(row_classes.len() as u32);
    }
    let parts = Parts {
        byte_classes: flat.classes.of.iter().map(|&c| u32::from(c)).collect(),
        byte_next: flat.next.clone(),
        accepting: bits(flat),
        token_classes,
        mask_of,
        masks,
        row_start,
        row_classes,
        row_next,
    };
    BuiltTables::new(parts, size)
}
