//! A schema that came in the envelope of an interface: `{"name": ..., "strict": true, "schema": {...}}` for instance.
//!
//! An envelope has no keyword that JSON Schema knows, so by the letter of the specification it accepts every value. Who
//! passes one means what stands inside it, and would never notice. So it is refused, with the way to the schema.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::drafts::Keyword;
use crate::schema::json_tape::{Tape, TapeId, TapeKind};

/// The keys that lead to the schema, what the envelope is, and what takes it as it is.
const ENVELOPES: [(&[&str], &str, &str); 11] = [
    (&["response_format", "json_schema", "schema"], "a request's response_format", RESPONSE_FORMAT),
    (&["json_schema", "schema"], "a response_format", RESPONSE_FORMAT),
    (&["text", "format", "schema"], "a request's text format", ""),
    (&["format", "schema"], "a text format", RESPONSE_FORMAT),
    (&["structured_outputs", "json"], "a server's own field", RESPONSE_FORMAT),
    (&["guided_json"], "a server's own field", RESPONSE_FORMAT),
    (&["function", "parameters"], "a tool", TOOLS),
    (&["input_schema"], "a tool", TOOLS),
    (&["inputSchema"], "a tool", TOOLS),
    (&["parameters"], "a function", TOOLS),
    (&["schema"], "a named schema", ""),
];
const RESPONSE_FORMAT: &str = "Index.from_response_format takes it as it is";
const TOOLS: &str = "Index.from_tools takes a list of such";

/// What `type` says in envelopes.
const TYPES: [&str; 3] = ["json_schema", "function", "text"];

/// Refuses a document that is an envelope around a schema. One keyword that asserts anything makes it a schema,
/// whatever its other keys are, and so does `$schema`.
///
/// # Errors
/// `Schema`, which names the envelope and the way to the schema in it.
pub fn refuse(tape: &Tape<'_>) -> Result<()> {
    for (key, value) in tape.members(TapeId::ROOT) {
        match Keyword::from_name(key) {
            None if key == "$schema" => return Ok(()),
            None | Some(Keyword::Id | Keyword::OldId | Keyword::Defs | Keyword::Definitions) => {}
            Some(Keyword::Type) if tape.string(value).is_some_and(|text| TYPES.contains(&text)) => {}
            Some(Keyword::Format) if tape.string(value).is_none() => {}
            Some(_) => return Ok(()),
        }
    }
    for (way, what, whole) in ENVELOPES {
        let inner = way.iter().try_fold(TapeId::ROOT, |node, key| tape.get(node, key));
        if inner.is_some_and(|node| matches!(tape.kind(node), TapeKind::Object(_) | TapeKind::Bool(_))) {
            let path: String = way.iter().map(|key| format!("[{key:?}]")).collect();
            let message = format!(
                "this is {what}, an envelope around a schema, and no keyword of it says anything about a value: pass \
                 what {path} holds"
            );
            let error = Error::new(ErrorKind::Schema, message).at_pointer(String::new(), way[0]);
            return Err(if whole.is_empty() { error } else { error.with_hint(whole) });
        }
    }
    Ok(())
}
