//! What completes the output behind a document that is open, and after any token inside of it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::pushdown::grammar::completion::line_texts::Blocks;
use crate::pushdown::grammar::completion::plan::{Begun, MOST_LEAVES};
use crate::pushdown::grammar::completion::prospects::{FEW, lock};
use crate::pushdown::grammar::completion::stack_costs::StackCosts;
use crate::pushdown::grammar::completion::symbol_costs::NO_COST;
use crate::pushdown::grammar::completion::terminal_texts::Piece;
use crate::pushdown::grammar::completion::terminal_ways::Way;
use crate::pushdown::grammar::parse_stack::{Branch, NodeId};
use crate::pushdown::grammar::program::GrammarMachine;
use crate::pushdown::grammar::scanner::NO_OBLIGATIONS;

impl GrammarMachine<'_> {
    /// So many bytes complete the output at most, after any one more token that stays inside the document of a branch
    /// and opens at most `opens` brackets; `None` where that is not known.
    pub fn most_in_document(&mut self, branch: &Branch, opens: usize) -> Option<u64> {
        let program = self.program;
        if !program.costs_are_exact() || !branch.is_in_document() {
            return None;
        }
        let document = &program.documents[branch.document as usize];
        let arena = self.stack.arena.as_deref_mut()?;
        let place = (branch.frame, opens);
        let inside = program.leaf_costs().most_in_document(document, branch.document, arena, place)?;
        let tops: SmallVec<[NodeId; 2]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let found = program.closure(self.stack, &tops);
        let behind = self.tops_behind(&found, program.productions.first_document + branch.document);
        let mut costs = StackCosts::new(program, &program.leaf_costs().symbols);
        let (behind, _) = costs.of_tops(self.stack, &behind);
        Some(inside.saturating_add(behind)).filter(|&all| all != NO_COST)
    }

    /// Texts and special tokens that complete the output behind the document that a branch is in. It should be stepped
    /// to be certain.
    pub fn completion_behind_document(&mut self, branch: &Branch) -> Option<Vec<Piece>> {
        let program = self.program;
        let tops: SmallVec<[NodeId; 2]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let closure = program.closure(self.stack, &tops);
        let tops = self.tops_behind(&closure, program.productions.first_document + branch.document);
        let mut costs = StackCosts::new(program, &program.leaf_costs().symbols);
        let (cost, best) = costs.of_tops(self.stack, &tops);
        let mut leaves = Vec::new();
        if cost == NO_COST || !costs.leaves(self.stack, tops[best], MOST_LEAVES, &mut leaves) {
            return None;
        }
        let ways = vec![Way { to: NO_OBLIGATIONS, text: Arc::from([]) }];
        let ended = Begun { cost, ways, tops, best, blocks: Blocks::default(), line: None };
        let mut relations = lock(&program.prospects.few);
        relations.begin(program.relation_parts(), FEW);
        self.read_leaves(&mut relations, &ended, &leaves)
    }
}
