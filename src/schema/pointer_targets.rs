//! What a JSON Pointer in a document leads to, and what was probably meant by one that leads nowhere.

use crate::error::near_name::{did_you_mean, near_name};
use crate::error::quoted;
use crate::schema::drafts::Keyword;
use crate::schema::json_tape::{Tape, TapeId, TapeKind};
use crate::schema::uri;

/// Follows a decoded JSON Pointer from `from`.
pub fn walk(tape: &Tape<'_>, from: TapeId, pointer: &str) -> Option<TapeId> {
    pointer.split('/').skip(1).try_fold(from, |node, step| match tape.kind(node) {
        TapeKind::Object(_) => tape.get(node, &uri::unescape_step(step)),
        TapeKind::Array(n) => {
            // RFC 6901 allows neither signs nor leading zeros.
            let is_index = step == "0" || !step.starts_with(['0', '+']);
            let index: u32 = step.parse().ok().filter(|i| is_index && i < n)?;
            tape.item(node, index)
        }
        _ => None,
    })
}

/// What a decoded JSON Pointer that leads nowhere from `from` was probably to lead to, as the end of a message; empty
/// where nothing is near. A slip is in the reference or in the key.
pub fn meant(tape: &Tape<'_>, from: TapeId, pointer: &str) -> String {
    /// Keywords that hold definitions: the drafts have one or the other.
    const HOLDERS: [&str; 2] = ["definitions", "$defs"];
    for (at, old) in HOLDERS.iter().enumerate() {
        let rest = pointer.strip_prefix('/').and_then(|p| p.strip_prefix(old));
        if let Some(rest) = rest.filter(|rest| rest.starts_with('/')) {
            let other = format!("/{}{rest}", HOLDERS[1 - at]);
            if walk(tape, from, &other).is_some() {
                return format!("; did you mean {}?", quoted(&format!("#{other}")));
            }
        }
    }
    let (mut node, mut place) = (from, 0);
    for step in pointer.split('/').skip(1) {
        let end = place + 1 + step.len();
        match walk(tape, node, &pointer[place..end]) {
            Some(inner) => (node, place) = (inner, end),
            None if !matches!(tape.kind(node), TapeKind::Object(_)) => break,
            None => {
                let asked = uri::unescape_step(step);
                let keys = || tape.members(node).map(|member| member.0);
                if place > 0 || !HOLDERS.contains(&step) {
                    return did_you_mean(&asked, keys());
                }
                // The right name of a holder is asked for, so the slip is in the schema; a keyword is none.
                return match near_name(&asked, keys().filter(|key| Keyword::from_name(key).is_none())) {
                    Some(key) => format!("; the schema has {}: did you mean {}?", quoted(key), quoted(&asked)),
                    None => format!("; the schema has no {}", quoted(&asked)),
                };
            }
        }
    }
    String::new()
}
