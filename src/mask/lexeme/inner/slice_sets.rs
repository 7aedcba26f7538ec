//! Known sets of characters, each with the tokens over it and the nodes at which other tokens leave it; and tokens by
//! their length.

use crate::expr::analysis::char_groups::{CharGroups, LETTERS, PartialChar, groups_in};
use crate::mask::lexeme::inner::token_ranges::TokenRanges;
use crate::mask::lexeme::subtree_summary::SubtreeSummaries;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::CHARACTER_SETS;
use crate::vocab::{Trie, Vocabulary};
use std::sync::Arc;

/// What one set of characters makes of the vocabulary's trie below a node.
pub struct SliceSet {
    /// The tokens over the set, as ranges in the trie's order, text or not.
    pub(super) ranges: TokenRanges,
    pub(super) exits: Box<[SliceExitPoint]>,
    /// What exits spell, each but for what it has in common with the one before.
    pub(super) spelled: Box<[u8]>,
    /// No token over the set has more bytes.
    pub(super) height: u32,
}

/// A node whose byte leaves the set.
pub(crate) struct SliceExitPoint {
    pub(super) node: u32,
    /// Bytes in common with the exit before.
    pub(super) common: u16,
    /// Its bytes end here in `spelled`.
    pub(super) end: u32,
}

impl SliceSet {
    pub(super) fn new(trie: &Trie, subtrees: &SubtreeSummaries, top: u32, groups: CharGroups) -> SliceSet {
        let base = trie.depth[top as usize];
        let mut ranges = TokenRanges::default();
        let mut places = vec![PartialChar::default(); 2];
        let mut path: Vec<u8> = Vec::new();
        let (mut exits, mut spelled) = (Vec::new(), Vec::new());
        let (mut common, mut height) = (0, 0);
        let end = trie.end[top as usize];
        let mut i = top + 1;
        while i < end {
            let depth = (trie.depth[i as usize] - base) as usize;
            let byte = trie.byte[i as usize];
            common = common.min(depth - 1);
            path.truncate(depth - 1);
            path.push(byte);
            let (place, group) = places[depth - 1].after(byte);
            let past = trie.end[i as usize];
            if (group | place.partial()) & !groups != 0 {
                spelled.extend_from_slice(&path[common..]);
                // No token has more bytes than 16 bits count.
                exits.push(SliceExitPoint { node: i, common: common as u16, end: spelled.len() as u32 });
                common = depth;
                i = past;
                continue;
            }
            // Beginnings count as well. Those of letters count as letters, of others what lies below says nothing.
            let (below, more) = subtrees.below(i);
            if below & !(groups & LETTERS) == 0 {
                ranges.push(trie.subtree_places(i));
                height = height.max(depth as u32 + more);
                i = past;
                continue;
            }
            if !trie.tokens(i).is_empty() {
                ranges.push(trie.places(i));
                height = height.max(depth as u32);
            }
            if places.len() <= depth {
                places.resize(depth + 1, place);
            }
            places[depth] = place;
            i += 1;
        }
        SliceSet { ranges, exits: exits.into(), spelled: spelled.into(), height }
    }

    fn memory_bytes(&self) -> usize {
        self.ranges.0.len() * 8 + self.exits.len() * 12 + self.spelled.len() + 256
    }
}

/// The sets of one vocabulary.
#[derive(Default)]
pub struct SliceSets(pub(crate) BoundedCache<(u32, CharGroups), Arc<SliceSet>, CHARACTER_SETS>);

impl SliceSets {
    /// What `groups` make of the trie below `top`, where it is the start of a character.
    pub(super) fn get(&self, trie: &Trie, subtrees: &SubtreeSummaries, top: u32, groups: CharGroups) -> Arc<SliceSet> {
        let key = (top, groups);
        self.0.get(&key).unwrap_or_else(|| {
            let made = Arc::new(SliceSet::new(trie, subtrees, top, groups));
            self.0.keep(key, made.clone(), made.memory_bytes());
            made
        })
    }
}

/// Tokens by their number of code points.
pub struct ByLength {
    /// By a number of code points, the tokens that have more.
    rows: Vec<Box<[u32]>>,
    /// The tokens that have more than rows tell, with how many they have, longest first.
    long: Box<[(u32, u32)]>,
    /// Tokens of many bytes, longest first.
    bytes: Box<[LongToken]>,
}

/// A token of many bytes, and what is asked about it for each state that has a count.
pub(crate) struct LongToken {
    pub token: u32,
    pub bytes: u32,
    /// The number of code points of the token.
    pub chars: u32,
    /// The groups of its characters.
    pub groups: CharGroups,
}

impl ByLength {
    /// The tokens of a vocabulary; few have more than `short` bytes.
    pub fn from_vocabulary(vocabulary: &Vocabulary, short: u32) -> Self {
        /// Rows at most.
        const MOST_ROWS: u32 = 24;
        let rows = short.min(MOST_ROWS);
        let mut rows = vec![vec![0u32; vocabulary.words()].into_boxed_slice(); rows as usize];
        let (mut long, mut bytes): (Vec<(u32, u32)>, Vec<LongToken>) = Default::default();
        for &t in vocabulary.trie().subtree_tokens(0) {
            let Some(token) = vocabulary.token_bytes(t) else { continue };
            let n = token.iter().filter(|&b| b & 0xC0 != 0x80).count() as u32;
            if token.len() as u32 > short {
                bytes.push(LongToken { token: t, bytes: token.len() as u32, chars: n, groups: groups_in(token) });
            }
            let short = rows.len() as u32;
            if let Some(row) = rows.get_mut((n.min(short) as usize).wrapping_sub(1)) {
                row[t as usize >> 5] |= 1 << (t & 31);
            }
            if n > short {
                long.push((n, t));
            }
        }
        for k in (1..rows.len()).rev() {
            let (shorter, longer) = rows.split_at_mut(k);
            shorter[k - 1].iter_mut().zip(&longer[0]).for_each(|(w, m)| *w |= m);
        }
        long.sort_unstable_by_key(|&(n, t)| (std::cmp::Reverse(n), t));
        bytes.sort_unstable_by_key(|long| (std::cmp::Reverse(long.bytes), long.token));
        ByLength { rows, long: long.into(), bytes: bytes.into() }
    }

    /// The tokens of more than `len` bytes, which is no less than what few tokens have more than.
    pub(super) fn beyond_bytes(&self, len: u32) -> &[LongToken] {
        &self.bytes[..self.bytes.partition_point(|long| long.bytes > len)]
    }

    /// The tokens of more than `len` code points; `None` where a row tells them.
    pub(super) fn beyond(&self, len: u32) -> Option<&[(u32, u32)]> {
        let listed = len as usize >= self.rows.len();
        listed.then(|| &self.long[..self.long.partition_point(|t| t.0 > len)])
    }

    /// Takes the tokens of more than `len` code points out of a row.
    pub(super) fn cut(&self, row: &mut [u32], len: u32) {
        match self.rows.get(len as usize) {
            Some(longer) => row.iter_mut().zip(longer).for_each(|(w, m)| *w &= !m),
            None => self.beyond(len).into_iter().flatten().for_each(|&(_, t)| row[t as usize >> 5] &= !(1 << (t & 31))),
        }
    }
}
