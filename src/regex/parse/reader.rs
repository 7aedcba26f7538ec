//! A cursor over the code points of a pattern. Offsets in errors count code points, as Python's do.

use crate::error::{Error, ErrorCode, ErrorKind, Result};

/// The control character that a letter stands for behind a backslash, in all dialects.
pub(crate) fn control_character(letter: char) -> Option<u32> {
    Some(match letter {
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        _ => return None,
    })
}

/// The cursor.
pub(crate) struct PatternReader {
    chars: Vec<char>,
    /// Offset of the next code point.
    pub pos: usize,
}

impl PatternReader {
    /// A cursor at the start of `pattern`.
    pub fn new(pattern: &str) -> Self {
        PatternReader { chars: pattern.chars().collect(), pos: 0 }
    }

    /// The next code point, which stays where it is.
    pub fn peek(&self) -> Option<char> {
        self.chars.get(self.pos).copied()
    }

    /// The code point `n` places after the next one.
    pub fn peek_at(&self, n: usize) -> Option<char> {
        self.chars.get(self.pos + n).copied()
    }

    /// The code point `n` places before the next one.
    pub fn peek_before(&self, n: usize) -> Option<char> {
        self.chars.get(self.pos.checked_sub(n)?).copied()
    }

    /// How many captures the whole pattern has, by ECMA-262's syntax.
    pub fn count_captures(&self) -> usize {
        let (mut n, mut i, mut class) = (0, 0, false);
        while let Some(&c) = self.chars.get(i) {
            let ahead = |k: usize| self.chars.get(i + k).copied();
            match c {
                '\\' => i += 1,
                '[' => class = true,
                ']' => class = false,
                '(' if !class => {
                    let named = ahead(1) == Some('?') && ahead(2) == Some('<') && !matches!(ahead(3), Some('=' | '!'));
                    n += usize::from(named || ahead(1) != Some('?'));
                }
                _ => {}
            }
            i += 1;
        }
        n
    }

    /// Takes the next code point.
    pub fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += 1;
        Some(c)
    }

    /// Takes the next code point if it is `c`.
    pub fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.pos += usize::from(found);
        found
    }

    /// Takes the code points of `s` if they come next.
    pub fn eat_str(&mut self, s: &str) -> bool {
        let n = s.chars().count();
        let found = self.chars.get(self.pos..self.pos + n).is_some_and(|v| v.iter().copied().eq(s.chars()));
        if found {
            self.pos += n;
        }
        found
    }

    /// Takes everything before the next `end`, and `end`; `None` without moving if there is no `end`.
    pub fn until(&mut self, end: char) -> Option<String> {
        let rest = self.chars.get(self.pos..)?;
        let n = rest.iter().position(|&c| c == end)?;
        let s = rest[..n].iter().collect();
        self.pos += n + 1;
        Some(s)
    }

    /// Takes everything before the next `end`, and `end`, or all that is left; whether `end` was there. As in CPython a
    /// backslash and what follows it are one, comment or not: an escaped `end` ends nothing, and a last backslash is an
    /// error.
    pub fn skip_past(&mut self, end: char) -> Result<bool> {
        while let Some(c) = self.next() {
            if c == end {
                return Ok(true);
            }
            if c == '\\' && self.next().is_none() {
                return Err(self.error("bad escape (end of pattern)", self.pos - 1));
            }
        }
        Ok(false)
    }

    /// Takes exactly `n` hexadecimal digits; `None` without moving if they are not there.
    pub fn hex(&mut self, n: usize) -> Option<u32> {
        let digits = self.chars.get(self.pos..self.pos.checked_add(n)?)?;
        let mut value = 0u32;
        for d in digits {
            value = value.checked_mul(16)?.checked_add(d.to_digit(16)?)?;
        }
        self.pos += n;
        Some(value)
    }

    /// Takes up to `most` octal digits; no digit is zero.
    pub fn octal(&mut self, most: usize) -> u32 {
        let mut value = 0;
        for _ in 0..most {
            let Some(d) = self.peek().and_then(|c| c.to_digit(8)) else { break };
            value = value * 8 + d;
            self.pos += 1;
        }
        value
    }

    /// Takes decimal digits: `None` if there are none, the digits themselves if their value is above `u32::MAX - 1`.
    pub fn number(&mut self) -> Option<Result<u32, String>> {
        let start = self.pos;
        let mut value = Some(0u32);
        while let Some(d) = self.peek().and_then(|c| c.to_digit(10)) {
            value = value.and_then(|v| v.checked_mul(10)?.checked_add(d)).filter(|&v| v < u32::MAX);
            self.pos += 1;
        }
        if self.pos == start { None } else { Some(value.ok_or_else(|| self.chars[start..self.pos].iter().collect())) }
    }

    /// A syntax error at `offset`. All that the parsers raise are made here and in [`unsupported`], so that a test can
    /// tell which were met.
    #[cfg_attr(test, track_caller)]
    pub fn error(&self, message: impl Into<String>, offset: usize) -> Error {
        #[cfg(test)]
        crate::regex::parse::tests::note_place(std::panic::Location::caller());
        Error::new(ErrorKind::Pattern, message).at_offset(offset)
    }
}

/// A construct that no exact expression exists for, or none that is offered.
#[cfg_attr(test, track_caller)]
pub(crate) fn unsupported(what: &str, offset: usize) -> Error {
    #[cfg(test)]
    crate::regex::parse::tests::note_place(std::panic::Location::caller());
    Error::new(ErrorKind::Unsupported, format!("{what} cannot be enforced exactly")).at_offset(offset)
}

/// A repeat count that does not fit, with its digits as they stand in the pattern.
pub(crate) fn count_limit(digits: &str, offset: usize) -> Error {
    const MOST_COPIES: u64 = u32::MAX as u64 - 1;
    // What is beyond 64 bits is no number that an error can carry.
    let error = Error::limit("repeat count", MOST_COPIES, digits.parse().unwrap_or(u64::MAX));
    let error = error.saying(format!("repeat count exceeds its limit: {digits} > {MOST_COPIES}"));
    error.coded(ErrorCode::RepeatCount).at_offset(offset)
}
