//! A model of the tokenizer: its own way to spell a text, where it is BPE or a unigram model of a known kind.
//!
//! A vocabulary may hold a [`TokenizerModel`]: the merges, the pattern that cuts text into pieces, and the added
//! tokens. It says which tokens the tokenizer makes of a text, and which of them stay whatever text follows. It takes
//! no part in the vocabulary's fingerprint, for no mask depends on it. A tokenizer that is anything else (a normaliser
//! other than NFC, a pattern that is not known) has no model.
//!
//! There are three kinds. *Byte-level* BPE cuts text by a pattern and merges bytes. *Sentencepiece* BPE merges the
//! characters of a whole text, in which a space is a character like others; a character that is no token is spelled by
//! tokens of bytes. Its text is cut where no token spans (`safe_cuts`). The space that it writes in front of a whole
//! text does not count: an output continues a text. *Unigram* models of sentencepiece cut their text at the same
//! places, and spell each part by scores (`unigram`).
//!
//! A prefix of a text's tokens is what merging makes of the text that they spell: no merge crossed their end, and the
//! merges before it came in the same order. So of a piece that goes on in an unknown way, the tokens are those of one
//! of its prefixes, up to the first token that passes the end of what is known.
//!
//! **Added tokens** are taken out of a text before anything else. Where one might begin, the known text ends. **NFC**
//! changes neither ASCII nor the characters of `COMPOSED`, none of which is a mark, so with it the known text ends at
//! the first other character, and before a last one that an unknown mark might still combine with.

mod bpe;
pub(crate) mod model_parts;
pub(crate) mod pretokenize;
pub(crate) mod safe_cuts;
pub(crate) mod unigram;

use rustc_hash::FxHashMap;

use crate::vocab::Vocabulary;
use crate::vocab::tokenizer::model_parts::{ModelParts, SENTENCEPIECE, UNIGRAM};
use crate::vocab::tokenizer::pretokenize::Splitter;
use crate::vocab::tokenizer::safe_cuts::SafeCuts;
use crate::vocab::tokenizer::unigram::Unigram;

/// Characters that normal form C leaves alone and that no character before them combines with.
const COMPOSED: [(char, char); 12] = [
    ('\0', '\u{2FF}'),
    ('\u{388}', '\u{3FF}'),
    ('\u{400}', '\u{482}'),
    ('\u{48A}', '\u{52F}'),
    ('\u{2010}', '\u{2027}'),
    ('\u{2030}', '\u{205E}'),
    ('\u{20A0}', '\u{20C0}'),
    ('\u{3000}', '\u{3029}'),
    ('\u{3041}', '\u{3096}'),
    ('\u{30A1}', '\u{30FA}'),
    ('\u{4E00}', '\u{9FFF}'),
    ('\u{1F300}', '\u{1FAFF}'),
];

/// What may follow a text that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextText {
    /// Nothing: the text is complete.
    Nothing,
    /// ASCII characters, or nothing.
    Ascii,
    /// Anything.
    Any,
}

/// A text cut into pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Where the certain pieces end, in order.
    pub ends: Vec<usize>,
    /// Whether what follows them is, to the end of the text, known to be cut by the pattern alone.
    pub known: bool,
}

/// What cuts text into pieces.
#[derive(Debug)]
enum Cuts {
    Pattern(Box<Splitter>),
    Pairs(SafeCuts),
}

/// How a tokenizer encodes text: which tokens it makes, and which of them stay whatever follows.
#[derive(Debug)]
pub struct TokenizerModel {
    parts: ModelParts,
    cuts: Cuts,
    /// Token and rank.
    by_bytes: FxHashMap<Box<[u8]>, (u32, u32)>,
    by_pair: FxHashMap<(u32, u32), (u32, u32)>,
    unigram: Option<Unigram>,
    added: Vec<Box<[u8]>>,
    /// The bytes that some added token begins with.
    begins: Box<[bool; 256]>,
}

impl TokenizerModel {
    /// The model that `parts` makes; `None` if its pattern is not known, it names an id without text, or two with the
    /// same.
    pub(super) fn new(vocabulary: &Vocabulary, parts: &ModelParts) -> Option<TokenizerModel> {
        let text = |&id: &u32| vocabulary.token_bytes(id).filter(|bytes| !bytes.is_empty());
        let ranked = parts.ids.iter().enumerate();
        let ranked = ranked.map(|(i, id)| Some((text(id)?.into(), (*id, *parts.ranks.get(i).unwrap_or(id)))));
        let by_bytes: FxHashMap<Box<[u8]>, (u32, u32)> = ranked.collect::<Option<_>>()?;
        let cuts = match parts.pattern.as_str() {
            SENTENCEPIECE | UNIGRAM => Cuts::Pairs(SafeCuts::from_tokens(by_bytes.keys().map(|text| &**text))),
            pattern => Cuts::Pattern(Box::new(Splitter::new(pattern)?)),
        };
        let scores = by_bytes.iter().map(|(bytes, &(_, bits))| (bytes.len(), f32::from_bits(bits)));
        let unigram = if parts.pattern == UNIGRAM { Some(Unigram::from_pieces(scores)?) } else { None };
        let fallback = [0, 256].contains(&parts.bytes.len()) && parts.bytes.iter().all(|id| text(id).is_some());
        if by_bytes.len() < parts.ids.len() || !fallback {
            return None;
        }
        let merges = parts.merges.iter().flatten().zip(0..);
        let mut by_pair = FxHashMap::default();
        for (&[left, right, merged], rank) in merges {
            by_pair.insert((left, right), (rank, merged));
        }
        let added: Vec<Box<[u8]>> = parts.added.iter().map(|id| Some(text(id)?.into())).collect::<Option<_>>()?;
        let mut begins = Box::new([false; 256]);
        added.iter().filter_map(|content| content.first()).for_each(|&byte| begins[usize::from(byte)] = true);
        Some(TokenizerModel { parts: parts.clone(), cuts, by_bytes, by_pair, unigram, added, begins })
    }

