//! Excerpts: the line of a source that an error is about, with a caret under the location.

/// Characters of a line that are shown around the place.
const WIDTH: usize = 72;

/// A place in a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceExcerpt {
    /// The line, counted from one.
    pub line: usize,
    /// The character in the line, counted from one.
    pub column: usize,
    /// The line, or what of it is near the place, and below it a caret under the place.
    pub text: String,
}

impl SourceExcerpt {
    /// The place of character `at` of `source`, which may be its end.
    pub(crate) fn of_char(source: &str, at: usize) -> SourceExcerpt {
        let byte = source.char_indices().nth(at).map_or(source.len(), |(byte, _)| byte);
        SourceExcerpt::of_byte(source, byte)
    }

    /// The place of byte `at` of `source`, which may be its end.
    pub(crate) fn of_byte(source: &str, at: usize) -> SourceExcerpt {
        let mut at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        let (before, after) = source.split_at(at);
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        let before: Vec<char> = before[begin..].chars().collect();
        let after: Vec<char> = after.chars().take_while(|&c| c != '\n').collect();
        let column = before.len() + 1;
        // The place stands in the middle where the line is too long.
        let cut = if before.len() + after.len() > WIDTH { before.len().saturating_sub(WIDTH / 2) } else { 0 };
        let room = WIDTH - (before.len() - cut).min(WIDTH);
        let mut text = String::from(if cut > 0 { "..." } else { "" });
        text.extend(before[cut..].iter().copied().map(shown));
        let caret = " ".repeat(text.chars().count()) + "^";
        text.extend(after.iter().take(room).copied().map(shown));
        if after.len() > room {
            text.push_str("...");
        }
        SourceExcerpt { line, column, text: format!("{}\n{caret}", text.trim_end()) }
    }
}

/// One column for each character.
fn shown(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(source: &str, at: usize) -> (usize, usize, String) {
        let found = SourceExcerpt::of_char(source, at);
        (found.line, found.column, found.text)
    }

    #[test]
    fn the_caret_stands_under_the_character() {
        assert_eq!(excerpt("a(b", 1), (1, 2, "a(b\n ^".to_owned()));
        assert_eq!(excerpt("é\nü(b\nc", 3), (2, 2, "ü(b\n ^".to_owned()));
        assert_eq!(excerpt("", 0), (1, 1, "\n^".to_owned()));
        assert_eq!(excerpt("ab", 9), (1, 3, "ab\n  ^".to_owned()));
        assert_eq!(excerpt("a\tb", 2), (1, 3, "a b\n  ^".to_owned()));
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let long = "x".repeat(500) + "(" + &"y".repeat(500);
        let (line, column, text) = excerpt(&long, 500);
        assert_eq!((line, column), (1, 501));
        let (shown, caret) = text.split_once('\n').expect("two lines");
        assert!(shown.starts_with("...x") && shown.ends_with("y...") && shown.len() < 90);
        assert_eq!(shown.as_bytes()[caret.len() - 1], b'(');
    }
}
