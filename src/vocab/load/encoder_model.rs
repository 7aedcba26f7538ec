//! How the tokenizer of a `tokenizer.json` encodes, if it is BPE or unigram of a kind that is known in full.
//!
//! Whatever a file says that is not looked at here could change the tokens of a text, so each part has to be one of
//! the forms that are known: no normaliser or NFC; patterns that split, then byte-level letters; merges without
//! dropout, affixes or byte fallback; added tokens that take no spaces with them. Or, of the sentencepiece kind: spaces
//! become `▁`, nothing splits, and characters that are no tokens fall back to bytes. Unigram models have to mark spaces
//! in the same way, may split in front of them, and fall back to nothing. Otherwise there is no model.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use crate::vocab::load::byte_level::bytes_of;
use crate::vocab::tokenizer::pretokenize::GPT2;
use crate::vocab::{ModelParts, SENTENCEPIECE, UNIGRAM};

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
    let (letters, splits) = step.get("pretokenizers")?.as_array()?.split_last()?;
    let regex = |split: &Value| {
        let isolates =
            split.get("behavior").and_then(Value::as_str) == Some("Isolated") && is_unset(split.get("invert"));
        let known = kind(split) == Some("Split") && isolates;
        known.then(|| Some(split.get("pattern")?.get("Regex")?.as_str()?.to_owned())).flatten()
    };
    let digits = |split: &Value| {
        let single = split.get("individual_digits").and_then(Value::as_bool).unwrap_or(false);
        (kind(split) == Some("Digits")).then(|| if single { r"\p{N}" } else { r"\p{N}+" }.to_owned())
    };
    let mut patterns: Vec<String> =
        splits.iter().map(|split| regex(split).or_else(|| digits(split))).collect::<Option<_>>()?;
    if byte_level(letters, true) {
        patterns.push(GPT2.to_owned());
    } else if !byte_level(letters, false) {
        return None;
    }
    (kind(step) == Some("Sequence") && !patterns.is_empty()).then(|| patterns.join("\0"))
}

/// Whether a document makes `▁` of each space and changes nothing else but the start of a text; then, whether it also
/// cuts the text in front of each.
fn marks_spaces(document: &Map<String, Value>) -> Option<bool> {
    let of = |name| document.get(name).filter(|part: &&Value| !part.is_null());
    let text = |step: &Value, name: &str| step.get(name).and_then(Value::as_str).map(str::to_owned);
    let replaces = |step: &Value| {
        kind(step) == Some("Replace")
            && step.get("pattern").and_then(|p| text(p, "String")).as_deref() == Some(" ")
            && text(step, "content").as_deref() == Some("▁")
    };
    let prepends = |step: &Value| kind(step) == Some("Prepend") && text(step, "prepend").as_deref() == Some("▁");
    match (of("normalizer"), of("pre_tokenizer")) {
        (Some(step), None) if kind(step) == Some("Sequence") => {
            let steps = step.get("normalizers").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let known = steps.iter().any(replaces) && steps.iter().all(|step| replaces(step) || prepends(step));
            known.then_some(false)
        }
        (Some(step), None) => replaces(step).then_some(false),
        // Gemma's files cut text at spaces, of which the normalizer has left none.
        (Some(step), Some(split)) => {
            let at_spaces = kind(split) == Some("Split")
                && split.get("pattern").and_then(|p| text(p, "String")).as_deref() == Some(" ")
                && is_unset(split.get("invert"));
            (replaces(step) && at_spaces).then_some(false)
        }
        (None, Some(step)) => {
            let known = kind(step) == Some("Metaspace") && text(step, "replacement").as_deref() == Some("▁");
            known.then(|| step.get("split").and_then(Value::as_bool).unwrap_or(true))
        }
        _ => None,
    }
}

/// The ids and contents of the added tokens; `None` if one takes more of a text than its content, or another.
fn added_tokens(document: &Map<String, Value>) -> Option<(Vec<u32>, Vec<&str>)> {
    let (mut added, mut contents) = (Vec::new(), Vec::new());
    for token in document.get("added_tokens").and_then(Value::as_array).into_iter().flatten() {
        if !["lstrip", "rstrip", "single_word"].iter().all(|name| is_unset(token.get(name))) {
            return None;
        }
        let (content, id) = (token.get("content")?.as_str()?, token.get("id")?.as_u64()?);
        // Byte-level letters in a content that spells text would spell other bytes than are looked for.
        let letters = !content.is_ascii() && bytes_of(content).is_some();
        if letters && token.get("special")?.as_bool() != Some(true) {
            return None;
        }
        added.push(u32::try_from(id).ok()?);
        contents.push(content);
    }
    Some((added, contents))
}

