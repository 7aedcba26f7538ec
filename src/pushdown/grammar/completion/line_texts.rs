//! Texts of newlines in a completion: how far the next line is indented says which blocks the parser sees closed.

use std::sync::Arc;

use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::completion::terminal_ways::Way;
use crate::pushdown::grammar::indenter::Indenter;
use crate::pushdown::grammar::parse_stack::{NO_COLUMN, NO_NODE, NodeId, ParseStack};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::{REFUSED, ScanStateId};

/// The widths of open blocks, outermost first; none stands for a bracket.
pub(super) type Blocks = Vec<Option<u32>>;

/// The open blocks and brackets of a branch.
pub(super) fn blocks_of(indenter: &Indenter, stack: &ParseStack, indents: NodeId) -> Blocks {
    let mut out = Blocks::new();
    let mut at = Some(indents).filter(|&node| node != NO_NODE);
    while let Some(node) = at {
        let is_bracket = indenter.is_in_brackets(stack, node);
        out.push((!is_bracket).then(|| indenter.width(stack, node)));
        at = stack.below(node).first().copied();
    }
    out.reverse();
    out
}

/// Opens and closes the blocks that terminals behind a newline say, and tells how far its line is indented then.
pub(super) fn next_width(indenter: &Indenter, blocks: &mut Blocks, behind: &[Symbol]) -> Option<u32> {
    for &symbol in behind {
        if symbol == indenter.indent {
            let width = blocks.last().copied().flatten()?;
            blocks.push(Some(width + 1));
        } else if symbol == indenter.dedent {
            blocks.pop();
        } else {
            break;
        }
    }
    blocks.last().copied().flatten()
}

impl GrammarProgram {
    /// A text that ends a newline terminal with a line of a width, from a state of the scanner and a column. `text` is
    /// one that ends it somehow.
    pub(super) fn line_text(&self, from: ScanStateId, column: u32, text: &[u8], width: u32) -> Option<Way> {
        let indenter = self.indenter.as_ref()?;
        let behind = |text: &[u8]| {
            let (mut scan, mut column) = (from, column);
            for &byte in text {
                scan = self.scanner.next(scan, byte);
                if scan == REFUSED {
                    return None;
                }
                column = self.column_outside(indenter, column, byte, scan);
            }
            Some((scan, column))
        };
        let with_blanks = |mut text: Vec<u8>, blanks: u32| {
            text.resize(text.len() + blanks as usize, b' ');
            text
        };
        let reached = behind(text).map(|(_, column)| column).filter(|&column| column != NO_COLUMN && column <= width);
        let mut tried =
            reached.into_iter().map(|column| with_blanks(text.to_vec(), width - column)).collect::<Vec<_>>();
        tried.push(with_blanks(b"\n".to_vec(), width));
        tried.push(with_blanks([text, b"\n"].concat(), width));
        tried.into_iter().find_map(|text| {
            let (scan, _) = behind(&text).filter(|&(_, column)| column == width)?;
            let ends = &self.scanner.state(scan).ends;
            let &(_, to) = ends.iter().find(|(terminal, _)| *terminal == indenter.newline)?;
            Some(Way { to, text: Arc::from(text) })
        })
    }
}
