//! A row in the making, by how far down the stack its tokens look.
//!
//! Whether most tokens are allowed depends on a few nodes at the top of the stack. A few tokens look further down. What
//! the others say is the same for all stacks that are alike as far as those look.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::pushdown::grammar::parse_stack::{NodeId, ParseStack};
use crate::pushdown::grammar::stack_view::StackView;
use crate::vocab::{Trie, Vocabulary};

/// Levels that are told apart.
const DEEPEST: usize = 24;
/// Tokens that are tried again where the stack differs further down.
const FEW: usize = 400;

/// A row, or most of one.
#[derive(Clone)]
pub(super) struct Row {
    /// The tokens that are allowed.
    pub(super) tokens: Arc<[u32]>,
    /// Tokens that look further down the stack, where there are any.
    pub(super) open: Option<Arc<Trie>>,
}

/// The tokens of a row, by how far down the stack they look.
pub(super) struct RowLevels {
    words: usize,
    /// The tokens that are allowed, by level.
    rows: Vec<Vec<u32>>,
    /// The tokens that were looked at, by level; those left out that look no further than all.
    looked_at: Vec<Vec<u32>>,
    /// The level down to which all look; beyond every level where nobody asks what looks further.
    first: usize,
    view: StackView,
    /// How many nodes are described down to each level.
    described: SmallVec<[usize; 8]>,
}

impl RowLevels {
    /// An empty row over the stack of a view that describes nothing yet.
    pub(super) fn new(words: usize, view: StackView) -> Self {
        let described = SmallVec::new();
        RowLevels { words, rows: Vec::new(), looked_at: Vec::new(), first: usize::MAX, view, described }
    }

    /// The least level down to which these nodes are described, at most [`DEEPEST`]. Those from `first_new` on are not
    /// of the stack.
    pub(super) fn level(&mut self, stack: &ParseStack, nodes: &[NodeId], first_new: u32) -> usize {
        let mut level = 0;
        for &node in nodes.iter().filter(|&&node| node < first_new) {
            // Blocks are not among the levels.
            if stack.is_block(node) {
                return DEEPEST;
            }
            while !self.view.describes(node) && self.described.len() < DEEPEST && self.view.deepen(stack) {
                self.described.push(self.view.described().len());
            }
            let at = match self.view.number(node) {
                Some(number) => self.described.iter().position(|&count| count > number as usize),
                None => None,
            };
            level = level.max(at.map_or(DEEPEST, |at| at + 1));
        }
        level
    }

    /// The allowed tokens of a level, to add to.
    pub(super) fn row_at(&mut self, level: usize) -> &mut Vec<u32> {
        if self.rows.len() <= level {
            self.rows.resize_with(level + 1, Vec::new);
        }
        let row = &mut self.rows[level];
        if row.is_empty() {
            row.resize(self.words, 0);
        }
        row
    }

    /// Notes from now on which tokens look further down than a level.
    pub(super) fn note_beyond(&mut self, level: usize) {
        self.first = level;
    }

    /// Whether it matters still that tokens look down to a level.
    pub(super) fn notes(&self, level: usize) -> bool {
        level > self.first && self.looked_at.get(level).is_none_or(|list| list.len() <= FEW)
    }

    /// Notes that whether tokens are allowed depends on the stack down to a level.
    pub(super) fn look_at(&mut self, tokens: &[u32], level: usize) {
        if level > self.first {
            if self.looked_at.len() <= level {
                self.looked_at.resize_with(level + 1, Vec::new);
            }
            // A level of more than few is never told apart, so how many more does not matter.
            let list = &mut self.looked_at[level];
            if list.len() <= FEW {
                list.extend_from_slice(&tokens[..tokens.len().min(FEW + 1)]);
            }
        }
    }

    /// Adds to `row` the allowed tokens of the levels below `end`.
    pub(super) fn or_into(&self, row: &mut [u32], end: usize) {
        for more in &self.rows[..end.min(self.rows.len())] {
            row.iter_mut().zip(more).for_each(|(to, from)| *to |= from);
        }
    }

    /// The allowed tokens of the levels below `end`.
    pub(super) fn row(&self, no_text: &[u32], end: usize) -> Vec<u32> {
        let mut row = vec![0u32; self.words];
        self.or_into(&mut row, end);
        // Rows of terminals that look ahead hold tokens with the byte that separates what is ahead; no text has it.
        no_text.iter().for_each(|&t| row[t as usize >> 5] &= !(1 << (t & 31)));
        row
    }

    /// If few tokens look further down than the others: the level down to which those look, what they say, and the few.
    pub(super) fn mostly(&self, vocabulary: &Vocabulary, no_text: &[u32]) -> Option<(usize, Vec<u32>, Trie)> {
        let mut level = self.looked_at.len();
        let mut open = 0;
        while level > self.first + 1 && open + self.looked_at[level - 1].len() <= FEW {
            level -= 1;
            open += self.looked_at[level].len();
        }
        if open == 0 {
            return None;
        }
        let row = self.row(no_text, level);
        let mut items: Vec<(&[u8], u32)> = Vec::with_capacity(open);
        for &token in self.looked_at[level..].iter().flatten() {
            if row[token as usize >> 5] >> (token & 31) & 1 == 0 {
                items.push((vocabulary.spelling(token)?, token));
            }
        }
        items.sort_unstable();
        items.dedup();
        let open = Trie::build(&mut items).ok()?;
        Some((level - 1, row, open))
    }
}
