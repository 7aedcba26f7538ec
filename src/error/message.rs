//! What messages show of a source: never more than a line of a log should hold, and no control characters.
//!
//! Sources come from anybody, and messages go to logs and terminals. So control characters are written as JSON writes
//! them, and what is long is cut.

/// Characters of a message at most; what is longer is cut in the middle, for it says what is wrong at its end.
const MOST_CHARS: usize = 1_000;
/// Characters of a name, a value or a pointer that is quoted.
const MOST_QUOTED: usize = 128;

/// A message without control characters but line ends, cut in the middle where it is too long.
pub(super) fn fitted(message: String) -> String {
    if message.len() <= MOST_CHARS && !message.chars().any(|c| c != '\n' && is_control(c)) {
        return message;
    }
    escaped(&cut(&message, MOST_CHARS), |c| c != '\n')
}

/// So many of something, in the singular where it is one.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// A name or another text of a source between quotes, as JSON writes it, cut where it is too long.
pub(crate) fn quoted(text: &str) -> String {
    let inside = cut(text, MOST_QUOTED).replace('\\', r"\\").replace('"', r#"\""#);
    format!("\"{}\"", escaped(&inside, |_| true))
}

/// Where a JSON Pointer leads, in one line: without control characters, cut in the middle where it is too long. The
/// pointer of the root is the empty text, which says nothing to most people.
pub(crate) fn at_pointer(pointer: &str) -> String {
    match pointer {
        "" => "at the root".to_owned(),
        _ => format!("at \"{}\"", escaped(&cut(pointer, 2 * MOST_QUOTED), |_| true)),
    }
}

/// A text of at most about `most` characters: its beginning and the last third.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most || text.chars().count() <= most {
        return text.to_owned();
    }
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let from_end = |n: usize| text.char_indices().rev().nth(n).map_or(0, |(at, _)| at);
    format!("{}...{}", &text[..at(most * 2 / 3)], &text[from_end(most / 3)..])
}

fn escaped(text: &str, counts: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !counts(c) || !is_control(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out
}

/// Whether a character would end a line or move what stands around it.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn nothing_moves_the_line() {
        let error =
            Error::new(ErrorKind::Schema, "a\u{1b}[31m\rb").at_pointer("/properties/a\n\u{1b}[31mF\u{202e}é", "type");
        let shown = r#"a\u001b[31m\rb (at "/properties/a\n\u001b[31mF\u202eé", keyword "type")"#;
        assert_eq!((error.to_string(), error.client_message()), (shown.to_owned(), shown.to_owned()));
        assert_eq!(fitted("one\n  ^".to_owned()), "one\n  ^");
        let root = Error::new(ErrorKind::Schema, "a").at_pointer("", "type");
        assert_eq!(root.to_string(), r#"a (at the root, keyword "type")"#);
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "é".repeat(1_000_000);
        let error =
            Error::new(ErrorKind::Schema, format!("{long:?} is not a type")).at_pointer(long.clone(), long.clone());
        let shown = error.client_message();
        assert!(shown.chars().count() < 2_000 && shown.contains("é\" is not a type (at \"é"), "{shown}");
        assert!(matches!(error.place(), crate::error::SourcePlace::Pointer { pointer, .. } if *pointer == long));
        assert!(quoted(&long).chars().count() < 140);
        assert_eq!(quoted("a\"b\\\u{7}e\u{301}"), "\"a\\\"b\\\\\\u0007e\u{301}\"");
    }
}