    /// What made this model.
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// Texts of more bytes are not known, counted from their start or from a special token on.
    pub fn max_text(&self) -> usize {
        if self.unigram.is_some() { unigram::MAX_BYTES } else { usize::MAX }
    }

    /// Whether `id` is taken out of a text before it is cut into pieces, so that a fresh piece follows it.
    pub fn is_added(&self, id: u32) -> bool {
        self.parts.added.contains(&id)
    }

    /// Bytes that the tables occupy, about.
    pub fn memory_bytes(&self) -> usize {
        let parts = 4 * self.parts.ids.len() + 12 * self.parts.merges.as_ref().map_or(0, Vec::len);
        let pairs = if let Cuts::Pairs(pairs) = &self.cuts { pairs.memory_bytes() } else { 0 };
        parts + pairs + self.by_bytes.keys().map(|k| k.len() + 32).sum::<usize>() + 20 * self.by_pair.capacity()
    }

    /// The certain pieces of `text`.
    pub fn pieces(&self, text: &[u8], next: NextText) -> Cut {
        let (known, complete) = self.known(text, next);
        let ends = match &self.cuts {
            Cuts::Pattern(splitter) => splitter.certain(known, complete),
            Cuts::Pairs(pairs) => pairs.certain(known, complete),
        };
        Cut { ends, known: known.len() == text.len() }
    }

    /// The tokens of the pieces of `text` that end at `ends`, and whether that is all of them: a piece that is too long
    /// has none.
    pub fn encode(&self, text: &[u8], ends: &[usize]) -> (Vec<u32>, bool) {
        let mut out = Vec::new();
        let mut from = 0;
        for &end in ends {
            let Some(tokens) = text.get(from..end).and_then(|piece| self.piece(piece)) else { return (out, false) };
            out.extend(tokens);
            from = end;
        }
        (out, true)
    }

    /// Whether the piece that begins with `open`, of which no piece is certain, may end inside of it.
    pub fn may_shrink(&self, open: &[u8]) -> bool {
        match (&self.cuts, std::str::from_utf8(open)) {
            (Cuts::Pattern(splitter), Ok(open)) => splitter.may_shrink(open),
            _ => false,
        }
    }

    /// Whether a token that is no part of a character may end at `at` in a text.
    pub fn may_end(&self, text: &[u8], at: usize) -> bool {
        match self.cuts {
            Cuts::Pattern(_) => true,
            Cuts::Pairs(_) => text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80),
        }
    }

    /// Whether merging makes the token `id`, whose text is `bytes`.
    pub fn makes(&self, id: u32, bytes: &[u8]) -> bool {
        self.by_bytes.get(bytes).is_some_and(|found| found.0 == id)
    }

    /// Whether a piece that is a token is that token, whatever merging makes of it.
    pub fn takes_whole(&self) -> bool {
        self.parts.whole
    }

    /// Whether an ASCII character may become another one by what follows it, in the way that normal form C does.
    pub fn may_compose(&self, byte: u8) -> bool {
        self.parts.nfc && (byte.is_ascii_alphabetic() || matches!(byte, b'<' | b'=' | b'>'))
    }

    /// Whether text is brought into normal form C.
    pub fn composes(&self) -> bool {
        self.parts.nfc
    }

    /// How much of `text` is certain to be cut by the pattern alone, and whether that is a complete text.
    fn known<'a>(&self, text: &'a [u8], next: NextText) -> (&'a str, bool) {
        let complete = next == NextText::Nothing;
        let valid = match std::str::from_utf8(text) {
            Ok(valid) => valid,
            Err(e) => text.get(..e.valid_up_to()).and_then(|t| std::str::from_utf8(t).ok()).unwrap_or_default(),
        };
        let mut end = match &self.cuts {
            Cuts::Pattern(splitter) => splitter.settled(valid),
            // What stands for a space would be taken for one.
            Cuts::Pairs(_) => valid.find(['\u{2581}', '\0']).unwrap_or(valid.len()),
        };
        if self.parts.nfc {
            let stays = |c: char| COMPOSED.iter().any(|&(lo, hi)| (lo..=hi).contains(&c));
            end = end.min(valid.find(|c| !stays(c)).unwrap_or(end));
        }
        if let Some(at) = self.added_from(text, complete) {
            end = end.min(at);
        }
        // An added token begins at a character, so this is one too; if it were not, nothing would be known.
        let known = valid.get(..end).unwrap_or_default();
        let all = known.len() == text.len();
        let settled = all && next != NextText::Any || !self.parts.nfc;
        let combines = |c: char| !c.is_ascii() || self.may_compose(c as u8);
        match known.chars().next_back().filter(|&c| combines(c)) {
            Some(last) if !settled => (known.get(..known.len() - last.len_utf8()).unwrap_or_default(), false),
            _ => (known, complete && all),
        }
    }

    /// Where the first added token begins, or may yet begin.
    fn added_from(&self, text: &[u8], complete: bool) -> Option<usize> {
        let begins = |at: &usize| text.get(*at).is_some_and(|&byte| self.begins[usize::from(byte)]);
        (0..text.len()).filter(begins).find(|&at| {
            let rest = text.get(at..).unwrap_or_default();
            self.added.iter().any(|content| rest.starts_with(content) || !complete && content.starts_with(rest))
        })
    }
}

#[cfg(test)]
mod tests;
