//! Prices of tokens inside a key that one of its object's names begins with, where other keys may come too.
//!
//! Nearly every token leaves the names: what it leads to is a new key, one class whatever its text. So tokens are
//! priced as behind a new key, which is kept for all places in the key, and the trie is walked only as far as a token
//! leads elsewhere from here than from there: along the names, and behind a quote or a backslash.

use crate::guide::budget::affordable::{AffordableTokens, DEAD_CONFIG, MIN_ALIKE, NODES_A_STEP};
use crate::mask::json::structural_tokens::StructuralTokens;
use crate::pushdown::json::frame::{FrameKind, Phase};
use crate::vocab::{Trie, Vocabulary};
use smallvec::SmallVec;

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// [`keep`](Self::keep) inside a name. False where the guide is not there, or new keys have no price of their own.
    pub(super) fn keep_in_name(&mut self, vocabulary: &Vocabulary, marked: &StructuralTokens, row: &mut [u32]) -> bool {
        let n = &self.arena.nodes[self.top as usize];
        let Some(text) = &marked.text else { return false };
        if n.kind != FrameKind::Object || n.phase != Phase::Key || self.classes[0].is_new {
            return false;
        }
        let Some((new, plain)) = self.new_key_behind() else { return false };
        let allowed = row.to_vec();
        self.keep_in_text(vocabulary, text, (new, plain), row);
        self.keep_unlike(new, vocabulary.trie(), marked, &allowed, row);
        true
    }

    /// The class of new keys that most text leads to from here, and what plain text costs there, which stays there.
    fn new_key_behind(&mut self) -> Option<(u32, u32)> {
        let new = self.new_text_behind()?;
        let plain = self.plain(new).filter(|plain| plain.stays)?;
        self.exceptions.is_empty().then_some((new, plain.most))
    }

    /// Decides the tokens of a trie that lead elsewhere from here than from `new`; of all others the row has what
    /// holds.
    fn keep_unlike(&mut self, new: u32, trie: &Trie, marked: &StructuralTokens, allowed: &[u32], row: &mut [u32]) {
        let set = |row: &mut [u32], t: u32, fits: bool| {
            let (word, bit) = (t as usize >> 5, 1 << (t & 31));
            row[word] = row[word] & !bit | if fits { allowed[word] & bit } else { 0 };
        };
        let mut stack: SmallVec<[(u32, u32, u32); 16]> = SmallVec::from_elem((trie.len() as u32, 0, new), 1);
        let mut bytes: Vec<u8> = Vec::new();
        let (mut node, mut looked) = (1, 0);
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, here, there)) = stack.last() else { break };
            looked += 1;
            self.work += usize::from(looked % NODES_A_STEP == 0);
            if self.is_exhausted() {
                // What is left is left out, but for what was found.
                (node..trie.len() as u32).for_each(|node| trie.tokens(node).iter().for_each(|&t| set(row, t, false)));
                return;
            }
            let (byte, end) = (trie.byte[node as usize], trie.end[node as usize]);
            bytes.truncate(usize::from(trie.depth[node as usize]) - 1);
            bytes.push(byte);
            let to = self.step(here, byte);
            let there = if there == DEAD_CONFIG { there } else { self.step(there, byte) };
            if to == there || to == DEAD_CONFIG {
                // No token is in the row that is dead here.
                node = end;
                continue;
            }
            let tokens = trie.tokens(node);
            if !tokens.is_empty() {
                let fits = self.is_in_time(to, &bytes);
                tokens.iter().for_each(|&t| set(row, t, fits));
            }
            if end - node >= MIN_ALIKE
                && marked.is_plain_below(node)
                && let Some(all) = self.plain(to).and_then(|plain| plain.one_verdict(self.left))
                && !self.begins_exception(&bytes)
            {
                trie.subtree_tokens(node)[tokens.len()..].iter().for_each(|&t| set(row, t, all));
                node = end;
                continue;
            }
            stack.push((end, to, there));
            node += 1;
        }
    }
}
