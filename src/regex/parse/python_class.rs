//! Escapes and character classes of Python's dialect.
//!
//! Inside brackets nothing but `\`, `]`, `-` and a leading `^` is special: `&&` and `[:alpha:]` are literal, as
//! they are in CPython. Case folding applies to the code points and ranges of a class, not to `\w` and its like.
//!
//! One departure: under `i`, CPython 3.11 forgets to lower-case a capital beyond the BMP that a class names, so that
//! `[𐐀x]` does not even match `𐐀`. Here it matches both cases, as the letter does outside of a class.

use std::sync::Arc;

use crate::error::{ErrorCode, Result};
use crate::regex::ast::{Assert, AstNode};
use crate::regex::char_set::{CharSet, Union};
use crate::regex::parse::builder::Last;
use crate::regex::parse::python::PythonParser;
use crate::regex::parse::reader::{control_character, unsupported};
use crate::regex::unicode;
use crate::regex::unicode::Fold;

/// What an escape or one item of a class stands for.
enum PythonClassPart {
    Char(u32),
    /// A set that case folding leaves alone.
    Set(Arc<CharSet>),
    /// A set by property, which case folding has widened where it stands alone.
    Property(Arc<CharSet>),
}

impl PythonParser {
    /// An escape outside brackets; the backslash is read already.
    pub(crate) fn escape(&mut self, at: usize) -> Result<()> {
        let Some(c) = self.r.peek() else { return Err(self.r.error("bad escape (end of pattern)", at)) };
        let assert = match c {
            'A' => Some(Assert::Start),
            'Z' => Some(Assert::End),
            'b' => Some(Assert::Boundary(self.flags.words())),
            'B' => Some(Assert::NotBoundary { words: self.flags.words(), never_empty: true }),
            _ => None,
        };
        if let Some(a) = assert {
            self.r.pos += 1;
            self.b.node(AstNode::Assert(a), at, Last::Bare);
            return Ok(());
        }
        if c.is_ascii_digit() && c != '0' {
            return self.numbered(at);
        }
        match self.common_escape(at, self.flags.fold())? {
            PythonClassPart::Char(c) => self.b.literal(c, self.flags.fold(), at),
            PythonClassPart::Set(s) | PythonClassPart::Property(s) => self.b.set(s, at),
        }
        Ok(())
    }

    /// `\1` and so on: three octal digits are a code point, anything else a backreference.
    fn numbered(&mut self, at: usize) -> Result<()> {
        let digits: Vec<u32> = (0..3).map_while(|i| self.r.peek_at(i).and_then(|c| c.to_digit(10))).collect();
        if digits.len() == 3 && digits.iter().all(|&d| d < 8) {
            let value = digits[0] * 64 + digits[1] * 8 + digits[2];
            if value > 0o377 {
                return Err(self.r.error("octal escape value outside of range 0-0o377", at));
            }
            self.r.pos += 3;
            self.b.literal(value, self.flags.fold(), at);
            return Ok(());
        }
        let group = digits.iter().take(2).fold(0, |n, d| n * 10 + d);
        if group <= self.groups {
            return Err(unsupported("a backreference", at).coded(ErrorCode::Backreference));
        }
        Err(self.r.error(format!("invalid group reference {group}"), at + 1))
    }

