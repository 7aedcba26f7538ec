//! What lies below each node of the vocabulary's trie, as far as a state can let all of it pass.
//!
//! For every node: the characters with which the tokens below go on, as [`CharGroups`], and the most bytes of one of
//! them. Where these characters are a [`Slice`](crate::expr::analysis::slice::Slice) of a state, every token below the
//! node passes, and a walk need not go down. A node is taken to end between two characters; a state that is inside of
//! one has no slice.

use std::ops::Range;

use crate::expr::analysis::char_groups::{CharGroups, PartialChar};
use crate::vocab::Trie;

/// For each node of the vocabulary's trie, the characters and the most bytes with which the tokens below go on.
pub struct SubtreeSummaries {
    groups: Box<[CharGroups]>,
    height: Box<[u16]>,
    firsts: Box<[FirstChar]>,
    most: Option<LongestRun>,
}

/// A child of the root.
#[derive(Clone, Copy)]
pub struct FirstChar {
    /// The byte that leads to it.
    pub byte: u8,
    /// The number of tokens that begin with the byte.
    pub tokens: u32,
}

/// The tokens that begin with the byte that most do, a space as a rule.
pub struct LongestRun {
    /// Where they lie in the trie's order.
    pub places: Range<u32>,
    /// Their bits, up to the last one.
    pub row: Box<[u32]>,
}

impl LongestRun {
    fn find(trie: &Trie) -> Option<LongestRun> {
        let node = trie.children(0).max_by_key(|&node| trie.subtree_tokens(node).len())?;
        let tokens = trie.subtree_tokens(node);
        let words = tokens.iter().max().map_or(0, |&t| t as usize / 32 + 1);
        let mut row = vec![0u32; words];
        tokens.iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
        Some(LongestRun { places: trie.subtree_places(node), row: row.into() })
    }
}

impl SubtreeSummaries {
    /// What lies below the nodes of `trie`: two passes over it.
    pub fn from_trie(trie: &Trie) -> Self {
        let n = trie.len();
        // First what each node adds to those above it.
        let mut groups: Box<[CharGroups]> = vec![0; n].into();
        let mut places: Vec<PartialChar> = vec![PartialChar::default()];
        let mut deepest = 0;
        for node in 1..n {
            let depth = trie.depth[node] as usize;
            deepest = deepest.max(depth);
            let (place, group) = places[depth - 1].after(trie.byte[node]);
            places.truncate(depth);
            places.push(place);
            // Most places are between two characters.
            let ends = place != PartialChar::default() && !trie.tokens(node as u32).is_empty();
            groups[node] = group | if ends { place.partial() } else { 0 };
        }
        let mut height: Box<[u16]> = vec![0; n].into();
        // Of the children that were met already, by depth: what they and all below them consist of.
        let mut open: Vec<(CharGroups, u16)> = vec![(0, 0); deepest + 2];
        for node in (0..n).rev() {
            let depth = trie.depth[node] as usize;
            let below = std::mem::take(&mut open[depth + 1]);
            let own = &mut open[depth];
            own.0 |= below.0 | groups[node];
            own.1 = own.1.max(below.1 + 1);
            (groups[node], height[node]) = below;
        }
        let first =
            |node: u32| FirstChar { byte: trie.byte[node as usize], tokens: trie.subtree_tokens(node).len() as u32 };
        SubtreeSummaries { groups, height, firsts: trie.children(0).map(first).collect(), most: LongestRun::find(trie) }
    }

    /// The tokens that begin with the most frequent first byte; none in an empty trie.
    pub fn most(&self) -> Option<&LongestRun> {
        self.most.as_ref()
    }

    /// The children of the root, side by side: in the trie they lie far apart.
    pub fn firsts(&self) -> &[FirstChar] {
        &self.firsts
    }

    /// The characters below a node, and the longest way down in bytes.
    #[inline]
    pub fn below(&self, node: u32) -> (CharGroups, u32) {
        (self.groups[node as usize], u32::from(self.height[node as usize]))
    }
}
