//! The state of a token budget: what is left, and the plan that completes the output within it.

use crate::guide::CompletionGraph;
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::FrameId;
use crate::pushdown::json::program::Program;
use std::sync::Arc;

/// What completes the output from one position.
#[derive(Clone)]
pub(crate) struct Reserve {
    /// The plan, if it was made, and how much of it was followed.
    pub(in crate::guide) plan: Option<(Arc<[u32]>, usize)>,
    /// At most this many tokens complete the output.
    pub(in crate::guide) bound: u64,
}

/// The token budget of a guide: what is left, and the plan that completes the output within it.
#[derive(Clone)]
pub(crate) struct Budget {
    pub(in crate::guide) max_tokens: usize,
    /// By how much one token of few structural bytes can lengthen the way to the end.
    pub(super) growth: u64,
    /// No plan is longer than this, wherever the guide is.
    pub(super) most: u64,
    /// The tokens of more structural bytes.
    pub(in crate::guide) structural: Arc<[u32]>,
    /// Every byte is a token that may be used, so that a plan never has more tokens than bytes.
    pub(in crate::guide) spelled: bool,
    /// The first plan was searched for by tokens.
    pub(in crate::guide) is_searched: bool,
    /// One for each position so far, the start and the present one included.
    pub(in crate::guide) reserves: Vec<Reserve>,
}

/// Where a guide stands in a document, and what is known of the rests.
pub(crate) struct BudgetedDocument<'a> {
    pub(super) program: &'a Program,
    pub(super) costs: &'a MinCosts,
    pub(super) arena: &'a mut Arena,
    pub(super) top: FrameId,
    pub(super) rests: &'a mut CompletionGraph,
}

impl Budget {
    /// At most so many tokens complete the output after any one token of few structural bytes.
    pub(in crate::guide) fn after_any(&self, reserve: &Reserve) -> u64 {
        reserve.bound.saturating_add(self.growth).min(self.most)
    }

    /// Bytes held.
    pub(in crate::guide) fn memory_bytes(&self) -> usize {
        let plan = |r: &Reserve| r.plan.as_ref().map_or(0, |(p, done)| if *done == 0 { p.len() * 4 } else { 0 });
        self.reserves.capacity() * size_of::<Reserve>() + self.reserves.iter().map(plan).sum::<usize>()
    }

    pub(in crate::guide) fn back_to(&mut self, tokens: usize) {
        self.reserves.truncate(tokens + 1);
    }
}
