//! Budgets inside of a document of a grammar, such as the arguments of a call.
//!
//! The grammar goes on behind the document in one way that takes the fewest bytes, so it takes some number of tokens,
//! and the document has what these leave. Within that, tokens that stay in the document are priced as those of a
//! document that is the whole output; those that run past its end are priced by themselves. A token between the two
//! could save one, so a mask may be narrower than what is in time.

use std::sync::Arc;

use crate::guide::Guide;
use crate::guide::budget::affordable::AffordableTokens;
use crate::guide::budget::completions::names_within;
use crate::guide::budget::grammar::tokens_of;
use crate::guide::budget::grammar_positions::plans::spelled;
use crate::guide::budget::plan::BudgetedDocument;
use crate::guide::budget::room::bounds_in_tokens;
use crate::guide::budget::shortest_tokenization::FewestTokens;
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::pushdown::json::frame::FrameId;

impl Guide {
    /// Keeps the tokens of a row after which the output of a grammar can be completed by `left` tokens, if the guide is
    /// inside of a document and nowhere else. Otherwise false, and the row is what it was.
    pub(super) fn price_in_document(&mut self, row: &mut [u32], left: u64) -> bool {
        let index = self.index.clone();
        let inner = &*index.0;
        let (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) = (&inner.engine, &mut self.position)
        else {
            return false;
        };
        let program = &grammar.program;
        let branches = stack.branches_of(*at);
        let &[branch] = &branches[..] else { return false };
        if !program.costs_are_exact() || !branch.is_in_document() {
            return false;
        }
        let mark = stack.mark();
        let behind = program.machine(stack).completion_behind_document(&branch);
        stack.truncate(&mark);
        let refused = |t: u32| inner.tables.spelling.as_ref().is_some_and(|s| s.refuses(t));
        let is_last = |t: u32| index.is_last_token(t);
        let speller = FewestTokens::new(inner, |t: u32| !self.stops.contains(&t) || is_last(t));
        let Some(behind) = behind.and_then(|pieces| spelled(&speller, &program.token_sets, &pieces)) else {
            return false;
        };
        // Tokens that run past the end, or are named by the grammar, are asked for by themselves.
        let mut past = grammar.masker(&inner.tables, &inner.vocabulary).tokens_past_document(stack, &branch);
        let Some(arena) = stack.arena.as_deref_mut() else { return false };
        for (past, word) in past.iter_mut().zip(row.iter_mut()) {
            *past &= *word;
            *word &= !*past;
        }
        match left.checked_sub(behind.len() as u64) {
            None => row.fill(0),
            Some(left) => {
                let facts = &grammar.documents[branch.document as usize].completion;
                let document = &program.documents[branch.document as usize];
                let costs = program.leaf_costs().costs_of_document(branch.document);
                let bounded = self.budget.as_ref().is_some_and(|budget| budget.is_bounded);
                let bounds = || facts.bounds.get_or_init(|| bounds_in_tokens(inner, document, costs));
                let rests = Arc::make_mut(self.rests.get_or_insert_default());
                rests.turn_to(branch.document);
                rests.begin(arena.nodes.len() as FrameId);
                rests.limit_names(names_within(inner, costs, left));
                let (arena_mark, trace) = (arena.mark(), arena.trace);
                let (program, top, bounds) = (&**document, branch.frame, bounded.then(bounds));
                let document = BudgetedDocument { program, costs, arena, top, rests, bounds, facts };
                let speller = FewestTokens::new(inner, |t: u32| !self.stops.contains(&t) && !refused(t));
                let marked = inner.tables.structural_tokens(&inner.vocabulary);
                AffordableTokens::new(document, speller, left).keep(&inner.vocabulary, marked, row);
                if let Some(arena) = stack.arena.as_deref_mut() {
                    arena.truncate(&arena_mark);
                    arena.trace = trace;
                }
            }
        }
        let few: Vec<u32> = tokens_of(&past).collect();
        if !few.is_empty() {
            self.in_grammar(|positions| positions.keep_each(&mut past, &few, left));
            row.iter_mut().zip(past).for_each(|(word, kept)| *word |= kept);
        }
        true
    }
}
