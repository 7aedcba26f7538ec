//! Token budgets: an output that is complete within `max_tokens`, always.
//!
//! A guide with a budget never lets go of a *plan*: tokens that complete the output from where it is, no more than are
//! left. It is made of bytes that certainly complete the output ([`shortest`](crate::pushdown::completion::shortest)),
//! spelled by the fewest tokens. A token is affordable if after it some plan fits into what is left then; the first
//! token of the guide's own plan always is, so a guide with a budget has no dead end either. The plan is not always the
//! shortest way to the end, so the number it gives is a bound that holds, not always the least. Before a guide is
//! refused because its plan is too long, a search looks for fewer tokens. A guide of a pattern that exists only because
//! this search found some goes on in the same way: for each mask it makes a short search from the states whose plans
//! are too long (`search_near`).
//!
//! Plans cost tens of microseconds, so none is made while there is [`room`]: bounds of the frames say that no token can
//! be too much. Near the end, and where no bound is known, allowed tokens are stepped and what follows them is priced,
//! once per distinct position and within a bound of work.
//!
//! An index with complete tables knows the fewest tokens to the end of every state: there everything is exact.
//!
//! `docs/internals/budgets.md` has an example.

mod affordable;
pub(super) mod completions;
mod documents_in_grammars;
mod fewest_tokens_search;
mod grammar;
mod grammar_positions;
mod new_plan;
mod pattern_ends;
pub(super) mod plan;
mod plan_tokens;
mod room;
mod shortest_tokenization;

use std::sync::Arc;

use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::expr::ByteSet;
use crate::guide::Guide;
use crate::guide::budget::affordable::AffordableTokens;
use crate::guide::budget::grammar::NearTheEnd;
use crate::guide::budget::pattern_ends::PatternEnds;
use crate::guide::budget::plan::{Budget, BudgetedDocument, Reserve};
use crate::guide::budget::plan_tokens::PlanTokens;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::pushdown::completion::completion_bounds::MAX_OPENS;
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::json::frame::FrameId;
use crate::util::memory_growth::too_little_memory;
use crate::util::work_meter::{WorkAccount, metered_with};

/// Budgets of fewer tokens are refused with the number that would suffice, whatever that takes.
const FEW_TOKENS: u64 = 2_048;

impl Guide {
    /// An upper bound of the tokens that complete the output from here, the stop token not counted: 0 where the output
    /// may end. It holds, in that so many tokens do complete the output; it is the least number if the index has
    /// complete tables ([`Index::built`](crate::Index::built)), and not always elsewhere. Costs tens of microseconds.
    ///
    /// # Errors
    /// `Budget` if no short way to the end was found. That is searched for by tokens where none spell the shortest
    /// one, which takes some tens of milliseconds at most.
    pub fn min_tokens_to_finish(&mut self) -> Result<usize> {
        if self.is_terminated() {
            return Ok(0);
        }
        if let Some(tokens) = self.tokens_by_tables() {
            return Ok(tokens as usize);
        }
        if let Some(Reserve { plan: Some(plan), .. }) = self.budget.as_ref().and_then(|b| b.reserves.last()) {
            return Ok(plan.len() as usize);
        }
        if !self.leave_tables() {
            return Err(self.failure().cloned().unwrap_or_else(no_plan));
        }
        let planned = self.plan_here().map(|p| p.len() as usize);
        planned.or_else(|| Some(self.search(u64::MAX).plan?.len())).ok_or_else(no_plan)
    }

    /// The budget of this guide.
    pub fn max_tokens(&self) -> Option<usize> {
        self.budget.as_ref().map(|b| b.max_tokens)
    }

    pub(super) fn start_budget(&mut self, max_tokens: usize) -> Result<()> {
        /// The steps that the first plan of a grammar may always take.
        const FEWEST_STEPS: usize = 20_000;
        if !matches!(self.position, Position::Grammar { .. }) {
            return self.find_reserve(max_tokens);
        }
        let an_eighth_of_a_mask = self.index.0.limits.max_mask_steps / 8;
        let most = an_eighth_of_a_mask.max(FEWEST_STEPS);
        let (found, spent) = metered_with(most, self.work.taken, || self.find_reserve(max_tokens));
        self.work.taken = spent.bytes;
        let takes_longest = match &self.index.0.engine {
            IndexEngine::Grammar(grammar) => !grammar.program.costs_are_exact(),
            _ => false,
        };
        match found {
            _ if spent.crowded => Err(too_little_memory()),
            Err(error) if takes_longest => Err(explain_unknown(error)),
            found => found,
        }
    }

