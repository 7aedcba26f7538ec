//! What the parser does where a newline terminal ends, and at the end of the output.

use smallvec::SmallVec;

use crate::grammar::model::Lexer;
use crate::pushdown::grammar::closure::Shifted;
use crate::pushdown::grammar::indenter::NewlineUse;
use crate::pushdown::grammar::parse_stack::{NO_COLUMN, NO_NODE, NodeId, ParseStack};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::ScanStateId;

/// The tops of a stack.
pub type Tops = SmallVec<[NodeId; 2]>;

impl GrammarProgram {
    /// Whether newlines may be read where the parser can't take one: the lexer finds them, or brackets hide them.
    pub fn reads_newlines(&self, stack: &ParseStack, indents: NodeId) -> bool {
        self.indenter.as_ref().is_some_and(|indenter| {
            self.scanner.lexer() == Lexer::Contextual || indenter.is_in_brackets(stack, indents)
        })
    }

    /// The column where the scanner comes into a state by a byte.
    #[inline]
    pub fn column_behind(&self, stack: &ParseStack, indents: NodeId, column: u32, byte: u8, scan: ScanStateId) -> u32 {
        let Some(indenter) = &self.indenter else { return NO_COLUMN };
        if indenter.is_in_brackets(stack, indents) {
            return NO_COLUMN;
        }
        let live = &self.scanner.state(scan).live;
        match live.iter().find(|(terminal, _)| *terminal == indenter.newline) {
            Some(&(_, state)) => indenter.column_behind(column, byte, state),
            None => NO_COLUMN,
        }
    }

    /// The tops behind a terminal; none if the parser can't take it.
    fn shift_one(&self, stack: &mut ParseStack, tops: &[NodeId], terminal: u32, looked: &mut Vec<NodeId>) -> Tops {
        let found = self.closure(stack, tops);
        looked.extend_from_slice(found.decided());
        let mut shifted = Shifted::default();
        found.shift(&self.lr, &self.productions, stack, terminal, &mut shifted);
        shifted.finish(stack)
    }

    /// The tops, blocks and brackets behind a newline terminal with a column. `looked` gets the nodes that decided it.
    pub fn end_line(
        &self,
        stack: &mut ParseStack,
        tops: &[NodeId],
        indents: NodeId,
        column: u32,
        looked: &mut Vec<NodeId>,
    ) -> Option<(Tops, NodeId)> {
        let indenter = self.indenter.as_ref().filter(|_| column != NO_COLUMN)?;
        let mut indents = indents;
        let mut tops = self.shift_one(stack, tops, indenter.newline, looked);
        looked.push(indents);
        if !tops.is_empty() && column > indenter.width(stack, indents) {
            tops = self.shift_one(stack, &tops, indenter.indent, looked);
            indents = indenter.block(stack, indents, column);
        }
        while !tops.is_empty() && column < indenter.width(stack, indents) {
            tops = self.shift_one(stack, &tops, indenter.dedent, looked);
            indents = *stack.below(indents).first()?;
            looked.push(indents);
        }
        (!tops.is_empty() && column == indenter.width(stack, indents)).then_some((tops, indents))
    }

    /// Whether the output may end behind these tops, where all blocks are closed.
    pub fn accepts_behind(
        &self,
        stack: &mut ParseStack,
        tops: &[NodeId],
        mut indents: NodeId,
        looked: &mut Vec<NodeId>,
    ) -> bool {
        let mut tops = Tops::from_slice(tops);
        if let Some(indenter) = &self.indenter {
            while let Some(&below) = stack.below(indents).first() {
                looked.push(indents);
                if !indenter.is_in_brackets(stack, indents) {
                    tops = self.shift_one(stack, &tops, indenter.dedent, looked);
                    if tops.is_empty() {
                        return false;
                    }
                }
                indents = below;
            }
            looked.push(indents);
        }
        let found = self.closure(stack, &tops);
        looked.extend_from_slice(found.decided());
        found.closure.accepting
    }

    /// What the newline terminal can do behind tops where these symbols may come next.
    pub fn newline_use(&self, stack: &ParseStack, indents: NodeId, next: &[u32]) -> NewlineUse {
        match &self.indenter {
            Some(indenter) if indents != NO_NODE && indenter.is_in_brackets(stack, indents) => NewlineUse::Dropped,
            Some(indenter) if next.binary_search(&indenter.newline).is_ok() => NewlineUse::Taken,
            _ => NewlineUse::Dead,
        }
    }
}
