//! The tokenizer in the head of a GGUF file, llama.cpp's model format.
//!
//! After the magic: version, number of tensors, number of metadata entries, then the entries, each a key, a type and a
//! value, all little-endian. Only the entries `tokenizer.ggml.*` are kept; the tensors behind them are never read.
//!
//! `tokenizer.ggml.model` says how the text of a normal token is written: `gpt2` in byte-level letters; `llama`, `t5`
//! (SentencePiece) and `gemma4` with `▁` for a space. User-defined tokens are written as they are. Other models
//! (`bert`, `rwkv`) are refused, and so is a `gpt2` whose pre-tokenizer is one of the few that write `▁` as well.
//!
//! A normal token of a byte-level model may hold characters that stand for no byte (Command R has 37). No text
//! encodes to it, and decoders disagree about it, so it gets no text.

use std::io::Read;

use crate::error::Result;
use crate::vocab::MAX_SIZE;
use crate::vocab::load::decoder::fallback_byte;
use crate::vocab::load::sentencepiece::spaced;
use crate::vocab::load::{TokenizerTable, byte_level, malformed, unsupported};

/// The first bytes of a GGUF file.
pub(super) const MAGIC: &[u8] = b"GGUF";

/// The longest string of the metadata that is believed, in bytes. Chat templates have some 20 KB.
const MAX_STRING: u64 = 16 << 20;
/// Metadata entries and list elements that are believed. Merges are the longest lists, a few per token.
const MAX_ITEMS: u64 = 16 * MAX_SIZE as u64;

struct GgufReader<R> {
    input: R,
}

/// What the keys `tokenizer.ggml.*` hold.
#[derive(Default)]
struct GgufFields {
    model: Option<Vec<u8>>,
    pre: Vec<u8>,
    tokens: Option<Vec<Vec<u8>>>,
    types: Option<Vec<u64>>,
    eos: Vec<u32>,
}

impl<R: Read> GgufReader<R> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|e| malformed(format!("a GGUF file that ends in its head: {e}")))?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn string(&mut self) -> Result<Vec<u8>> {
        let len = self.u64()?;
        if len > MAX_STRING {
            return Err(malformed(format!("a GGUF file with a string of {len} bytes in its head")));
        }
        let mut text = Vec::new();
        // Reading up to `len` bytes grows the buffer with what is there, not with what is announced.
        self.input.by_ref().take(len).read_to_end(&mut text).map_err(|e| malformed(e.to_string()))?;
        if (text.len() as u64) < len { Err(malformed("a GGUF file that ends in its head")) } else { Ok(text) }
    }

    /// Passes over `len` bytes.
    fn pass(&mut self, len: u64) -> Result<()> {
        let passed = std::io::copy(&mut self.input.by_ref().take(len), &mut std::io::sink());
        match passed {
            Ok(n) if n == len => Ok(()),
            _ => Err(malformed("a GGUF file that ends in its head")),
        }
    }

    /// A whole number of type `kind`; a negative one becomes a large one, which no id is.
    fn number(&mut self, kind: u32) -> Result<u64> {
        match kind {
            0 => Ok(u64::from(u8::from_le_bytes(self.array()?))),
            1 => Ok(i8::from_le_bytes(self.array()?) as u64),
            2 => Ok(u64::from(u16::from_le_bytes(self.array()?))),
            3 => Ok(i16::from_le_bytes(self.array()?) as u64),
            4 => Ok(u64::from(self.u32()?)),
            5 => Ok(i32::from_le_bytes(self.array()?) as u64),
            10 | 11 => self.u64(),
            _ => Err(malformed(format!("a GGUF file with the type {kind} where a whole number should be"))),
        }
    }

    /// The element type and length of a list.
    fn list_head(&mut self) -> Result<(u32, u64)> {
        let (kind, len) = (self.u32()?, self.u64()?);
        if len > MAX_ITEMS {
            Err(malformed(format!("a GGUF file with a list of {len} elements")))
        } else {
            Ok((kind, len))
        }
    }

    /// Passes over a value of type `kind`.
    fn skip(&mut self, kind: u32) -> Result<()> {
        match kind {
            8 => {
                let len = self.u64()?;
                self.pass(len)
            }
            9 => {
                let (kind, len) = self.list_head()?;
                match width(kind) {
                    Some(width) => self.pass(width * len),
                    // Lists of lists exist in the format but in no file; refusing them needs no recursion.
                    None if kind == 8 => (0..len).try_for_each(|_| self.skip(8)),
                    None => Err(malformed(format!("a GGUF file with a list of type {kind}"))),
                }
            }
            _ => match width(kind) {
                Some(width) => self.pass(width),
                None => Err(malformed(format!("a GGUF file with a value of the unknown type {kind}"))),
            },
        }
    }

    fn entry(&mut self, found: &mut GgufFields) -> Result<()> {
        let key = self.string()?;
        let kind = self.u32()?;
        match (key.strip_prefix(b"tokenizer.ggml.").unwrap_or_default(), kind) {
            (b"model", 8) => found.model = Some(self.string()?),
            (b"pre", 8) => found.pre = self.string()?,
            (b"tokens", 9) => {
                let (kind, len) = self.list_head()?;
                if kind != 8 || len > MAX_SIZE as u64 {
                    return Err(malformed(format!("a GGUF file with {len} tokens of type {kind}")));
                }
                found.tokens = Some((0..len).map(|_| self.string()).collect::<Result<_>>()?);
            }
            (b"token_type", 9) => {
                let (kind, len) = self.list_head()?;
                found.types = Some((0..len).map(|_| self.number(kind)).collect::<Result<_>>()?);
            }
            (b"eos_token_id" | b"eot_token_id" | b"eom_token_id", 0..=5 | 10 | 11) => {
                let id = self.number(kind)?;
                found.eos.extend(u32::try_from(id).ok().filter(|&id| (id as usize) < MAX_SIZE));
            }
            _ => self.skip(kind)?,
        }
        Ok(())
    }
}

