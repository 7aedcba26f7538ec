//! Minimization by refinement of partitions (Hopcroft 1971).
//!
//! States are split while some class leads part of a block into another block and part of it elsewhere; of the two
//! halves of a split only the smaller one need be tried again, which makes it `n log n` per class. The missing
//! successor is a state of its own here, dropped at the end.

use rustc_hash::FxHashMap;

use super::explore::ByteClasses;
use super::{DEAD, Flat};

/// The minimal automaton of the same language, canonically numbered, with as few classes as possible; and for each of
/// its states one of the states that it stands for.
pub fn minimize(flat: &Flat) -> (Flat, Vec<u32>) {
    let block = blocks(flat);
    let width = flat.classes.len();
    // One representative per block, in breadth-first order.
    let mut number: FxHashMap<u32, u32> = FxHashMap::default();
    let mut order = vec![0u32];
    number.insert(block[0], 0);
    let mut next = Vec::new();
    let mut accepting = Vec::new();
    let mut i = 0;
    while i < order.len() {
        let s = order[i];
        accepting.push(flat.accepting[s as usize]);
        for &to in flat.row(s) {
            next.push(if to == DEAD {
                DEAD
            } else {
                let n = order.len() as u32;
                let id = *number.entry(block[to as usize]).or_insert(n);
                if id == n {
                    order.push(to);
                }
                id
            });
        }
        i += 1;
    }
    (merge_classes(&flat.classes, width, next, accepting), order)
}

/// Joins classes that act alike in every state.
fn merge_classes(classes: &ByteClasses, width: usize, next: Vec<u32>, accepting: Vec<bool>) -> Flat {
    let states = accepting.len();
    let mut by_column: FxHashMap<Vec<u32>, u8> = FxHashMap::default();
    let mut map = vec![0u8; width];
    let mut kept: Vec<usize> = Vec::new();
    for (class, to) in map.iter_mut().enumerate() {
        let column: Vec<u32> = (0..states).map(|s| next[s * width + class]).collect();
        *to = *by_column.entry(column).or_insert_with(|| {
            kept.push(class);
            kept.len() as u8 - 1
        });
    }
    let mut of = [0u8; 256];
    for (b, slot) in of.iter_mut().enumerate() {
        *slot = map[classes.of[b] as usize];
    }
    let first = kept.iter().map(|&c| classes.first[c]).collect();
    let next = (0..states).flat_map(|s| kept.iter().map(move |&c| s * width + c)).map(|i| next[i]).collect();
    Flat { classes: ByteClasses { of, first }, next, accepting }
}

/// The block of every state; the dead state has one too.
fn blocks(flat: &Flat) -> Vec<u32> {
    let (n, width) = (flat.len() + 1, flat.classes.len());
    let target = |s: usize, c: usize| match flat.next.get(s * width + c) {
        Some(&to) if to != DEAD => to as usize,
        _ => n - 1,
    };
    // Predecessors by class: `from[start[c * (n + 1) + t]..]`.
    let mut start = vec![0u32; width * (n + 1) + 1];
    for s in 0..n {
        for c in 0..width {
            start[c * n + target(s, c) + 1] += 1;
        }
    }
    for i in 1..start.len() {
        start[i] += start[i - 1];
    }
    let mut fill = start.clone();
    let mut from = vec![0u32; width * n];
    for s in 0..n {
        for c in 0..width {
            let slot = &mut fill[c * n + target(s, c)];
            from[*slot as usize] = s as u32;
            *slot += 1;
        }
    }
    // The partition: states by block in `states`, where each is in `place`.
    let accepts = |s: usize| flat.accepting.get(s).copied().unwrap_or(false);
    let mut states: Vec<u32> = (0..n as u32).filter(|&s| accepts(s as usize)).collect();
    let border = states.len();
    states.extend((0..n as u32).filter(|&s| !accepts(s as usize)));
    let mut place = vec![0u32; n];
    states.iter().zip(0..).for_each(|(&s, i)| place[s as usize] = i);
    let mut block: Vec<u32> = (0..n).map(|s| u32::from(!accepts(s) && border > 0)).collect();
    let mut range: Vec<(usize, usize)> = if border > 0 { vec![(0, border), (border, n)] } else { vec![(0, n)] };
    let mut marked = vec![0usize; n];
    let mut touched: Vec<u32> = Vec::new();
    let mut work: Vec<u32> = (0..range.len() as u32).collect();
    let mut waiting = vec![true; range.len()];
    while let Some(splitter) = work.pop() {
        waiting[splitter as usize] = false;
        let members: Vec<u32> = states[range[splitter as usize].0..range[splitter as usize].1].to_vec();
        for c in 0..width {
            for &t in &members {
                let at = c * n + t as usize;
                for &s in &from[start[at] as usize..start[at + 1] as usize] {
                    // Moves `s` to the marked front of its block.
                    let b = block[s as usize] as usize;
                    if marked[b] == 0 {
                        touched.push(b as u32);
                    }
                    let (here, front) = (place[s as usize] as usize, range[b].0 + marked[b]);
                    let other = states[front];
                    states.swap(here, front);
                    place[s as usize] = front as u32;
                    place[other as usize] = here as u32;
                    marked[b] += 1;
                }
            }
            for b in touched.drain(..) {
                let (lo, hi) = range[b as usize];
                let cut = lo + std::mem::take(&mut marked[b as usize]);
                if cut == hi {
                    continue;
                }
                // The smaller part becomes the new block.
                let (new, old) = if cut - lo <= hi - cut { ((lo, cut), (cut, hi)) } else { ((cut, hi), (lo, cut)) };
                let id = range.len() as u32;
                range[b as usize] = old;
                range.push(new);
                states[new.0..new.1].iter().for_each(|&s| block[s as usize] = id);
                waiting.push(true);
                work.push(id);
            }
        }
    }
    block
}
