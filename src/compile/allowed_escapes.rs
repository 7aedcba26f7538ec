//! `json_allowed_escapes` of a document in a grammar: which escapes its strings may have, as llguidance names them.
//!
//! In plain spelling a character that needs an escape has one. Where that escape is not allowed, no string has the
//! character. So the option is a schema about the characters of all strings and keys, beside the document's own.

use crate::error::{Error, ErrorKind, Result};

/// The characters behind a backslash that llguidance allows by default.
pub(super) const ALL: &str = "nrbtf\\\"u";

/// Whether these characters are all that llguidance allows by default.
pub(super) fn are_all(allowed: &str) -> bool {
    ALL.chars().all(|c| allowed.contains(c))
}

/// The schema with what it says of strings narrowed to those that these escapes can write.
///
/// # Errors
/// `Unsupported` where the option has no such meaning.
pub(super) fn narrowed(schema: &str, allowed: &str) -> Result<String> {
    let unsupported =
        |what: &str| Error::new(ErrorKind::Unsupported, format!("x-guidance: json_allowed_escapes {what}"));
    if let Some(other) = allowed.chars().find(|&c| !ALL.contains(c)) {
        return Err(unsupported(&format!("names {other:?}; escapes are of {ALL:?}")));
    }
    if are_all(allowed) {
        return Ok(schema.to_owned());
    }
    if allowed.contains('u') {
        return Err(unsupported("with \"u\" must name all the others as well: characters have one escape here"));
    }
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(schema);
    let Some(rest) = schema.trim_start().strip_prefix('{').filter(|_| is_object.is_ok()) else {
        return Err(unsupported("stands in an object"));
    };
    if is_object.is_ok_and(|root| root.contains_key("allOf") || root.contains_key("$ref")) {
        return Err(unsupported("beside allOf or $ref at the schema's root is not supported"));
    }
    // Control characters without a short escape need "u".
    let mut excluded = String::from(r"\u0000-\u0007\u000b\u000e-\u001f");
    for (c, spelled) in
        [('n', r"\n"), ('r', r"\r"), ('b', r"\u0008"), ('t', r"\t"), ('f', r"\f"), ('\\', r"\\"), ('"', "\"")]
    {
        if !allowed.contains(c) {
            excluded.push_str(spelled);
        }
    }
    let pattern = serde_json::Value::String(format!("^[^{excluded}]*$"));
    let all = r##"{"$ref":"#/allOf/0"}"##;
    Ok(format!(
        r#"{{"allOf":[{{"pattern":{pattern},"propertyNames":{{"pattern":{pattern}}},"items":{all},"additionalProperties":{all}}}],{rest}"#
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_to_their_escapes() {
        let schema = narrowed(r#" {"type": "string"}"#, "nt").unwrap();
        let read: serde_json::Value = serde_json::from_str(&schema).unwrap();
        assert_eq!(read["type"], "string");
        let pattern = read["allOf"][0]["pattern"].as_str().unwrap();
        assert_eq!(pattern, "^[^\\u0000-\\u0007\\u000b\\u000e-\\u001f\\r\\u0008\\f\\\\\"]*$");
        assert_eq!(narrowed("{\"a\": 1}", ALL).unwrap(), "{\"a\": 1}");
        assert!(narrowed("{\"a\": 1}", "nu").is_err() && narrowed("{\"a\": 1}", "x").is_err());
    }
}
