//! `tokenizer.json`, the format of the Hugging Face tokenizers library.
//!
//! The model lists the text of each id, the decoder says what bytes that text stands for, and added tokens come on
//! top. The library numbers added tokens itself when it reads the file: an added token takes the id that the model
//! gives its content, else the next free one. A file whose own numbers differ means other ids to the library than it
//! says, and is refused.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::error::{ErrorCode, Result};
use crate::vocab::load::decoder::Decoder;
use crate::vocab::load::json::{bool_field, list_field, object_field, str_field, u64_field};
use crate::vocab::load::{TokenizerTable, malformed, normalizer, unsupported};

/// Reads the document of a tokenizer.json.
pub(super) fn read(document: &Map<String, Value>) -> Result<TokenizerTable> {
    let Ok(model) = object_field(document, "model") else {
        let e = malformed("a JSON file that is neither a tokenizer.json nor a tekken.json");
        return Err(e.coded(ErrorCode::NotATokenizer));
    };
    let decoder = Decoder::parse(document.get("decoder"))?;
    let listed = listed_tokens(model)?;
    let mut table =
        TokenizerTable { model: crate::vocab::load::encoder_model::read(document), ..TokenizerTable::default() };
    let mut seen = vec![];
    for &(text, id) in &listed {
        let id = table.set(id, decoder.decode(text))? as usize;
        if seen.len() < table.tokens.len() {
            seen.resize(table.tokens.len(), false);
        }
        if std::mem::replace(&mut seen[id], true) {
            return Err(malformed(format!("two tokens have the id {id}")));
        }
    }
    add_tokens(&mut table, document, &listed, &decoder)?;
    // The unknown token stands for text that cannot be encoded; it never is that text.
    let unknown = match model.get("unk_token").and_then(Value::as_str) {
        Some(text) => listed.iter().find(|(t, _)| *t == text).map(|&(_, id)| id),
        None => model.get("unk_id").and_then(Value::as_u64),
    };
    if let Some(id) = unknown.filter(|&id| id < table.tokens.len() as u64) {
        table.special.insert(id as u32);
    }
    Ok(table)
}

/// An added token as a tokenizer object knows it: in the library's own numbering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedToken {
    /// What the library looks it up by.
    pub id: u32,
    /// The text that is looked for.
    pub content: String,
    /// What it spells; of a special one its name.
    pub bytes: Vec<u8>,
    /// Whether it never spells text.
    pub special: bool,
}

/// Reads the document of a tokenizer object, which says itself what its added tokens are. How it encodes is read only
/// if the numbers in the document are the library's (`keeps_numbers`).
pub(super) fn read_object(
    document: &Map<String, Value>,
    added: Vec<AddedToken>,
    keeps_numbers: bool,
) -> Result<TokenizerTable> {
    let model = object_field(document, "model")?;
    let decoder = Decoder::parse(document.get("decoder"))?;
    let encodes = if keeps_numbers { crate::vocab::load::encoder_model::read(document) } else { None };
    let mut table = TokenizerTable { model: encodes, ..TokenizerTable::default() };
    let listed = listed_tokens(model)?;
    for &(text, id) in &listed {
        table.set(id, decoder.decode(text))?;
    }
    let unknown = match model.get("unk_token").and_then(Value::as_str) {
        Some(text) => added
            .iter()
            .find(|token| token.content == text)
            .map(|token| u64::from(token.id))
            .or_else(|| listed.iter().find(|(t, _)| *t == text).map(|&(_, id)| id)),
        None => model.get("unk_id").and_then(Value::as_u64),
    };
    for token in added {
        let id = table.set(u64::from(token.id), token.bytes)?;
        if token.special {
            table.special.insert(id);
        }
    }
    if let Some(id) = unknown.and_then(|id| u32::try_from(id).ok()) {
        table.special.insert(id);
    }
    Ok(table)
}

/// Text and id of each token of the model.
fn listed_tokens(model: &Map<String, Value>) -> Result<Vec<(&str, u64)>> {
    match model.get("vocab") {
        // BPE, WordLevel and WordPiece map text to id.
        Some(Value::Object(vocab)) => vocab
            .iter()
            .map(|(text, id)| match id.as_u64() {
                Some(id) => Ok((text.as_str(), id)),
                None => Err(malformed(format!("the id of the token {text:?} is not a whole number"))),
            })
            .collect(),
        // Unigram lists pairs of text and score by id.
        Some(Value::Array(vocab)) => vocab
            .iter()
            .zip(0..)
            .map(|(pair, id)| match pair.get(0).and_then(Value::as_str) {
                Some(text) => Ok((text, id)),
                None => Err(malformed(format!("the token {id} is not a pair of text and score"))),
            })
            .collect(),
        _ => Err(malformed("the field \"vocab\" of the model is neither an object nor a list")),
    }
}

fn add_tokens(
    table: &mut TokenizerTable,
    document: &Map<String, Value>,
    listed: &[(&str, u64)],
    decoder: &Decoder,
) -> Result<()> {
    let added = list_field(document, "added_tokens")?;
    if added.is_empty() {
        return Ok(());
    }
    let model: FxHashMap<&str, u64> = listed.iter().copied().collect();
    let mut ids: FxHashMap<&str, u64> = FxHashMap::default();
    // What the library would number the next new token: after the model, and after every id given so far.
    let mut next = model.len() as u64;
    for token in added {
        let token = token.as_object().ok_or_else(|| malformed("an added token is not an object"))?;
        let (content, id) = (str_field(token, "content")?, u64_field(token, "id")?);
        if content.is_empty() {
            continue;
        }
        let given = ids.get(content).or_else(|| model.get(content)).copied().unwrap_or(next);
        if given != id {
            return Err(malformed(format!(
                "the added token {content:?} is listed with the id {id}, but the tokenizers library gives it {given}"
            )));
        }
        ids.insert(content, id);
        next = next.max(id.saturating_add(1));
        if bool_field(token, "special")? {
            let id = table.set(id, content.as_bytes().to_vec())?;
            table.special.insert(id);
        } else {
            if bool_field(token, "normalized")? && !normalizer::keeps(document.get("normalizer"), content) {
                return Err(unsupported(format!(
                    "the added token {content:?} is normalized, so what it spells depends on the version of the \
                     tokenizers library: give the tokenizer object instead of its file"
                )));
            }
            table.set(id, decoder.decode(content))?;
        }
    }
    Ok(())
}
