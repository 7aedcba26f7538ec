//! Minimization by refinement of partitions (Hopcroft 1971).
//!
//! States are split while some class leads part of a block into another block and part of it elsewhere; of the two
//! halves of a split only the smaller one need be tried again, which makes it `m log n` for `m` successors that are not
//! missing. The missing successor is no state and never tried: states that agree on all other blocks agree on it.

use rustc_hash::FxHashMap;

use super::explore::ByteClasses;
use super::{DEAD, Flat};
use crate::hash::SeededMap;

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
    let mut by_column: SeededMap<Vec<u32>, u8> = SeededMap::default();
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

/// The block of every state.
fn blocks(flat: &Flat) -> Vec<u32> {
    let (n, width) = (flat.len(), flat.classes.len());
    let edges = || flat.next.iter().enumerate().filter(|(_, to)| **to != DEAD).map(|(i, &to)| (i, to as usize));
    // Predecessors with the class that leads from each: `from[start[t]..start[t + 1]]`.
    let mut start = vec![0u32; n + 1];
    edges().for_each(|(_, to)| start[to + 1] += 1);
    for i in 1..start.len() {
        start[i] += start[i - 1];
    }
    let mut fill = start.clone();
    let mut from = vec![(0u8, 0u32); start[n] as usize];
    for (i, to) in edges() {
        from[fill[to] as usize] = ((i % width) as u8, (i / width) as u32);
        fill[to] += 1;
    }
    // The partition: states by block in `states`, where each is in `place`.
    let accepts = |s: usize| flat.accepting[s];
    let mut states: Vec<u32> = (0..n as u32).filter(|&s| accepts(s as usize)).collect();
    let border = states.len();
    states.extend((0..n as u32).filter(|&s| !accepts(s as usize)));
    let mut place = vec![0u32; n];
    states.iter().zip(0..).for_each(|(&s, i)| place[s as usize] = i);
    let both = border > 0 && border < n;
    let mut block: Vec<u32> = (0..n).map(|s| u32::from(both && !accepts(s))).collect();
    let mut range: Vec<(usize, usize)> = if both { vec![(0, border), (border, n)] } else { vec![(0, n)] };
    let mut marked = vec![0usize; range.len()];
    let mut touched: Vec<u32> = Vec::new();
    let mut work: Vec<u32> = (0..range.len() as u32).collect();
    // Predecessors of one splitter by class, and the classes that have any.
    let mut by_class: Vec<Vec<u32>> = vec![Vec::new(); width];
    let mut found: Vec<u8> = Vec::new();
    while let Some(splitter) = work.pop() {
        let (lo, hi) = range[splitter as usize];
        for &t in &states[lo..hi] {
            for &(c, s) in &from[start[t as usize] as usize..start[t as usize + 1] as usize] {
                if by_class[c as usize].is_empty() {
                    found.push(c);
                }
                by_class[c as usize].push(s);
            }
        }
        for c in found.drain(..) {
            for s in by_class[c as usize].drain(..) {
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
                marked.push(0);
                states[new.0..new.1].iter().for_each(|&s| block[s as usize] = id);
                work.push(id);
            }
        }
    }
    block
}