/// Bytes of a value of a fixed-width type.
fn width(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// Whether the tokens of a model are written in letters that stand for bytes.
fn has_byte_letters(model: &[u8], pre: &[u8]) -> Result<bool> {
    match model {
        b"gpt2" if !matches!(pre, b"gemma4" | b"sarvam-moe") => Ok(true),
        b"llama" | b"t5" | b"gemma4" => Ok(false),
        other => {
            let name = String::from_utf8_lossy(other).into_owned();
            Err(unsupported(format!("a GGUF file whose tokenizer is of the kind {name:?}")))
        }
    }
}

/// The bytes of a token by its type, where letters do not stand for bytes.
fn bytes_by_type(id: u64, kind: u64, text: Vec<u8>) -> Result<Vec<u8>> {
    Ok(match kind {
        1 => spaced(&text),
        2..=4 => text,
        // An unused id, often a row of padding.
        5 => Vec::new(),
        6 => match std::str::from_utf8(&text).ok().and_then(fallback_byte) {
            Some(byte) => vec![byte],
            None => return Err(malformed(format!("the token {id} is a byte, but is not written <0xNN>"))),
        },
        _ => return Err(malformed(format!("the token {id} has the unknown type {kind}"))),
    })
}

/// Reads the head of a GGUF file from after its magic.
pub(super) fn read(input: impl Read) -> Result<TokenizerTable> {
    let mut reader = GgufReader { input };
    let version = reader.u32()?;
    if !matches!(version, 2 | 3) {
        return Err(unsupported(format!("a GGUF file of version {version}, not 2 or 3")));
    }
    let (_tensors, entries) = (reader.u64()?, reader.u64()?);
    if entries > MAX_ITEMS {
        return Err(malformed(format!("a GGUF file with {entries} metadata entries")));
    }
    let mut found = GgufFields::default();
    for _ in 0..entries {
        reader.entry(&mut found)?;
    }
    let (Some(model), Some(tokens)) = (found.model, found.tokens) else {
        return Err(malformed("a GGUF file without a tokenizer"));
    };
    let byte_letters = has_byte_letters(&model, &found.pre)?;
    let types = found.types.unwrap_or_else(|| vec![1; tokens.len()]);
    if types.len() != tokens.len() {
        return Err(malformed(format!("a GGUF file with {} tokens and {} types", tokens.len(), types.len())));
    }
    let mut table = TokenizerTable { eos: found.eos, ..TokenizerTable::default() };
    for (id, (text, kind)) in (0..).zip(tokens.into_iter().zip(types)) {
        let bytes = match kind {
            1 if byte_letters => std::str::from_utf8(&text).ok().and_then(byte_level::bytes_of).unwrap_or_default(),
            _ => bytes_by_type(id, kind, text)?,
        };
        let id = table.set(id, bytes)?;
        if matches!(kind, 2 | 3) {
            table.special.insert(id);
        }
    }
    Ok(table)
}
