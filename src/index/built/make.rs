//! Making tables: configurations are explored by bytes, and each gives the mask that a guide would be given there.
//!
//! The masks are those of the lazy engine, put together from what lexemes allow, which is the same work that guides
//! spread over their first uses; no state has a walk of the trie of its own. Masks are made side by side and added in
//! the order of the states, so tables are the same for any number of threads.

use rayon::ThreadPool;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::masks::{self, MaskSetBuilder};
use super::rows::Rows;
use super::{DEAD, MAX_STATES, OUTSIDE, Parts, Tables, bits};
use crate::automaton::arena::Arena;
use crate::automaton::config::Frames;
use crate::automaton::flat::explore::Explorer;
use crate::automaton::flat::{self, Flat};
use crate::automaton::lexeme::Kind;
use crate::automaton::program::Program;
use crate::error::{Error, Result};
use crate::index::live::Known;
use crate::index::mask::Masker;
use crate::index::{Engine, Index, Inner};
use crate::ir::INF;

/// Masks that are made before they are added: bounds what lies in memory at once.
const CHUNK: usize = 64;

/// The complete tables of an index. Masks are made on `pool`, or on the calling thread; `progress` is told states done
/// and states in all between chunks, on the calling thread, and may stop the work by an error.
///
/// # Errors
/// `Limit` if there are more than `max_states` configurations, or the tables would take more than `max_bytes`;
/// `Unsupported` where the vocabulary narrows the source; what `progress` returns.
pub fn complete(
    index: &Index,
    max_states: usize,
    max_bytes: usize,
    pool: Option<&ThreadPool>,
    progress: impl FnMut(usize, usize) -> Result<()>,
) -> Result<Tables> {
    index.source()?;
    // The states and masks of a pattern are of no use beside its tables. A document's lexemes are shared with others.
    let apart = matches!(index.0.engine, Engine::Pattern(_)).then(|| index.apart());
    let index = apart.as_ref().unwrap_or(index);
    let source = index.source()?;
    let max_states = max_states.min(MAX_STATES);
    if let Engine::Document { program, .. } = &index.0.engine
        && let Some(least) = least_configurations(program, max_states)
    {
        return Err(Error::limit("flat states", max_states as u64, least));
    }
    let mut explorer = Explorer::new(source, max_states);
    let (flat, representatives) = Flat::explore(&mut explorer)?;
    let tops: Vec<u32> = representatives.iter().map(|&id| explorer.top(id)).collect();
    let next = flat.next.iter().map(|&to| if to == flat::DEAD { DEAD } else { to as u16 }).collect();
    let automaton = (flat.classes.of.to_vec(), next, &flat.accepting[..]);
    tables(&index.0, automaton, &tops, explorer.arena(), max_bytes, pool, progress)
}

/// The beginning of an index of any size: its `states` configurations nearest to the start.
///
/// # Errors
/// `Unsupported` where the vocabulary narrows the source; `Limit` if the tables would take more than `max_bytes`.
pub fn beginning(index: &Index, states: usize, max_bytes: usize) -> Result<Tables> {
    let mut explorer = Explorer::new(index.source()?, usize::MAX);
    let classes = explorer.classes().clone();
    let states = states.clamp(1, MAX_STATES);
    let (mut next, mut accepting, mut tops) = (Vec::new(), Vec::new(), Vec::new());
    let mut id = 0;
    while id < states.min(explorer.len()) as u32 {
        accepting.push(explorer.is_accepting(id));
        for &byte in &classes.first {
            next.push(match explorer.step(id, byte)? {
                None => DEAD,
                Some(to) if (to as usize) < states => to as u16,
                Some(_) => OUTSIDE,
            });
        }
        tops.push(explorer.top(id));
        id += 1;
    }
    let automaton = (classes.of.to_vec(), next, &accepting[..]);
    tables(&index.0, automaton, &tops, explorer.arena(), max_bytes, None, |_, _| Ok(()))
}

