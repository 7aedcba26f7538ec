//! SentencePiece models, and as much of protocol buffers as they need.
//!
//! A model is one message. Field 1 repeats the pieces in order of id (1: text, 2: score, 3: type), field 2 is how the
//! model was trained (it names the end piece), fields 3 and 5 are the normalizers for encoding and decoding. Scores
//! and encoding do not matter here. A space is written `▁` (U+2581) in every piece, and a piece of type byte is
//! `<0xNN>`.

use super::decoder::fallback_byte;
use super::{Table, malformed, unsupported};
use crate::error::Result;

/// The field numbers of `sentencepiece_model.proto` that are read.
mod field {
    pub(super) const PIECE: u64 = 1;
    pub(super) const TRAINER: u64 = 2;
    pub(super) const DENORMALIZER: u64 = 5;
    pub(super) const PIECE_TEXT: u64 = 1;
    pub(super) const PIECE_TYPE: u64 = 3;
    pub(super) const SPACE_AS_SUFFIX: u64 = 24;
    pub(super) const END_PIECE: u64 = 47;
    pub(super) const CHARACTER_MAP: u64 = 2;
}

/// The value of one field.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
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
            5 => self.take(4).map(|_| Value::Other)?,
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

/// Reads a model.
pub(super) fn read(data: &[u8]) -> Result<Table> {
    let mut table = Table::default();
    let mut controls: Vec<(u32, &[u8])> = Vec::new();
    let mut end_piece: &[u8] = b"</s>";
    for part in Fields(data) {
        match part.ok_or_else(|| broken("message"))? {
            (field::PIECE, Value::Bytes(piece)) => {
                let id = table.tokens.len() as u64;
                let (text, kind) = piece_fields(piece).ok_or_else(|| broken("piece"))?;
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

/// Text and type of a piece; the type is 1, normal, unless it is given.
fn piece_fields(piece: &[u8]) -> Option<(&[u8], u64)> {
    let (mut text, mut kind): (&[u8], u64) = (b"", 1);
    for part in Fields(piece) {
        match part? {
            (field::PIECE_TEXT, Value::Bytes(bytes)) => text = bytes,
            (field::PIECE_TYPE, Value::Number(number)) => kind = number,
            _ => {}
        }
    }
    Some((text, kind))
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
