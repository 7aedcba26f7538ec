//! Postings lists: which tokens hold characters of a group, and at which trie nodes they first do.
//!
//! The tokens over a set of characters are all tokens but those that hold a character outside of it, so they need no
//! walk. A row of bits, or a list, is kept of each group's tokens. Rows of eight and of thirty-two neighbouring groups
//! are kept too, since sets lack groups side by side (all capital letters, everything beyond ASCII). So some dozens of
//! rows and lists are taken out of the row of any text.
//!
//! A token that leaves a set does so at a node of the trie where a group is met for the first time. These nodes are
//! kept by group as well, with the kinds of characters above them: the tokens that leave by one of a state's few groups
//! are found without a walk, too.
//!
//! Where a set is a slice of a state for a few characters only, as before the `o` of `www.onvif`, tokens go on behind
//! these with the few bytes that are read there. The nodes at which first characters of tokens end are kept by the byte
//! with which they go on and the byte before it: most states that read the second letter of a word do so behind the
//! first. What leads to such a node is kept beside it, because reading it off tokens would look at four places of
//! memory for each.

use std::sync::Arc;

use crate::expr::ByteSet;
use crate::expr::analysis::char_groups::{CharGroups, PartialChar, group_of, specials_of};
use crate::mask::lexeme::lexeme_mask::TokenSet;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::CHARACTER_ROWS;
use crate::vocab::{Trie, Vocabulary};

/// Which tokens of a vocabulary hold characters of a group, and the trie nodes at which they first do.
pub struct CharPostings {
    /// The tokens by group, then by eight and by thirty-two groups.
    tokens: Vec<TokenSet>,
    /// The nodes at which a path first meets a group.
    heads: Vec<Heads>,
    /// By a number of characters, less one, and a byte: the nodes that go on with the byte behind so many characters.
    behind: Vec<PostingsBehind>,
    /// The first bytes that lead to each node, the first one on top.
    paths: Box<[u64]>,
    /// Tokens over sets, by the set and whether they are written as they are.
    pub(crate) rows: BoundedCache<(CharGroups, bool), Arc<[u32]>, CHARACTER_ROWS>,
}

/// Nodes in the trie's order, and the [kinds](kind) of what stands above them.
#[derive(Default)]
struct Heads {
    nodes: Vec<u32>,
    above: Vec<u8>,
}

/// Nodes in the trie's order, and the byte that leads to what stands above each.
#[derive(Clone, Default)]
struct PostingsBehind {
    nodes: Vec<u32>,
    before: Vec<u8>,
}

/// Bytes that go on, and the bytes that may stand right before them.
pub struct PostingFollow {
    pub bytes: Vec<u8>,
    pub before: ByteSet,
}

/// Bytes of paths that are kept.
pub(crate) const PATH: usize = 8;

/// How many groups there are, those that are none included.
const GROUPS: usize = CharGroups::BITS as usize;
/// Neighbours that share a row.
const BLOCKS: [usize; 2] = [8, 32];
/// Characters behind which nodes are kept.
const FEW_CHARS: usize = 24;

/// What a group counts as where only a rough answer is asked for.
fn kind(group: usize) -> u8 {
    match group as u8 + 0x20 {
        b' ' => 1,
        b'A'..=b'Z' => 2,
        b'a'..=b'z' => 4,
        b'0'..=b'9' => 8,
        b'-' | b'_' => 16,
        0x80..0x84 => 64,
        0x84.. => 128,
        _ => 32,
    }
}

/// The bits of a set.
fn bits(mut groups: CharGroups) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (groups != 0).then(|| groups.trailing_zeros() as usize)?;
        groups &= groups - 1;
        Some(next)
    })
}

fn kinds(groups: CharGroups) -> u8 {
    bits(groups).fold(0, |all, g| all | kind(g))
}

