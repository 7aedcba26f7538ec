//! A search for the fewest tokens to the end, by tokens.
//!
//! A plan spells the shortest bytes, and longer ones may take fewer tokens: `function` is one token of most
//! vocabularies, and no short word that nobody writes is. So before a budget is refused, and where a vocabulary cannot
//! spell the shortest bytes at all, the end is searched for breadth-first over positions, each of which has the trie
//! walked once. Positions are numbered by what their future depends on, so what a search finds first are the fewest
//! tokens. It ends after so much work, which is little where few positions are near, as they are where budgets are
//! small; then it says that it does not know.

use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::lexeme::{CLOSED, Lexeme, StateId};

/// Nodes of the trie that are looked at.
pub(super) const MAX_LOOKED: usize = 800_000;
/// Nodes of the trie that are looked at where a mask asks, of each state to which a token leads.
pub(super) const MAX_LOOKED_NEAR: usize = 20_000;
/// How many of these a position costs that is stepped to for the first time.
pub(super) const STEP: usize = 100;

/// Alternatives of a pattern's state for as much work as a step.
const WIDTH_A_STEP: usize = 4;

/// Positions that are stepped byte by byte, by their numbers, which are dense.
pub(super) trait SearchSteps {
    /// Where a byte leads, if it is allowed and that has a number.
    fn to(&mut self, at: u32, byte: u8) -> Option<u32>;
    /// Whether the output may end.
    fn is_end(&mut self, at: u32) -> bool;
    /// How many steps were no look-up, about.
    fn made(&self) -> usize;
    /// Whether every byte that is allowed led to a position with a number.
    fn is_exact(&self) -> bool;
    /// The special tokens that may come next, one of those that are alike, and where they lead.
    fn special(&mut self, _at: u32) -> Vec<(u32, u32)> {
        Vec::new()
    }
}

/// What a search found.
pub(super) struct FewestSearch {
    /// Tokens that complete the output.
    pub plan: Option<Vec<u32>>,
    /// Fewer than those, or fewer than were asked for, do not complete it.
    pub exact: bool,
}

/// The states of a pattern.
pub(super) struct SearchStates<'a> {
    lexeme: &'a Lexeme,
    met: Vec<bool>,
    made: usize,
}

impl<'a> SearchStates<'a> {
    pub fn new(lexeme: &'a Lexeme) -> Self {
        SearchStates { lexeme, met: Vec::new(), made: 0 }
    }
}

impl SearchSteps for SearchStates<'_> {
    fn to(&mut self, at: StateId, byte: u8) -> Option<StateId> {
        let to = self.lexeme.next(at, byte);
        if to > CLOSED && meet(&mut self.met, to) {
            self.made += self.lexeme.width(to).div_ceil(WIDTH_A_STEP);
        }
        (to > CLOSED).then_some(to)
    }

    fn is_end(&mut self, at: StateId) -> bool {
        self.lexeme.state(at).accepting
    }

    fn made(&self) -> usize {
        self.made
    }

    fn is_exact(&self) -> bool {
        true
    }
}

/// Notes a number; whether it is new.
fn meet(met: &mut Vec<bool>, number: u32) -> bool {
    let number = number as usize;
    if met.len() <= number {
        met.resize(number + 1, false);
    }
    !std::mem::replace(&mut met[number], true)
}

/// The tokens that lead to a position, and one more.
fn plan_to(order: &[(u32, usize, u32)], mut at: usize, token: u32) -> Vec<u32> {
    let mut plan = vec![token];
    while at != 0 {
        plan.push(order[at].2);
        at = order[at].1;
    }
    plan.reverse();
    plan
}

impl<U: Fn(u32) -> bool> FewestTokens<'_, U> {
    /// The fewest tokens that lead from `start`, where the output may not end, to an end: at most `most`. `max_looked`
    /// bounds the work.
    pub fn fewest_to_end(
        &self,
        steps: &mut impl SearchSteps,
        start: u32,
        most: u64,
        max_looked: usize,
    ) -> FewestSearch {
        let trie = self.trie();
        // Positions that tokens lead to, by how many: which one is before it, and the token.
        let mut order: Vec<(u32, usize, u32)> = vec![(start, 0, 0)];
        let mut met = Vec::new();
        meet(&mut met, start);
        let (mut at, mut depth, mut next_depth) = (0, 0, 1);
        let mut looked = 0;
        let mut stack: Vec<u32> = Vec::new();
        while at < order.len() {
            if at == next_depth {
                (depth, next_depth) = (depth + 1, order.len());
            }
            if depth >= most {
                break;
            }
            stack.resize(64, 0);
            stack[0] = order[at].0;
            let mut node = 1;
            while node < trie.len() as u32 {
                looked += 1;
                if looked + steps.made() * STEP > max_looked {
                    return FewestSearch { plan: None, exact: false };
                }
                let level = trie.depth[node as usize] as usize;
                let Some(to) = steps.to(stack[level - 1], trie.byte[node as usize]) else {
                    node = trie.end[node as usize];
                    continue;
                };
                if level >= stack.len() {
                    stack.resize(level * 2, 0);
                }
                stack[level] = to;
                if !met.get(to as usize).is_some_and(|&met| met)
                    && let Some(token) = self.token(node)
                {
                    meet(&mut met, to);
                    if steps.is_end(to) {
                        return FewestSearch { plan: Some(plan_to(&order, at, token)), exact: steps.is_exact() };
                    }
                    order.push((to, at, token));
                }
                node += 1;
            }
            for (token, to) in steps.special(order[at].0) {
                if meet(&mut met, to) {
                    if steps.is_end(to) {
                        return FewestSearch { plan: Some(plan_to(&order, at, token)), exact: steps.is_exact() };
                    }
                    order.push((to, at, token));
                }
            }
            at += 1;
        }
        FewestSearch { plan: None, exact: steps.is_exact() }
    }
}
