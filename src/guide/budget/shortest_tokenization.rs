//! The fewest tokens that spell a run of bytes.

use crate::index::IndexCore;
use crate::mask::trie_kind::TrieKind;
use crate::vocab::{Trie, Vocabulary};

/// The tokens of an index that may be used, those with ids that `usable` takes.
#[derive(Clone, Copy)]
pub(super) struct FewestTokens<'a, U> {
    inner: &'a IndexCore,
    usable: U,
}

impl<'a, U: Fn(u32) -> bool> FewestTokens<'a, U> {
    pub fn new(inner: &'a IndexCore, usable: U) -> Self {
        FewestTokens { inner, usable }
    }

    /// The vocabulary's trie.
    pub fn trie(&self) -> &'a Trie {
        self.inner.vocabulary.trie()
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &'a Vocabulary {
        &self.inner.vocabulary
    }

    /// Whether a token may be used.
    pub fn may_use(&self, token: u32) -> bool {
        (self.usable)(token)
    }

    /// The child of a node of the vocabulary's trie.
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        self.inner.tables.child(TrieKind::Tokens, node, byte)
    }

    /// The lowest id of a token that ends at a node of the vocabulary's trie.
    pub fn token(&self, node: u32) -> Option<u32> {
        self.trie().tokens(node).iter().copied().find(|&t| (self.usable)(t))
    }

    /// The tokens that `bytes` begin with, shortest first: the lowest id of each, and its length.
    fn beginnings(&self, bytes: &[u8]) -> impl Iterator<Item = (u32, usize)> {
        let mut node = 0;
        let nodes = bytes.iter().map_while(move |&b| {
            node = self.child(node, b)?;
            Some(node)
        });
        nodes.zip(1..).filter_map(move |(node, len)| Some((self.token(node)?, len)))
    }

    /// How many bytes the longest token has that `bytes` begin with.
    pub fn longest_token(&self, bytes: &[u8]) -> Option<usize> {
        Some(self.beginnings(bytes).last()?.1)
    }

    /// The fewest tokens that spell `bytes`, the lowest id where several do; `None` if none do.
    pub fn fewest_tokens(&self, bytes: &[u8]) -> Option<Vec<u32>> {
        // From each place on: how many tokens spell the rest, the first of them, and where it ends.
        let mut best: Vec<(u32, u32, usize)> = vec![(u32::MAX, 0, 0); bytes.len() + 1];
        best[bytes.len()].0 = 0;
        for at in (0..bytes.len()).rev() {
            for (token, len) in self.beginnings(&bytes[at..]) {
                let tokens = best[at + len].0.saturating_add(1);
                if tokens < best[at].0 {
                    best[at] = (tokens, token, at + len);
                }
            }
        }
        let mut out = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (tokens, token, end) = best[at];
            if tokens == u32::MAX {
                return None;
            }
            out.push(token);
            at = end;
        }
        Some(out)
    }
}
