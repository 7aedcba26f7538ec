//! `tekken.json`, Mistral's format: tiktoken ranks with special tokens before them.
//!
//! The first `default_num_special_tokens` ids are special: those that the file names, and unnamed ones up to that
//! count. The listed tokens follow in order of rank, cut so that there are `default_vocab_size` ids in all. Files up
//! to version 7 may leave the names out; then the twenty of that time apply.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::vocab::load::json::{list_field, object_field, str_field, u64_field};
use crate::vocab::load::{TokenizerTable, malformed};
use crate::vocab::{MAX_SIZE, ModelParts};

/// The special tokens of files that do not list theirs, in order of id.
const EARLY_NAMES: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

/// Whether a JSON document is a tekken.json.
pub(super) fn recognises(document: &Map<String, Value>) -> bool {
    let vocab = document.get("vocab").and_then(Value::as_array);
    document.contains_key("config") && vocab.is_some_and(|v| v.first().is_none_or(|t| t.get("token_bytes").is_some()))
}

/// Reads the document of a tekken.json.
pub(super) fn read(document: &Map<String, Value>) -> Result<TokenizerTable> {
    let config = object_field(document, "config")?;
    let special = u64_field(config, "default_num_special_tokens")?;
    let all = u64_field(config, "default_vocab_size")?;
    let vocab = list_field(document, "vocab")?;
    if all > MAX_SIZE as u64 || special > all || all - special > vocab.len() as u64 {
        return Err(malformed(format!("{special} special and {} listed tokens cannot make {all} ids", vocab.len())));
    }
    let mut table = TokenizerTable::default();
    for id in 0..special {
        table.set(id, format!("<SPECIAL_{id}>").into_bytes())?;
        table.special.insert(id as u32);
    }
    let mut name = |id: u64, text: &str| {
        if id >= special {
            return Err(malformed(format!("the special token {text:?} has the id {id}, not below {special}")));
        }
        if text == "</s>" {
            table.eos.push(id as u32);
        }
        table.set(id, text.as_bytes().to_vec()).map(|_| ())
    };
    match document.get("special_tokens") {
        None | Some(Value::Null) => {
            let version = str_field(config, "version")?;
            if !matches!(version, "v1" | "v2" | "v3" | "v7") {
                return Err(malformed(format!("a tekken.json of version {version:?} has to list its special tokens")));
            }
            for (id, text) in (0..).zip(EARLY_NAMES) {
                name(id, text)?;
            }
        }
        Some(_) => {
            for token in list_field(document, "special_tokens")? {
                let token = token.as_object().ok_or_else(|| malformed("a special token is not an object"))?;
                name(u64_field(token, "rank")?, str_field(token, "token_str")?)?;
            }
        }
    }
    for (token, rank) in vocab.iter().zip(0..all - special) {
        let token = token.as_object().ok_or_else(|| malformed(format!("the token {rank} is not an object")))?;
        if u64_field(token, "rank")? != rank {
            return Err(malformed(format!("the tokens are not listed in order of rank: {rank} is missing")));
        }
        let bytes = STANDARD.decode(str_field(token, "token_bytes")?);
        table.set(special + rank, bytes.map_err(|e| malformed(format!("the bytes of token {rank}: {e}")))?)?;
    }
    if let Some(pattern) = config.get("pattern").and_then(Value::as_str) {
        let ids = (special as u32..all as u32).collect();
        table.model = Some(ModelParts { pattern: pattern.to_owned(), whole: true, ids, ..ModelParts::default() });
    }
    Ok(table)
}
