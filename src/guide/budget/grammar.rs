//! Budgets over grammars: plans, and the tokens after which one fits.
//!
//! A plan is what [`completion`](crate::pushdown::grammar::completion::plan) writes, spelled by the fewest tokens and
//! stepped to the end. While there is room, bounds say so: the largest cost of any place of the stack, and what one
//! token can put on top of it, which is kept beside the mask. Near the end every token is priced
//! ([`GrammarPositions`]).

use std::sync::Arc;

use crate::guide::Guide;
use crate::guide::budget::fewest_tokens_search::{FewestSearch, MAX_LOOKED_NEAR, STEP};
use crate::guide::budget::grammar_positions::GrammarPositions;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::pushdown::completion::completion_bounds::MAX_OPENS;
use crate::pushdown::grammar::completion::symbol_costs::NO_COST;
use crate::pushdown::grammar::machine::{Branches, GrammarMachine};
use crate::pushdown::grammar::parse_stack::{Branch, PositionId};
use crate::util::work_meter::is_over;

impl GrammarMachine<'_> {
    /// What is left of `left` bytes behind any token that stays inside the document of a branch and opens at most
    /// `opens` brackets.
    fn room_in_document(&mut self, branch: &Branch, opens: usize, left: u64) -> Option<u64> {
        let after = self.most_in_document(branch, opens).filter(|_| opens <= MAX_OPENS)?;
        left.checked_sub(after)
    }
}

/// What is asked for near the end, where bounds are known to hold, but not by which tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NearTheEnd {
    /// A bound is not enough.
    NeedsPlan,
    /// A bound is enough: no plan was found.
    BoundSuffices,
}

/// The tokens of a row.
pub(super) fn tokens_of(row: &[u32]) -> impl Iterator<Item = u32> + '_ {
    (0..row.len() as u32 * 32).filter(|&t| row[t as usize >> 5] >> (t & 31) & 1 == 1)
}

impl Guide {
    /// Asks about the rest of a grammar's output, from where the guide stands. The stack is left as it was.
    pub(super) fn in_grammar<T>(&mut self, ask: impl FnOnce(&mut GrammarPositions<'_>) -> T) -> Option<T> {
        self.in_branches(None, ask)
    }

    /// As [`in_grammar`](Self::in_grammar), from one branch only.
    fn in_branches<T>(&mut self, one: Option<&Branch>, ask: impl FnOnce(&mut GrammarPositions<'_>) -> T) -> Option<T> {
        let inner = &*self.index.0;
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&inner.engine, &mut self.position)
        else {
            return None;
        };
        let stops = &self.stops;
        let usable = |t: u32| !stops.contains(&t) || self.index.is_last_token(t);
        let trie = inner.vocabulary.trie();
        let single = |b: u8| trie.child(0, b).is_some_and(|n| trie.tokens(n).iter().any(|t| !stops.contains(t)));
        let bytes_are_tokens = self.budget.as_ref().map_or_else(|| (0..=255).all(single), |b| b.spelled);
        let mark = stack.mark();
        let branches = one.map_or_else(|| stack.branches_of(*at), |one| Branches::from_slice(&[*one]));
        let speller = FewestTokens::new(inner, &usable as &dyn Fn(u32) -> bool);
        let mut positions = GrammarPositions::new(&grammar.program, stack, speller, bytes_are_tokens, branches);
        let answer = ask(&mut positions);
        stack.truncate(&mark);
        Some(answer)
    }

    /// Whether tokens complete the output of a grammar from here. Nothing changes.
    fn completes_grammar(&mut self, tokens: &[u32]) -> bool {
        let index = self.index.clone();
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&index.0.engine, &mut self.position)
        else {
            return false;
        };
        let before: PositionId = *at;
        let mut now = Some(before);
        for &token in tokens {
            let Some(from) = now.filter(|_| !is_over()) else { break };
            let mut machine = grammar.program.machine(stack);
            now = match index.0.vocabulary.spelling(token) {
                Some(bytes) => machine.step_bytes_or_token(from, bytes, token),
                None => machine.step_token(from, token),
            };
        }
        let ends = now.is_some_and(|end| grammar.program.machine(stack).is_accepting(end));
        stack.go_back_to(before);
        ends && !is_over()
    }

    /// Tokens that complete the output of a grammar from here.
    pub(super) fn plan_grammar(&mut self) -> Option<Vec<u32>> {
        let exact = matches!(&self.index.0.engine, IndexEngine::Grammar(grammar) if grammar.program.costs_are_exact());
        let plan = self.in_grammar(|positions| positions.plan(0)).flatten();
        let plan = plan.filter(|plan| self.completes_grammar(plan));
        if exact {
            return plan;
        }
        // The fewest bytes are not always possible, and others may be fewer then.
        let other = self.in_grammar(|positions| positions.bounded_plan(0)).flatten();
        let other = other.filter(|other| plan.as_ref().is_none_or(|plan| other.len() < plan.len()));
        other.filter(|other| self.completes_grammar(other)).or(plan)
    }

