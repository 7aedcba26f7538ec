//! How the tokenizer of a `tokenizer.json` encodes, if it is byte-level BPE of a kind that is known in full.
//!
//! Whatever a file says that is not looked at here could change the tokens of a text, so each part has to be one of
//! the forms that are known: no normaliser or NFC; a pattern that splits, then byte-level letters; merges without
//! dropout, affixes or byte fallback; added tokens that take no spaces with them. Otherwise there is no recipe.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::vocab::Recipe;
use crate::vocab::split::GPT2;

fn kind(of: &Value) -> Option<&str> {
    of.get("type")?.as_str()
}

/// Whether a field is absent, null, false, zero or empty.
fn is_unset(of: Option<&Value>) -> bool {
    match of {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::Number(n)) => n.as_f64() == Some(0.0),
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

/// The pattern of the step that cuts text into pieces.
fn pattern(step: &Value) -> Option<String> {
    let byte_level = |step: &Value, own: bool| {
        let regex = step.get("use_regex").and_then(Value::as_bool).unwrap_or(true);
        kind(step) == Some("ByteLevel") && is_unset(step.get("add_prefix_space")) && regex == own
    };
    if byte_level(step, true) {
        return Some(GPT2.to_owned());
    }
    let [split, letters] = step.get("pretokenizers")?.as_array()?.as_slice() else { return None };
    let isolates = split.get("behavior").and_then(Value::as_str) == Some("Isolated") && is_unset(split.get("invert"));
    let known =
        kind(step) == Some("Sequence") && kind(split) == Some("Split") && isolates && byte_level(letters, false);
    known.then(|| Some(split.get("pattern")?.get("Regex")?.as_str()?.to_owned())).flatten()
}

/// The recipe of a document; `None` if any part of it is not of a known form.
pub(super) fn read(document: &Map<String, Value>) -> Option<Recipe> {
    let model = document.get("model")?;
    let plain = ["dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"];
    if kind(model) != Some("BPE") || kind(document.get("decoder")?) != Some("ByteLevel") {
        return None;
    }
    if !plain.iter().all(|name| is_unset(model.get(name))) {
        return None;
    }
    let normalizer = document.get("normalizer").filter(|n| !n.is_null());
    if normalizer.is_some_and(|n| kind(n) != Some("NFC")) {
        return None;
    }
    let mut added = Vec::new();
    let mut contents = Vec::new();
    for token in document.get("added_tokens").and_then(Value::as_array).into_iter().flatten() {
        if !["lstrip", "rstrip", "single_word"].iter().all(|name| is_unset(token.get(name))) {
            return None;
        }
        let (content, id) = (token.get("content")?.as_str()?, token.get("id")?.as_u64()?);
        // Byte-level letters in a content that spells text would spell other bytes than are looked for.
        if !content.is_ascii() && token.get("special")?.as_bool() != Some(true) {
            return None;
        }
        added.push(u32::try_from(id).ok()?);
        contents.push(content);
    }
    let mut by_text: FxHashMap<&str, u32> = FxHashMap::default();
    for (text, id) in model.get("vocab")?.as_object()? {
        by_text.insert(text, u32::try_from(id.as_u64()?).ok()?);
    }
    let mut merges = Vec::new();
    for merge in model.get("merges")?.as_array()? {
        let (left, right) = match merge {
            Value::String(both) => both.split_once(' ')?,
            pair => (pair.get(0)?.as_str()?, pair.get(1)?.as_str()?),
        };
        let made = [left, right].concat();
        merges.push([*by_text.get(left)?, *by_text.get(right)?, *by_text.get(made.as_str())?]);
    }
    contents.extend(model.get("unk_token").and_then(Value::as_str));
    by_text.retain(|text, _| !contents.contains(text));
    let mut ids: Vec<u32> = by_text.into_values().collect();
    ids.sort_unstable();
    Some(Recipe {
        pattern: pattern(document.get("pre_tokenizer")?)?,
        whole: model.get("ignore_merges").and_then(Value::as_bool).unwrap_or(false),
        nfc: normalizer.is_some(),
        ids,
        merges: Some(merges),
        added,
    })
}
