//! Errors that show their location: line, column, the line itself and a caret below it.

use crate::error::{Error, ErrorKind, SourcePlace};
use crate::regex::Dialect;

/// Characters of the line that are shown on either side of the place.
const BESIDE: usize = 60;

/// A place in one of the texts that a grammar is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextPlace {
    /// The text, as an index into the list of [`Texts`].
    pub text: u32,
    /// The byte offset in it.
    pub at: usize,
}

/// The texts that a grammar is made of: its own, and those that it imports.
#[derive(Default)]
pub(crate) struct Texts {
    /// Name and content of each. The grammar's own is the first, without a name.
    texts: Vec<(String, String)>,
}

impl Texts {
    /// Adds a text, and answers its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.texts.push((name.into(), text.into()));
        self.texts.len() as u32 - 1
    }

    /// The content of a text.
    pub fn get(&self, text: u32) -> &str {
        self.texts.get(text as usize).map_or("", |t| &t.1)
    }

    /// A byte offset in the grammar's own text: 0 for what an import brought.
    pub fn offset(&self, place: TextPlace) -> usize {
        if place.text == 0 { place.at } else { 0 }
    }

    /// A `Grammar` error at a place.
    pub fn error(&self, place: TextPlace, message: impl AsRef<str>) -> Error {
        self.error_of(ErrorKind::Grammar, place, message)
    }

    /// An `Unsupported` error at a place.
    pub fn unsupported(&self, place: TextPlace, message: impl AsRef<str>) -> Error {
        self.error_of(ErrorKind::Unsupported, place, message)
    }

    fn error_of(&self, kind: ErrorKind, place: TextPlace, message: impl AsRef<str>) -> Error {
        let (name, text) = self.texts.get(place.text as usize).map_or(("", ""), |t| (&t.0, &t.1));
        let inside = if name.is_empty() { String::new() } else { format!("in {name:?}, ") };
        let excerpt = Excerpt::around(text, place.at);
        let message = format!(
            "{inside}line {}, column {}: {}\n{}",
            excerpt.line,
            excerpt.column,
            message.as_ref(),
            excerpt.shown()
        );
        let error = Error::new(kind, message);
        if place.text == 0 { error.at(SourcePlace::Byte(place.at)) } else { error }
    }

    /// An error of a part of a grammar, told at its place. A limit takes the place alone, see [`shown_in`]; stops stay
    /// what they are.
    pub fn at(&self, place: TextPlace, error: &Error) -> Error {
        match error.kind() {
            ErrorKind::Limit if place.text == 0 => error.clone().moved_to(SourcePlace::Byte(place.at)),
            ErrorKind::Pattern | ErrorKind::Argument => hinted(self.error(place, error_text(error)), error),
            ErrorKind::Unsupported => hinted(self.unsupported(place, error_text(error)), error),
            _ => error.clone(),
        }
    }

    /// [`at`](Self::at) for an error of a terminal's pattern, with what to write instead as its hint.
    pub fn in_pattern(&self, place: TextPlace, error: Error, pattern: &str, dialect: Dialect) -> Error {
        self.at(place, &error.with_pattern_hint(pattern, dialect))
    }
}

/// An error with the hint of another one.
fn hinted(error: Error, like: &Error) -> Error {
    match like.hint() {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// A limit error with the place where the rule or the terminal beyond the limit begins: unless it has one already, or
/// what it is about came from an import.
pub(crate) fn limit_at(error: Error, offset: usize) -> Error {
    if error.kind() == ErrorKind::Limit && offset > 0 { error.at(SourcePlace::Byte(offset)) } else { error }
}

/// An error of what was made of the grammar `text`, such as a limit or a token that the vocabulary has not, with line,
/// column and the line, as those of its reader have them: if it has an offset, and does not show its line already.
pub(crate) fn shown_in(error: Error, text: &str) -> Error {
    let SourcePlace::Byte(at) = *error.place() else { return error };
    if error.message().contains('\n') {
        return error;
    }
    let excerpt = Excerpt::around(text, at);
    let message = format!("line {}, column {}: {}\n{}", excerpt.line, excerpt.column, error.message(), excerpt.shown());
    error.saying(message)
}

/// What an error says, with its place in the part that it is about.
fn error_text(error: &Error) -> String {
    match error.place() {
        SourcePlace::Offset(n) => format!("{} (at character {n} of the pattern)", error.message()),
        _ => error.message().to_owned(),
    }
}

/// One line of a text with a place in it.
struct Excerpt<'a> {
    /// Its number, from 1.
    line: usize,
    /// The place in it in characters, from 1.
    column: usize,
    content: &'a str,
}

impl<'a> Excerpt<'a> {
    fn around(text: &'a str, at: usize) -> Self {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
        Excerpt {
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: text[start..at].chars().count() + 1,
            content: text[start..end].trim_end_matches('\r'),
        }
    }

    /// The line, cut around the place, and a caret below it.
    fn shown(&self) -> String {
        let skipped = self.column.saturating_sub(BESIDE + 1);
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let line: String = self.content.chars().skip(skipped).take(2 * BESIDE).map(plain).collect();
        let number = self.line.to_string();
        let blank = " ".repeat(number.len());
        let caret = " ".repeat(self.column - 1 - skipped);
        format!("{number} | {line}\n{blank} | {caret}^")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_shown() {
        let mut texts = Texts::default();
        texts.add("", "start: a\na: \u{20ac} nme\n");
        let e = texts.error(TextPlace { text: 0, at: 16 }, "what is this?");
        assert_eq!(e.message(), "line 2, column 6: what is this?\n2 | a: \u{20ac} nme\n  |      ^");
        assert_eq!(*e.place(), SourcePlace::Byte(16));
    }

    #[test]
    fn long_lines_are_cut() {
        let mut texts = Texts::default();
        texts.add("", "x".repeat(10_000));
        let e = texts.error(TextPlace { text: 0, at: 5_000 }, "here");
        assert!(e.message().len() < 300, "{e}");
        let past = texts.error(TextPlace { text: 0, at: 50_000 }, "there");
        assert!(past.message().starts_with("line 1, column 10001"), "{past}");
    }
}
