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
use crate::util::mapped::MappedSlice;

/// The longest token, in bytes. Depths are stored as `u16`.
pub const MAX_TOKEN_BYTES: usize = u16::MAX as usize;

/// A flat byte trie in depth-first order, with the tokens that end at each node. Built with [`Trie::build`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trie {
    /// The byte that leads to a node; 0 for the root, where it means nothing.
    pub byte: MappedSlice<u8>,
    /// The index after the last node of a node's subtree.
    pub end: MappedSlice<u32>,
    /// Bytes from the root to a node.
    pub depth: MappedSlice<u16>,
    /// `toks[tok_start[n]..tok_start[n + 1]]` are the ids that end at node `n`; one entry more than nodes.
    tok_start: MappedSlice<u32>,
    /// All ids in depth-first order, ascending within a node.
    toks: MappedSlice<u32>,
}

/// The arrays of a [`Trie`], as artifacts store them.
#[derive(Clone, Debug)]
pub struct TrieParts {
    /// The byte that leads to each node.
    pub byte: MappedSlice<u8>,
    /// The index after the last node of each subtree.
    pub end: MappedSlice<u32>,
    /// Bytes from the root to each node.
    pub depth: MappedSlice<u16>,
    /// Where each node's ids begin; one entry more than nodes.
    pub tok_start: MappedSlice<u32>,
    /// All ids in depth-first order.
    pub toks: MappedSlice<u32>,
}

impl TrieParts {
    /// Whether the arrays are as long as they must be beside each other, and the tokens of each node lie in their list.
    fn have_fitting_lengths(&self) -> bool {
        let n = self.byte.len();
        let nodes_fit = n != 0
            && n < u32::MAX as usize
            && self.end.len() == n
            && self.depth.len() == n
            && self.tok_start.len() == n + 1;
        nodes_fit
            && self.tok_start.first() == Some(&0)
            && self.tok_start.last().is_some_and(|&last| last as usize == self.toks.len())
            && self.tok_start.windows(2).all(|w| w[0] <= w[1])
    }
}

/// A trie in the making: the same arrays, still growing.
struct Growing {
    byte: Vec<u8>,
    end: Vec<u32>,
    depth: Vec<u16>,
    tok_start: Vec<u32>,
    toks: Vec<u32>,
}

impl Growing {
    fn push(&mut self, byte: u8, depth: u16) {
        self.byte.push(byte);
        self.end.push(0);
        self.depth.push(depth);
        self.tok_start.push(self.toks.len() as u32);
    }
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
        /// The most items that are counted before they are sorted: the names of objects, whose tries are many and
        /// small.
        const FEW: usize = 4_096;
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

