//! New plans: tokens that complete the output from where a guide is.

use crate::error::{Error, Result};
use crate::guide::Guide;
use crate::guide::budget::affordable::AffordableTokens;
use crate::guide::budget::completions::names_within;
use crate::guide::budget::fewest_tokens_search::{FewestSearch, MAX_LOOKED, MAX_LOOKED_NEAR, SearchStates};
use crate::guide::budget::plan::BudgetedDocument;
use crate::guide::budget::plan_tokens::Plan;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::lexeme::StateId;
use crate::lexeme::shortest_end::{FEW_SEARCHED, MAX_SEARCHED, shortest_end};
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::shortest::KeyWatch;
use crate::pushdown::json::frame::NONE;
use crate::pushdown::json::machine::JsonMachine;

impl Guide {
    /// Makes the plan of the present position, if it has none.
    pub(super) fn make_plan(&mut self) {
        let known = self.budget.as_ref().and_then(|b| b.reserves.last()).is_some_and(|r| r.plan.is_some());
        if known {
            return;
        }
        let left = self.tokens_left().unwrap_or(u64::MAX);
        let plan = match self.plan_here() {
            Some(plan) if plan.tail > 0 && plan.len() > left => self.whole_plan_here(),
            plan => plan,
        };
        if let Some(plan) = plan
            && let Some(budget) = &mut self.budget
        {
            let plan = budget.hold(plan);
            if let Some(r) = budget.reserves.last_mut() {
                r.bound = r.bound.min(plan.len());
                r.plan = Some(plan);
            }
        }
    }

    /// Tokens that complete the output from here.
    pub(super) fn plan_here(&mut self) -> Option<Plan> {
        self.plan_by(u64::MAX)
    }

    /// Tokens that complete the output from here; none may be found where more than `most` are needed.
    pub(super) fn plan_by(&mut self, most: u64) -> Option<Plan> {
        if self.is_accepting() {
            return Some(Plan::whole(Vec::new()));
        }
        if let (IndexEngine::Pattern(l), Position::Pattern(s)) = (&self.index.0.engine, &self.position) {
            let bytes = shortest_end(&l.lexeme, *s, 0)?;
            let usable = |t: u32| !self.stops.contains(&t);
            return FewestTokens::new(&self.index.0, usable).fewest_tokens(&bytes).map(Plan::whole);
        }
        if let IndexEngine::Grammar(_) = &self.index.0.engine {
            return self.plan_grammar().map(Plan::whole);
        }
        self.plan_document(most, true)
    }

    /// Tokens that complete the output from here, all of them.
    fn whole_plan_here(&mut self) -> Option<Plan> {
        let plan = self.plan_document(u64::MAX, false);
        self.forget_whole_plans();
        plan
    }

    /// Forgets completions without tails, which may be shorter than those with one: what a guide allows must not depend
    /// on what it remembers.
    pub(super) fn forget_whole_plans(&mut self) {
        if let IndexEngine::Document { program, .. } = &self.index.0.engine
            && program.has_unique
        {
            self.rests = None;
        }
    }

    /// [`plan_by`](Self::plan_by) in a document. With `may_have_tail` a plan may be the beginning of one.
    fn plan_document(&mut self, most: u64, may_have_tail: bool) -> Option<Plan> {
        /// Steps that a byte of a completion counts for.
        const STEPS_A_BYTE: usize = 4;
        let most_names = self.names_within(most);
        let mut effort = 0;
        let plan = self.in_document(|document, speller| {
            let BudgetedDocument { program, costs, arena, top, rests, bounds, .. } = document;
            let bounds = bounds.filter(|_| may_have_tail);
            rests.limit_names(most_names);
            // Long searches are for what short ones find no end of.
            [FEW_SEARCHED, MAX_SEARCHED].into_iter().find_map(|max_searched| {
                let mut watch = KeyWatch { max_searched, ..KeyWatch::new(NONE) };
                let mut frames = JsonMachine { program, arena };
                let rest = rests.rest_at(&mut frames, (costs, bounds), &speller, top, &mut watch);
                effort += watch.effort;
                rests.plan(rest)
            })
        });
        self.budget_work.pay(effort.saturating_mul(STEPS_A_BYTE));
        plan.flatten()
    }