    /// Escapes that mean the same inside and outside of brackets, but for `fold`: what properties are widened by.
    fn common_escape(&mut self, at: usize, fold: Fold) -> Result<PythonClassPart> {
        let Some(c) = self.r.next() else { return Err(self.r.error("bad escape (end of pattern)", at)) };
        if let Some(control) = control_character(c) {
            return Ok(PythonClassPart::Char(control));
        }
        let c = match c {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => return Ok(PythonClassPart::Set(self.class_of_letter(c))),
            'p' | 'P' => return self.property(c, fold, at),
            'N' => return Err(unsupported("a code point by name (\\N)", at)),
            'a' => 7,
            'x' | 'u' | 'U' => {
                let n = match c {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                match self.r.hex(n) {
                    Some(v) if v <= 0x10_FFFF => v,
                    _ => return Err(self.r.error(format!("incomplete or bad escape \\{c}"), at)),
                }
            }
            '0' => self.r.octal(2),
            c if c.is_ascii_alphanumeric() => return Err(self.r.error(format!("bad escape \\{c}"), at)),
            c => c as u32,
        };
        Ok(PythonClassPart::Char(c))
    }

    /// The set of `\d`, `\w` or `\s`; a capital means all other characters.
    fn class_of_letter(&self, letter: char) -> Arc<CharSet> {
        let set = match (letter.to_ascii_lowercase(), self.flags.ascii) {
            ('d', true) => unicode::ascii_digit(),
            ('d', false) => unicode::python_digit(),
            ('w', true) => unicode::ascii_word(),
            ('w', false) => unicode::python_word(),
            (_, true) => unicode::ascii_space(),
            (_, false) => unicode::python_space(),
        };
        if letter.is_ascii_uppercase() { unicode::not(&set) } else { set }
    }

    /// The set of `\p{…}`, or of `\P{…}`, which means all other characters; `letter` says which.
    fn property(&mut self, letter: char, fold: Fold, at: usize) -> Result<PythonClassPart> {
        let name = match self.r.next() {
            Some('{') => self.r.until('}').ok_or_else(|| self.r.error("unterminated property name", at))?,
            Some(c) => c.to_string(),
            None => return Err(self.r.error(format!("bad escape \\{letter}"), at)),
        };
        match self.properties.get(&name, letter == 'P', fold)? {
            Some(set) => Ok(PythonClassPart::Property(set)),
            None => Err(self.r.error(format!("unknown Unicode property {name:?}"), at)),
        }
    }

    fn class_escape(&mut self, at: usize) -> Result<PythonClassPart> {
        match self.r.peek() {
            Some('b') => {
                self.r.pos += 1;
                Ok(PythonClassPart::Char(8))
            }
            Some(c) if c.is_digit(8) => {
                let v = self.r.octal(3);
                if v > 0o377 {
                    return Err(self.r.error("octal escape value outside of range 0-0o377", at));
                }
                Ok(PythonClassPart::Char(v))
            }
            // A class folds all that it holds at once.
            _ => self.common_escape(at, Fold::None),
        }
    }

    /// A class; the opening bracket is read already.
    pub(crate) fn class(&mut self, at: usize) -> Result<Arc<CharSet>> {
        let unterminated = |p: &Self| p.r.error("unterminated character set", at);
        let negative = self.r.eat('^');
        let mut members = ClassMembers::default();
        let mut first = true;
        loop {
            let start = self.r.pos;
            self.b.go_on(start)?;
            let Some(c) = self.r.next() else { return Err(unterminated(self)) };
            if c == ']' && !first {
                break;
            }
            first = false;
            let one = if c == '\\' { self.class_escape(start)? } else { PythonClassPart::Char(c as u32) };
            if self.r.peek() == Some('-') {
                self.r.pos += 1;
                let here = self.r.pos;
                let Some(d) = self.r.next() else { return Err(unterminated(self)) };
                if d != ']' {
                    let two = if d == '\\' { self.class_escape(here)? } else { PythonClassPart::Char(d as u32) };
                    match (one, two) {
                        (PythonClassPart::Char(lo), PythonClassPart::Char(hi)) if lo <= hi => {
                            members.folded.push(lo, hi);
                        }
                        (PythonClassPart::Char(_), PythonClassPart::Char(_)) => {
                            return Err(self.r.error("bad character range", start));
                        }
                        _ => return Err(self.r.error("bad character range: one end is a class", start)),
                    }
                    continue;
                }
                members.folded.push('-' as u32, '-' as u32);
                self.r.pos = here;
            }
            members.add(one);
        }
        members.set(negative, self.flags.fold())
    }
}

/// What stands in the brackets of a class.
#[derive(Default)]
struct ClassMembers {
    /// Characters and properties, which case may widen.
    folded: Union,
    /// Sets that have all cases already, their number and the last of them.
    exact: Union,
    sets: usize,
    last: Option<Arc<CharSet>>,
}

impl ClassMembers {
    fn add(&mut self, part: PythonClassPart) {
        match part {
            PythonClassPart::Char(c) => self.folded.push(c, c),
            PythonClassPart::Property(s) => self.folded.add(&s),
            PythonClassPart::Set(s) => {
                self.sets += 1;
                self.exact.add(&s);
                self.last = Some(s);
            }
        }
    }

    /// All of it, or all else. One set alone is the same set, not a copy.
    fn set(self, negative: bool, fold: Fold) -> Result<Arc<CharSet>> {
        if let (true, 1, Some(s)) = (self.folded.is_empty(), self.sets, self.last) {
            return Ok(if negative { unicode::not(&s) } else { s });
        }
        let mut set = unicode::close(self.folded.finish(), fold)?;
        if self.sets > 0 {
            set = set.union(&self.exact.finish());
        }
        Ok(Arc::new(if negative { set.complement() } else { set }))
    }
}
