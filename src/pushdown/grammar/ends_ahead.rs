//! The ends that a state of the scanner leads to.

use smallvec::SmallVec;

use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId, Scanner};
use crate::util::hash::SeededMap;

/// The ends that can be reached from a state of the scanner without beginning another terminal.
pub struct EndsAhead {
    /// The terminals that end, and what must be kept behind them.
    pub all: Vec<(u32, ObligationsId)>,
    /// For each state that is reached the ends at it.
    at: Vec<SmallVec<[u32; 1]>>,
    /// For each state that is reached those that lead to it.
    from: Vec<SmallVec<[u32; 2]>>,
}

impl EndsAhead {
    /// `None` if the states that are reached are too many.
    pub fn of(scanner: &Scanner, state: ScanStateId) -> Option<Self> {
        /// States of the scanner that are looked at.
        const MOST: usize = 2_000;
        let mut numbers: SeededMap<ScanStateId, u32> = SeededMap::from_iter([(state, 0)]);
        let mut states = vec![state];
        let mut ends = EndsAhead { all: Vec::new(), at: Vec::new(), from: vec![SmallVec::new()] };
        while let Some(&id) = states.get(ends.at.len()) {
            let number = ends.at.len() as u32;
            let here = scanner.state(id).ends.iter().map(|end| match ends.all.iter().position(|known| known == end) {
                Some(at) => at as u32,
                None => {
                    ends.all.push(*end);
                    ends.all.len() as u32 - 1
                }
            });
            let here = here.collect();
            ends.at.push(here);
            for &byte in scanner.bytes_of_classes() {
                let to = scanner.next(id, byte);
                if to == REFUSED {
                    continue;
                }
                let count = states.len() as u32;
                let next = *numbers.entry(to).or_insert(count);
                if next == count {
                    states.push(to);
                    ends.from.push(SmallVec::new());
                }
                let from = &mut ends.from[next as usize];
                if from.last() != Some(&number) {
                    from.push(number);
                }
            }
            if states.len() > MOST {
                return None;
            }
        }
        Some(ends)
    }

    /// Whether every state leads to an end that is good.
    pub fn are_reached_from_everywhere(&self, is_good: impl Fn(u32) -> bool) -> bool {
        let mut reached: Vec<bool> = self.at.iter().map(|ends| ends.iter().any(|&end| is_good(end))).collect();
        let mut todo: Vec<u32> = (0..self.at.len() as u32).filter(|&number| reached[number as usize]).collect();
        while let Some(number) = todo.pop() {
            for &before in &self.from[number as usize] {
                if !std::mem::replace(&mut reached[before as usize], true) {
                    todo.push(before);
                }
            }
        }
        reached.iter().all(|&reached| reached)
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.all.len() * 8 + self.at.len() * 48
    }
}