    /// Finds what completes the output within a budget that begins, and holds it.
    fn find_reserve(&mut self, max_tokens: usize) -> Result<()> {
        if !self.leave_tables() {
            return Err(self.failure().cloned().unwrap_or_else(no_plan));
        }
        let most = max_tokens as u64;
        let inner = &*self.index.0;
        let trie = inner.vocabulary.trie();
        // A byte is spelled by a token of its own, or else nothing is known about the tokens that a plan takes. What no
        // plan writes need not be: many vocabularies lack bytes of control characters and of rare scripts.
        let refused = |t: u32| inner.tables.spelling.as_ref().is_some_and(|s| s.refuses(t));
        let may_use = |t: &u32| !self.stops.contains(t) && !refused(*t);
        let single = |b: u8| trie.child(0, b).is_some_and(|n| trie.tokens(n).iter().any(may_use));
        let all_single = |bytes: &ByteSet| (0..=255u8).zip(bytes).all(|(byte, &needed)| !needed || single(byte));
        let completing = inner.completing.get_or_init(|| {
            let (used, completing): (ByteSet, &dyn Fn() -> ByteSet) = match &inner.engine {
                IndexEngine::Grammar(grammar) => (grammar.program.used_bytes(), &|| grammar.program.completing_bytes()),
                IndexEngine::Pattern(pattern) => (pattern.lexeme.used_bytes(), &|| pattern.lexeme.ending_bytes()),
                IndexEngine::Document { program, .. } => return program.completing_bytes(),
            };
            // Which of them are needed is looked for if some are no tokens.
            if all_single(&used) { used } else { completing() }
        });
        // Tokens that end this output are no part of it. Without such all guides have one answer, and bounds.
        let keeps_all_texts = self.stops.iter().all(|&t| inner.vocabulary.spelling(t).is_none());
        let spelled = match keeps_all_texts {
            true => *inner.spells_completing.get_or_init(|| all_single(completing)),
            false => all_single(completing),
        };
        let is_bounded =
            spelled && keeps_all_texts && inner.tables.structural_tokens(&inner.vocabulary).opens <= MAX_OPENS;
        let mut budget = Budget {
            max_tokens,
            is_bounded,
            spelled,
            is_searched: false,
            reserves: Vec::new(),
            known: Vec::new(),
            here: None,
            latest: PlanTokens::default(),
        };
        let reserve = match self.tokens_by_tables() {
            Some(bound) if bound > most => return Err(Error::budget(most, bound)),
            Some(bound) => Reserve { plan: None, bound },
            None => {
                let bound = self.bound_by(&mut budget);
                if bound.leaves_room(most) {
                    Reserve { plan: None, bound: bound.cost.into() }
                } else if let Some(bound) =
                    spelled.then(|| self.bound_spelled_grammar(most, NearTheEnd::NeedsPlan)).flatten()
                {
                    Reserve { plan: None, bound }
                } else {
                    let mut plan = self.plan_by(most.max(FEW_TOKENS));
                    budget.is_searched = plan.as_ref().is_none_or(|p| p.len() > most);
                    if budget.is_searched {
                        plan = Some(self.plan_within(most, plan.map(|p| p.len()))?);
                    }
                    budget.planned(plan.ok_or_else(|| Error::budget_unknown(most))?)
                }
            }
        };
        budget.reserves.push(reserve);
        self.budget = Some(budget);
        self.forget_whole_plans();
        // What the first plan took is bounded by itself.
        self.budget_work = WorkAccount::default();
        Ok(())
    }

    /// The tokens that are left of the budget.
    pub(super) fn tokens_left(&self) -> Option<u64> {
        let budget = self.budget.as_ref()?;
        Some(budget.max_tokens.saturating_sub(self.own_tokens()) as u64)
    }

