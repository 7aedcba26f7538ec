//! What the tokens of a vocabulary can open, close or leave, found once.
//!
//! A token budget bounds what one token can open by the brackets that it has. Tokens of whole characters without a
//! *mark* (a quote or a backslash) stay inside the text in which they begin; all others are listed here.

use std::sync::OnceLock;

use crate::vocab::{Trie, Vocabulary};

/// Characters of a token that are counted.
pub const MAX_LENGTH: usize = 40;

/// What the tokens of a vocabulary can open, and which may leave a text.
pub struct StructuralTokens {
    /// The most brackets that one token opens.
    pub opens: usize,
    /// The most colons behind keys that one token has.
    pub colons: usize,
    /// Bytes of the longest token.
    pub longest: usize,
    /// Tokens with a quote or a backslash, and those that are not whole characters; `None` if there are too many of
    /// them for a trie.
    pub text: Option<MarkedText>,
    /// A bit for each token of nothing but whitespace: the words of a row that have some, and these bits.
    pub blank: Box<[(u32, u32)]>,
    /// A bit for each node of the vocabulary's trie: between characters, with nothing but plain ones below.
    plain: Box<[u64]>,
}

/// The tokens that are no plain text.
pub struct MarkedText {
    /// All of them.
    pub whole: Trie,
    /// The same from their first mark on, or from the first byte that is no whole character.
    pub from_mark: Trie,
    /// A bit for each other token.
    pub plain: Box<[u32]>,
    /// A bit for each token with a quote.
    pub quoted: Box<[u32]>,
    /// The other tokens by length, made on first use: those of at least 2 characters, of at least 3, and so on.
    lengths: OnceLock<Box<[Box<[u32]>]>>,
}

impl MarkedText {
    fn new(vocabulary: &Vocabulary, mut text: Vec<(&[u8], u32)>) -> Option<MarkedText> {
        let mut plain: Box<[u32]> = vec![u32::MAX; vocabulary.words()].into();
        text.iter().for_each(|&(_, t)| plain[t as usize >> 5] &= !(1 << (t & 31)));
        let mut quoted: Box<[u32]> = vec![0; vocabulary.words()].into();
        let with_quote = text.iter().filter(|(bytes, _)| bytes.contains(&b'"'));
        with_quote.for_each(|&(_, t)| quoted[t as usize >> 5] |= 1 << (t & 31));
        let mut marks: Vec<(&[u8], u32)> = text.iter().map(|&(bytes, t)| (&bytes[mark(bytes)..], t)).collect();
        let whole = Trie::build(&mut text).ok()?;
        Some(MarkedText { whole, from_mark: Trie::build(&mut marks).ok()?, plain, quoted, lengths: OnceLock::new() })
    }

    /// Takes the plain tokens out of a row whose number of characters does not fit.
    pub fn keep_lengths(&self, vocabulary: &Vocabulary, row: &mut [u32], fits: impl Fn(usize) -> bool) {
        let lengths = self.lengths.get_or_init(|| self.find_lengths(vocabulary));
        let at_least = |length: usize| if length == 1 { &self.plain } else { &lengths[length - 2] };
        // Tokens of the greatest length and beyond fit if all such lengths do, and are too much otherwise.
        let most = lengths.len() + 1;
        let longest = fits(most) && fits(usize::MAX);
        let mut kept: Box<[u32]> = if longest { at_least(most).clone() } else { vec![0; row.len()].into() };
        for length in (1..most).filter(|&length| fits(length)) {
            let (these, longer) = (at_least(length), at_least(length + 1));
            kept.iter_mut().zip(these).zip(longer).for_each(|((kept, these), longer)| *kept |= these & !longer);
        }
        row.iter_mut().zip(kept).for_each(|(word, kept)| *word &= kept);
    }

    fn find_lengths(&self, vocabulary: &Vocabulary) -> Box<[Box<[u32]>]> {
        let mut lengths: Vec<Box<[u32]>> = Vec::new();
        for id in 0..vocabulary.len() as u32 {
            let Some(bytes) = vocabulary.spelling(id) else { continue };
            if self.plain[id as usize >> 5] >> (id & 31) & 1 == 0 {
                continue;
            }
            let chars = bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count().min(MAX_LENGTH);
            while lengths.len() + 1 < chars {
                lengths.push(vec![0; self.plain.len()].into());
            }
            for row in &mut lengths[..chars.saturating_sub(1)] {
                row[id as usize >> 5] |= 1 << (id & 31);
            }
        }
        lengths.into()
    }
}

