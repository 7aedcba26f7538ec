//! SentencePiece models, and as much of protocol buffers as they need.
//!
//! A model is one message. Field 1 repeats the pieces in order of id (1: text, 2: score, 3: type), field 2 is how the
//! model was trained (it names the end piece), fields 3 and 5 are the normalizers for encoding and decoding. Scores
//! say how a model encodes, see [`model`]. A space is written `▁` (U+2581) in every piece, and a piece of type byte is
//! `<0xNN>`.

use crate::error::Result;
use crate::vocab::load::decoder::fallback_byte;
use crate::vocab::load::{TokenizerTable, malformed, unsupported};
use crate::vocab::{ModelParts, SENTENCEPIECE, UNIGRAM};

/// The field numbers of `sentencepiece_model.proto` that are read.
mod field {
    pub(super) const PIECE: u64 = 1;
    pub(super) const TRAINER: u64 = 2;
    pub(super) const NORMALIZER: u64 = 3;
    pub(super) const DENORMALIZER: u64 = 5;
    pub(super) const PIECE_TEXT: u64 = 1;
    pub(super) const PIECE_SCORE: u64 = 2;
    pub(super) const PIECE_TYPE: u64 = 3;
    pub(super) const ALGORITHM: u64 = 3;
    pub(super) const SPACE_AS_SUFFIX: u64 = 24;
    pub(super) const END_PIECE: u64 = 47;
    pub(super) const CHARACTER_MAP: u64 = 2;
    pub(super) const JOINS_SPACES: u64 = 4;
    pub(super) const MARKS_SPACES: u64 = 5;
}

/// The value of one field.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Four bytes.
    Bits(u32),
    /// A fixed-width number, never needed.
    Other,
}