        let guess = if items.len() <= FEW {
            let shared = |w: &[(&[u8], u32)]| w[0].0.iter().zip(w[1].0).take_while(|(a, b)| a == b).count();
            total as usize - items.windows(2).map(shared).sum::<usize>()
        } else {
            // Most tokens add one to three nodes beyond the prefix that they share with their neighbour.
            (2 * items.len() + 1).min(total as usize)
        };
        let mut trie = Growing {
            byte: Vec::with_capacity(guess),
            end: Vec::with_capacity(guess),
            depth: Vec::with_capacity(guess),
            tok_start: Vec::with_capacity(guess + 1),
            toks: Vec::with_capacity(items.len()),
        };
        trie.push(0, 0);
        // The nodes from the root to the last token's end: `path[d]` is at depth `d`.
        let mut path: Vec<u32> = Vec::with_capacity(items.iter().map(|i| i.0.len()).max().unwrap_or(0) + 1);
        path.push(0);
        let mut last: &[u8] = b"";
        for &(bytes, id) in items.iter() {
            let shared = last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            let here = trie.byte.len() as u32;
            for &closed in path.iter().skip(shared + 1) {
                trie.end[closed as usize] = here;
            }
            path.truncate(shared + 1);
            for (depth, &byte) in bytes.iter().enumerate().skip(shared) {
                path.push(trie.byte.len() as u32);
                trie.push(byte, depth as u16 + 1);
            }
            trie.toks.push(id);
            last = bytes;
        }
        let all = trie.byte.len() as u32;
        for &closed in &path {
            trie.end[closed as usize] = all;
        }
        trie.tok_start.push(trie.toks.len() as u32);
        let Growing { byte, end, depth, tok_start, toks } = trie;
        Ok(Trie {
            byte: byte.into(),
            end: end.into(),
            depth: depth.into(),
            tok_start: tok_start.into(),
            toks: toks.into(),
        })
    }

    /// The arrays; cheap where they are mapped, a copy where not.
    pub fn parts(&self) -> TrieParts {
        TrieParts {
            byte: self.byte.clone(),
            end: self.end.clone(),
            depth: self.depth.clone(),
            tok_start: self.tok_start.clone(),
            toks: self.toks.clone(),
        }
    }

    /// The trie with these arrays.
    ///
    /// # Errors
    /// `Vocabulary` if they are not a trie in depth-first order: subtrees that do not nest, depths that do not fit
    /// them, children out of order, or tokens outside their list. What the ids stand for is not looked at.
    pub fn from_parts(parts: TrieParts) -> Result<Trie> {
        let bad = || Error::new(ErrorKind::Vocabulary, "the trie's arrays do not fit together");
        if !parts.have_fitting_lengths() || parts.end[0] as usize != parts.byte.len() || parts.depth[0] != 0 {
            return Err(bad());
        }
        let TrieParts { byte, end, depth, tok_start, toks } = parts;
        let n = byte.len();
        // By depth on the way to the node before: the end of its subtree, and the least byte that its next child may
        // have.
        let mut open: Vec<(u32, u16)> = vec![(n as u32, 0)];
        let mut last = 0usize;
        for ((node, (&to, &depth)), &byte) in (0u32..).zip(end.iter().zip(depth.iter())).zip(byte.iter()).skip(1) {
            let level = depth as usize;
            // The node goes one step deeper than the one before, or that one's subtree ends here and those between end
            // as well.
            let ends = level == last + 1 || level <= last && open[level].0 == node && open[last].0 == node;
            let Some((limit, least)) = level.checked_sub(1).and_then(|above| open.get_mut(above)) else {
                return Err(bad());
            };
            if !ends || node >= *limit || to <= node || to > *limit || u16::from(byte) < *least {
                return Err(bad());
            }
            *least = u16::from(byte) + 1;
            match open.get_mut(level) {
                Some(slot) => *slot = (to, 0),
                None => open.push((to, 0)),
            }
            last = level;
        }
        Ok(Trie { byte, end, depth, tok_start, toks })
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

    /// Where in the tokens of the whole trie, [`subtree_tokens(0)`](Self::subtree_tokens), those of `node` lie.
    pub fn places(&self, node: u32) -> std::ops::Range<u32> {
        self.tok_start[node as usize]..self.tok_start[node as usize + 1]
    }

    /// Where in the tokens of the whole trie those of the subtree of `node` lie:
    /// [`subtree_tokens`](Self::subtree_tokens) as a range.
    pub fn subtree_places(&self, node: u32) -> std::ops::Range<u32> {
        self.tok_start[node as usize]..self.tok_start[self.end[node as usize] as usize]
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

    /// Follows all of the trie from `start` and calls `visit` for every node but the root that `step` leads to, parents
    /// first, with what it led to. What lies below a node where `step` answers `None` is skipped.
    pub fn walk<S: Copy>(&self, start: S, mut step: impl FnMut(S, u8) -> Option<S>, mut visit: impl FnMut(u32, S)) {
        let mut stack = vec![start; 64];
        let mut node = 1;
        while node < self.len() as u32 {
            let depth = self.depth[node as usize] as usize;
            let Some(to) = step(stack[depth - 1], self.byte[node as usize]) else {
                node = self.end[node as usize];
                continue;
            };
            if depth >= stack.len() {
                stack.resize(depth * 2, to);
            }
            stack[depth] = to;
            visit(node, to);
            node += 1;
        }
    }

    /// Bytes of this process's memory that the arrays occupy; none where they are mapped.
    pub fn memory_bytes(&self) -> usize {
        let wide = [&self.end, &self.tok_start, &self.toks];
        self.byte.memory_bytes() + self.depth.memory_bytes() + wide.iter().map(|s| s.memory_bytes()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