/// Where the first mark of a token is, or the first byte that is no whole character.
fn mark(bytes: &[u8]) -> usize {
    let (mut missing, mut whole) = (0, 0);
    for (at, &b) in bytes.iter().enumerate() {
        missing = missing_after(missing, b);
        if is_mark(b) || missing == BROKEN {
            break;
        }
        if missing == 0 {
            whole = at + 1;
        }
    }
    whole
}

/// How many bytes of a character are missing.
type MissingBytes = u8;
/// The bytes are no text.
pub const BROKEN: MissingBytes = u8::MAX;

/// What is missing of a character after one more byte.
pub fn missing_after(missing: MissingBytes, byte: u8) -> MissingBytes {
    match (missing, byte) {
        (0, 0..0x80) => 0,
        (0, 0xC2..=0xDF) => 1,
        (0, 0xE0..=0xEF) => 2,
        (0, 0xF0..=0xF4) => 3,
        (1..=3, 0x80..0xC0) => missing - 1,
        _ => BROKEN,
    }
}

fn is_mark(byte: u8) -> bool {
    b"\"\\".contains(&byte)
}

impl StructuralTokens {
    /// The lists of a vocabulary.
    pub fn from_vocabulary(vocabulary: &Vocabulary) -> StructuralTokens {
        let (mut opens, mut colons, mut longest, mut text) = (0, 0, 1, Vec::new());
        let mut blank: Vec<(u32, u32)> = Vec::new();
        for id in 0..vocabulary.len() as u32 {
            let Some(bytes) = vocabulary.spelling(id) else { continue };
            opens = opens.max(most_opens(bytes));
            longest = longest.max(bytes.len());
            colons = colons.max(key_colons(bytes));
            if !bytes.is_empty() && bytes.iter().all(|b| b" \t\n\r".contains(b)) {
                match blank.last_mut() {
                    Some((word, bits)) if *word == id >> 5 => *bits |= 1 << (id & 31),
                    _ => blank.push((id >> 5, 1 << (id & 31))),
                }
            }
            if bytes.iter().any(|&b| is_mark(b)) || bytes.iter().fold(0, |m, &b| missing_after(m, b)) != 0 {
                text.push((bytes, id));
            }
        }
        let plain = plain_below(vocabulary.trie());
        StructuralTokens { opens, colons, longest, text: MarkedText::new(vocabulary, text), blank: blank.into(), plain }
    }

    /// Whether a node of the vocabulary's trie lies between characters, and every token below it goes on from there
    /// with whole characters that are neither quotes nor backslashes.
    pub fn is_plain_below(&self, node: u32) -> bool {
        self.plain[node as usize / 64] >> (node % 64) & 1 == 1
    }
}

/// How many brackets a token opens at most. Behind a brace that opens an object no other can open, so such a one is
/// text.
fn most_opens(bytes: &[u8]) -> usize {
    let (mut opens, mut brace) = (0, false);
    for &b in bytes {
        match b {
            b'{' => {
                opens += usize::from(!brace);
                brace = true;
            }
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => {
                opens += usize::from(b == b'[');
                brace = false;
            }
        }
    }
    opens
}

/// How many colons of a token may stand behind keys: behind a quote, or where the token begins.
fn key_colons(bytes: &[u8]) -> usize {
    let (mut colons, mut behind_key) = (0, true);
    for &b in bytes {
        match b {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => {
                colons += usize::from(b == b':' && behind_key);
                behind_key = b == b'"';
            }
        }
    }
    colons
}

fn plain_below(trie: &Trie) -> Box<[u64]> {
    let nodes = trie.len();
    let mut missing: Vec<MissingBytes> = vec![0; nodes];
    let mut parent: Vec<u32> = vec![0; nodes];
    let mut way: Vec<u32> = vec![0];
    for node in 1..nodes {
        way.truncate(usize::from(trie.depth[node]));
        let above = way.last().copied().unwrap_or(0);
        (parent[node], missing[node]) = (above, missing_after(missing[above as usize], trie.byte[node]));
        way.push(node as u32);
    }
    let mut plain: Box<[u64]> = vec![u64::MAX; nodes.div_ceil(64)].into();
    // Children lie behind their parents.
    let mut below = vec![true; nodes];
    for node in (1..nodes).rev() {
        let ends = trie.tokens(node as u32).is_empty() || missing[node] == 0;
        if is_mark(trie.byte[node]) || missing[node] == BROKEN || !ends || !below[node] {
            below[parent[node] as usize] = false;
        }
    }
    for node in (0..nodes).filter(|&node| missing[node] != 0 || !below[node]) {
        plain[node / 64] &= !(1 << (node % 64));
    }
    plain
}

#[cfg(test)]
mod tests;