/// Tables of an automaton, given as byte classes, next states and accepting states, over the masks of configurations;
/// on the calling thread without a pool.
fn tables(
    inner: &Inner,
    (byte_classes, next, accepting): (Vec<u8>, Vec<u16>, &[bool]),
    tops: &[u32],
    arena: &Arena,
    max_bytes: usize,
    pool: Option<&ThreadPool>,
    mut progress: impl FnMut(usize, usize) -> Result<()>,
) -> Result<Tables> {
    let words = inner.vocabulary.words();
    let width = next.len() / tops.len().max(1);
    let mut set = MaskSetBuilder::new(words);
    // States that are known to share their mask have it made once.
    let mask_states: Vec<u32> = match &inner.engine {
        Engine::Pattern(lexeme) => tops.iter().map(|&top| lexeme.lexeme.mask_state(top)).collect(),
        Engine::Document { .. } => tops.to_vec(),
    };
    let mut seen = FxHashSet::default();
    let distinct: Vec<u32> = mask_states.iter().copied().filter(|&state| seen.insert(state)).collect();
    let mut numbers: FxHashMap<u32, u16> = FxHashMap::default();
    for chunk in distinct.chunks(CHUNK) {
        let mask = |arena: &mut Arena, &top: &u32| {
            let mut row = vec![0; words];
            mask(inner, arena, top, &mut row);
            (masks::hash(&row), row)
        };
        let made: Vec<(u64, Vec<u32>)> = match pool {
            Some(pool) => pool.install(|| chunk.par_iter().map_init(|| arena.clone(), mask).collect()),
            None => {
                let mut arena = arena.clone();
                chunk.iter().map(|top| mask(&mut arena, top)).collect()
            }
        };
        for (&state, (hash, row)) in chunk.iter().zip(&made) {
            // Fewer than the states, whose numbers have 16 bits.
            numbers.insert(state, set.add_hashed(*hash, row) as u16);
        }
        let held = set.bytes() + 2 * next.len();
        if held > max_bytes {
            return Err(Error::limit("bytes of built tables", max_bytes as u64, held as u64));
        }
        progress(numbers.len(), distinct.len())?;
    }
    let mask_of: Vec<u16> = mask_states.iter().filter_map(|state| numbers.get(state).copied()).collect();
    let parts = Parts {
        byte_classes: byte_classes.into(),
        rows: Rows::of(&next, width),
        accepting: bits(accepting),
        mask_of: mask_of.into(),
        masks: set.finish(),
    };
    Tables::new(parts, inner.vocabulary.size())
}

/// The mask of a configuration: of a lexeme's state, or of a top node of `arena`.
fn mask(inner: &Inner, arena: &mut Arena, top: u32, row: &mut [u32]) {
    match &inner.engine {
        Engine::Pattern(lexeme) => inner.tables.root_mask(&inner.vocabulary, lexeme, top).inner.or_into(row),
        Engine::Document { program, lexemes } => {
            let frames = Frames { program, arena };
            let known = &mut Known::default();
            Masker::new(&inner.vocabulary, &inner.tables, lexemes, &inner.members, frames, known, row).fill_anew(top);
        }
    }
}

/// A number of configurations that a document has at least, if it is more than `most`: seen from recursion and from
/// bounds, without exploring.
fn least_configurations(program: &Program, most: usize) -> Option<u64> {
    if is_recursive(program) {
        return Some(u64::MAX);
    }
    let lengths = program.lexemes.iter().filter_map(|l| match l.kind() {
        Kind::Text { min, max } => Some(u64::from(if max == INF { min } else { max })),
        Kind::Raw | Kind::Constant => None,
    });
    let elements = program.arrays.iter().map(|a| if a.max == u64::MAX { a.min } else { a.max });
    // In any order every set of keys is a configuration.
    let names = program.objects.iter().filter(|_| program.any_order).map(|o| o.rules.iter().flatten().count());
    let sets = names.map(|n| 1u64.checked_shl(n as u32).unwrap_or(u64::MAX));
    lengths.chain(elements).chain(sets).max().filter(|&n| n > most as u64)
}

/// Whether some rule leads back to itself.
fn is_recursive(program: &Program) -> bool {
    let children = |rule: u32| -> Vec<u32> {
        let Some(rule) = program.rules.get(rule as usize) else { return Vec::new() };
        let arrays = rule.arrays.iter().filter_map(|&a| program.arrays.get(a as usize));
        let elements = arrays.flat_map(|a| a.prefix.iter().flatten().chain(&a.rest)).map(|e| e.rule.0);
        let objects = rule.objects.iter().filter_map(|&o| program.objects.get(o as usize));
        let members = objects.flat_map(|o| o.rules.iter().flatten().copied().chain(o.others.iter().map(|c| c.rule)));
        elements.chain(members.map(|r| r.0)).collect()
    };
    // Rules on the way from the root, with what is left to visit below each.
    let mut open = FxHashSet::from_iter([program.root.0]);
    let mut done = FxHashSet::default();
    let mut path = vec![(program.root.0, children(program.root.0))];
    while let Some((rule, rest)) = path.last_mut() {
        match rest.pop() {
            None => {
                open.remove(rule);
                done.insert(*rule);
                path.pop();
            }
            Some(child) if open.contains(&child) => return true,
            Some(child) if done.contains(&child) => {}
            Some(child) => {
                open.insert(child);
                path.push((child, children(child)));
            }
        }
    }
    false
}
