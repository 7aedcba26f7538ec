//! What may follow a value, found once for all the masks until it ends.
//!
//! Before a value, in it and at its end, crossing tokens ask the same question: what may the rest of a token, the tail,
//! be once the value is over? The answer depends on the frames below the value and on the rule that accepted it, not on
//! the value's bytes. So it is worked out once, for every tail that the vocabulary has behind a quote, and the crossing
//! tokens of any lexeme look their tails up in it.

use super::mask::{Ground, Masker};
use super::submask::Cross;
use super::tables::Walked;
use crate::automaton::arena::{NONE, NodeId};
use crate::automaton::lexeme::Lexeme;

/// Which of the vocabulary's tails may follow a value: the nodes of [`Tables::tails`](super::tables::Tables::tails) that can be stepped, as bits.
/// That depends on the node below the value and the rule that accepts it, and so holds before the value, in it and at
/// its end, as long as its guide does not go back.
#[derive(Clone)]
pub struct AfterValue {
    parent: NodeId,
    tag: u32,
    bits: Box<[u64]>,
}

/// How many of them are at hand: one for each rule of a value that is awaited.
const AFTER_VALUES: usize = 4;

impl Masker<'_> {
    /// Allows crossing tokens by what is known to follow the value above `parent` once rule `tag` accepted it. False if
    /// some tail is not among the vocabulary's; the tokens that were allowed then are allowed all the same.
    pub(super) fn cross_known(
        &mut self,
        cross: &Cross,
        lexeme: Option<&Lexeme>,
        count: u32,
        (parent, tag): (NodeId, u32),
    ) -> bool {
        let at = match self.after.iter().position(|a| (a.parent, a.tag) == (parent, tag)) {
            Some(at) => at,
            None => {
                if self.after.len() >= AFTER_VALUES {
                    self.after.clear();
                }
                let bits = self.tails_after(parent, tag);
                self.after.push(AfterValue { parent, tag, bits });
                self.after.len() - 1
            }
        };
        let after = std::mem::take(&mut self.after);
        let bits = &after[at].bits;
        let all = &self.tables.tails;
        let fits = |node: u32| bits[node as usize / 64] >> (node % 64) & 1 == 1;
        let ground = Ground::Tail { cross, lexeme, count, origin: NONE, from: (Walked::Tokens, 0) };
        let tails = &cross.tails;
        let mut known = true;
        if fits(0) {
            self.emit(ground, 0);
            let mut path: smallvec::SmallVec<[u32; 32]> = smallvec::smallvec![0];
            let mut i = 1;
            while i < tails.len() as u32 {
                path.truncate(tails.depth[i as usize] as usize);
                let before = path.last().copied().unwrap_or(0);
                let Some(same) = all.child(before, tails.byte[i as usize]) else {
                    known = false;
                    break;
                };
                if !fits(same) {
                    i = tails.end[i as usize];
                    continue;
                }
                self.emit(ground, i);
                path.push(same);
                i += 1;
            }
        }
        self.after = after;
        known
    }

    /// See [`AfterValue`].
    fn tails_after(&mut self, parent: NodeId, tag: u32) -> Box<[u64]> {
        let trie = &self.tables.tails;
        let mut bits = vec![0u64; trie.len().div_ceil(64)];
        let mark = self.frames.arena.mark();
        let checked = std::mem::replace(&mut self.frames.arena.unchecked, false);
        let after = self.frames.finish_one(parent, tag);
        if after != NONE {
            bits[0] = 1;
            let mut path: smallvec::SmallVec<[NodeId; 32]> = smallvec::smallvec![after];
            let mut i = 1;
            while i < trie.len() as u32 {
                path.truncate(trie.depth[i as usize] as usize);
                let before = path.last().copied().unwrap_or(after);
                let next = self.frames.step(before, trie.byte[i as usize]);
                if next == NONE {
                    i = trie.end[i as usize];
                    continue;
                }
                bits[i as usize / 64] |= 1 << (i % 64);
                path.push(next);
                i += 1;
            }
        }
        self.frames.arena.unchecked = checked;
        self.frames.arena.truncate(&mark);
        bits.into()
    }
}
