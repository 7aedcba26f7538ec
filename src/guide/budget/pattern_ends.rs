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
use crate::guide::budget::fewest_tokens::FewestTokens;
use crate::guide::budget::search::meet;
use crate::lexeme::shortest_end::shortest_end;
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::vocab::Trie;

/// Alternatives of all states that are looked at for one mask.
const MAX_WIDTH: usize = 2_048;
/// Steps of searches for ends, each counted as often as its state has alternatives.
const MAX_SEARCHED: usize = 16_384;
/// Searches by tokens.
const MAX_NEAR: usize = 12;
/// Nodes of the vocabulary's trie that are looked at.
const MAX_NODES: usize = 400_000;

/// Asks about the states of a pattern for one mask.
pub(super) struct PatternEnds<'a> {
    guide: &'a Guide,
    lexeme: &'a Lexeme,
    /// Tokens that are left, and bytes of the longest token.
    left: u64,
    longest: u64,
    /// As many bytes as are missing at least complete the pattern, and so many tokens spell them.
    exact: bool,
    /// Whether what is left completes a state.
    fits: FxHashMap<StateId, bool>,
    met: Vec<bool>,
    /// Work that was done: alternatives of states, steps of searches, searches by tokens.
    width: usize,
    searched: usize,
    near: usize,
}

impl<'a> PatternEnds<'a> {
    pub fn new(guide: &'a Guide, lexeme: &'a Lexeme, left: u64, longest: usize) -> Self {
        let exact = guide.budget.as_ref().is_some_and(|b| b.spelled) && lexeme.least_bytes_are_exact();
        let longest = longest.max(1) as u64;
        let (fits, met) = (FxHashMap::default(), Vec::new());
        PatternEnds { guide, lexeme, left, longest, exact, fits, met, width: 0, searched: 0, near: 0 }
    }

    /// Keeps the tokens of a row after which the output can be completed.
    pub fn keep(&mut self, trie: &Trie, start: StateId, row: &mut [u32]) {
        let mut kept = vec![0u32; row.len()];
        let mut stack: Vec<(u32, StateId)> = vec![(trie.len() as u32, start)];
        let (mut node, mut looked) = (1, 0);
        while (node as usize) < trie.len() && looked < MAX_NODES {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, at)) = stack.last() else { break };
            looked += 1;
            let end = trie.end[node as usize];
            let Some(to) = self.step(at, trie.byte[node as usize]) else {
                node = end;
                continue;
            };
            for &t in trie.tokens(node).iter().filter(|&&t| row[t as usize >> 5] >> (t & 31) & 1 == 1) {
                kept[t as usize >> 5] |= u32::from(self.fit(to)) << (t & 31);
            }
            stack.push((end, to));
            node += 1;
        }
        row.copy_from_slice(&kept);
    }

    fn step(&mut self, at: StateId, byte: u8) -> Option<StateId> {
        if self.width > MAX_WIDTH {
            return None;
        }
        let to = Some(self.lexeme.next(at, byte)).filter(|&to| to > CLOSED)?;
        if meet(&mut self.met, to) {
            self.width += self.lexeme.width(to);
        }
        Some(to)
    }

    fn fit(&mut self, state: StateId) -> bool {
        if let Some(&known) = self.fits.get(&state) {
            return known;
        }
        let found = self.find(state);
        self.fits.insert(state, found);
        found
    }

    fn find(&mut self, state: StateId) -> bool {
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
        speller.longest_tokens(&bytes).is_some_and(|n| n <= self.left)
            || speller.fewest_tokens(&bytes).is_some_and(|t| t.len() as u64 <= self.left)
    }
}