    /// At most `left` tokens that complete the output of a grammar from here, if a short search finds them.
    pub(super) fn plan_grammar_near(&mut self, left: u64) -> Option<Vec<u32>> {
        // A mask knows some steps already and does not count them: what it found must be found here.
        const WORK: usize = MAX_LOOKED_NEAR * (STEP + 1);
        let plan = self.in_grammar(|positions| positions.search_from(0, left, WORK)).flatten()?;
        self.completes_grammar(&plan).then_some(plan)
    }

    /// At most so many tokens complete the output of a grammar from here, as far as that is known without a plan.
    ///
    /// Where a completion is known to exist, but not by which tokens, `near` says whether it counts near the end.
    pub(super) fn bound_grammar(&mut self, left: u64, near: NearTheEnd) -> Option<u64> {
        let spelled = self.budget.as_ref().is_some_and(|b| b.spelled);
        spelled.then(|| self.bound_spelled_grammar(left, near)).flatten()
    }

    /// As [`bound_grammar`](Self::bound_grammar), where every byte that is needed is a token.
    pub(super) fn bound_spelled_grammar(&mut self, left: u64, near: NearTheEnd) -> Option<u64> {
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) =
            (&self.index.0.engine, &mut self.position)
        else {
            return None;
        };
        let mark = stack.mark();
        let branches = stack.branches_of(*at);
        let bound = grammar.program.machine(stack).largest_cost(&branches);
        stack.truncate(&mark);
        let (bound, exact) = (bound?, grammar.program.costs_are_exact());
        // Near the end a plan is held: bounds are known to hold, but not by which tokens.
        let is_near = !exact && bound.saturating_mul(2).saturating_add(64) > left;
        Some(bound).filter(|&bound| bound <= left && !(is_near && near == NearTheEnd::NeedsPlan))
    }

    /// The fewest tokens that complete the output of a grammar from here, where it may not end: at most `most`.
    pub(super) fn search_grammar(&mut self, most: u64, max_looked: usize) -> Option<FewestSearch> {
        self.in_grammar(|positions| positions.fewest(most, max_looked))
    }

    /// Keeps the tokens of a row after which the output of a grammar can be completed by `left` tokens.
    pub(super) fn price_grammar(&mut self, row: &mut [u32], left: u64) {
        self.in_grammar(|positions| positions.keep(row, left));
    }

    /// Takes the few tokens out of a row after which the output could not be completed by `left` tokens, if there is
    /// room for all others; otherwise false, and the row is what it was.
    pub(super) fn has_room_grammar(&mut self, row: &mut [u32], left: u64) -> bool {
        let index = self.index.clone();
        let inner = &*index.0;
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&inner.engine, &mut self.position)
        else {
            return false;
        };
        if !self.budget.as_ref().is_some_and(|b| b.spelled) {
            return false;
        }
        let masker = grammar.masker(&inner.tables, &inner.vocabulary);
        let opens = inner.tables.structural_tokens(&inner.vocabulary).opens;
        let mut few: Vec<u32> = Vec::new();
        for branch in stack.branches_of(*at) {
            let Position::Grammar { stack, .. } = &mut self.position else { return false };
            let mark = stack.mark();
            let room = match branch.is_in_document() {
                true => grammar.program.machine(stack).room_in_document(&branch, opens, left),
                false => grammar.program.machine(stack).most_cost(&branch).and_then(|most| left.checked_sub(most)),
            };
            stack.truncate(&mark);
            let Some(room) = room else { return false };
            if branch.is_in_document() {
                // Tokens that run past the end are priced by themselves.
                few.extend(tokens_of(&masker.tokens_past_document(stack, &branch)));
                continue;
            }
            let Some(key) = masker.decides(stack, &branch) else { return false };
            let (growth, unknown) = match grammar.masks.growths.get(&*key) {
                Some(known) => known,
                None => {
                    let found = self.in_branches(Some(&branch), |positions| positions.growth()).flatten();
                    let (growth, unknown) = found.unwrap_or((NO_COST, Vec::new()));
                    let size = (key.len() + unknown.len()) * 4 + 64;
                    let found = (growth, Arc::from(unknown));
                    if !is_over() {
                        grammar.masks.growths.keep(key, found.clone(), size);
                    }
                    found
                }
            };
            if growth > room {
                return false;
            }
            few.extend_from_slice(&unknown);
        }
        few.sort_unstable();
        few.dedup();
        if !few.is_empty() {
            self.in_grammar(|positions| positions.keep_each(row, &few, left));
        }
        true
    }
}
