//! The `decoder` of a tokenizer.json, as a map from one token's text to its bytes.
//!
//! A decoder turns a list of tokens into a text. That is a map per token, which is what a vocabulary needs, only
//! where every step either looks at one token alone or does nothing but join. The steps that look across tokens
//! (WordPiece's spaces and clean-up, BPE suffixes, CTC's repeats) are refused, as is a missing decoder, which joins
//! tokens with spaces. A step that trims the very start of a text is accepted and left out: an output continues a
//! prompt.

use serde_json::{Map, Value};

use crate::error::Result;
use crate::vocab::load::json::{list_field, object_field, str_field, u64_field};
use crate::vocab::load::{byte_level, malformed, unsupported};

/// One step that looks at one token alone.
enum DecoderStep {
    Replace { pattern: String, content: String },
    Strip { content: char, start: usize, stop: usize },
    ByteFallback,
    ByteLevel,
}

/// The decoder of a `tokenizer.json`, as steps from a token's text to its bytes.
pub(super) struct Decoder(Vec<DecoderStep>);

impl Decoder {
    /// Reads the field `decoder` of a tokenizer.json.
    pub(super) fn parse(decoder: Option<&Value>) -> Result<Decoder> {
        let Some(Value::Object(decoder)) = decoder else {
            return Err(unsupported(
                "the tokenizer has no decoder: it joins tokens with spaces, so that no token has bytes of its own",
            ));
        };
        let mut steps = DecoderSteps::default();
        // Sequences are unfolded with a stack, last element first.
        let mut todo = vec![decoder];
        while let Some(part) = todo.pop() {
            if str_field(part, "type")? == "Sequence" {
                let parts = list_field(part, "decoders")?;
                for inner in parts.iter().rev() {
                    todo.push(inner.as_object().ok_or_else(|| malformed("a decoder is not an object"))?);
                }
            } else {
                steps.add(part)?;
            }
        }
        Ok(Decoder(steps.done))
    }

    /// The bytes of a token whose text is `token`.
    pub(super) fn decode(&self, token: &str) -> Vec<u8> {
        let mut text = token.to_owned();
        for step in &self.0 {
            match step {
                DecoderStep::Replace { pattern, content } => {
                    if text.contains(pattern.as_str()) {
                        text = text.replace(pattern.as_str(), content);
                    }
                }
                DecoderStep::Strip { content, start, stop } => text = strip(&text, *content, *start, *stop),
                // These two are always the last that change a token.
                DecoderStep::ByteFallback => {
                    if let Some(byte) = fallback_byte(&text) {
                        return vec![byte];
                    }
                }
                DecoderStep::ByteLevel => return byte_level::bytes_of(&text).unwrap_or_else(|| text.into_bytes()),
            }
        }
        text.into_bytes()
    }
}

fn strip(text: &str, content: char, start: usize, stop: usize) -> String {
    let mut text = text;
    for _ in 0..start {
        match text.strip_prefix(content) {
            Some(rest) => text = rest,
            None => break,
        }
    }
    for _ in 0..stop {
        match text.strip_suffix(content) {
            Some(rest) => text = rest,
            None => break,
        }
    }
    text.to_owned()
}

/// The byte of a token `<0xNN>`, read as the tokenizers library reads it.
pub(super) fn fallback_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

#[derive(Default)]
struct DecoderSteps {
    done: Vec<DecoderStep>,
    /// The tokens have been joined: a later step sees the whole text.
    joined: bool,
    /// Some tokens have become bytes.
    bytes: bool,
}

impl DecoderSteps {
    fn add(&mut self, part: &Map<String, Value>) -> Result<()> {
        let kind = str_field(part, "type")?;
        match kind {
            "Fuse" => self.joined = true,
            "Strip" => self.add_strip(part)?,
            _ if self.joined || self.bytes => return across(&format!("{kind} after Fuse, ByteFallback or ByteLevel")),
            "Replace" => {
                let pattern = object_field(part, "pattern")?;
                let Some(pattern) = pattern.get("String").and_then(Value::as_str).filter(|p| !p.is_empty()) else {
                    return Err(unsupported("the decoder step Replace has a pattern that is not a plain string"));
                };
                let content = str_field(part, "content")?;
                self.done.push(DecoderStep::Replace { pattern: pattern.to_owned(), content: content.to_owned() });
            }
            "Metaspace" => {
                let pattern = one_char(part, "replacement")?.to_string();
                self.done.push(DecoderStep::Replace { pattern, content: " ".to_owned() });
            }
            "ByteFallback" => {
                self.done.push(DecoderStep::ByteFallback);
                self.bytes = true;
            }
            "ByteLevel" => {
                self.done.push(DecoderStep::ByteLevel);
                (self.joined, self.bytes) = (true, true);
            }
            "WordPiece" | "BPEDecoder" | "CTC" => return across(kind),
            _ => return Err(unsupported(format!("the decoder step {kind:?} is not known"))),
        }
        Ok(())
    }

    fn add_strip(&mut self, part: &Map<String, Value>) -> Result<()> {
        let content = one_char(part, "content")?;
        let (start, stop) = (u64_field(part, "start")?, u64_field(part, "stop")?);
        if self.joined && stop > 0 {
            return across("Strip with stop");
        }
        if self.bytes && !self.joined {
            return across("Strip after ByteFallback");
        }
        if !self.joined {
            self.done.push(DecoderStep::Strip { content, start: start as usize, stop: stop as usize });
        }
        Ok(())
    }
}

/// The error of a step that looks at more than one token.
fn across(what: &str) -> Result<()> {
    Err(unsupported(format!("the decoder step {what} looks across tokens")))
}

fn one_char(part: &Map<String, Value>, name: &str) -> Result<char> {
    let text = str_field(part, name)?;
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(c),
        _ => Err(malformed(format!("the field {name:?} is not one character"))),
    }
}
