//! Segments: what tokens spell in the next terminal behind a node of a trie.
//!
//! Which tokens stay in the terminals that begin at a node, and at which nodes below it these may end, belongs to the
//! state of the scanner at the boundary alone. The parser decides which state that is, and what may come behind an end:
//! it is asked once for each end, and not at each node. So a mask of a stack that was never met joins known segments
//! (`segment_walk`).

use std::sync::Arc;

use crate::mask::lexeme::lexeme_mask::TokenSet;
use crate::pushdown::grammar::scanner::{ObligationsId, ScanStateId};
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::SEGMENTS;

/// Which trie: the vocabulary's, one behind an exit, or one that is not told from others.
pub(super) type TrieId = u32;
/// The vocabulary's.
pub(super) const VOCABULARY: TrieId = 0;
/// One of which nothing is kept.
pub(super) const UNIDENTIFIED: TrieId = u32::MAX;

/// Where a segment begins: a node of a trie, the least size of the subtrees that it has, and the state of the scanner.
pub(super) type Beginning = (TrieId, u32, u32, ScanStateId);

/// Segments by where they begin; none where nothing may come.
pub(super) type Segments = BoundedCache<Beginning, Option<Arc<Segment>>, SEGMENTS>;

/// Nodes at which a terminal may end and something may follow.
pub(super) struct SegmentEnd {
    pub(super) terminal: u32,
    pub(super) obligations: ObligationsId,
    pub(super) nodes: Box<[u32]>,
}

/// What tokens spell in the terminals that begin at a node.
pub(super) struct Segment {
    /// Those that stay inside.
    pub(super) inner: TokenSet,
    /// The states that the scanner comes into at nodes that were looked at.
    pub(super) states: Box<[ScanStateId]>,
    /// Where terminals may end, in small subtrees.
    pub(super) ends: Box<[SegmentEnd]>,
    /// The roots of large subtrees, by the state of the scanner.
    pub(super) inside: Box<[(ScanStateId, Box<[u32]>)]>,
    /// Nodes at which a newline terminal begins, which depend on columns: with their bytes.
    pub(super) newlines: Box<[(u32, u8)]>,
}

impl Segment {
    /// Nothing may come next.
    pub(super) fn is_empty(&self) -> bool {
        let has_inner = !matches!(&self.inner, TokenSet::Sparse(tokens) if tokens.is_empty());
        !has_inner && self.ends.is_empty() && self.inside.is_empty() && self.newlines.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let ends: usize = self.ends.iter().map(|end| end.nodes.len() * 4 + 24).sum();
        let inside: usize = self.inside.iter().map(|(_, nodes)| nodes.len() * 4 + 24).sum();
        self.inner.bytes() + self.states.len() * 4 + ends + inside + self.newlines.len() * 8 + 104
    }
}
