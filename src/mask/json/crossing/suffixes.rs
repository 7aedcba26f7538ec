//! The suffixes of a vocabulary: what its tokens spell between the values of a document.
//!
//! A *suffix* begins where a value or key ends, or where none has begun: `",`, `}` and `]}` are suffixes, and so is
//! `:"` with the text behind it. All suffixes of all tokens form one small trie. Which of its nodes can be stepped from
//! a configuration is all that masks need to know about the configuration: crossing tokens are allowed if their suffix
//! is among these, and the tokens between values are suffixes themselves, perhaps behind whitespace.
//!
//! Suffixes that no document contains are left out. The test for that looks at what bytes may stand outside strings,
//! which is not all that JSON asks, so some suffixes are kept that never fit.

use crate::json::whitespace::is_whitespace;
use crate::mask::json::crossing::plausible::plausible;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

use crate::error::Result;
use crate::mask::json::crossing::signature_scope::SignatureScope;
use crate::mask::json::crossing::suffix_keys::KeyTexts;
use crate::mask::lexeme::lexeme_mask::{CrossingToken, CrossingTokens};
use crate::mask::row_patch::{RowPatch, patch};
use crate::vocab::{Trie, Vocabulary};

/// A bit for each node of the suffixes' trie: whether it can be stepped.
pub type SuffixSet = SmallVec<[u64; 8]>;

/// The suffixes of a vocabulary as a trie, and the tokens that consist of one.
pub struct SuffixTrie {
    /// All suffixes.
    pub trie: Trie,
    /// Whether a node and all below it are whitespace.
    pub(crate) blank: Box<[bool]>,
    /// The bits of the root and of those that come right behind it, and the first node that is none of them.
    pub(crate) first_blanks: (SuffixSet, u32),
    /// For closing brackets, and for nodes below a colon, where all nodes behind the end of a value there have one: the
    /// node that is spelled as the way from there on.
    pub(crate) alike: FxHashMap<u32, Box<[(u32, u32)]>>,
    /// The most whitespace at the end of a suffix.
    pub(crate) reach: u32,
    /// The suffixes of nothing but whitespace, the empty one among them, and the longest of these.
    pub(crate) spaces: (SuffixSet, u32),
    /// Tokens that begin with a bracket, a comma or a colon, or have whitespace in front of it.
    pub behind: Option<Arc<CrossingTokens>>,
    /// Tokens that begin with a quote, by what follows it as if the quote closed something.
    pub closing: Option<Arc<CrossingTokens>>,
    /// All tokens that begin with a quote.
    pub quoted: RowPatch,
    /// What tokens spell of keys.
    pub(crate) keys: KeyTexts,
    /// How far those behind a colon go into a value.
    pub(crate) insight: SignatureScope,
}

/// Whether each node and all below it are whitespace, and the most whitespace at the end of a suffix.
fn blanks(trie: &Trie) -> (Box<[bool]>, u32) {
    let mut blank = vec![false; trie.len()];
    let mut reach = vec![0u32; trie.len()];
    let mut most = 0;
    for node in (1..trie.len() as u32).rev() {
        let i = node as usize;
        blank[i] = is_whitespace(trie.byte[i]) && trie.children(node).all(|c| blank[c as usize]);
        if blank[i] {
            reach[i] = 1 + trie.children(node).map(|c| reach[c as usize]).max().unwrap_or(0);
            most = most.max(reach[i]);
        }
    }
    (blank.into(), most)
}

/// The suffixes of nothing but whitespace, and the longest of these.
fn spaces(trie: &Trie) -> (SuffixSet, u32) {
    let mut spaces: (SuffixSet, u32) = (smallvec::smallvec![0; trie.len().div_ceil(64)], 0);
    let mut node = 0;
    while node < trie.len() {
        let spelled = node == 0 || is_whitespace(trie.byte[node]);
        if spelled {
            spaces.0[node / 64] |= 1 << (node % 64);
            spaces.1 = spaces.1.max(u32::from(trie.depth[node]));
        }
        node = if spelled { node + 1 } else { trie.end[node] as usize };
    }
    spaces
}

/// For nodes that may end a value, the nodes behind the end and those that spell the same from the root on.
fn alike(trie: &Trie) -> FxHashMap<u32, Box<[(u32, u32)]>> {
    let mut alike = FxHashMap::default();
    let below_colon = trie.child(0, b':').map_or(0..0, |colon| colon + 1..trie.end[colon as usize]);
    let closing = [b'}', b']'].into_iter().filter_map(|byte| trie.child(0, byte));
    for node in below_colon.chain(closing) {
        let mut nodes = vec![0];
        let base = trie.depth[node as usize];
        let behind = trie.children(node).filter(|&c| crate::mask::lexeme::lexeme_mask::delimits(trie.byte[c as usize]));
        let found = behind.flat_map(|c| c..trie.end[c as usize]).map(|below| {
            nodes.truncate((trie.depth[below as usize] - base) as usize);
            let same = nodes.last().and_then(|&n| trie.child(n, trie.byte[below as usize]))?;
            nodes.push(same);
            Some((below, same))
        });
        if let Some(found) = found.collect() {
            alike.insert(node, found);
        }
    }
    alike
}

