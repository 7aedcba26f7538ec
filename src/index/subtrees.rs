//! What lies below each node of the vocabulary's trie, as far as a state can let all of it pass.
//!
//! For every node: which bytes the tokens below it go on with, by [`Groups`], and how many at most. Where a state is
//! [`Free`](crate::automaton::free::Free) in these, a walk need not go down.

use crate::automaton::free::{Groups, group_of};
use crate::vocab::Trie;

/// See the module's story.
pub struct Subtrees {
    groups: Box<[Groups]>,
    height: Box<[u16]>,
}

impl Subtrees {
    /// What lies below the nodes of `trie`: one pass over it.
    pub fn of(trie: &Trie) -> Self {
        let n = trie.len();
        let (mut groups, mut height) = (vec![0; n].into_boxed_slice(), vec![0; n].into_boxed_slice());
        // Of the children that were met already, by depth: what they and all below them consist of.
        let mut open: Vec<(Groups, u16)> = vec![(0, 0); 2];
        for node in (0..n).rev() {
            let depth = trie.depth[node] as usize;
            if open.len() < depth + 2 {
                open.resize(depth + 2, (0, 0));
            }
            let below = std::mem::take(&mut open[depth + 1]);
            (groups[node], height[node]) = below;
            let own = &mut open[depth];
            own.0 |= below.0 | group_of(trie.byte[node]);
            own.1 = own.1.max(below.1 + 1);
        }
        Subtrees { groups, height }
    }

    /// The bytes below a node, and the longest way down.
    #[inline]
    pub fn below(&self, node: u32) -> (Groups, u32) {
        (self.groups[node as usize], u32::from(self.height[node as usize]))
    }
}