    /// Whether the budget is used up: only a stop token may follow.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.as_ref().is_some_and(|b| self.own_tokens() >= b.max_tokens)
    }

    /// Takes the tokens out of a row after which the output could not be completed within the budget.
    pub(super) fn keep_affordable(&mut self, row: &mut [u32]) {
        let Some(left) = self.tokens_left() else { return };
        if left == 0 {
            return row.fill(0);
        }
        if self.keep_by_tables(row, left - 1) || self.has_room() {
            return;
        }
        let is_grammar = matches!(self.index.0.engine, IndexEngine::Grammar(_));
        if is_grammar && self.has_room_grammar(row, left - 1) {
            return;
        }
        self.make_plan();
        // The plan of a grammar was stepped through when it was made, so its token is allowed whatever the row says.
        // Plans of patterns and documents are not stepped: of their tokens only those of the mask are.
        let is_allowed = |t: &u32| is_grammar || row[*t as usize >> 5] >> (*t & 31) & 1 == 1;
        let planned = self.planned_token(left).filter(is_allowed);
        self.price(row, left - 1);
        if let Some(t) = planned {
            row[t as usize >> 5] |= 1 << (t & 31);
        }
    }

    /// The next token of the guide's plan, if `left` tokens are enough for all of the plan.
    fn planned_token(&self, left: u64) -> Option<u32> {
        let plan = self.budget.as_ref()?.reserves.last()?.plan.as_ref()?;
        plan.tokens.first().filter(|_| plan.len() <= left)
    }

    /// Takes `token`, which was stepped just now, out of the budget. False if the tokens that are left then do not
    /// complete the output, so that the caller must undo the step. Otherwise a [`Reserve`] for the new position is
    /// pushed: what completes the output from there. The cheapest way to find one comes first: complete tables, the
    /// rest of the plan so far, bounds, and a new plan at last. True without a budget.
    pub(super) fn push_reserve(&mut self, token: u32) -> bool {
        if self.budget.is_none() {
            return true;
        }
        let after = self.after_by_tables(token);
        let own = self.own_tokens();
        let Some(budget) = &mut self.budget else { return true };
        let left = (budget.max_tokens - own - 1) as u64;
        budget.here = None;
        let Some(before) = budget.reserves.last() else { return false };
        let mut reserve = match after {
            Some(bound) if bound > left => return false,
            Some(bound) => Reserve { plan: None, bound },
            None => before.followed(token).unwrap_or(Reserve { plan: None, bound: u64::MAX }),
        };
        if reserve.bound > left
            && let Some(bound) = self.bound_grammar(left, NearTheEnd::NeedsPlan)
        {
            reserve = Reserve { plan: None, bound };
        }
        if reserve.bound > left {
            let bound = self.bound_here();
            if bound.leaves_room(left) {
                reserve.bound = bound.cost.into();
            }
        }
        if reserve.bound > left {
            let made = self.plan_by(left).filter(|p| p.len() <= left);
            let made = made.or_else(|| self.plan_near(left)).or_else(|| self.plan_as_bounded(left));
            reserve = match (made, &mut self.budget) {
                (Some(plan), Some(budget)) => budget.planned(plan),
                _ => match self.bound_grammar(left, NearTheEnd::BoundSuffices) {
                    Some(bound) => Reserve { bound, plan: None },
                    None => {
                        self.forget_bounds();
                        return false;
                    }
                },
            };
        }
        if let Some(budget) = &mut self.budget {
            budget.reserves.push(reserve);
        }
        if self.rests.as_ref().is_some_and(|rests| rests.is_full()) {
            self.rests = None;
        }
        true
    }

    /// The fewest tokens to the end, if the index has complete tables.
    fn tokens_by_tables(&mut self) -> Option<u64> {
        let state = self.table_state()?;
        self.distance(state)
    }

    /// The fewest tokens to the end after one more token, if the index has complete tables.
    fn after_by_tables(&mut self, token: u32) -> Option<u64> {
        let state = self.table_state()?;
        let bytes = self.root.vocabulary().spelling(token)?;
        let to = self.root.built()?.advance(state, bytes);
        self.distance(to)
    }

    fn distance(&self, state: u16) -> Option<u64> {
        let classes = self.root.token_classes()?;
        // The tables know nothing of a request's own stop tokens: one that spells something is no way to go on.
        if self.stops.iter().any(|&t| classes.of.get(t as usize).is_some_and(|&class| class != 0)) {
            return None;
        }
        classes.distances.get(state as usize).filter(|&&d| d != u32::MAX).map(|&d| d.into())
    }

    /// Keeps the tokens of a row after which the output can be completed by `left` tokens, by the tables; false without
    /// them.
    fn keep_by_tables(&mut self, row: &mut [u32], left: u64) -> bool {
        let Some(state) = self.table_state().filter(|&s| self.distance(s).is_some()) else { return false };
        let Some(classes) = self.root.token_classes() else { return false };
        let Some(ways) = classes.rows.get(state as usize) else { return false };
        let late = |&&(_, to): &&(u32, u16)| self.distance(to).is_none_or(|d| d > left);
        let late: Vec<u32> = ways.iter().filter(late).map(|&(class, _)| class).collect();
        if late.is_empty() {
            return true;
        }
        for (word, first) in row.iter_mut().zip((0..).step_by(32)) {
            let mut rest = *word;
            while rest != 0 {
                let t = rest.trailing_zeros();
                rest &= rest - 1;
                let class = classes.of.get(first + t as usize).copied().unwrap_or(0);
                if late.binary_search(&class).is_ok() {
                    *word &= !(1 << t);
                }
            }
        }
        true
    }

    /// Asks about the rest of a document: `ask` is given where the guide stands, and the tokens that may be used. It
    /// leaves the arena as it was.
    fn in_document<T>(
        &mut self,
        ask: impl FnOnce(BudgetedDocument<'_>, FewestTokens<'_, &dyn Fn(u32) -> bool>) -> T,
    ) -> Option<T> {
        let inner = &*self.index.0;
        let (IndexEngine::Document { program, .. }, Position::Document { arena, top }) =
            (&inner.engine, &mut self.position)
        else {
            return None;
        };
        let costs = inner.costs.get_or_init(|| MinCosts::compute(program));
        let refused = |t: u32| inner.tables.spelling.as_ref().is_some_and(|s| s.refuses(t));
        let usable = |t: u32| !self.stops.contains(&t) && !refused(t);
        let (mark, trace) = (arena.mark(), arena.trace);
        let rests = Arc::make_mut(self.rests.get_or_insert_default());
        rests.begin(arena.nodes.len() as FrameId);
        let facts = &inner.completion;
        let bounds = self.budget.as_ref().filter(|b| b.is_bounded).and_then(|_| facts.bounds.get());
        let document = BudgetedDocument { program, costs, arena, top: *top, rests, bounds, facts };
        let answer = ask(document, FewestTokens::new(inner, &usable));
        arena.truncate(&mark);
        arena.trace = trace;
        Some(answer)
    }

    /// Keeps the tokens of a row after which the output can be completed by `left` tokens.
    fn price(&mut self, row: &mut [u32], left: u64) {
        let index = self.index.clone();
        let inner = &*index.0;
        let trie = inner.vocabulary.trie();
        match (&inner.engine, &self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(start)) => {
                let marked = inner.tables.structural_tokens(&inner.vocabulary);
                PatternEnds::new(self, &l.lexeme, left, marked.longest).keep(trie, *start, row);
            }
            (IndexEngine::Document { .. }, Position::Document { .. }) => {
                let marked = inner.tables.structural_tokens(&inner.vocabulary);
                let most_names = self.names_within(left);
                self.in_document(|document, speller| {
                    document.rests.limit_names(most_names);
                    AffordableTokens::new(document, speller, left).keep(&inner.vocabulary, marked, row);
                });
            }
            (IndexEngine::Grammar(_), Position::Grammar { .. }) => {
                if !self.price_in_document(row, left) {
                    self.price_grammar(row, left);
                }
            }
            _ => row.fill(0),
        }
    }
}

/// Says of a grammar for which no output is known why that may be.
fn explain_unknown(error: Error) -> Error {
    let is_known = error.kind() != ErrorKind::Budget || error.hint().is_some();
    match is_known {
        true => error,
        false => error.with_hint(
            "a terminal takes its longest match, so what must follow it may come only where it cannot go on: in \
             /.{1,300}/ \".\" that is behind 300 characters; leave what follows out of the terminal, as in \
             /[^.]{1,300}/",
        ),
    }
}

fn no_plan() -> Error {
    let message = "no short output was found, so its number of tokens cannot be bounded";
    Error::new(ErrorKind::Budget, message).coded(ErrorCode::NoShortOutput)
}

#[cfg(test)]
mod tests;
