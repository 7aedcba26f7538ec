//! The states of an automaton that are reached from one of them, and those that lead to each.

use smallvec::SmallVec;

use crate::util::cancel::{charge, is_exhausted};
use crate::util::seeded_hash::SeededMap;
use crate::util::work_meter::is_over;

/// Bytes by which a state is left in a microsecond.
const BYTES_PER_STEP: usize = 32;

/// States by number, in the order in which they are met, breadth first.
pub struct ReachableStates {
    /// The states; the first one is where it began.
    pub all: Vec<u32>,
    /// The number of each state.
    pub numbers: SeededMap<u32, u32>,
    /// For each state the numbers of those that lead to it.
    pub from: Vec<SmallVec<[u32; 2]>>,
}

impl ReachableStates {
    /// The states that `step` reaches with these bytes. `None` if they are more than `most`, or the work is over.
    pub fn explore(start: u32, bytes: &[u8], most: usize, step: impl Fn(u32, u8) -> Option<u32>) -> Option<Self> {
        let numbers = SeededMap::from_iter([(start, 0)]);
        let mut states = ReachableStates { all: vec![start], numbers, from: vec![SmallVec::new()] };
        let mut number = 0;
        while let Some(&state) = states.all.get(number as usize) {
            charge(1 + bytes.len() / BYTES_PER_STEP);
            for &byte in bytes {
                let Some(to) = step(state, byte) else { continue };
                let count = states.all.len() as u32;
                let next = *states.numbers.entry(to).or_insert(count);
                if next == count {
                    states.all.push(to);
                    states.from.push(SmallVec::new());
                }
                let from = &mut states.from[next as usize];
                if from.last() != Some(&number) {
                    from.push(number);
                }
            }
            if states.all.len() > most || is_over() || is_exhausted() {
                return None;
            }
            number += 1;
        }
        Some(states)
    }
}

/// Whether every state leads to one that is `reached`, or is one; `from` says which lead to each.
pub fn all_lead_to(from: &[SmallVec<[u32; 2]>], mut reached: Vec<bool>) -> bool {
    let mut todo: Vec<u32> = (0..reached.len() as u32).filter(|&number| reached[number as usize]).collect();
    while let Some(number) = todo.pop() {
        for &before in &from[number as usize] {
            if !std::mem::replace(&mut reached[before as usize], true) {
                todo.push(before);
            }
        }
    }
    reached.iter().all(|&reached| reached)
}
