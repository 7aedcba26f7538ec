//! The parser for ECMA-262's dialect, as JSON Schema's `pattern` uses it.
//!
//! The reading is that of the `u` flag: code points, not UTF-16 units, and `\p{…}`. Where that reading is a syntax
//! error and Annex B of the specification has another without ambiguity, Annex B holds: `\-` and other escaped
//! punctuation, a literal `{`, `}` or `]`, `[\w-x]`, quantified lookahead, octal escapes that begin with 0. Escaped
//! letters without a meaning stay errors, because engines disagree on them (`\Z` is an anchor elsewhere).
//! Backreferences are refused as not regular, once the rest of the pattern was read: a pattern with bad syntax is no
//! pattern, whatever else it has. Messages are V8's words; what to write instead stands in `regex/pattern_hints.rs`.

use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::limits::Limits;
use crate::regex::ast::{Assert, Ast, AstId, AstNode, INF, Words};
use crate::regex::parse::builder::{AstBuilder, Greed, Last};
use crate::regex::parse::reader::{PatternReader, count_limit, unsupported};
use crate::regex::unicode;
use crate::regex::unicode::{Fold, Properties};
use crate::util::seeded_hash::SeededMap;

/// The flags in force at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EcmaFlags {
    pub(crate) ignore_case: bool,
    multiline: bool,
    dot_all: bool,
}

impl EcmaFlags {
    pub(crate) fn fold(self) -> Fold {
        if self.ignore_case { Fold::Ecma } else { Fold::None }
    }

    pub(crate) fn words(self) -> Words {
        if self.ignore_case { Words::EcmaFolded } else { Words::Ascii }
    }

    fn set(&mut self, letter: char, on: bool) -> bool {
        match letter {
            'i' => self.ignore_case = on,
            'm' => self.multiline = on,
            's' => self.dot_all = on,
            _ => return false,
        }
        true
    }
}

/// What a group is, for its end.
#[derive(Clone, Copy)]
pub(crate) enum EcmaGroup {
    Plain,
    Look { behind: bool, negative: bool },
}

pub(crate) struct EcmaParser {
    pub(crate) r: PatternReader,
    pub(crate) b: AstBuilder<(EcmaGroup, EcmaFlags)>,
    pub(crate) flags: EcmaFlags,
    /// Where the last capture of each name begins.
    names: SeededMap<String, usize>,
    /// For each group that is open, the pattern itself included, where it begins, and where the last bar stands in it
    /// or in one around it. Places count from one.
    open: Vec<(usize, usize)>,
    /// How many captures there are, once a backreference asked.
    pub(crate) captures: Option<usize>,
    /// The first backreference.
    refused: Option<Error>,
    pub(crate) properties: Properties,
}

/// Reads `flags` as a caller passes them. `d`, `g` and `y` say nothing about the language and `u` always holds.
pub(crate) fn parse_flags(letters: &str) -> Result<EcmaFlags> {
    let mut f = EcmaFlags::default();
    for c in letters.chars() {
        if c == 'v' {
            return Err(Error::new(ErrorKind::Unsupported, "pattern flag v (set notation) is not offered"));
        }
        if !f.set(c, true) && !"dguy".contains(c) {
            let message = format!("unknown pattern flag {c:?}; known are d g i m s u y");
            return Err(Error::new(ErrorKind::Argument, message));
        }
    }
    Ok(f)
}

/// Parses a pattern.
pub(crate) fn parse(pattern: &str, flags: EcmaFlags, limits: &Limits) -> Result<(Ast, AstId)> {
    let b = AstBuilder::new(limits, (EcmaGroup::Plain, flags));
    let (names, open, properties) = (SeededMap::default(), vec![(0, 0)], Properties::default());
    let mut p =
        EcmaParser { r: PatternReader::new(pattern), b, flags, names, open, captures: None, refused: None, properties };
    while let Some(c) = p.r.peek() {
        p.item(c)?;
        p.b.go_on(p.r.pos)?;
    }
    if p.b.depth() > 0 {
        return Err(p.r.error("unterminated group", p.b.opened_at()));
    }
    let Some((root, ..)) = p.b.close() else {
        return Err(Error::new(ErrorKind::Internal, "the pattern has no outermost group"));
    };
    p.refused.map_or(Ok((p.b.ast, root)), Err)
}

impl EcmaParser {
    fn item(&mut self, c: char) -> Result<()> {
        let at = self.r.pos;
        self.r.pos += 1;
        match c {
            '|' => {
                self.open.last_mut().into_iter().for_each(|(_, bar)| *bar = at + 1);
                self.b.bar();
            }
            '(' => self.open(at)?,
            ')' => self.close(at)?,
            '[' => {
                let set = self.class(at)?;
                self.b.set(set, at);
            }
            '.' => {
                let set = if self.flags.dot_all { unicode::any() } else { unicode::ecma_dot() };
                self.b.set(set, at);
            }
            '^' => {
                let a = if self.flags.multiline { Assert::LineStart { ecma: true } } else { Assert::Start };
                self.b.node(AstNode::Assert(a), at, Last::Bare);
            }
            '$' => {
                let a = if self.flags.multiline { Assert::LineEnd { ecma: true } } else { Assert::End };
                self.b.node(AstNode::Assert(a), at, Last::Bare);
            }
            '*' => self.quantify(0, INF, at)?,
            '+' => self.quantify(1, INF, at)?,
            '?' => self.quantify(0, 1, at)?,
            '{' => self.counted(at)?,
            '\\' => self.escape(at)?,
            _ => self.b.literal(c as u32, self.flags.fold(), at),
        }
        Ok(())
    }

