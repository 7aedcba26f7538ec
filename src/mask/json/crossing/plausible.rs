//! Tests whether bytes can stand between the values of some JSON document.

use crate::json::whitespace::is_whitespace;

/// Whether some document may contain `suffix` where a value or key ends or none has begun. True for a few that none
/// contains; nesting is not looked at.
pub fn plausible(suffix: &[u8]) -> bool {
    implausible_from(suffix).is_none()
}

/// Where the value or byte begins that makes a suffix one that no document contains; `None` where there is none.
pub(crate) fn implausible_from(suffix: &[u8]) -> Option<usize> {
    let mut expected = Expected::Anything;
    let mut rest = suffix;
    while let Some((&b, after)) = rest.split_first() {
        let at = suffix.len() - rest.len();
        rest = after;
        let begins = matches!(expected, Expected::Value | Expected::Element);
        let opens = begins || expected == Expected::Anything;
        let ends = matches!(expected, Expected::Anything | Expected::Colon | Expected::Separator);
        expected = match b {
            b if is_whitespace(b) => expected,
            b'"' if begins || expected == Expected::Key => match string_end(rest) {
                Some(Some(end)) => {
                    rest = &rest[end..];
                    Expected::Colon
                }
                Some(None) => return None,
                None => return Some(at),
            },
            b'{' if opens => Expected::Key,
            b'[' if opens => Expected::Element,
            b'}' if ends || expected == Expected::Key => Expected::Separator,
            b']' if ends || expected == Expected::Element => Expected::Separator,
            b',' if ends => Expected::Value,
            b':' if matches!(expected, Expected::Anything | Expected::Colon) => Expected::Value,
            b'-' | b'0'..=b'9' if begins => {
                let end = rest.iter().position(|b| !matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
                rest = &rest[end.unwrap_or(rest.len())..];
                Expected::Separator
            }
            b't' | b'f' | b'n' if begins => {
                let word: &[u8] = match b {
                    b't' => b"rue",
                    b'f' => b"alse",
                    _ => b"ull",
                };
                let shared = rest.len().min(word.len());
                if rest[..shared] != word[..shared] {
                    return Some(at);
                }
                rest = &rest[shared..];
                Expected::Separator
            }
            _ => return Some(at),
        };
    }
    None
}

/// Where a string ends, just behind its quote: `None` if its bytes are no JSON, `Some(None)` if it has no end.
pub(crate) fn string_end(bytes: &[u8]) -> Option<Option<usize>> {
    let mut i = 0;
    loop {
        match bytes.get(i..)? {
            [] => return Some(None),
            [b'"', ..] => return Some(Some(i + 1)),
            [b'\\'] => return Some(None),
            [b'\\', b, ..] if !b"\"\\/bfnrtu".contains(b) => return None,
            [b'\\', ..] => i += 2,
            [0..0x20, ..] => return None,
            _ => i += 1,
        }
    }
}

/// Whether what a token spells from the end of a key on, behind a colon, ends the object. True for more where it is no
/// part of a document.
pub(crate) fn ends_object(behind_colon: &[u8]) -> bool {
    let (mut rest, mut depth) = (behind_colon, 0usize);
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => match string_end(rest) {
                Some(Some(end)) => rest = &rest[end..],
                _ => return false,
            },
            b'{' | b'[' => depth += 1,
            b'}' if depth == 0 => return true,
            // No array is open.
            b']' if depth == 0 => return false,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    false
}

/// Whether what a token spells behind a key ends the object.
pub(crate) fn ends_object_behind_key(rest: &[u8]) -> bool {
    rest.trim_ascii_start().strip_prefix(b":").is_some_and(ends_object) && plausible(rest)
}

/// What the bytes of a suffix so far ask of the next one.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Expected {
    /// Nothing was read but whitespace.
    Anything,
    /// A value, or a key.
    Value,
    /// After an opening bracket: an element or its end.
    Element,
    /// After an opening brace: a key or its end.
    Key,
    /// After a string: what separates, or a colon.
    Colon,
    /// After another value: what separates.
    Separator,
}

#[cfg(test)]
mod tests;
