//! JSON documents over vocabularies that lack tokens of single bytes.
//!
//! Guards decide byte by byte what a document may still become, so every way on must be a way of tokens. That holds
//! where all bytes are tokens. Where some are missing, documents are narrowed until it holds again:
//!
//! * Numbers and the words `null`, `true` and `false` contain only bytes that are tokens; so does whitespace that must
//!   stand somewhere. Arrays, objects and strings exist as far as their brackets, commas, colons and quotes do.
//! * Where all parts of the escape `\uXXXX` are tokens, the escape spells any character between two others, so text
//!   stays as it is. A token may end inside a character only if every byte that can continue one is a token.
//! * Without that escape, text contains only bytes that are tokens, and none is escaped.
//!
//! Tokens of several bytes stay allowed wherever they lead to a configuration from which single bytes lead on.
//!
//! `docs/internals/missing-bytes.md` has an example.

use crate::expr::{Alphabet, ByteSet};
use crate::json::string_escape::EscapeUse;
use crate::json::whitespace::WhitespaceRule;
use crate::vocab::Vocabulary;

/// How documents are narrowed over a vocabulary in which some bytes are no tokens.
pub struct ByteCoverage {
    single: ByteSet,
    escapes: bool,
    /// A token may end inside a character.
    sequences: bool,
    /// A bit for each token that no document may contain, where there is one.
    refused: Option<Box<[u32]>>,
}

/// Whether some JSON document contains the byte.
fn is_json(b: u8) -> bool {
    matches!(b, b'\t' | b'\n' | b'\r' | 0x20..=0xBF | 0xC2..=0xF4)
}

/// What stands behind the backslash in the short escape of a byte.
fn short_escape(b: u8) -> Option<u8> {
    Some(match b {
        b'"' | b'\\' => b,
        8 => b'b',
        9 => b't',
        10 => b'n',
        12 => b'f',
        13 => b'r',
        _ => return None,
    })
}

/// Whether `bytes` end inside a UTF-8 sequence.
fn ends_inside(bytes: &[u8]) -> bool {
    let trailing = bytes.iter().rev().take_while(|&&b| b & 0xC0 == 0x80).count();
    let lead = bytes.len().checked_sub(trailing + 1).map(|i| bytes[i]);
    let follow = match lead {
        Some(0xC0..=0xDF) => 1,
        Some(0xE0..=0xEF) => 2,
        Some(0xF0..=0xFF) => 3,
        // A token of continuation bytes only: it may end the sequence or not.
        None => return trailing > 0,
        Some(_) => 0,
    };
    trailing < follow
}

impl ByteCoverage {
    /// What narrows documents over `vocabulary`, or `None` where nothing does: every byte of JSON is a token.
    pub fn from_vocabulary(vocabulary: &Vocabulary, single: &ByteSet) -> Option<ByteCoverage> {
        if (0..=255u8).all(|b| single[b as usize] || !is_json(b)) {
            return None;
        }
        let one = |b: u8| single[b as usize];
        let hex = (0..10u8).all(|d| one(b'0' + d)) && (0..6u8).all(|d| one(b'a' + d) || one(b'A' + d));
        let escapes = one(b'\\') && one(b'u') && hex;
        let sequences = !escapes || (0x80..=0xBF).all(one);
        let mut row = vec![0u32; vocabulary.words()];
        let mut any = false;
        for &t in vocabulary.trie().subtree_tokens(0) {
            let bytes = vocabulary.token_bytes(t).unwrap_or_default();
            let refused = if escapes { !sequences && ends_inside(bytes) } else { bytes.contains(&b'\\') };
            if refused {
                row[t as usize >> 5] |= 1 << (t & 31);
                any = true;
            }
        }
        Some(ByteCoverage { single: *single, escapes, sequences, refused: any.then(|| row.into()) })
    }

    /// Whether no document may contain the token.
    pub fn refuses(&self, token: u32) -> bool {
        self.refused.as_ref().is_some_and(|r| r.get(token as usize >> 5).is_some_and(|w| w >> (token & 31) & 1 == 1))
    }

