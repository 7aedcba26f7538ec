//! The state of a token budget: what is left, and the plan that completes the output within it.

use crate::guide::CompletionGraph;
use crate::guide::budget::plan_tokens::{Plan, PlanTokens};
use crate::mask::json::cache::completion_facts::CompletionFacts;
use crate::pushdown::completion::completion_bounds::{CompletionBound, CompletionBounds};
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{FrameId, NONE};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::Program;
use smallvec::SmallVec;

/// What completes the output from one position.
#[derive(Clone)]
pub(crate) struct Reserve {
    /// The plan, if it was made.
    pub(in crate::guide) plan: Option<HeldPlan>,
    /// At most this many tokens complete the output.
    pub(in crate::guide) bound: u64,
}

/// What is left of a plan.
#[derive(Clone)]
pub(crate) struct HeldPlan {
    pub(super) tokens: PlanTokens,
    /// See [`Plan`].
    tail: u32,
    /// Bytes that it has for itself, where it was made for this position.
    made: u32,
}

impl HeldPlan {
    /// So many tokens complete the output at most.
    pub(super) fn len(&self) -> u64 {
        self.tokens.len() + u64::from(self.tail)
    }
}

impl Reserve {
    /// What is left if `token` comes, and the plan says so.
    pub(super) fn followed(&self, token: u32) -> Option<Reserve> {
        let plan = self.plan.as_ref().filter(|plan| plan.tokens.first() == Some(token))?;
        let rest = HeldPlan { tokens: plan.tokens.rest(), tail: plan.tail, made: 0 };
        let bound = rest.len();
        // Behind the last of its tokens a plan that has a tail is made anew.
        let goes_on = rest.tokens.len() > 0 || rest.tail == 0;
        Some(Reserve { plan: Some(rest).filter(|_| goes_on), bound })
    }
}

/// The token budget of a guide: what is left, and the plan that completes the output within it.
#[derive(Clone)]
pub(crate) struct Budget {
    pub(in crate::guide) max_tokens: usize,
    /// Bounds of frames hold for this guide: its tokens are those of the vocabulary.
    pub(super) is_bounded: bool,
    /// Every byte is a token that may be used, so that a plan never has more tokens than bytes.
    pub(in crate::guide) spelled: bool,
    /// The first plan was searched for by tokens.
    pub(in crate::guide) is_searched: bool,
    /// One for each position so far, the start and the present one included.
    pub(in crate::guide) reserves: Vec<Reserve>,
    /// Bounds of frames and all below them, as far as they were asked for: nodes that lie above each other, ascending.
    pub(super) known: Vec<(FrameId, CompletionBound)>,
    /// The bound of the present position.
    pub(super) here: Option<CompletionBound>,
    /// The tokens of the plan that was made last.
    pub(super) latest: PlanTokens,
}

/// Where a guide stands in a document, and what is known of the rests.
pub(crate) struct BudgetedDocument<'a> {
    pub(super) program: &'a Program,
    pub(super) costs: &'a MinCosts,
    pub(super) arena: &'a mut Arena,
    pub(super) top: FrameId,
    pub(super) rests: &'a mut CompletionGraph,
    /// Bounds of frames, where they hold for the guide.
    pub(super) bounds: Option<&'a CompletionBounds>,
    /// What guides of the index found out about it.
    pub(super) facts: &'a CompletionFacts,
}

impl Budget {
    /// Takes a new plan for some position.
    pub(super) fn hold(&mut self, plan: Plan) -> HeldPlan {
        let (tokens, made) = PlanTokens::new(&plan.tokens, &self.latest);
        self.latest = tokens.clone();
        HeldPlan { tokens, tail: plan.tail, made }
    }

    /// What a new plan says.
    pub(super) fn planned(&mut self, plan: Plan) -> Reserve {
        let plan = self.hold(plan);
        Reserve { bound: plan.len(), plan: Some(plan) }
    }

    /// The bound of `node`, with a value above it that has ended, and all below it.
    pub(super) fn below(&mut self, bounds: &CompletionBounds, frames: &JsonMachine, node: FrameId) -> CompletionBound {
        let mut chain: SmallVec<[FrameId; 8]> = SmallVec::new();
        let mut at = node;
        let mut bound = loop {
            // What lies higher is open no more.
            while self.known.last().is_some_and(|&(known, _)| at == NONE || known > at) {
                self.known.pop();
            }
            match self.known.last() {
                _ if at == NONE => break CompletionBound::default(),
                Some(&(known, bound)) if known == at => break bound,
                _ => chain.push(at),
            }
            at = frames.arena.nodes[at as usize].parent;
        };
        for at in chain.into_iter().rev() {
            bound = bound.with(bounds.of_frame(frames, &frames.arena.nodes[at as usize]));
            self.known.push((at, bound));
        }
        bound
    }

    pub(super) fn forget_bounds(&mut self) {
        self.known.clear();
        self.here = None;
    }

    /// Bytes held.
    pub(in crate::guide) fn memory_bytes(&self) -> usize {
        let plan = |r: &Reserve| r.plan.as_ref().map_or(0, |plan| plan.made as usize);
        self.reserves.capacity() * size_of::<Reserve>()
            + self.known.capacity() * size_of::<(FrameId, CompletionBound)>()
            + self.reserves.iter().map(plan).sum::<usize>()
    }

    pub(in crate::guide) fn back_to(&mut self, tokens: usize) {
        self.reserves.truncate(tokens + 1);
        self.forget_bounds();
    }
}