impl CharPostings {
    /// The postings of a vocabulary: a pass over its trie, and one over the tokens below each head.
    pub fn from_vocabulary(vocabulary: &Vocabulary) -> Self {
        let trie = vocabulary.trie();
        let mut heads: Vec<Heads> = (0..GROUPS).map(|_| Heads::default()).collect();
        let mut behind = vec![PostingsBehind::default(); FEW_CHARS * 256];
        // The groups and the characters so far, by depth.
        let mut path: Vec<(PartialChar, CharGroups, usize)> = vec![Default::default()];
        let mut paths = vec![0u64; trie.len()];
        // The node at each depth.
        let mut above_it: Vec<u32> = vec![0];
        for node in 1..trie.len() as u32 {
            let depth = usize::from(trie.depth[node as usize]);
            let byte = trie.byte[node as usize];
            let (place, above, chars) = path[depth - 1];
            let (place, group) = place.after(byte);
            let own = group | place.partial();
            let begins = byte & 0xC0 != 0x80;
            path.truncate(depth);
            path.push((place, above | own, chars + usize::from(begins)));
            let own_byte = if depth <= PATH { u64::from(byte) << (8 * (PATH - depth)) } else { 0 };
            paths[node as usize] = paths[above_it[depth - 1] as usize] | own_byte;
            above_it.truncate(depth);
            above_it.push(node);
            if begins && (1..=FEW_CHARS).contains(&chars) {
                let behind = &mut behind[(chars - 1) << 8 | usize::from(byte)];
                behind.nodes.push(node);
                behind.before.push(trie.byte[above_it[depth - 1] as usize]);
            }
            if own & !above != 0 {
                let stands = kinds(above);
                for g in bits(own & !above) {
                    heads[g].nodes.push(node);
                    heads[g].above.push(stands);
                }
            }
        }
        let words = vocabulary.words();
        let of = |heads: &Heads| {
            let mut row = vec![0u32; words];
            for &t in heads.nodes.iter().flat_map(|&node| trie.subtree_tokens(node)) {
                row[t as usize >> 5] |= 1 << (t & 31);
            }
            TokenSet::of_row(row.into())
        };
        let mut tokens: Vec<TokenSet> = heads.iter().map(of).collect();
        // Each block's row is that of the smaller blocks in it, which stand together.
        let (mut from, mut smaller) = (0, 1);
        for size in BLOCKS {
            let parts = from..tokens.len();
            from = parts.end;
            for first in parts.step_by(size / smaller) {
                let mut row = vec![0u32; words];
                tokens[first..first + size / smaller].iter().for_each(|held| held.or_into(&mut row));
                tokens.push(TokenSet::of_row(row.into()));
            }
            smaller = size;
        }
        CharPostings { tokens, heads, behind, paths: paths.into(), rows: BoundedCache::default() }
    }

    /// The bytes that lead from the root to a node; `room` is for those of short paths.
    #[inline]
    pub fn path<'v>(&self, vocabulary: &'v Vocabulary, trie: &Trie, node: u32, room: &'v mut [u8; PATH]) -> &'v [u8] {
        let depth = usize::from(trie.depth[node as usize]);
        if depth > PATH {
            return spelled(vocabulary, trie, node);
        }
        *room = self.paths[node as usize].to_be_bytes();
        &room[..depth]
    }

    /// The tokens of `any` over `set`; `raw` tells the two rows of any text apart.
    pub fn over(&self, any: &Arc<[u32]>, set: CharGroups, raw: bool) -> Arc<[u32]> {
        let key = (set, raw);
        self.rows.get(&key).unwrap_or_else(|| {
            let mut row: Arc<[u32]> = Arc::from(&any[..]);
            self.take_out(Arc::make_mut(&mut row), !set);
            self.rows.keep(key, row.clone(), row.len() * 4 + 64);
            row
        })
    }

