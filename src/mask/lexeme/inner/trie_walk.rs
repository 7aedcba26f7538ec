//! The inner walk: finds the tokens that stay inside a lexeme by stepping its states along the vocabulary's trie.

use crate::lexeme::walk_cache::{END, LocalState, QUOTE, WalkCache};
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::mask::lexeme::inner::char_prefix::CharPrefixes;
use crate::mask::lexeme::inner::token_ranges::TokenRanges;
use crate::mask::lexeme::lexeme_mask::{LOOK, TokenSet, nodes_above};
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::Trie;

/// Subtrees of fewer nodes are walked without asking whether all of them passes.
pub(crate) const SMALL: u32 = 4;

/// The tokens that stay inside from a state, by a walk that meets no more than `most` nodes. `None` where it meets
/// more.
pub(crate) fn by_short_walk(
    tables: &VocabTables,
    trie: &Trie,
    l: &Lexeme,
    state: StateId,
    count: Option<u32>,
    most: u32,
) -> Option<TokenSet> {
    let mut ranges = TokenRanges::default();
    let walk = InnerWalk { tables, trie, lexeme: l, count, covers: false, most };
    let end = walk.ranges_from(1, state, &mut ranges);
    (end as usize == trie.len()).then(|| ranges.finish(trie, None, tables.words))
}

/// Whether a state stands inside of a character that is written as it is.
pub(crate) fn is_inside_char(l: &Lexeme, state: StateId) -> bool {
    let at = l.state(state);
    (0x80..=0xBF).any(|b| l.next_from(state, at, b) > CLOSED)
}

pub(crate) struct InnerWalk<'a> {
    pub(super) tables: &'a VocabTables,
    pub(super) trie: &'a Trie,
    pub(super) lexeme: &'a Lexeme,
    pub(super) count: Option<u32>,
    /// Subtrees in which everything passes are known.
    pub(super) covers: bool,
    /// Nodes that are met at most.
    pub(super) most: u32,
}