/// The fields of a message in order; an item is `None`, and the last, where the message is malformed.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, len: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => self.take(8).map(|_| Value::Other)?,
            2 => {
                let len = self.number()?;
                Value::Bytes(self.take(len)?)
            }
            5 => Value::Bits(u32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            _ => return None,
        };
        (tag >> 3 != 0).then_some((tag >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn broken(what: &str) -> crate::error::Error {
    malformed(format!("a SentencePiece model whose {what} is malformed"))
}

/// Whether the data starts with a piece that has a text.
pub(super) fn recognises(data: &[u8]) -> bool {
    let Some(Some((field::PIECE, Value::Bytes(piece)))) = Fields(data).next() else { return false };
    matches!(Fields(piece).next(), Some(Some((field::PIECE_TEXT, Value::Bytes(_)))))
}

/// How a model encodes; `None` for what is neither BPE nor unigram, for one that rewrites text, and where pieces are
/// unused. BPE joins the neighbours whose piece has the highest score; unigram looks for the highest sum. User-defined
/// pieces are taken out of a text first.
pub(super) fn model(data: &[u8]) -> Option<ModelParts> {
    let (mut pieces, mut settings) = (ModelPieces::default(), ModelSettings::default());
    for part in Fields(data) {
        match part? {
            (field::PIECE, Value::Bytes(piece)) => pieces.add(piece)?,
            (field::TRAINER, Value::Bytes(trainer)) => settings.read_trainer(trainer)?,
            (field::NORMALIZER, Value::Bytes(normalizer)) => settings.read_normalizer(normalizer)?,
            _ => {}
        }
    }
    let ModelPieces { scored, bytes, added, .. } = pieces;
    if settings.changes_text() || scored.iter().any(|p| p.0.is_nan()) {
        return None;
    }
    match settings.algorithm {
        1 => {
            let (ranks, ids) = scored.into_iter().map(|(score, id)| (score.to_bits(), id)).unzip();
            Some(ModelParts { pattern: UNIGRAM.to_owned(), ids, ranks, added, ..ModelParts::default() })
        }
        2 => {
            let (ranks, ids) = ranked(scored);
            Some(ModelParts { pattern: SENTENCEPIECE.to_owned(), ids, ranks, bytes, added, ..ModelParts::default() })
        }
        _ => None,
    }
}

/// Ranks and ids by falling score; equal scores have one rank.
fn ranked(mut scored: Vec<(f32, u32)>) -> (Vec<u32>, Vec<u32>) {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut rank = 0;
    let mut ranks = Vec::with_capacity(scored.len());
    for (i, piece) in scored.iter().enumerate() {
        rank += u32::from(i > 0 && scored.get(i - 1).is_some_and(|before| before.0 != piece.0));
        ranks.push(rank);
    }
    (ranks, scored.into_iter().map(|p| p.1).collect())
}

/// The pieces of a model by what they are for.
#[derive(Default)]
struct ModelPieces {
    /// Ordinary ones, with their scores.
    scored: Vec<(f32, u32)>,
    /// Those of single bytes, in the order of the bytes.
    bytes: Vec<u32>,
    /// Those that a user has defined.
    added: Vec<u32>,
    count: u32,
}

impl ModelPieces {
    /// The next piece; `None` for one of an unknown kind.
    fn add(&mut self, piece: &[u8]) -> Option<()> {
        let id = self.count;
        match piece_fields(piece)? {
            (_, 1, score) => self.scored.push((score, id)),
            (text, 6, _) => {
                let byte = std::str::from_utf8(text).ok().and_then(fallback_byte)?;
                if usize::from(byte) != self.bytes.len() {
                    return None;
                }
                self.bytes.push(id);
            }
            (_, 4, _) => self.added.push(id),
            (_, 2 | 3, _) => {}
            _ => return None,
        }
        self.count += 1;
        Some(())
    }
}

/// How a model was trained, and what it does to a text first.
struct ModelSettings {
    algorithm: u64,
    space_as_suffix: bool,
    joins_spaces: bool,
    marks_spaces: bool,
    rewrites: bool,
}

impl Default for ModelSettings {
    /// What holds where a model says nothing.
    fn default() -> Self {
        ModelSettings { algorithm: 1, space_as_suffix: false, joins_spaces: true, marks_spaces: true, rewrites: false }
    }
}

impl ModelSettings {
    fn read_trainer(&mut self, trainer: &[u8]) -> Option<()> {
        for part in Fields(trainer) {
            match part? {
                (field::ALGORITHM, Value::Number(n)) => self.algorithm = n,
                (field::SPACE_AS_SUFFIX, Value::Number(n)) => self.space_as_suffix = n != 0,
                _ => {}
            }
        }
        Some(())
    }

    fn read_normalizer(&mut self, normalizer: &[u8]) -> Option<()> {
        for part in Fields(normalizer) {
            match part? {
                (field::CHARACTER_MAP, Value::Bytes(map)) => self.rewrites = !map.is_empty(),
                (field::JOINS_SPACES, Value::Number(n)) => self.joins_spaces = n != 0,
                (field::MARKS_SPACES, Value::Number(n)) => self.marks_spaces = n != 0,
                _ => {}
            }
        }
        Some(())
    }

    /// Whether a text is more than marked at its spaces.
    fn changes_text(&self) -> bool {
        self.space_as_suffix || self.joins_spaces || !self.marks_spaces || self.rewrites
    }
}

/// Reads a model.
pub(super) fn read(data: &[u8]) -> Result<TokenizerTable> {
    let mut table = TokenizerTable { model: model(data), ..TokenizerTable::default() };
    let mut controls: Vec<(u32, &[u8])> = Vec::new();
    let mut end_piece: &[u8] = b"</s>";
    for part in Fields(data) {
        match part.ok_or_else(|| broken("message"))? {
            (field::PIECE, Value::Bytes(piece)) => {
                let id = table.tokens.len() as u64;
                let (text, kind, _) = piece_fields(piece).ok_or_else(|| broken("piece"))?;
                let bytes = match kind {
                    // Normal, user-defined and unused pieces spell their text.
                    1 | 4 | 5 => spaced(text),
                    2 | 3 => text.to_vec(),
                    6 => match std::str::from_utf8(text).ok().and_then(fallback_byte) {
                        Some(byte) => vec![byte],
                        None => return Err(broken("byte piece")),
                    },
                    _ => return Err(malformed(format!("the piece {id} has the unknown type {kind}"))),
                };
                let id = table.set(id, bytes)?;
                if matches!(kind, 2 | 3) {
                    table.special.insert(id);
                }
                if kind == 3 {
                    controls.push((id, text));
                }
            }
            (field::TRAINER, Value::Bytes(trainer)) => {
                for part in Fields(trainer) {
                    match part.ok_or_else(|| broken("training part"))? {
                        (field::END_PIECE, Value::Bytes(text)) => end_piece = text,
                        (field::SPACE_AS_SUFFIX, Value::Number(1..)) => {
                            return Err(unsupported("a SentencePiece model that writes spaces after words"));
                        }
                        _ => {}
                    }
                }
            }
            (field::DENORMALIZER, Value::Bytes(normalizer)) => {
                for part in Fields(normalizer) {
                    if let (field::CHARACTER_MAP, Value::Bytes([_, ..])) = part.ok_or_else(|| broken("normalizer"))? {
                        return Err(unsupported("a SentencePiece model that rewrites text after decoding"));
                    }
                }
            }
            _ => {}
        }
    }
    table.eos = controls.iter().filter(|(_, text)| *text == end_piece).map(|&(id, _)| id).collect();
    Ok(table)
}

/// Text, type and score of a piece; the type is 1, normal, unless it is given.
fn piece_fields(piece: &[u8]) -> Option<(&[u8], u64, f32)> {
    let (mut text, mut kind, mut score): (&[u8], u64, f32) = (b"", 1, 0.0);
    for part in Fields(piece) {
        match part? {
            (field::PIECE_TEXT, Value::Bytes(bytes)) => text = bytes,
            (field::PIECE_TYPE, Value::Number(number)) => kind = number,
            (field::PIECE_SCORE, Value::Bits(bits)) => score = f32::from_bits(bits),
            _ => {}
        }
    }
    Some((text, kind, score))
}

/// `text` with each `▁` as a space.
pub(super) fn spaced(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    while let Some((&first, rest)) = text.split_first() {
        match text.strip_prefix("▁".as_bytes()) {
            Some(after) => {
                out.push(b' ');
                text = after;
            }
            None => {
                out.push(first);
                text = rest;
            }
        }
    }
    out
}
