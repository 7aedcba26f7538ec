//! Which states of a pattern are completed by what is left of a budget.
//!
//! The vocabulary's trie is walked once with the states of the automaton, and each state that a token ends in is asked
//! about once. Where the structure tells exactly how many bytes are missing and there are as many tokens, nothing is
//! searched. Otherwise the shortest end is found and spelled.
//!
//! Making states and searching for ends is what takes time, so both are counted: a state by the alternatives that it is
//! made of. Tokens that lead beyond a bounded amount of work are left out.

use rustc_hash::FxHashMap;

use crate::guide::Guide;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::lexeme::shortest_end::shortest_end;
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::pushdown::completion::completion_bounds::longest_tokens;
use crate::vocab::Trie;

/// Alternatives of all states that are looked at for one mask.
const MAX_WIDTH: usize = 1_024;
/// Steps of searches for ends, each counted as often as its state has alternatives.
const MAX_SEARCHED: usize = 4_096;
/// Searches by tokens.
const MAX_NEAR: usize = 12;
/// Nodes of the vocabulary's trie that are looked at.
const MAX_NODES: usize = 400_000;

/// Not stepped yet, and refused.
const UNKNOWN_SUCCESSOR: u32 = u32::MAX;
const REFUSED: u32 = u32::MAX - 1;

/// Asks about the states of a pattern for one mask.
pub(super) struct PatternEnds<'a> {
    guide: &'a Guide,
    lexeme: &'a Lexeme,
    /// Tokens that are left, and bytes of the longest token.
    left: u64,
    longest: u64,
    /// As many bytes as are missing at least complete the pattern, and so many tokens spell them.
    exact: bool,
    /// The states that were met, numbered, and the numbers of states.
    states: Vec<StateId>,
    numbers: FxHashMap<StateId, u32>,
    /// By number and byte: where that leads.
    next: Vec<u32>,
    /// By number: whether what is left completes the state.
    affordable: Vec<Option<bool>>,
    /// Work that was done: alternatives of states, steps of searches, searches by tokens.
    width: usize,
    searched: usize,
    near: usize,
}

impl<'a> PatternEnds<'a> {
    pub fn new(guide: &'a Guide, lexeme: &'a Lexeme, left: u64, longest: usize) -> Self {
        let exact = guide.budget.as_ref().is_some_and(|b| b.spelled) && lexeme.least_bytes_are_exact();
        let longest = longest.max(1) as u64;
        let numbers = FxHashMap::default();
        let (states, next, affordable) = (Vec::new(), Vec::new(), Vec::new());
        let (width, searched, near) = (0, 0, 0);
        PatternEnds { guide, lexeme, left, longest, exact, states, numbers, next, affordable, width, searched, near }
    }

    /// Keeps the tokens of a row after which the output can be completed.
    pub fn keep(&mut self, trie: &Trie, start: StateId, row: &mut [u32]) {
        let mut kept = vec![0u32; row.len()];
        let mut stack: Vec<(u32, u32)> = vec![(trie.len() as u32, self.number(start))];
        let (mut node, mut looked) = (1, 0);
        while (node as usize) < trie.len() && looked < MAX_NODES {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, at)) = stack.last() else { break };
            looked += 1;
            let end = trie.end[node as usize];
            let to = self.step(at, trie.byte[node as usize]);
            if to == REFUSED {
                node = end;
                continue;
            }
            for &t in trie.tokens(node).iter().filter(|&&t| row[t as usize >> 5] >> (t & 31) & 1 == 1) {
                kept[t as usize >> 5] |= u32::from(self.is_affordable_state(to)) << (t & 31);
            }
            node += 1;
            if node < end {
                stack.push((end, to));
            }
        }
        row.copy_from_slice(&kept);
    }

    /// The number of a state.
    fn number(&mut self, state: StateId) -> u32 {
        let next = self.states.len() as u32;
        let number = *self.numbers.entry(state).or_insert(next);
        if number == next {
            self.states.push(state);
            self.next.extend([UNKNOWN_SUCCESSOR; 256]);
            self.affordable.push(None);
            self.width += self.lexeme.width(state);
        }
        number
    }

    fn step(&mut self, at: u32, byte: u8) -> u32 {
        let place = at as usize * 256 + usize::from(byte);
        match self.next[place] {
            UNKNOWN_SUCCESSOR => {}
            known => return known,
        }
        if self.width > MAX_WIDTH {
            return REFUSED;
        }
        let to = self.lexeme.next(self.states[at as usize], byte);
        let to = if to > CLOSED { self.number(to) } else { REFUSED };
        self.next[place] = to;
        to
    }

    fn is_affordable_state(&mut self, number: u32) -> bool {
        if let Some(known) = self.affordable[number as usize] {
            return known;
        }
        let found = self.find_affordable_state(self.states[number as usize]);
        self.affordable[number as usize] = Some(found);
        found
    }

    fn find_affordable_state(&mut self, state: StateId) -> bool {
        let least = u64::from(self.lexeme.least_bytes(state, 0));
        if least.div_ceil(self.longest) > self.left {
            return false;
        }
        if least == 0 || self.exact && least <= self.left {
            return true;
        }
        // Where the bound is exact, the search goes straight to the end.
        let ways = if self.lexeme.least_bytes_are_exact() { 2 } else { self.lexeme.bytes_of_classes().len() };
        self.searched += (least as usize + 1) * ways * self.lexeme.width(state);
        if self.searched <= MAX_SEARCHED && self.is_spelled(state) {
            return true;
        }
        self.near += 1;
        self.near <= MAX_NEAR && self.guide.search_near(state, self.left).is_some()
    }

    /// Whether the shortest end is spelled by what is left.
    fn is_spelled(&self, state: StateId) -> bool {
        let Some(bytes) = shortest_end(self.lexeme, state, 0) else { return false };
        if self.guide.budget.as_ref().is_some_and(|b| b.spelled) && bytes.len() as u64 <= self.left {
            return true;
        }
        let speller = FewestTokens::new(&self.guide.index.0, |t: u32| !self.guide.stops.contains(&t));
        // The longest token at each place spells most texts in hardly more tokens than are needed.
        longest_tokens(&bytes, |bytes| speller.longest_token(bytes)).is_some_and(|n| u64::from(n) <= self.left)
            || speller.fewest_tokens(&bytes).is_some_and(|t| t.len() as u64 <= self.left)
    }
}
