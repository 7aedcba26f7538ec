//! The ends that a state of the scanner leads to.

use smallvec::SmallVec;

use crate::pushdown::grammar::reachable_states::{ReachableStates, all_lead_to};
use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId, Scanner};

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
    pub fn find(scanner: &Scanner, state: ScanStateId) -> Option<Self> {
        /// States of the scanner that are looked at.
        const MOST_STATES: usize = 2_000;
        let step = |state: ScanStateId, byte: u8| Some(scanner.next(state, byte)).filter(|&to| to != REFUSED);
        let states = ReachableStates::explore(state, scanner.bytes_of_classes(), MOST_STATES, step)?;
        let mut all = Vec::new();
        let mut number = |end: &(u32, ObligationsId)| match all.iter().position(|known| known == end) {
            Some(at) => at as u32,
            None => {
                all.push(*end);
                all.len() as u32 - 1
            }
        };
        let at = states.all.iter().map(|&state| scanner.state(state).ends.iter().map(&mut number).collect()).collect();
        Some(EndsAhead { all, at, from: states.from })
    }

    /// Whether every state leads to an end that is good.
    pub fn are_reached_from_everywhere(&self, is_good: impl Fn(u32) -> bool) -> bool {
        let is_reached = |ends: &SmallVec<[u32; 1]>| ends.iter().any(|&end| is_good(end));
        all_lead_to(&self.from, self.at.iter().map(is_reached).collect())
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.all.len() * 8 + self.at.len() * 48
    }
}
