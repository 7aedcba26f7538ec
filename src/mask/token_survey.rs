//! What the tokens of a vocabulary look like, found in passes over its trie.
//!
//! Tokens that begin alike share nodes, and nodes lie in the order of a walk, so what holds of the bytes before a node
//! is kept by depth. The bytes of a token are looked up only where the token is listed.

use crate::expr::ByteSet;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::json::whitespace::is_whitespace;
use crate::vocab::{Trie, Vocabulary};

/// Tokens that count as long: few enough to be stepped one by one.
const LONG_TOKENS: usize = 4_000;

/// Bytes from some place of a token on, and its id.
pub(crate) type TokenSuffix<'v> = (&'v [u8], u32);

/// What the tokens of a vocabulary look like, as passes over its trie find it.
pub(crate) struct Survey<'v> {
    /// How far one token can drive a loop.
    pub reach: TokenReach,
    /// The bytes that are tokens of their own.
    pub single: ByteSet,
    /// Tokens of whitespace only: length and id, in the order of the trie.
    pub blanks: Vec<(u32, u32)>,
    /// Tokens that begin with whitespace, by what follows, where that can begin or end something in JSON.
    pub suffixes: Vec<TokenSuffix<'v>>,
    /// The longest run of whitespace in front of a suffix.
    pub blank_reach: u32,
    /// Tokens that contain a quote.
    pub quoted: Vec<TokenSuffix<'v>>,
    /// A length, and the tokens that are longer: at most [`LONG_TOKENS`].
    pub long: (u32, Vec<TokenSuffix<'v>>),
}

/// What holds of the bytes before a place.
#[derive(Clone, Copy)]
struct ByteContext {
    /// The digits, and the bytes of a word, that end there.
    digits: u32,
    word: u32,
    quoted: bool,
    blank: bool,
}

impl<'v> Survey<'v> {
    /// Three passes over the nodes of the trie.
    pub(crate) fn new(vocabulary: &'v Vocabulary) -> Self {
        let trie = vocabulary.trie();
        let bytes_of = |id: u32| vocabulary.token_bytes(id).unwrap_or_default();
        let mut out = Survey {
            reach: TokenReach { digits: 1, word: 1, any: 1 },
            single: [false; 256],
            blanks: Vec::new(),
            suffixes: Vec::new(),
            blank_reach: 0,
            quoted: Vec::new(),
            long: (1, Vec::new()),
        };
        let mut path = vec![ByteContext { digits: 0, word: 0, quoted: false, blank: true }];
        // How many tokens have each length.
        let mut lengths: Vec<usize> = vec![0];
        for node in 1..trie.len() as u32 {
            let (depth, b) = (trie.depth[node as usize] as usize, trie.byte[node as usize]);
            let before = path[depth - 1];
            let here = ByteContext {
                digits: if b.is_ascii_digit() { before.digits + 1 } else { 0 },
                word: if b.is_ascii_alphanumeric() || b == b'_' { before.word + 1 } else { 0 },
                quoted: before.quoted || b == b'"',
                blank: before.blank && is_whitespace(b),
            };
            match path.get_mut(depth) {
                Some(slot) => *slot = here,
                None => {
                    path.push(here);
                    lengths.push(0);
                }
            }
            out.reach.digits = out.reach.digits.max(here.digits);
            out.reach.word = out.reach.word.max(here.word);
            let tokens = trie.tokens(node);
            lengths[depth] += tokens.len();
            if depth == 1 {
                out.single[b as usize] = !tokens.is_empty();
            }
            if here.quoted {
                out.quoted.extend(tokens.iter().map(|&id| (bytes_of(id), id)));
            }
            if here.blank {
                out.blanks.extend(tokens.iter().map(|&id| (depth as u32, id)));
            } else if before.blank && depth > 1 && begins_or_ends(b) {
                let run = depth - 1;
                let below = trie.subtree_tokens(node).iter();
                out.suffixes.extend(below.map(|&id| (bytes_of(id).get(run..).unwrap_or_default(), id)));
                out.blank_reach = out.blank_reach.max(run as u32);
            }
        }
        out.reach.any = out.reach.any.max(lengths.len() as u32 - 1);
        out.long = long(trie, &lengths, bytes_of);
        out
    }
}

/// Whether something in JSON begins or ends with a byte.
fn begins_or_ends(b: u8) -> bool {
    matches!(b, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

/// The longest tokens, and a length that they all exceed. `lengths` says how many tokens have each length.
fn long<'v>(trie: &Trie, lengths: &[usize], bytes_of: impl Fn(u32) -> &'v [u8]) -> (u32, Vec<TokenSuffix<'v>>) {
    let mut longer = 0;
    let reached = lengths.iter().rposition(|&tokens| {
        longer += tokens;
        longer > LONG_TOKENS
    });
    let least = reached.unwrap_or(0).max(1);
    let nodes = (0u32..).zip(trie.depth.iter()).filter(|(_, depth)| usize::from(**depth) > least);
    let tokens = nodes.flat_map(|(node, _)| trie.tokens(node));
    (least as u32, tokens.map(|&id| (bytes_of(id), id)).collect())
}