    fn counted(&mut self, at: usize) -> Result<()> {
        let start = self.r.pos;
        let lo = self.r.number();
        let hi = match self.r.eat(',') {
            true => self.r.number().unwrap_or(Ok(INF)),
            false => lo.clone().unwrap_or(Ok(0)),
        };
        let (Some(lo), true) = (lo, self.r.eat('}')) else {
            self.r.pos = start;
            self.b.literal('{' as u32, self.flags.fold(), at);
            return Ok(());
        };
        let min = lo.map_err(|count| count_limit(&count, at))?;
        let max = hi.map_err(|count| count_limit(&count, at))?;
        if max < min {
            return Err(self.r.error("numbers out of order in {} quantifier", at));
        }
        self.quantify(min, max, at)
    }

    fn quantify(&mut self, min: u32, max: u32, at: usize) -> Result<()> {
        if self.b.last() != Last::Item {
            return Err(self.r.error("nothing to repeat", at));
        }
        // A lazy repetition accepts the same texts in another order of preference.
        self.r.eat('?');
        self.b.repeat(min, max, Greed::Greedy, at);
        Ok(())
    }

    fn open(&mut self, at: usize) -> Result<()> {
        let outer = self.flags;
        self.open.push((at + 1, self.open.last().map_or(0, |(_, bar)| *bar)));
        if !self.r.eat('?') {
            return self.b.open(at, (EcmaGroup::Plain, outer));
        }
        let group = match self.r.next() {
            Some(':') => EcmaGroup::Plain,
            Some(c @ ('=' | '!')) => EcmaGroup::Look { behind: false, negative: c == '!' },
            Some('<') => match self.r.peek() {
                Some(c @ ('=' | '!')) => {
                    self.r.pos += 1;
                    EcmaGroup::Look { behind: true, negative: c == '!' }
                }
                _ => {
                    self.named_capture(at)?;
                    EcmaGroup::Plain
                }
            },
            Some(c @ ('i' | 'm' | 's' | '-')) => {
                let flags = self.modifiers(c, at)?;
                self.b.open(at, (EcmaGroup::Plain, outer))?;
                self.flags = flags;
                return Ok(());
            }
            Some(c) if c == '\'' || c == 'P' && self.r.peek() == Some('<') => {
                return Err(self.r.error("invalid group; a group with a name is written (?<name>...)", at));
            }
            _ => return Err(self.r.error("invalid group", at)),
        };
        self.b.open(at, (group, outer))
    }

    /// The name of the capture that begins at `at`. Another one may have it in another alternative, so in a group that
    /// was open before that one and has had a bar since. Where the last one of the name is in another alternative, so
    /// are those before it.
    fn named_capture(&mut self, at: usize) -> Result<()> {
        let place = self.r.pos;
        let name = self.name()?;
        let apart = |last: &usize| {
            let around = self.open.partition_point(|(begin, _)| begin < last);
            self.open[..around].last().is_some_and(|(_, bar)| bar > last)
        };
        if self.names.get(&name).is_some_and(|last| !apart(last)) {
            return Err(self.r.error(format!("another group has the name {name:?}"), place));
        }
        self.names.insert(name, at + 1);
        Ok(())
    }

    /// A group name and its closing bracket. An escape in it is the code point that it stands for.
    pub(crate) fn name(&mut self) -> Result<String> {
        let at = self.r.pos;
        let mut name = String::new();
        loop {
            let c = match self.r.next() {
                Some('>') if !name.is_empty() => return Ok(name),
                Some('\\') if self.r.eat('u') => self.unicode_escape().and_then(char::from_u32),
                c => c,
            };
            let good = |&c: &char| match name.is_empty() {
                true => "_$".contains(c) || unicode::id_start().contains(c as u32),
                false => "$\u{200C}\u{200D}".contains(c) || unicode::id_continue().contains(c as u32),
            };
            match c.filter(good) {
                Some(c) => name.push(c),
                None => return Err(self.r.error("invalid capture group name", at)),
            }
        }
    }

    fn modifiers(&mut self, first: char, at: usize) -> Result<EcmaFlags> {
        let mut flags = self.flags;
        let mut seen = String::new();
        let mut on = true;
        let mut c = first;
        loop {
            match c {
                ':' if !seen.is_empty() => return Ok(flags),
                ')' if on && !seen.is_empty() => {
                    let message = format!(
                        "(?{seen}) is no group: ECMA-262, the dialect of JSON Schema, sets flags for a group only; \
                         write (?{seen}:...) around what they are for"
                    );
                    return Err(self.r.error(message, at));
                }
                '-' if on => on = false,
                c if !seen.contains(c) && flags.set(c, on) => seen.push(c),
                _ => return Err(self.r.error("invalid group", at)),
            }
            c = self.r.next().ok_or_else(|| self.r.error("invalid group", at))?;
        }
    }

    fn close(&mut self, at: usize) -> Result<()> {
        if self.b.depth() == 0 {
            return Err(self.r.error("unmatched )", at));
        }
        let Some((n, offset, (group, outer))) = self.b.close() else { return Ok(()) };
        self.open.pop();
        self.flags = outer;
        match group {
            EcmaGroup::Plain => self.b.add(n, Last::Item),
            EcmaGroup::Look { behind, negative } => {
                // Annex B lets a quantifier follow lookahead, never lookbehind.
                let last = if behind { Last::Bare } else { Last::Item };
                self.b.node(AstNode::Look { body: n, behind, negative }, offset, last);
            }
        }
        Ok(())
    }

    /// A backreference, which is refused in the end.
    pub(crate) fn backreference(&mut self, at: usize) {
        self.refused.get_or_insert_with(|| unsupported("a backreference", at).coded(ErrorCode::Backreference));
        self.b.node(AstNode::Empty, at, Last::Item);
    }
}
