//! A cursor over a grammar in GBNF or EBNF: blanks, names, texts and classes of characters.

use crate::error::{Error, Result};
use crate::grammar::error_place::TextPlace;
use crate::grammar::tree::Tree;

/// Which of the two notations a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// llama.cpp's.
    Gbnf,
    /// XGrammar's.
    Ebnf,
}

/// The cursor.
pub(crate) struct Reader<'a, 'b> {
    pub tree: &'b mut Tree,
    pub text: &'a str,
    /// The byte offset of what comes next.
    pub at: usize,
    pub notation: Notation,
}

impl<'a> Reader<'a, '_> {
    /// A place in the text.
    pub fn place(&self, at: usize) -> TextPlace {
        TextPlace { text: 0, at }
    }

    /// An error at a place.
    pub fn error(&self, at: usize, message: impl AsRef<str>) -> Error {
        self.tree.texts.error(self.place(at), message)
    }

    /// What is left of the text.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character, which stays where it is.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes `what` if it comes next.
    pub fn takes(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        self.at += if found { what.len() } else { 0 };
        found
    }

    /// Takes `what`, after blanks.
    ///
    /// # Errors
    /// Anything else comes next.
    pub fn expect(&mut self, what: &str, why: &str) -> Result<()> {
        self.pass_blanks(true);
        if self.takes(what) { Ok(()) } else { Err(self.error(self.at, format!("{what:?} must stand here {why}"))) }
    }

    /// Passes blanks and comments, and ends of lines where they mean nothing.
    pub fn pass_blanks(&mut self, lines: bool) {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\r' | b'\n') if lines => self.at += 1,
                Some(b'#') => self.at = self.rest().find(['\n', '\r']).map_or(self.text.len(), |n| self.at + n),
                Some(0xef) if self.at == 0 && self.text.starts_with('\u{feff}') => self.at = 3,
                _ => return,
            }
        }
    }

    /// Takes a name, if one comes next.
    pub fn name(&mut self) -> Option<&'a str> {
        let dots = self.notation == Notation::Ebnf;
        let rest = self.rest();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || (dots && c == '.');
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length == 0 || rest.starts_with('-') {
            return None;
        }
        self.at += length;
        Some(&rest[..length])
    }

    /// Takes digits, if they come next.
    ///
    /// # Errors
    /// A number that is too large.
    pub fn number(&mut self) -> Result<Option<u32>> {
        let start = self.at;
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if length == 0 {
            return Ok(None);
        }
        self.at += length;
        let number = rest[..length].parse::<u32>().ok().filter(|n| *n < u32::MAX);
        number.map(Some).ok_or_else(|| self.error(start, "this number is too large"))
    }

    /// Takes a text in double quotes, whose first comes next.
    ///
    /// # Errors
    /// It is not closed, or an escape means nothing.
    pub fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            match self.peek() {
                Some('"') => {
                    self.at += 1;
                    return Ok(out);
                }
                None | Some('\n' | '\r') => {
                    return Err(self.error(start, "this text is not closed; a double quote must end it on its line"));
                }
                Some(_) => out.push(self.one_char()?),
            }
        }
    }

    /// Takes one character, or the escape of one.
    fn one_char(&mut self) -> Result<char> {
        let start = self.at;
        let c = self.peek().unwrap_or('\\');
        self.at += c.len_utf8();
        if c != '\\' {
            return Ok(c);
        }
        let Some(kind) = self.peek() else { return Err(self.error(start, "nothing stands behind this backslash")) };
        self.at += kind.len_utf8();
        let ebnf = self.notation == Notation::Ebnf;
        Ok(match kind {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\\' | '"' | '[' | ']' | '-' | '^' | '\'' | '/' => kind,
            'x' => self.hex(start, 2)?,
            'u' if ebnf && self.takes("{") => self.hex_in_braces(start)?,
            'u' => self.hex(start, 4)?,
            'U' => self.hex(start, 8)?,
            'd' | 'w' | 's' | 'D' | 'W' | 'S' => {
                let message = format!("\\{kind} means nothing here; write the characters out, as in [0-9]");
                return Err(self.error(start, message));
            }
            other => match control_character(other).filter(|_| ebnf) {
                Some(c) => c,
                None => return Err(self.error(start, format!("the escape \\{other} means nothing here"))),
            },
        })
    }

    /// The character of an escape whose opening brace is taken.
    fn hex_in_braces(&mut self, start: usize) -> Result<char> {
        let length = self.rest().find('}').unwrap_or(0);
        let c = self.hex(start, length)?;
        self.at += 1;
        Ok(c)
    }

    fn hex(&mut self, start: usize, digits: usize) -> Result<char> {
        let hex = self.rest().get(..digits).filter(|h| !h.is_empty() && h.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = hex.and_then(|h| u32::from_str_radix(h, 16).ok()).and_then(char::from_u32);
        let Some(c) = code else {
            let message = "this escape names no character; the forms are \\xHH, \\uHHHH and \\UHHHHHHHH";
            return Err(self.error(start, message));
        };
        self.at += digits;
        Ok(c)
    }

    /// Takes a class of characters, whose bracket comes next.
    ///
    /// # Errors
    /// It is not closed, it is empty, or a range in it is.
    pub fn class(&mut self) -> Result<Vec<(char, char)>> {
        let start = self.at;
        self.at += 1;
        let negated = self.takes("^");
        let mut ranges = Vec::new();
        let is_open = |reader: &Self| match reader.peek() {
            None | Some('\n' | '\r') => {
                Err(reader.error(start, "this class is not closed; ']' must end it on its line"))
            }
            Some(next) => Ok(next != ']'),
        };
        while is_open(self)? {
            let at = self.at;
            let lo = self.one_char()?;
            let mut hi = lo;
            if self.rest().starts_with('-') && !self.rest().starts_with("-]") {
                self.at += 1;
                is_open(self)?;
                hi = self.one_char()?;
                if lo > hi {
                    return Err(self.error(at, format!("this range is empty: {lo:?} comes behind {hi:?}")));
                }
            }
            ranges.push((lo, hi));
        }
        self.at += 1;
        if negated {
            return Ok(complement(ranges));
        }
        if ranges.is_empty() {
            return Err(self.error(start, "this class is empty: no character can stand here"));
        }
        Ok(ranges)
    }
}