impl InnerWalk<'_> {
    /// Walks the vocabulary's trie from the node `begin` on. Returns where it stopped, which is before the end where
    /// the lexeme has grown too much, and after as many nodes as it may meet.
    pub(super) fn ranges_from(&self, begin: u32, state: StateId, ranges: &mut TokenRanges) -> u32 {
        let mut steps = WalkCache::new(self.lexeme);
        let first = steps.local(state);
        let held = self.lexeme.memory_bytes();
        self.below(&mut steps, &mut CharPrefixes::default(), (0, first), begin, ranges, (held, 0))
    }

    /// Walks the trie below the node `top`, to which the state `first` belongs. `passing` is what is known of the
    /// states that the walk met; `held` is what the lexeme held before, and `nested` how many leaps led here.
    pub(super) fn below(
        &self,
        steps: &mut WalkCache<'_>,
        passing: &mut CharPrefixes,
        (top, first): (u32, LocalState),
        begin: u32,
        ranges: &mut TokenRanges,
        (held, nested): (usize, u32),
    ) -> u32 {
        let (trie, l) = (self.trie, self.lexeme);
        let base = trie.depth[top as usize];
        // State and code points so far, by depth, and the node.
        let mut stack: Vec<(LocalState, u32, u32)> = vec![(first, 0, top); 16];
        let counts = self.count.is_some();
        for i in nodes_above(trie, top, begin) {
            let depth = (trie.depth[i as usize] - base) as usize;
            let (from, chars, _) = stack[depth - 1];
            let byte = trie.byte[i as usize];
            let to = steps.next(from, byte);
            stack.resize(stack.len().max(depth + 1), (first, 0, top));
            stack[depth] = (to, chars + u32::from(counts && l.starts_char(steps.state(from), byte)), i);
        }
        let mut look = steps.num_states() + LOOK;
        let end = trie.end[top as usize];
        let mut i = begin;
        let mut met = 0;
        while i < end {
            if steps.num_states() > look {
                look = steps.num_states() + LOOK;
                if l.has_grown(held) {
                    return i;
                }
            }
            if met == self.most {
                return i;
            }
            met += 1;
            let depth = (trie.depth[i as usize] - base) as usize;
            let (from, mut chars, above) = stack[depth - 1];
            let byte = trie.byte[i as usize];
            let to = steps.next(from, byte);
            if to <= QUOTE {
                let ends = |b| steps.next(from, b) <= QUOTE;
                i = self.tables.children.next_but(above, byte, trie.end[above as usize], ends);
                continue;
            }
            let past = trie.end[i as usize];
            if let Some(n) = self.count {
                chars += u32::from(l.starts_char(steps.state(from), byte));
                if !l.live_at(steps.state(to), n.saturating_add(chars)) {
                    i = past;
                    continue;
                }
            }
            let big = self.covers && past - i > SMALL;
            if big && self.passes(steps, passing, to, i, chars) {
                ranges.push(trie.subtree_places(i));
                i = past;
                continue;
            }
            ranges.push(trie.places(i));
            if big && self.leaps(steps, passing, (i, to), ranges, (held, nested)) {
                i = past;
                continue;
            }
            if depth >= stack.len() {
                stack.resize(depth * 2, (first, 0, top));
            }
            stack[depth] = (to, chars, i);
            i += 1;
        }
        end
    }

    /// Whether the state that a first byte leads to passes what follows, but for few tokens.
    pub(super) fn is_short(&self, state: StateId) -> bool {
        /// Tokens that are walked.
        const FEW: u32 = 4_000;
        let (mut steps, mut passing) = (WalkCache::new(self.lexeme), CharPrefixes::default());
        let from = steps.local(state);
        let mut walked = 0;
        self.trie.children(0).zip(self.tables.subtrees.firsts()).all(|(node, first)| {
            let to = steps.next(from, first.byte);
            if to > QUOTE && !self.passes(&steps, &mut passing, to, node, 0) {
                walked += first.tokens;
            }
            walked <= FEW
        })
    }

    /// Turns the row of `base` into that of `state`. False, and the row is of no use, where the two have more nodes
    /// between them than a walk from nothing would meet.
    pub(super) fn differs(&self, state: StateId, base: StateId, row: &mut [u32]) -> bool {
        /// Nodes that are met at most.
        const MOST_NODES: u32 = 8_000;
        let trie = self.trie;
        // All that lies behind a walk of the vocabulary's own trie.
        let children = self.covers.then_some(&self.tables.children);
        let mut steps = WalkCache::new(self.lexeme);
        let mut passing = CharPrefixes::default();
        let mut stack: Vec<(LocalState, LocalState, u32)> = vec![(steps.local(state), steps.local(base), 0); 64];
        let step = |steps: &mut WalkCache<'_>, from: LocalState, byte: u8| match from {
            END => END,
            _ => Some(steps.next(from, byte)).filter(|&to| to > QUOTE).unwrap_or(END),
        };
        let end = trie.len() as u32;
        let mut i = 1;
        for _ in 0..MOST_NODES {
            if i >= end {
                return true;
            }
            let depth = trie.depth[i as usize] as usize;
            let (p, q, above) = stack[depth - 1];
            let byte = trie.byte[i as usize];
            let to = (step(&mut steps, p, byte), step(&mut steps, q, byte));
            let past = trie.end[i as usize];
            let both_pass = |passing: &mut CharPrefixes| {
                self.covers
                    && past - i > SMALL
                    && to.0 != END
                    && to.1 != END
                    && self.passes(&steps, passing, to.0, i, 0)
                    && self.passes(&steps, passing, to.1, i, 0)
            };
            if to.0 == to.1 {
                // What ends right here is in both rows or in neither.
                i = match children {
                    Some(children) => {
                        let same = |b| step(&mut steps, p, b) == step(&mut steps, q, b);
                        children.next_but(above, byte, trie.end[above as usize], same)
                    }
                    None => past,
                };
                continue;
            }
            if both_pass(&mut passing) {
                i = past;
                continue;
            }
            if to.0 == END {
                trie.subtree_tokens(i).iter().for_each(|&t| row[t as usize >> 5] &= !(1 << (t & 31)));
                i = past;
                continue;
            }
            if to.1 == END {
                trie.tokens(i).iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
            }
            if depth >= stack.len() {
                stack.resize(depth * 2, (END, END, 0));
            }
            stack[depth] = (to.0, to.1, i);
            i += 1;
        }
        false
    }
}
