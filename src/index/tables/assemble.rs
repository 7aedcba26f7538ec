//! Assembly of tables: configurations are explored by bytes, and each gives the mask that a guide would be given there.
//!
//! The masks are those of the lazy engine, put together from what lexemes allow, which is the same work that guides
//! spread over their first uses; no state has a walk of the trie of its own, and none a row: masks are noted as
//! differences from what they are made of (see `mask_delta`). Several threads make them, the first while others are
//! still explored (see `pipeline`), and they are added in the order of the states, so tables are equal for any number
//! of threads.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use crate::dfa;
use crate::dfa::FlatDfa;
use crate::dfa::explore::Explorer;
use crate::error::{Error, Result};
use crate::expr::INF;
use crate::index::tables::dedup::MaskSetBuilder;
use crate::index::tables::mask_delta::MaskDelta;
use crate::index::tables::packed_rows::PackedRows;
use crate::index::tables::pipeline::{MaskPipeline, Stop};
use crate::index::tables::worker::MaskWorker;
use crate::index::tables::{DEAD_ENTRY, DenseTables, MAX_STATES, OUTSIDE, TableArrays, bits};
use crate::index::{Index, IndexCore, IndexEngine};
use crate::lexeme::LexemeKind;
use crate::pushdown::json::program::Program;
use crate::util::idle_threads;

/// Masks that are added between two reports of progress.
const CHUNK: usize = 64;
/// Deltas that are held on to, so that the same one is known again.
const ADDED: usize = 512;
/// With fewer configurations than this starting threads takes longer than they save.
const MANY: usize = 8;
/// No more threads than these keep up with each other: what one finds out about the frames the others do not know.
const MOST_THREADS: usize = 16;

/// The complete tables of an index, made on `threads` threads, the calling one among them. `progress` is told masks
/// done and masks in all now and then, on the calling thread, and may stop the work by an error.
///
/// # Errors
/// `Limit` if there are more than `max_states` configurations, or the tables would take more than `max_bytes`;
/// `Unsupported` where the vocabulary narrows the source; what `progress` returns.
pub fn complete(
    index: &Index,
    max_states: usize,
    max_bytes: usize,
    threads: usize,
    progress: impl FnMut(usize, usize) -> Result<()>,
) -> Result<DenseTables> {
    index.source()?;
    // The states and masks of a pattern are of no use beside its tables. A document's lexemes are shared with others.
    let apart = matches!(index.0.engine, IndexEngine::Pattern(_)).then(|| index.apart());
    let index = apart.as_ref().unwrap_or(index);
    let source = index.source()?;
    let max_states = max_states.min(MAX_STATES);
    if let IndexEngine::Document { program, .. } = &index.0.engine
        && let Some(least) = least_configurations(program, max_states)
    {
        return Err(Error::limit("flat states", max_states as u64, least).set_by("max_flat_states"));
    }
    let ahead = Arc::new(MaskPipeline::new(index));
    let _stop = Stop(&ahead);
    let start = || {
        for _ in 1..threads.min(MOST_THREADS) {
            let ahead = ahead.clone();
            // Where the system gives no thread, the others make its share.
            _ = idle_threads::run(move || ahead.help());
        }
    };
    let mut steps: Vec<(u32, u8)> = Vec::new();
    // A document has `MANY` configurations soon, and who sleeps takes a while to wake.
    let mut started = threads > 1 && matches!(index.0.engine, IndexEngine::Document { .. });
    if started {
        start();
    }
    let mut explorer = Explorer::new(source, max_states);
    let found = FlatDfa::explore_and_tell(&mut explorer, |from, byte| {
        if threads == 1 {
            return;
        }
        steps.push((from, byte));
        if !started && steps.len() >= MANY {
            started = true;
            start();
        }
        if started {
            ahead.tell(&mut steps);
        }
    });
    let (flat, representatives) = found?;
    let next = flat.next.iter().map(|&to| if to == dfa::NO_SUCCESSOR { DEAD_ENTRY } else { to as u16 }).collect();
    let automaton = (flat.classes.of.to_vec(), next, &flat.accepting[..]);
    let others = started.then_some((&*ahead, steps));
    tables(&index.0, automaton, &representatives, explorer, others, max_bytes, progress)
}

