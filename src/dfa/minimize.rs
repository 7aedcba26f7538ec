//! Minimization by refinement of partitions (Hopcroft 1971).
//!
//! States are split while some class leads part of a block into another block and part of it elsewhere; of the two
//! halves of a split only the smaller one need be tried again, which makes it `m log n` for `m` successors that are not
//! missing. The missing successor is no state and never tried: states that agree on all other blocks agree on it.

use crate::dfa::explore::ByteClasses;
use crate::dfa::{FlatDfa, NO_SUCCESSOR};
use crate::error::Result;
use crate::util::cancel::checkpoint_after;

/// Predecessors that are looked at in the time of one step.
const ENTRIES_PER_STEP: usize = 64;

/// The minimal automaton of the same language, canonically numbered, with as few classes as possible; and for each of
/// its states one of the states that it stands for.
///
/// # Errors
/// What ends the work from outside.
pub fn minimize(flat: &FlatDfa) -> Result<(FlatDfa, Vec<u32>)> {
    let block = blocks(flat)?;
    let width = flat.classes.len();
    // One representative per block, in breadth-first order, and the number of each block.
    let mut number = vec![NO_SUCCESSOR; flat.len()];
    let mut order = vec![0u32];
    number[block[0] as usize] = 0;
    let mut next = Vec::with_capacity(flat.next.len());
    let mut accepting = Vec::new();
    let mut i = 0;
    while i < order.len() {
        let s = order[i];
        accepting.push(flat.accepting[s as usize]);
        next.extend(flat.row(s).iter().map(|&to| {
            let Some(&block) = block.get(to as usize) else { return NO_SUCCESSOR };
            let id = &mut number[block as usize];
            if *id == NO_SUCCESSOR {
                *id = order.len() as u32;
                order.push(to);
            }
            *id
        }));
        i += 1;
    }
    Ok((merge_classes(&flat.classes, width, next, accepting), order))
}

/// Joins classes that act alike in every state.
fn merge_classes(classes: &ByteClasses, width: usize, next: Vec<u32>, accepting: Vec<bool>) -> FlatDfa {
    /// Any odd number does: columns of the same hash are compared.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hashes = vec![0u64; width];
    for row in next.chunks(width) {
        hashes.iter_mut().zip(row).for_each(|(h, &to)| *h = (h.rotate_left(5) ^ u64::from(to)).wrapping_mul(FACTOR));
    }
    let alike = |a: usize, b: usize| hashes[a] == hashes[b] && next.chunks(width).all(|row| row[a] == row[b]);
    let mut map = vec![0u8; width];
    let mut kept: Vec<usize> = Vec::new();
    for (class, to) in map.iter_mut().enumerate() {
        let known = kept.iter().position(|&other| alike(other, class));
        *to = known.unwrap_or(kept.len()) as u8;
        if known.is_none() {
            kept.push(class);
        }
    }
    let mut of = [0u8; 256];
    for (b, slot) in of.iter_mut().enumerate() {
        *slot = map[classes.of[b] as usize];
    }
    let first = kept.iter().map(|&c| classes.first[c]).collect();
    let next = next.chunks(width).flat_map(|row| kept.iter().map(|&c| row[c])).collect();
    FlatDfa { classes: ByteClasses { of, first }, next, accepting }
}

/// The block of every state.
fn blocks(flat: &FlatDfa) -> Result<Vec<u32>> {
    let (n, width) = (flat.len(), flat.classes.len());
    let mut edges: Vec<(u8, u32, u32)> = Vec::with_capacity(flat.next.len() / 4);
    for (row, s) in flat.next.chunks(width).zip(0..) {
        let there = row.iter().enumerate().filter(|(_, to)| **to != NO_SUCCESSOR);
        edges.extend(there.map(|(class, &to)| (class as u8, s, to)));
    }
    // Predecessors with the class that leads from each: `from[start[t]..start[t + 1]]`.
    let mut start = vec![0u32; n + 1];
    edges.iter().for_each(|&(_, _, to)| start[to as usize + 1] += 1);
    for i in 1..start.len() {
        start[i] += start[i - 1];
    }
    let mut fill = start.clone();
    let mut from = vec![(0u8, 0u32); start[n] as usize];
    for (class, s, to) in edges {
        let place = &mut fill[to as usize];
        from[*place as usize] = (class, s);
        *place += 1;
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
        let entries = states[lo..hi].iter().map(|&t| start[t as usize + 1] - start[t as usize]).sum::<u32>();
        checkpoint_after(entries as usize / ENTRIES_PER_STEP)?;
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
    Ok(block)
}
