//! Room in a budget: where no token can be too much, masks and steps are those without a budget.
//!
//! The bounds of the frames below the present one are kept, and that of the present position. Both are found once for a
//! position, and the question is one comparison.

use crate::guide::Guide;
use crate::guide::budget::plan::Budget;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::guide::position::Position;
use crate::index::{IndexCore, IndexEngine};
use crate::pushdown::completion::completion_bounds::{CompletionBound, CompletionBounds};
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::Program;

/// By how many tokens the frames of a document are completed at most.
pub(super) fn bounds_in_tokens(inner: &IndexCore, program: &Program, costs: &MinCosts) -> CompletionBounds {
    let opens = inner.tables.structural_tokens(&inner.vocabulary).opens;
    let speller = FewestTokens::new(inner, |t: u32| !inner.vocabulary.is_eos(t));
    CompletionBounds::compute(program, costs, opens, |text| speller.longest_token(text))
}

impl Guide {
    /// By how many tokens the output is completed from here at most, and by how many a token can raise that.
    pub(super) fn bound_here(&mut self) -> CompletionBound {
        let Some(mut budget) = self.budget.take() else { return CompletionBound::NONE };
        let bound = self.bound_by(&mut budget);
        self.budget = Some(budget);
        bound
    }

    pub(super) fn bound_by(&mut self, budget: &mut Budget) -> CompletionBound {
        if !budget.is_bounded {
            return CompletionBound::NONE;
        }
        if let Some(known) = budget.here {
            return known;
        }
        let inner = &*self.index.0;
        let bound = match (&inner.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(_)) => {
                CompletionBound { cost: l.lexeme.distance_bound(), growth: 0 }
            }
            (IndexEngine::Document { program, .. }, Position::Document { arena, top }) => {
                let costs = || inner.costs.get_or_init(|| MinCosts::compute(program));
                let bounds = inner.completion.bounds.get_or_init(|| bounds_in_tokens(inner, program, costs()));
                let frames = JsonMachine { program, arena };
                let node = frames.arena.nodes[*top as usize];
                bounds.of_top(&frames, &node).with(budget.below(bounds, &frames, node.parent))
            }
            _ => CompletionBound::NONE,
        };
        budget.here = Some(bound);
        bound
    }

    /// Whether what is left suffices after any token.
    pub(super) fn has_room(&mut self) -> bool {
        self.bound_here();
        self.is_known_to_have_room()
    }

    /// Whether what is left suffices after any token, as far as that was found.
    pub(in crate::guide) fn is_known_to_have_room(&self) -> bool {
        let Some((budget, left)) = self.budget.as_ref().zip(self.tokens_left()) else { return true };
        budget.here.is_some_and(|bound| bound.leaves_room(left))
    }

    /// Whether masks and steps cost no more than those without a budget.
    pub(in crate::guide) fn is_unconcerned(&mut self) -> bool {
        self.budget.is_none() || self.has_room()
    }

    /// Forgets what is known of the frames here: they are others now.
    pub(in crate::guide) fn forget_bounds(&mut self) {
        if let Some(budget) = &mut self.budget {
            budget.forget_bounds();
        }
    }
}