/// The beginning of an index of any size: its `states` configurations nearest to the start.
///
/// # Errors
/// `Unsupported` where the vocabulary narrows the source; `Limit` if the tables would take more than `max_bytes`.
pub fn beginning(index: &Index, states: usize, max_bytes: usize) -> Result<DenseTables> {
    let mut explorer = Explorer::new(index.source()?, usize::MAX);
    let classes = explorer.classes().clone();
    let sizes = classes.sizes();
    let states = states.clamp(1, MAX_STATES);
    let (mut next, mut accepting) = (Vec::new(), Vec::new());
    let mut row = Vec::new();
    let mut id = 0;
    while id < states.min(explorer.len()) as u32 {
        accepting.push(explorer.is_accepting(id));
        row.clear();
        explorer.row(id, &mut row)?;
        let apart = explorer.tells_apart(id);
        next.extend(row.iter().zip(&sizes).map(|(&to, &size)| match to {
            dfa::NO_SUCCESSOR => DEAD_ENTRY,
            // The row knows where one of these bytes leads.
            _ if apart && size > 1 => OUTSIDE,
            to if (to as usize) < states => to as u16,
            _ => OUTSIDE,
        }));
        id += 1;
    }
    let automaton = (classes.of.to_vec(), next, &accepting[..]);
    let ids: Vec<u32> = (0..id).collect();
    tables(&index.0, automaton, &ids, explorer, None, max_bytes, |_, _| Ok(()))
}

fn address(sketch: &Arc<MaskDelta>) -> usize {
    Arc::as_ptr(sketch) as usize
}

/// Tables of an automaton, given as byte classes, next states and accepting states, over the masks of configurations:
/// `ids` of `explorer`. `others` help, if there are any; the steps are those that they were not told.
fn tables(
    inner: &IndexCore,
    (byte_classes, next, accepting): (Vec<u8>, Vec<u16>, &[bool]),
    ids: &[u32],
    explorer: Explorer<'_>,
    others: Option<(&MaskPipeline, Vec<(u32, u8)>)>,
    max_bytes: usize,
    mut progress: impl FnMut(usize, usize) -> Result<()>,
) -> Result<DenseTables> {
    let width = next.len() / ids.len().max(1);
    let mut set = MaskSetBuilder::new(inner.vocabulary.words());
    // States that are known to share their mask have it made once.
    let state = |&id: &u32| match &inner.engine {
        IndexEngine::Pattern(lexeme) => lexeme.lexeme.mask_state(explorer.top(id)),
        IndexEngine::Document { .. } | IndexEngine::Grammar(_) => id,
    };
    let mut place: FxHashMap<u32, u32> = FxHashMap::default();
    let mut distinct: Vec<u32> = Vec::new();
    let places: Vec<u32> = ids
        .iter()
        .map(|id| {
            *place.entry(state(id)).or_insert_with(|| {
                distinct.push(*id);
                distinct.len() as u32 - 1
            })
        })
        .collect();
    let (arena, tops) = explorer.into_found();
    let mut maker = MaskWorker::new(inner, arena, tops);
    let (count, entries) = (distinct.len(), next.len());
    let mut numbers: Vec<u16> = Vec::with_capacity(count);
    // Deltas that were added, by their addresses, which they keep.
    let mut added: FxHashMap<usize, (Arc<MaskDelta>, u16)> = FxHashMap::default();
    let mut take = |i: usize, sketch: Arc<MaskDelta>| {
        // Fewer than the states, whose numbers have 16 bits.
        let number = added.get(&address(&sketch)).map_or_else(|| set.add(&sketch) as u16, |known| known.1);
        if added.len() >= ADDED {
            added.clear();
        }
        added.insert(address(&sketch), (sketch, number));
        numbers.push(number);
        if !(i + 1).is_multiple_of(CHUNK) && i + 1 < count {
            return Ok(());
        }
        let held = set.bytes() + 2 * entries;
        if held > max_bytes {
            return Err(Error::limit("bytes of built tables", max_bytes as u64, held as u64));
        }
        progress(i + 1, count)
    };
    let rows = match others {
        Some((ahead, steps)) => ahead.take(steps, distinct.into(), (next, width), &mut maker, &mut take)?,
        None => {
            distinct.iter().enumerate().try_for_each(|(i, &id)| take(i, maker.sketch(id)))?;
            PackedRows::pack(&next, width)
        }
    };
    let mask_of: Vec<u16> = places.iter().map(|&place| numbers[place as usize]).collect();
    let parts = TableArrays {
        byte_classes: byte_classes.into(),
        rows,
        accepting: bits(accepting),
        mask_of: mask_of.into(),
        masks: set.finish(),
    };
    DenseTables::new(parts, inner.vocabulary.size())
}

/// A number of configurations that a document has at least, if it is more than `most`: seen from recursion and from
/// bounds, without exploring.
fn least_configurations(program: &Program, most: usize) -> Option<u64> {
    if is_recursive(program) {
        return Some(u64::MAX);
    }
    let lengths = program.lexemes.iter().filter_map(|l| match l.kind() {
        LexemeKind::Text { min, max, .. } => Some(u64::from(if max == INF { min } else { max })),
        LexemeKind::Raw => None,
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
        let members = objects.flat_map(|o| o.member_rules());
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