/// All characters but those of `ranges`.
fn complement(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut out = Vec::new();
    let mut next = 0u32;
    let mut push = |lo: u32, hi: u32| {
        // Surrogates are no characters.
        let lo = char::from_u32(lo).unwrap_or('\u{e000}');
        let hi = char::from_u32(hi).unwrap_or('\u{d7ff}');
        if lo <= hi {
            out.push((lo, hi));
        }
    };
    for (lo, hi) in ranges {
        if lo as u32 > next {
            push(next, lo as u32 - 1);
        }
        next = next.max(hi as u32 + 1);
    }
    if next <= char::MAX as u32 {
        push(next, char::MAX as u32);
    }
    out
}

/// The control character that a letter stands for in EBNF, beside those of all notations.
fn control_character(kind: char) -> Option<char> {
    Some(match kind {
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        'e' => '\x1b',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complements_leave_surrogates_out() {
        assert_eq!(complement(vec![('b', 'c'), ('\0', 'a')]), [('d', char::MAX)]);
        assert_eq!(complement(vec![('\0', '\u{d7ff}')]), [('\u{e000}', char::MAX)]);
        assert_eq!(complement(vec![('\u{e000}', char::MAX), ('b', 'b')]), [('\0', 'a'), ('c', '\u{d7ff}')]);
        assert_eq!(complement(Vec::new()), [('\0', char::MAX)]);
    }
}
