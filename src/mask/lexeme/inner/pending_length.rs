//! How many code points are still needed behind each token.
//!
//! Near the most code points that a string may have, a token of `c` code points fits if `c` and what is needed behind
//! it are no more than what is left. What is needed depends on the state alone, and behind most tokens it is nothing.
//! So the tokens behind which something is needed are found once for a state, by how much it is, and serve every count.
//!
//! A walk finds them. It skips what any text may follow, and what leads a state back to itself; where a pattern is
//! looked for anywhere in a string, most tokens do one or the other.
//!
//! Words that come from elsewhere:
//!
//! * A walk numbers the states that it meets anew (`lexeme::walk_cache`). The order of these *local states* matters:
//!   `END` (1, no continuation) and `QUOTE` (2, behind the closing quote) come first, real states from 3 on. So
//!   `to <= QUOTE` says that no token with this byte stays inside, and `to > QUOTE` that `to` is a state.
//! * `in_parts` calls the walk until it has come to the trie's end. A walk stops early when the lexeme has grown too
//!   much, and the next call goes on in a copy of the lexeme. `LOOK` is how many states a walk meets before it asks
//!   whether that is so (both of `lexeme_mask`).
//! * `SMALL` is the size of subtrees that are walked without asking whether all of their tokens pass (`inner_walk`).
//! * The *places* of a node are where its tokens stand in the list of all tokens of the trie (`Trie::places`). A
//!   subtree's places are one range, so whole subtrees are noted as ranges (`token_ranges`).

use crate::expr::analysis::slice::Slice;
use crate::lexeme::walk_cache::{LocalState, QUOTE, WalkCache};
use crate::lexeme::{Lexeme, StateId};
use crate::mask::lexeme::inner::inner_walk::SMALL;
use crate::mask::lexeme::inner::self_loops::loops;
use crate::mask::lexeme::inner::token_ranges::TokenRanges;
use crate::mask::lexeme::lexeme_mask::{LOOK, in_parts, nodes_above};
use crate::mask::lexeme::masked_lexeme::PendingLengths;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::Trie;

/// Numbers of code points that are told apart. Behind the tokens of a row no pattern that is met needs more.
const MOST_NEEDS: usize = 16;

/// What is needed behind the tokens that stay inside from `state`, which stands between two characters. `None` where
/// that has too many answers.
pub fn needs(tables: &VocabTables, trie: &Trie, l: &Lexeme, state: StateId) -> Option<PendingLengths> {
    if l.ends_anywhere() {
        return Some(PendingLengths::default());
    }
    let mut found: Vec<(u32, TokenRanges)> = Vec::new();
    in_parts(l, trie, 0, &[state], |l, states, from| {
        PendingLengthWalk { tables, trie, lexeme: l }.needs_from(from, states[0], &mut found)
    });
    (found.len() <= MOST_NEEDS)
        .then(|| found.into_iter().map(|(n, ranges)| (n, ranges.finish(trie, None, tables.words))).collect())
}

struct PendingLengthWalk<'a> {
    tables: &'a VocabTables,
    trie: &'a Trie,
    lexeme: &'a Lexeme,
}

/// What a walk knows of a state.
#[derive(Clone, Copy)]
struct StateLengths {
    needed: u32,
    /// Behind which text as much is needed, once that was asked.
    same: Option<Slice>,
}

impl PendingLengthWalk<'_> {
    /// Walks the vocabulary's trie from the node `begin` on. Returns where it stopped, which is before the end where
    /// the lexeme has grown too much.
    fn needs_from(&self, begin: u32, state: StateId, found: &mut Vec<(u32, TokenRanges)>) -> u32 {
        let (trie, l) = (self.trie, self.lexeme);
        let held = l.memory_bytes();
        let mut steps = WalkCache::new(l);
        let first = steps.local(state);
        let mut known: Vec<Option<StateLengths>> = Vec::new();
        // By depth, the state and the node that leads to it.
        let mut stack: Vec<(LocalState, u32)> = vec![(first, 0); 64];
        for i in nodes_above(trie, 0, begin) {
            let depth = usize::from(trie.depth[i as usize]);
            let to = steps.next(stack[depth - 1].0, trie.byte[i as usize]);
            stack.resize(stack.len().max(depth + 1), (first, 0));
            stack[depth] = (to, i);
        }
        let mut look = steps.num_states() + LOOK;
        let end = trie.len() as u32;
        let mut i = begin;
        while i < end {
            if steps.num_states() > look {
                look = steps.num_states() + LOOK;
                if l.has_grown(held) {
                    return i;
                }
            }
            let depth = usize::from(trie.depth[i as usize]);
            let (from, above) = stack[depth - 1];
            let byte = trie.byte[i as usize];
            let to = steps.next(from, byte);
            if to <= QUOTE {
                let ends = |b| steps.next(from, b) <= QUOTE;
                i = self.tables.children.next_but(above, byte, trie.end[above as usize], ends);
                continue;
            }
            let past = trie.end[i as usize];
            let of = self.known(&steps, &mut known, to);
            let all = past - i > SMALL && self.needs_same(&steps, of, to, i);
            if of.needed > 0 {
                let places = if all { trie.subtree_places(i) } else { trie.places(i) };
                push(found, of.needed, places);
                if found.len() > MOST_NEEDS {
                    return end;
                }
            }
            if all {
                i = past;
                continue;
            }
            if depth >= stack.len() {
                stack.resize(depth * 2, (first, 0));
            }
            stack[depth] = (to, i);
            i += 1;
        }
        end
    }

    #[inline]
    fn known<'k>(
        &self,
        steps: &WalkCache<'_>,
        known: &'k mut Vec<Option<StateLengths>>,
        to: LocalState,
    ) -> &'k mut StateLengths {
        let slot = to as usize;
        if slot >= known.len() {
            known.resize(slot + 1, None);
        }
        let new = || StateLengths { needed: self.lexeme.fewest_more(steps.state(to)), same: None };
        known[slot].get_or_insert_with(new)
    }

    /// Whether as much is needed behind every text below `node` as at the state `to` that it led to.
    #[inline]
    fn needs_same(&self, steps: &WalkCache<'_>, of: &mut StateLengths, to: LocalState, node: u32) -> bool {
        let same = *of.same.get_or_insert_with(|| match steps.state(to) {
            state if self.lexeme.takes_all(state) => Slice::OPEN,
            state if state.is_plain() => loops(self.lexeme, steps.id(to)),
            _ => Slice::NONE,
        });
        let (groups, height) = self.tables.subtrees.below(node);
        same.covers(groups, height)
    }
}

fn push(found: &mut Vec<(u32, TokenRanges)>, needed: u32, places: std::ops::Range<u32>) {
    match found.iter_mut().find(|f| f.0 == needed) {
        Some((_, ranges)) => ranges.push(places),
        None => {
            let mut ranges = TokenRanges::default();
            ranges.push(places);
            found.push((needed, ranges));
        }
    }
}