    fn take_out(&self, row: &mut [u32], groups: CharGroups) {
        let [small, big] = BLOCKS;
        let whole = |g: usize, size: usize| {
            let mask = ((1 << size) - 1) << g;
            groups & mask == mask
        };
        let mut g = 0;
        while g < GROUPS {
            let (held, size) = match g {
                _ if g % big == 0 && whole(g, big) => (GROUPS + GROUPS / small + g / big, big),
                _ if g % small == 0 && whole(g, small) => (GROUPS + g / small, small),
                _ => (g, 1),
            };
            if size > 1 || groups >> g & 1 == 1 {
                self.tokens[held].take_out(row);
            }
            g += size;
        }
    }

    /// The nodes that go on behind `chars` characters with a byte that follows the one before it, in the trie's order.
    /// `None` where they are too many, or not kept.
    pub fn behind(&self, chars: u32, follows: &[PostingFollow]) -> Option<Vec<u32>> {
        /// Nodes that are looked at, and that are found, at most.
        const MOST_NODES: (usize, usize) = (16_000, 4_000);
        let first = (chars as usize).checked_sub(1).filter(|first| *first < FEW_CHARS)?;
        let lists = || {
            let all = follows.iter().flat_map(|follow| follow.bytes.iter().map(move |&b| (b, &follow.before)));
            all.map(|(b, before)| (&self.behind[first << 8 | usize::from(b)], before))
        };
        if lists().map(|(list, _)| list.nodes.len()).sum::<usize>() > MOST_NODES.0 {
            return None;
        }
        let mut nodes: Vec<u32> = Vec::new();
        for (list, before) in lists() {
            let follow = list.nodes.iter().zip(&list.before).filter(|&(_, &b)| before[usize::from(b)]);
            nodes.extend(follow.map(|(&node, _)| node));
        }
        // Lists that are sorted: the stable sort merges them.
        nodes.sort();
        (nodes.len() <= MOST_NODES.1).then_some(nodes)
    }

    /// Nodes at which a path that was over `set` meets one of `groups`, none of which is in it; some of the paths may
    /// have left the set before, and no node is missing. `None` where too many would have to be looked at.
    pub fn exits(&self, vocabulary: &Vocabulary, set: CharGroups, groups: CharGroups) -> Option<Vec<u32>> {
        /// Nodes that are looked at.
        const MOST_NODES: usize = 40_000;
        /// Paths that are looked at byte by byte.
        const MOST_PATHS: usize = 4_000;
        let heads = || bits(groups).map(|g| &self.heads[g]);
        if heads().map(|h| h.nodes.len()).sum::<usize>() > MOST_NODES {
            return None;
        }
        // Kinds of which all, and of which none, are in the set.
        let (lacking, having) = (kinds(!set), kinds(set));
        // A byte may begin letters and characters of other groups, of which one in the set is enough.
        let inside: [bool; 256] = std::array::from_fn(|b| match group_of(b as u8) | specials_of(b as u8) {
            0 => true,
            groups => groups & set != 0,
        });
        let trie = vocabulary.trie();
        let over = |node: u32| {
            let mut room = [0; PATH];
            let (_, above) = self.path(vocabulary, trie, node, &mut room).split_last().unwrap_or((&0, &[]));
            above.iter().all(|&b| inside[usize::from(b)])
        };
        let mut paths = 0;
        let mut out = Vec::new();
        for h in heads() {
            for (&node, &stands) in h.nodes.iter().zip(&h.above) {
                if stands & !having != 0 {
                    continue;
                }
                if stands & lacking != 0 {
                    paths += 1;
                    if paths > MOST_PATHS {
                        return None;
                    }
                    if !over(node) {
                        continue;
                    }
                }
                out.push(node);
            }
        }
        // Lists that are sorted: the stable sort merges them.
        out.sort();
        out.dedup();
        Some(out)
    }
}

/// The bytes that lead from the root to a node.
fn spelled<'v>(vocabulary: &'v Vocabulary, trie: &Trie, node: u32) -> &'v [u8] {
    let token = trie.subtree_tokens(node).first().and_then(|&t| vocabulary.token_bytes(t));
    token.and_then(|bytes| bytes.get(..usize::from(trie.depth[node as usize]))).unwrap_or_default()
}

#[cfg(test)]
mod tests;
