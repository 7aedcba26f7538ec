//! The symbols of a grammar in Lark's notation.

/// One symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// The name of a rule or a terminal.
    Name(&'a str),
    /// A string, without its quotes.
    Text { raw: &'a str, any_case: bool },
    /// A pattern, without its slashes.
    Pattern { raw: &'a str, flags: &'a str },
    /// Digits, with a sign or without, or hexadecimal digits behind `0x`.
    Number(&'a str),
    /// What stands between `<` and `>`.
    Special(&'a str),
    /// `@name`.
    Grammar(&'a str),
    /// `%name`.
    Directive(&'a str),
    /// `->`.
    Arrow,
    /// `..`.
    To,
    /// `::`.
    Parameter,
    /// Any other symbol, one character.
    Mark(char),
    /// One or more ends of lines, where the next line does not begin with `|`.
    Newline,
    /// The end of the text.
    End,
}

/// Where a text is no grammar, and why.
pub(crate) type LexError = (usize, String);

/// A cursor over the text of a grammar.
pub(crate) struct Lexer<'a> {
    pub text: &'a str,
    /// The byte offset of what comes next.
    pub at: usize,
}

fn is_name_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || c == b'_'
}

fn is_name_char(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

impl<'a> Lexer<'a> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Passes blanks, comments and continued lines; answers whether an end of a line was among them.
    fn pass_blanks(&mut self) -> bool {
        let mut lines = false;
        loop {
            match self.byte(self.at) {
                b' ' | b'\t' | b'\r' | 0x0c => self.at += 1,
                b'\n' => {
                    lines = true;
                    self.at += 1;
                }
                b'#' => self.pass_line(),
                b'/' if self.byte(self.at + 1) == b'/' => self.pass_line(),
                b'\\' => {
                    let rest = self.text[self.at + 1..].trim_start_matches([' ', '\r']);
                    if !rest.starts_with('\n') {
                        return lines;
                    }
                    self.at = self.text.len() - rest.len() + 1;
                }
                // A byte order mark.
                0xef if self.at == 0 && self.text.starts_with('\u{feff}') => self.at = 3,
                _ => return lines,
            }
        }
    }

    fn pass_line(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |n| self.at + n);
    }

    /// The next symbol, and where it begins.
    ///
    /// # Errors
    /// A text or a pattern that does not end, or a character that means nothing here.
    pub fn next(&mut self) -> Result<(Token<'a>, usize), LexError> {
        let before = self.at;
        if self.pass_blanks() && self.byte(self.at) != b'|' {
            return Ok((Token::Newline, before));
        }
        let start = self.at;
        if start >= self.text.len() {
            return Ok((Token::End, start));
        }
        let token = match self.byte(start) {
            c if is_name_start(c) => Token::Name(self.name()),
            b'"' => self.string()?,
            b'/' => self.pattern()?,
            b'0'..=b'9' => Token::Number(self.number()),
            b'-' | b'+' if self.byte(start + 1).is_ascii_digit() => Token::Number(self.number()),
            b'<' => self.special()?,
            b'@' => self.grammar()?,
            b'%' => self.directive()?,
            _ => self.mark()?,
        };
        Ok((token, start))
    }

    /// `@`, and the name of a grammar.
    fn grammar(&mut self) -> Result<Token<'a>, LexError> {
        let start = self.at;
        self.at += 1;
        let rest = &self.text[self.at..];
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let length = rest.find(|c| !allowed(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err((start, "a name must stand behind @".to_owned()));
        }
        self.at += length;
        Ok(Token::Grammar(&rest[..length]))
    }

    /// `%`, and the name of a directive.
    fn directive(&mut self) -> Result<Token<'a>, LexError> {
        let start = self.at;
        self.at += 1;
        if !is_name_start(self.byte(self.at)) {
            return Err((start, "the name of a directive must stand behind %".to_owned()));
        }
        Ok(Token::Directive(self.name()))
    }

    /// One or two characters of punctuation.
    fn mark(&mut self) -> Result<Token<'a>, LexError> {
        let start = self.at;
        let two = &self.text.as_bytes()[start..(start + 2).min(self.text.len())];
        let (token, length) = match (two, self.byte(start)) {
            (b"->", _) => (Token::Arrow, 2),
            (b"..", _) => (Token::To, 2),
            (b"::", _) => (Token::Parameter, 2),
            (_, c) if b"()[]{}|:,.?*+~&=!".contains(&c) => (Token::Mark(char::from(c)), 1),
            _ => {
                let c = self.text[start..].chars().next().unwrap_or(' ');
                let hint = if c == '\'' { "; texts stand in double quotes" } else { "" };
                return Err((start, format!("the character {c:?} means nothing here{hint}")));
            }
        };
        self.at += length;
        Ok(token)
    }

    fn name(&mut self) -> &'a str {
        let start = self.at;
        // A hyphen belongs to a name where a name goes on behind it; `a->b` is an arrow.
        while is_name_char(self.byte(self.at)) || (self.byte(self.at) == b'-' && is_name_char(self.byte(self.at + 1))) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn number(&mut self) -> &'a str {
        let start = self.at;
        self.at += 1;
        let is_hex = self.text[start..].starts_with("0x") && self.byte(start + 2).is_ascii_hexdigit();
        if is_hex {
            self.at += 1;
        }
        while self.byte(self.at).is_ascii_digit() || is_hex && self.byte(self.at).is_ascii_hexdigit() {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn string(&mut self) -> Result<Token<'a>, LexError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte(self.at) {
                b'"' => break,
                b'\\' if self.byte(self.at + 1) != b'\n' => self.at += 2,
                b'\n' => {
                    return Err((start, "this text is not closed; a double quote must end it on its line".to_owned()));
                }
                _ if self.at >= self.text.len() => {
                    return Err((start, "this text is not closed; a double quote must end it".to_owned()));
                }
                _ => self.at += 1,
            }
        }
        let raw = &self.text[start + 1..self.at];
        self.at += 1;
        let any_case = self.byte(self.at) == b'i' && !is_name_char(self.byte(self.at + 1));
        self.at += usize::from(any_case);
        Ok(Token::Text { raw, any_case })
    }

    fn pattern(&mut self) -> Result<Token<'a>, LexError> {
        let start = self.at;
        self.at += 1;
        let mut lines = None;
        loop {
            match self.byte(self.at) {
                b'/' => break,
                b'\\' if matches!(self.byte(self.at + 1), b'/' | b'\\') => self.at += 2,
                b'\n' => {
                    lines.get_or_insert(self.at);
                    self.at += 1;
                }
                _ if self.at >= self.text.len() => {
                    return Err((start, "this pattern is not closed; a slash must end it".to_owned()));
                }
                _ => self.at += 1,
            }
        }
        let raw = &self.text[start + 1..self.at];
        self.at += 1;
        let flags_at = self.at;
        while b"imslux".contains(&self.byte(self.at)) {
            self.at += 1;
        }
        let flags = &self.text[flags_at..self.at];
        if lines.is_some() && !flags.contains('x') {
            let message = "this pattern is not closed on its line; a slash must end it (only patterns with the flag x \
                           may go over several lines)";
            return Err((start, message.to_owned()));
        }
        Ok(Token::Pattern { raw, flags })
    }

    /// A special token: `<|name|>`, `<name>` or `<[ids]>`.
    fn special(&mut self) -> Result<Token<'a>, LexError> {
        let start = self.at;
        let rest = &self.text[start + 1..];
        let close = if rest.starts_with('[') { "]>" } else { ">" };
        let Some(n) = rest.find(close).filter(|&n| !rest[..n].contains('\n')) else {
            return Err((start, format!("this special token is not closed; {close:?} must end it")));
        };
        let inside = &rest[..n + close.len() - 1];
        if inside.is_empty() || (!inside.starts_with('[') && inside.contains([' ', '\t', '<'])) {
            return Err((start, "the name of a special token has no blanks, and stands between < and >".to_owned()));
        }
        self.at = start + 1 + n + close.len();
        Ok(Token::Special(inside))
    }
}