/// The parts of a unigram model. A piece with a `▁` inside is never met where the text is cut in front of each.
fn unigram(document: &Map<String, Value>, model: &Value) -> Option<ModelParts> {
    let cut = marks_spaces(document)?;
    if !is_unset(model.get("byte_fallback")) {
        return None;
    }
    let (added, contents) = added_tokens(document)?;
    let contents: FxHashSet<&str> = contents.into_iter().collect();
    let vocab = model.get("vocab")?.as_array()?;
    // The unknown token is a piece like others if its name stands in a text, unless it is taken out before.
    if let Some(unknown) = model.get("unk_id").and_then(Value::as_u64) {
        let text = vocab.get(usize::try_from(unknown).ok()?)?.get(0)?.as_str()?;
        if !contents.contains(text) {
            return None;
        }
    }
    let (mut ids, mut ranks) = (Vec::new(), Vec::new());
    for (pair, id) in vocab.iter().zip(0u32..) {
        let (text, score) = (pair.get(0)?.as_str()?, pair.get(1)?.as_f64()?);
        let inside = text.char_indices().skip(1).any(|(_, c)| c == '▁');
        if text.is_empty() || text.contains(' ') {
            return None;
        }
        if !(contents.contains(text) || cut && inside) {
            ids.push(id);
            ranks.push((score as f32).to_bits());
        }
    }
    Some(ModelParts { pattern: UNIGRAM.to_owned(), ids, ranks, added, ..ModelParts::default() })
}

/// Which two tokens become which third one, in their order.
fn merges(model: &Value, by_text: &FxHashMap<&str, u32>) -> Option<Vec<[u32; 3]>> {
    let pairs = model.get("merges")?.as_array()?;
    let (mut merges, mut made) = (Vec::with_capacity(pairs.len()), String::new());
    for merge in pairs {
        let (left, right) = match merge {
            Value::String(both) => both.split_once(' ')?,
            pair => (pair.get(0)?.as_str()?, pair.get(1)?.as_str()?),
        };
        made.clear();
        made.push_str(left);
        made.push_str(right);
        merges.push([*by_text.get(left)?, *by_text.get(right)?, *by_text.get(made.as_str())?]);
    }
    Some(merges)
}

/// The parts of a document's model; `None` if any part of it is not of a known form.
pub(super) fn read(document: &Map<String, Value>) -> Option<ModelParts> {
    let model = document.get("model")?;
    if kind(model) == Some("Unigram") {
        return unigram(document, model);
    }
    let plain = ["dropout", "continuing_subword_prefix", "end_of_word_suffix"];
    if kind(model) != Some("BPE") || !plain.iter().all(|name| is_unset(model.get(name))) {
        return None;
    }
    let marked = model.get("byte_fallback").and_then(Value::as_bool) == Some(true);
    let idle = |n: &&Value| n.is_null() || n.get("normalizers").and_then(Value::as_array).is_some_and(Vec::is_empty);
    let normalizer = document.get("normalizer").filter(|n| !idle(n));
    if marked && marks_spaces(document) != Some(false) {
        return None;
    }
    if !marked && kind(document.get("decoder")?) != Some("ByteLevel") {
        return None;
    }
    if !marked && normalizer.is_some_and(|n| kind(n) != Some("NFC")) {
        return None;
    }
    let (added, mut contents) = added_tokens(document)?;
    let listed = model.get("vocab")?.as_object()?;
    let mut by_text: FxHashMap<&str, u32> = FxHashMap::with_capacity_and_hasher(listed.len(), Default::default());
    for (text, id) in listed {
        by_text.insert(text, u32::try_from(id.as_u64()?).ok()?);
    }
    let merges = merges(model, &by_text)?;
    contents.extend(model.get("unk_token").and_then(Value::as_str));
    let byte = |b: u8| by_text.get(format!("<0x{b:02X}>").as_str()).copied();
    let bytes = if marked { (0..=255).map(byte).collect::<Option<Vec<u32>>>()? } else { Vec::new() };
    // Thousands of added tokens beside a hundred thousand others: sets.
    let contents: FxHashSet<&str> = contents.into_iter().collect();
    let spelled: FxHashSet<u32> = bytes.iter().copied().collect();
    by_text.retain(|text, id| !contents.contains(text) && !spelled.contains(id));
    let mut ids: Vec<u32> = by_text.into_values().collect();
    ids.sort_unstable();
    Some(ModelParts {
        pattern: if marked { SENTENCEPIECE.to_owned() } else { pattern(document.get("pre_tokenizer")?)? },
        whole: model.get("ignore_merges").and_then(Value::as_bool).unwrap_or(false),
        nfc: normalizer.is_some() && !marked,
        ids,
        ranks: Vec::new(),
        bytes,
        merges: Some(merges),
        added,
    })
}
