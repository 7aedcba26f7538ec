//! A flat byte trie over the tokens that spell text.
//!
//! The nodes lie in depth-first order, children by ascending byte, as a struct of arrays. Node 0 is the root. The
//! subtree of a node is therefore the range `node..end[node]`, a walk that refuses a byte skips its subtree by
//! jumping to `end[node]`, and the tokens below a node are one slice of [`Trie::subtree_tokens`]. The layout is the
//! one that llguidance's toktrie made popular; here the children of a node are found through `end` alone, with no
//! pointers, so the arrays can be stored and mapped as they are.
//!
//! A node may hold several ids (vocabularies do spell one text twice) or none (an inner byte).

use crate::error::{Error, ErrorKind, Result};

/// The longest token, in bytes. Depths are stored as `u16`.
pub const MAX_TOKEN_BYTES: usize = u16::MAX as usize;

/// Flat byte trie; see the module's story. Built with [`Trie::build`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trie {
    /// The byte that leads to a node; 0 for the root, where it means nothing.
    pub byte: Vec<u8>,
    /// The index after the last node of a node's subtree.
    pub end: Vec<u32>,
    /// Bytes from the root to a node.
    pub depth: Vec<u16>,
    /// `toks[tok_start[n]..tok_start[n + 1]]` are the ids that end at node `n`; one entry more than nodes.
    tok_start: Vec<u32>,
    /// All ids in depth-first order, ascending within a node.
    toks: Vec<u32>,
}

impl Trie {
    /// The trie of `items`, pairs of bytes and id, which it sorts by bytes and then id. Empty bytes put their id at
    /// the root.
    ///
    /// # Errors
    /// `Vocabulary` if an item has more than [`MAX_TOKEN_BYTES`] bytes, or all of them 2^32 or more.
    ///
    /// # Cost
    /// One sort of `n` items and one pass over their bytes: 20 to 40 ms for 128,000 tokens.
    pub fn build(items: &mut Vec<(&[u8], u32)>) -> Result<Self> {
        let mut total = 1u64;
        for (bytes, id) in items.iter() {
            if bytes.len() > MAX_TOKEN_BYTES {
                return Err(Error::new(
                    ErrorKind::Vocabulary,
                    format!("token {id} has {} bytes, more than {MAX_TOKEN_BYTES}", bytes.len()),
                ));
            }
            total += bytes.len() as u64;
        }
        if total >= u64::from(u32::MAX) || items.len() as u64 >= u64::from(u32::MAX) {
            return Err(Error::new(
                ErrorKind::Vocabulary,
                format!("{total} bytes of tokens are too many for one trie"),
            ));
        }
        items.sort_unstable();

        // Most tokens add one to three nodes beyond the prefix that they share with their neighbour.
        let guess = (2 * items.len() + 1).min(total as usize);
        let mut trie = Trie {
            byte: Vec::with_capacity(guess),
            end: Vec::with_capacity(guess),
            depth: Vec::with_capacity(guess),
            tok_start: Vec::with_capacity(guess + 1),
            toks: Vec::with_capacity(items.len()),
        };
        trie.push(0, 0);
        // The nodes from the root to the last token's end: `path[d]` is at depth `d`.
        let mut path: Vec<u32> = vec![0];
        let mut last: &[u8] = b"";
        for &(bytes, id) in items.iter() {
            let shared = last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            let here = trie.len() as u32;
            for &closed in path.iter().skip(shared + 1) {
                trie.end[closed as usize] = here;
            }
            path.truncate(shared + 1);
            for (depth, &byte) in bytes.iter().enumerate().skip(shared) {
                path.push(trie.len() as u32);
                trie.push(byte, depth as u16 + 1);
            }
            trie.toks.push(id);
            last = bytes;
        }
        let all = trie.len() as u32;
        for &closed in &path {
            trie.end[closed as usize] = all;
        }
        trie.tok_start.push(trie.toks.len() as u32);
        Ok(trie)
    }

    fn push(&mut self, byte: u8, depth: u16) {
        self.byte.push(byte);
        self.end.push(0);
        self.depth.push(depth);
        self.tok_start.push(self.toks.len() as u32);
    }

    /// Nodes, the root included; never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.byte.len()
    }

    /// The ids that end exactly at `node`, ascending.
    pub fn tokens(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.toks[self.tok_start[node] as usize..self.tok_start[node + 1] as usize]
    }

    /// The ids that end at `node` or below, in depth-first order.
    pub fn subtree_tokens(&self, node: u32) -> &[u32] {
        let from = self.tok_start[node as usize] as usize;
        let to = self.tok_start[self.end[node as usize] as usize] as usize;
        &self.toks[from..to]
    }

    /// The children of `node` by ascending byte.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end[node as usize];
        let first = node + 1;
        std::iter::successors((first < end).then_some(first), move |&child| {
            let next = self.end[child as usize];
            (next < end).then_some(next)
        })
    }

    /// The child of `node` under `byte`. Costs one step per smaller sibling.
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        self.children(node).find(|&c| self.byte[c as usize] >= byte).filter(|&c| self.byte[c as usize] == byte)
    }

    /// The node that `bytes` lead to from `node`.
    pub fn find(&self, node: u32, bytes: &[u8]) -> Option<u32> {
        bytes.iter().try_fold(node, |n, &b| self.child(n, b))
    }

    /// Bytes that the arrays occupy.
    pub fn memory_bytes(&self) -> usize {
        self.byte.capacity()
            + 4 * (self.end.capacity() + self.tok_start.capacity() + self.toks.capacity())
            + 2 * self.depth.capacity()
    }
}

#[cfg(test)]
#[path = "trie_tests.rs"]
mod tests;