    /// How many names an object of a document may lack that `tokens` tokens complete: each key has a colon behind it.
    ///
    /// Each member that a completion writes leaves a frame with a bit for each name, so objects of tens of thousands of
    /// names are not completed either where that would take too much memory.
    pub(super) fn names_within(&self, tokens: u64) -> u64 {
        let inner = &*self.index.0;
        let IndexEngine::Document { program, .. } = &inner.engine else { return u64::MAX };
        names_within(inner, inner.costs.get_or_init(|| MinCosts::compute(program)), tokens)
    }

    /// At most `most` tokens that complete the output from here, where the shortest bytes are spelled by `known`, which
    /// is more, or by none.
    pub(super) fn plan_within(&mut self, most: u64, known: Option<u64>) -> Result<Plan> {
        // What is found does not depend on the budget, so neither does the number that an error names.
        let FewestSearch { plan, exact } = self.search(known.map_or(u64::MAX, |known| known - 1));
        match (plan, known) {
            (Some(plan), _) if plan.len() as u64 <= most => Ok(Plan::whole(plan)),
            (None, None) => Err(Error::budget_unknown(most)),
            (plan, known) => {
                let least = plan.map(|p| p.len() as u64).or(known).unwrap_or(u64::MAX);
                Err(if exact { Error::budget(most, least) } else { Error::budget_unless_fewer(most, least) })
            }
        }
    }

    /// The fewest tokens that complete the output from here, where it may not end: at most `most`.
    pub(super) fn search(&mut self, most: u64) -> FewestSearch {
        if let (IndexEngine::Pattern(l), Position::Pattern(s)) = (&self.index.0.engine, &self.position) {
            let usable = |t: u32| !self.stops.contains(&t);
            let speller = FewestTokens::new(&self.index.0, usable);
            return speller.fewest_to_end(&mut SearchStates::new(&l.lexeme), *s, most, MAX_LOOKED);
        }
        let most_names = self.names_within(most);
        let found = match &self.index.0.engine {
            IndexEngine::Grammar(_) => self.search_grammar(most, MAX_LOOKED),
            _ => self.in_document(|document, speller| {
                document.rests.limit_names(most_names);
                speller.fewest_to_end(&mut AffordableTokens::new(document, speller, 0).unlimited(), 0, most, MAX_LOOKED)
            }),
        };
        let mut found = found.unwrap_or(FewestSearch { plan: None, exact: false });
        // One place stands for many: what is true of them all is a plan.
        let mut twin = self.clone();
        twin.budget = None;
        (twin.min_tokens, twin.canonical_forced) = (0, false);
        let completes = |plan: &Vec<u32>| twin.advance_many(plan) == plan.len() && twin.is_accepting();
        if !found.plan.as_ref().is_none_or(completes) {
            found = FewestSearch { plan: None, exact: false };
        }
        found
    }

    /// At most `left` tokens that complete the output from here, where bounds say that there are as few: other ways may
    /// be shorter in tokens than those of the fewest bytes.
    pub(super) fn plan_as_bounded(&mut self, left: u64) -> Option<Plan> {
        if u64::from(self.bound_here().cost) > left {
            return None;
        }
        self.search(left).plan.map(Plan::whole)
    }

    /// At most `left` tokens that complete a pattern or a grammar's output from here, if a short search finds them.
    pub(super) fn plan_near(&mut self, left: u64) -> Option<Plan> {
        if let Position::Grammar { .. } = self.position {
            return self.plan_grammar_near(left).map(Plan::whole);
        }
        let Position::Pattern(state) = self.position else { return None };
        self.search_near(state, left).map(Plan::whole)
    }

    /// At most `left` tokens that complete a pattern from `state`, if a short search finds them. Only a guide searches
    /// whose first plan was searched for.
    pub(super) fn search_near(&self, state: StateId, left: u64) -> Option<Vec<u32>> {
        let IndexEngine::Pattern(l) = &self.index.0.engine else { return None };
        if !self.budget.as_ref().is_some_and(|b| b.is_searched) {
            return None;
        }
        let speller = FewestTokens::new(&self.index.0, |t: u32| !self.stops.contains(&t));
        speller.fewest_to_end(&mut SearchStates::new(&l.lexeme), state, left, MAX_LOOKED_NEAR).plan
    }
}