impl SuffixTrie {
    /// The suffixes of a vocabulary: one pass over its trie, and over the tokens that have some.
    pub fn from_vocabulary(vocabulary: &Vocabulary) -> Result<SuffixTrie> {
        let tokens = vocabulary.trie();
        let from = |id: u32, at: usize| vocabulary.token_bytes(id).and_then(|b| b.get(at..)).unwrap_or_default();

        let mut all: Vec<(&[u8], u32)> = vec![(b"", 0)];
        let (mut behind, mut closing, mut quoted) = (Vec::new(), Vec::new(), Vec::new());
        let mut quoting: Vec<&[u8]> = Vec::new();
        // By depth: whether something may end with the byte there, whether all bytes up to it are whitespace, and
        // whether one of them is a quote.
        let mut path = vec![(false, true, false)];
        for node in 1..tokens.len() as u32 {
            let (depth, b) = (tokens.depth[node as usize] as usize, tokens.byte[node as usize]);
            let (ends, blank, quotes) = path[depth - 1];
            path.truncate(depth);
            path.push((matches!(b, b'"' | b'0'..=b'9' | b'e' | b'l'), blank && is_whitespace(b), quotes || b == b'"'));
            if b == b'"' && !quotes {
                quoting.extend(tokens.subtree_tokens(node).iter().map(|&id| from(id, 0)));
            }
            let begins = blank && matches!(b, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
            if !(begins || ends && crate::mask::lexeme::lexeme_mask::delimits(b)) {
                continue;
            }
            for &id in tokens.subtree_tokens(node) {
                let rest = from(id, depth - 1);
                if !begins {
                    if plausible(rest) {
                        all.push((rest, 0));
                    }
                } else if b != b'"' {
                    if plausible(rest) {
                        all.push((rest, 0));
                        behind.push((rest, id));
                    }
                } else if depth == 1 {
                    quoted.push(id);
                    let rest = from(id, 1);
                    if rest.first().is_none_or(|&b| crate::mask::lexeme::lexeme_mask::delimits(b)) && plausible(rest) {
                        closing.push((rest, id));
                    }
                }
            }
        }
        let keys = KeyTexts::new(all.iter().map(|t| t.0), quoting.into_iter());
        let trie = Trie::build(&mut all)?;
        let (blank, reach) = blanks(&trie);
        let first = (1..trie.len()).find(|&node| !blank[node]).unwrap_or(trie.len());
        let mut first_blanks: (SuffixSet, u32) = (smallvec::smallvec![0; trie.len().div_ceil(64)], first as u32);
        (0..first).for_each(|node| first_blanks.0[node / 64] |= 1 << (node % 64));
        let cross = |tokens: Vec<(&[u8], u32)>| {
            let crossings: Box<[CrossingToken]> =
                tokens.iter().map(|t| CrossingToken { token: t.1, chars: 0 }).collect();
            let mut items: Vec<(&[u8], u32)> = tokens.iter().zip(0..).map(|(t, i)| (t.0, i)).collect();
            CrossingTokens::from_suffixes(&mut items, crossings, Vec::new())
        };
        Ok(SuffixTrie {
            insight: SignatureScope::from_suffixes(&trie),
            spaces: spaces(&trie),
            alike: alike(&trie),
            trie,
            blank,
            first_blanks,
            reach,
            behind: cross(behind),
            closing: cross(closing),
            quoted: patch(quoted),
            keys,
        })
    }

    /// Words of [`SuffixSet`].
    pub(crate) fn words(&self) -> usize {
        self.trie.len().div_ceil(64)
    }

    /// The bytes from the root to a node.
    pub fn spelled(&self, node: u32) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        while at != node {
            let Some(next) = self.trie.children(at).find(|&c| c <= node && node < self.trie.end[c as usize]) else {
                break;
            };
            out.push(self.trie.byte[next as usize]);
            at = next;
        }
        out
    }
}

#[cfg(test)]
mod tests;

/// Nodes of the suffixes' trie whose tokens are stepped whole.
pub(crate) type UnresolvedSuffixes = SmallVec<[u32; 2]>;

pub(crate) fn set(bits: &mut SuffixSet, node: u32) {
    bits[node as usize / 64] |= 1 << (node % 64);
}

/// Adds what follows a node to `bits` and `unresolved`, as far as `found` and `left` say of the same suffixes from the
/// root on.
pub(crate) fn add_alike(
    alike: &[(u32, u32)],
    (found, left): &(SuffixSet, UnresolvedSuffixes),
    bits: &mut SuffixSet,
    unresolved: &mut UnresolvedSuffixes,
) {
    for &(node, same) in alike {
        if found[same as usize / 64] >> (same % 64) & 1 == 1 {
            set(bits, node);
        }
        if left.contains(&same) {
            unresolved.push(node);
        }
    }
}
