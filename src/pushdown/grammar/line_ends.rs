//! What the parser does where a newline terminal ends, and at the end of the output.

use smallvec::SmallVec;

use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::indenter::{Indenter, NewlineUse};
use crate::pushdown::grammar::parse_stack::{NO_COLUMN, NodeId, ParseStack};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::ScanStateId;
use crate::pushdown::grammar::succession::outlook::Line;

/// The tops of a stack.
pub type Tops = SmallVec<[NodeId; 2]>;

impl GrammarProgram {
    /// The column where the scanner comes into a state by a byte.
    #[inline]
    pub fn column_behind(&self, stack: &ParseStack, indents: NodeId, column: u32, byte: u8, scan: ScanStateId) -> u32 {
        let Some(indenter) = &self.indenter else { return NO_COLUMN };
        if indenter.is_in_brackets(stack, indents) {
            return NO_COLUMN;
        }
        self.column_outside(indenter, column, byte, scan)
    }

    /// The column where the scanner comes into a state by a byte outside of brackets.
    #[inline]
    pub(super) fn column_outside(&self, indenter: &Indenter, column: u32, byte: u8, scan: ScanStateId) -> u32 {
        let live = &self.scanner.state(scan).live;
        match live.iter().find(|(terminal, _)| *terminal == indenter.newline) {
            Some(&(_, state)) => indenter.column_behind(column, byte, state),
            None => NO_COLUMN,
        }
    }

    /// Whether a terminal is the one that ends lines.
    #[inline]
    pub fn is_newline(&self, terminal: u32) -> bool {
        self.indenter.as_ref().is_some_and(|indenter| indenter.newline == terminal)
    }

    /// What a newline means for a branch whose scanner is in a state.
    pub fn line_of(&self, scan: ScanStateId, indents: NodeId, column: u32) -> Line {
        let newline = self.indenter.as_ref().filter(|_| column != NO_COLUMN).and_then(|indenter| {
            let live = &self.scanner.state(scan).live;
            let state = live.iter().find(|(terminal, _)| *terminal == indenter.newline)?.1;
            Some(indenter.least_width(state, column))
        });
        Line { indents, least: newline.unwrap_or(0) }
    }

    /// The tops behind a terminal; none if the parser can't take it.
    fn shift_one(&self, stack: &mut ParseStack, tops: &[NodeId], terminal: u32, looked: &mut Vec<NodeId>) -> Tops {
        let found = self.closure(stack, tops);
        looked.extend_from_slice(found.decided());
        let mut shifted = Shifted::default();
        found.shift(&self.lr, &self.productions, stack, terminal, &mut shifted);
        shifted.finish(stack)
    }

    /// The terminals that the parser reads where a newline terminal ends with a column, and the blocks and brackets
    /// behind it; `None` if the line belongs to no block. Adds to `looked` the blocks that decided it.
    pub fn line_end(
        &self,
        stack: &mut ParseStack,
        mut indents: NodeId,
        column: u32,
        looked: &mut Vec<NodeId>,
    ) -> Option<(SmallVec<[u32; 4]>, NodeId)> {
        let indenter = self.indenter.as_ref().filter(|_| column != NO_COLUMN)?;
        let mut terminals: SmallVec<[u32; 4]> = smallvec::smallvec![indenter.newline];
        looked.push(indents);
        if column > indenter.width(stack, indents) {
            terminals.push(indenter.indent);
            return Some((terminals, indenter.block(stack, indents, column)));
        }
        while column < indenter.width(stack, indents) {
            terminals.push(indenter.dedent);
            indents = *stack.below(indents).first()?;
            looked.push(indents);
        }
        (column == indenter.width(stack, indents)).then_some((terminals, indents))
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
        let mut tops = Tops::from_slice(tops);
        let indenter = self.indenter.as_ref()?;
        // Where no newline can come, nobody asks how far the line is indented.
        let found = self.closure(stack, &tops);
        looked.extend_from_slice(found.decided());
        if found.closure.next.binary_search(&indenter.newline).is_err() {
            return None;
        }
        let (terminals, indents) = self.line_end(stack, indents, column, looked)?;
        for terminal in terminals {
            tops = self.shift_one(stack, &tops, terminal, looked);
            if tops.is_empty() {
                return None;
            }
        }
        Some((tops, indents))
    }

    /// Whether the output may end where `found` says what may come, once all blocks are closed. `looked` gets the nodes
    /// that decided it. The rules close as many blocks as they open, so nobody has to ask how many are open.
    pub fn accepts_behind(&self, stack: &mut ParseStack, found: &Found, looked: &mut Vec<NodeId>) -> bool {
        if found.closure.accepting {
            return true;
        }
        let Some(indenter) = &self.indenter else { return false };
        if found.closure.next.binary_search(&indenter.dedent).is_err() {
            return false;
        }
        let mut shifted = Shifted::default();
        found.shift(&self.lr, &self.productions, stack, indenter.dedent, &mut shifted);
        let mut tops = shifted.finish(stack);
        while !tops.is_empty() {
            let found = self.closure(stack, &tops);
            looked.extend_from_slice(found.decided());
            if found.closure.accepting {
                return true;
            }
            tops = self.shift_one(stack, &tops, indenter.dedent, looked);
        }
        false
    }

    /// What the newline terminal can do where these symbols may come next.
    pub fn newline_use(&self, stack: &ParseStack, indents: NodeId, next: &[u32]) -> NewlineUse {
        match &self.indenter {
            Some(indenter) if indenter.is_in_brackets(stack, indents) => NewlineUse::Dropped,
            Some(indenter) if next.binary_search(&indenter.newline).is_ok() => NewlineUse::Taken,
            _ => NewlineUse::Dead,
        }
    }
}