    /// Takes the refused tokens out of a row.
    pub fn filter(&self, row: &mut [u32]) {
        if let Some(refused) = &self.refused {
            row.iter_mut().zip(refused.iter()).for_each(|(w, r)| *w &= !r);
        }
    }

    /// Whether some token is refused everywhere.
    pub fn refuses_any(&self) -> bool {
        self.refused.is_some()
    }

    /// A text as a JSON string that single bytes spell: plain where they can, escaped elsewhere. The text must be one
    /// that the [`alphabet`](Self::alphabet) allows.
    pub fn written(&self, text: &str) -> Vec<u8> {
        let one = |b: u8| self.single[b as usize];
        let mut out = vec![b'"'];
        for c in text.chars() {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            let plain = bytes.iter().all(|&b| self.is_plain(b));
            if plain && (c.is_ascii() || self.sequences) || !self.escapes {
                out.extend_from_slice(bytes);
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                for digit in format!("{unit:04x}").bytes() {
                    out.push(if one(digit) { digit } else { digit.to_ascii_uppercase() });
                }
            }
        }
        out.push(b'"');
        out
    }

    /// What can be written with these gaps and escapes in strings. Gaps that demand whitespace are narrowed to
    /// whitespace that is there.
    pub fn alphabet(&self, gaps: &mut [WhitespaceRule; 3], escapes: EscapeUse) -> Alphabet {
        let one = |b: u8| self.single[b as usize];
        let mut possible = [true; 3];
        for (gap, possible) in gaps.iter_mut().zip(&mut possible) {
            match gap.within(|b| self.single[b as usize]) {
                Some(g) => *gap = g,
                None => (*gap, *possible) = (WhitespaceRule::none(), false),
            }
        }
        let [_, before, after] = possible;
        let strings = one(b'"');
        let several = one(b',') && after;
        let many = if several { u64::MAX } else { 1 };
        let members = if strings && one(b':') && after { many } else { 0 };
        let needed = escapes == EscapeUse::Needed;
        let plain: ByteSet = std::array::from_fn(|b| self.spells_in_string(b as u8, needed));
        let text = match (self.escapes, needed) {
            (false, _) => Some(std::array::from_fn(|b| self.is_plain(b as u8))),
            (true, true) => Some(plain),
            (true, false) => None,
        };
        Alphabet {
            raw: self.single,
            plain,
            text,
            strings,
            elements: (one(b'[') && one(b']') && before).then_some(many),
            members: (one(b'{') && one(b'}') && before).then_some(members),
        }
    }

    /// Whether a byte can stand in a string as it is.
    fn is_plain(&self, b: u8) -> bool {
        self.single[b as usize] && b >= 0x20 && b != b'"' && b != b'\\'
    }

    /// Whether a byte of a text can be spelled in a string, plain or escaped. Where escapes stand for what `needed` one
    /// only, nothing beyond ASCII is escaped.
    fn spells_in_string(&self, b: u8, needed: bool) -> bool {
        let one = |b: u8| self.single[b as usize];
        let digits = || self.escapes && (b'a'..=b'f').all(one);
        // What has a short escape has no other one.
        if let Some(letter) = short_escape(b) {
            return self.escapes && one(letter);
        }
        match b {
            0..0x20 => digits(),
            0x80.. => digits() && !needed || self.sequences && one(b),
            _ => one(b),
        }
    }

    /// Says which bytes are missing, for reports and errors.
    pub fn missing(&self) -> String {
        let missing: Vec<u8> = (0..=255u8).filter(|&b| is_json(b) && !self.single[b as usize]).collect();
        let mut parts: Vec<String> = Vec::new();
        let mut i = 0;
        while i < missing.len() {
            let first = missing[i];
            while i + 1 < missing.len() && missing[i + 1] == missing[i] + 1 {
                i += 1;
            }
            let name = |b: u8| if b.is_ascii_graphic() { format!("{:?}", b as char) } else { format!("0x{b:02x}") };
            parts.push(if first == missing[i] {
                name(first)
            } else {
                format!("{} to {}", name(first), name(missing[i]))
            });
            i += 1;
        }
        format!("the vocabulary has no tokens of these single bytes: {}", parts.join(", "))
    }
}
