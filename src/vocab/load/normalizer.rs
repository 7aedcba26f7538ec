//! The `normalizer` of a tokenizer.json, as far as added tokens ask for it.
//!
//! An added token that is *normalized* is looked for in normalised text. From version 0.23 on, the tokenizers library
//! decodes it to its normalised content, before that to the content as it stands. So such a token has bytes that a file
//! settles only where the normaliser leaves its content as it is.

use serde_json::Value;

/// Whether the normaliser certainly leaves `content` as it is.
pub(super) fn keeps(normalizer: Option<&Value>, content: &str) -> bool {
    let Some(step) = normalizer.filter(|step| !step.is_null()) else { return true };
    let field = |name: &str| step.get(name).and_then(Value::as_str);
    match field("type") {
        Some("Sequence") => match step.get("normalizers").and_then(Value::as_array) {
            Some(steps) => steps.iter().all(|step| keeps(Some(step), content)),
            None => false,
        },
        Some("Prepend") => field("prepend") == Some(""),
        Some("Replace") => {
            let pattern = step.get("pattern").and_then(|p| p.get("String")).and_then(Value::as_str);
            pattern.is_some_and(|pattern| !content.contains(pattern))
        }
        // The printable characters of ASCII are normal in every form, and SentencePiece's maps, which follow NFKC, keep
        // them.
        Some("NFC" | "NFD" | "NFKC" | "NFKD" | "Nmt" | "StripAccents" | "Precompiled") => is_printable_ascii(content),
        Some("Lowercase") => is_printable_ascii(content) && !content.contains(|c: char| c.is_ascii_uppercase()),
        Some("Strip") => content.trim() == content,
        // Printable letters stand for themselves among the letters for bytes; the space does not.
        Some("ByteLevel") => is_printable_ascii(content) && !content.contains(' '),
        _ => false,
    }
}

fn is_printable_ascii(content: &str) -> bool {
    content.bytes().all(|b| matches!(b, b' '..=b'~'))
}
