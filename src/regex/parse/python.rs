//! The parser for Python's `re` dialect, as CPython 3.11 reads `str` patterns.
//!
//! It follows `re/_parser.py` construct by construct: what is a literal brace, which escapes are errors, where global
//! flags may stand, where comments end. Messages are CPython's words; what to write instead stands in
//! `regex/pattern_hints.rs`. Accepted although CPython refuses it: `\p{…}`. Refused although CPython accepts
//! them: backreferences and conditionals (not regular), look-ahead inside look-behind (what was read would have to
//! remember what is still to come), possessive and atomic parts that matter, `\N{…}` (no name table).

use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::limits::Limits;
use crate::regex::ast::{Assert, Ast, AstId, AstNode, INF, Words};
use crate::regex::parse::builder::{AstBuilder, Greed, Last};
use crate::regex::parse::reader::{PatternReader, count_limit, unsupported};
use crate::regex::unicode;
use crate::regex::unicode::{Fold, Properties};
use crate::util::seeded_hash::SeededSet;

/// What is said of a group with a name that is written as in other dialects.
const NAMED: &str = "; a group with a name is written (?P<name>...)";

/// The flags in force at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PythonFlags {
    ignore_case: bool,
    multiline: bool,
    dot_all: bool,
    verbose: bool,
    pub(crate) ascii: bool,
    /// `u` was said, not only left to hold: then `a` may not be said for the whole pattern.
    unicode: bool,
}

impl PythonFlags {
    /// What `^` or `$` asserts.
    fn anchor(self, c: char) -> Assert {
        match (c, self.multiline) {
            ('^', true) => Assert::LineStart { ecma: false },
            ('^', false) => Assert::Start,
            (_, true) => Assert::LineEnd { ecma: false },
            (_, false) => Assert::EndOrFinalNewline,
        }
    }

    fn set(&mut self, letter: char, on: bool) {
        match letter {
            'i' => self.ignore_case = on,
            'm' => self.multiline = on,
            's' => self.dot_all = on,
            'x' => self.verbose = on,
            'a' => self.ascii = on,
            'u' => (self.ascii, self.unicode) = (!on, on),
            _ => {}
        }
    }

    pub(crate) fn fold(self) -> Fold {
        match (self.ignore_case, self.ascii) {
            (false, _) => Fold::None,
            (true, true) => Fold::Ascii,
            (true, false) => Fold::Python,
        }
    }

    pub(crate) fn words(self) -> Words {
        if self.ascii { Words::Ascii } else { Words::Python }
    }
}

/// What a group is, for its end.
#[derive(Clone, Copy)]
pub(crate) enum PythonGroup {
    Plain,
    /// A capture, which a backreference may name.
    Capture,
    Atomic,
    Look {
        behind: bool,
        negative: bool,
    },
}

pub(crate) struct PythonParser {
    pub(crate) r: PatternReader,
    pub(crate) b: AstBuilder<(PythonGroup, PythonFlags)>,
    pub(crate) flags: PythonFlags,
    pub(crate) groups: u32,
    names: SeededSet<String>,
    pub(crate) properties: Properties,
}

/// Reads `flags` as a caller passes them.
pub(crate) fn parse_flags(letters: &str) -> Result<PythonFlags> {
    let mut f = PythonFlags::default();
    for c in letters.chars() {
        if !"imsxau".contains(c) {
            return Err(Error::new(ErrorKind::Argument, format!("unknown pattern flag {c:?}; known are i m s x a u")));
        }
        f.set(c, true);
    }
    if letters.contains('a') && letters.contains('u') {
        return Err(Error::new(ErrorKind::Argument, "pattern flags a and u exclude each other"));
    }
    Ok(f)
}

/// Parses a pattern.
pub(crate) fn parse(pattern: &str, flags: PythonFlags, limits: &Limits) -> Result<(Ast, AstId)> {
    let b = AstBuilder::new(limits, (PythonGroup::Plain, flags));
    let (names, properties) = (SeededSet::default(), Properties::default());
    let mut p = PythonParser { r: PatternReader::new(pattern), b, flags, groups: 0, names, properties };
    while let Some(c) = p.r.peek() {
        p.item(c)?;
        p.b.go_on(p.r.pos)?;
    }
    if p.b.depth() > 0 {
        return Err(p.r.error("missing ), unterminated subpattern", p.b.opened_at()));
    }
    let Some((root, ..)) = p.b.close() else {
        return Err(Error::new(ErrorKind::Internal, "the pattern has no outermost group"));
    };
    Ok((p.b.ast, root))
}

/// Characters that a verbose pattern leaves out.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

impl PythonParser {
    fn item(&mut self, c: char) -> Result<()> {
        let at = self.r.pos;
        self.r.pos += 1;
        match c {
            _ if self.flags.verbose && is_blank(c) => {}
            '#' if self.flags.verbose => self.r.skip_past('\n').map(drop)?,
            '|' => self.b.bar(),
            '(' => self.open(at)?,
            ')' => self.close(at)?,
            '[' => {
                let set = self.class(at)?;
                self.b.set(set, at);
            }
            '.' => {
                let set = if self.flags.dot_all { unicode::any() } else { unicode::python_dot() };
                self.b.set(set, at);
            }
            '^' | '$' => self.b.node(AstNode::Assert(self.flags.anchor(c)), at, Last::Bare),
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
        if self.r.peek() == Some('}') {
            self.b.literal('{' as u32, self.flags.fold(), at);
            return Ok(());
        }
        let lo = self.r.number();
        let hi = if self.r.eat(',') { self.r.number() } else { lo.clone() };
        if !self.r.eat('}') {
            self.r.pos = start;
            self.b.literal('{' as u32, self.flags.fold(), at);
            return Ok(());
        }
        let min = lo.unwrap_or(Ok(0)).map_err(|count| count_limit(&count, at))?;
        let max = hi.unwrap_or(Ok(INF)).map_err(|count| count_limit(&count, at))?;
        if max < min {
            return Err(self.r.error("min repeat greater than max repeat", at));
        }
        self.quantify(min, max, at)
    }

    fn quantify(&mut self, min: u32, max: u32, at: usize) -> Result<()> {
        match self.b.last() {
            Last::None | Last::Bare => return Err(self.r.error("nothing to repeat", at)),
            Last::Quantified => return Err(self.r.error("multiple repeat", at)),
            Last::Item => {}
        }
        // A lazy repetition accepts the same texts in another order of preference.
        let greed = match self.r.peek() {
            Some('?') => Greed::Lazy,
            Some('+') => Greed::Possessive,
            _ => Greed::Greedy,
        };
        self.r.pos += usize::from(greed != Greed::Greedy);
        self.b.repeat(min, max, greed, at);
        Ok(())
    }

    fn open(&mut self, at: usize) -> Result<()> {
        let outer = self.flags;
        if !self.r.eat('?') {
            self.groups += 1;
            return self.b.open(at, (PythonGroup::Capture, outer));
        }
        let Some(c) = self.r.next() else { return Err(self.r.error("unexpected end of pattern", self.r.pos)) };
        let group = match c {
            'P' => return self.open_named(at),
            ':' => PythonGroup::Plain,
            '>' => PythonGroup::Atomic,
            '=' | '!' => PythonGroup::Look { behind: false, negative: c == '!' },
            '<' => match self.r.next() {
                Some(c @ ('=' | '!')) => PythonGroup::Look { behind: true, negative: c == '!' },
                Some(c) => {
                    let hint = if c == '_' || c.is_alphabetic() { NAMED } else { "" };
                    return Err(self.r.error(format!("unknown extension ?<{c}{hint}"), at + 1));
                }
                None => return Err(self.r.error("unexpected end of pattern", self.r.pos)),
            },
            '#' => {
                return match self.r.skip_past(')')? {
                    true => Ok(()),
                    false => Err(self.r.error("missing ), unterminated comment", at)),
                };
            }
            '(' => return Err(unsupported("a conditional group", at)),
            '-' | 'a' | 'i' | 'L' | 'm' | 's' | 'u' | 'x' => {
                let Some(flags) = self.inline_flags(c, at)? else { return Ok(()) };
                self.b.open(at, (PythonGroup::Plain, outer))?;
                self.flags = flags;
                return Ok(());
            }
            _ => {
                let hint = if c == '\'' { NAMED } else { "" };
                return Err(self.r.error(format!("unknown extension ?{c}{hint}"), at + 1));
            }
        };
        self.b.open(at, (group, outer))
    }

    fn open_named(&mut self, at: usize) -> Result<()> {
        if self.r.eat('<') {
            let name = self.name('>')?;
            if self.names.contains(&name) {
                return Err(self.r.error(format!("redefinition of group name {name:?}"), at));
            }
            self.names.insert(name);
            self.groups += 1;
            return self.b.open(at, (PythonGroup::Capture, self.flags));
        }
        if self.r.eat('=') {
            let name = self.name(')')?;
            if !self.names.contains(&name) {
                return Err(self.r.error(format!("unknown group name {name:?}"), at));
            }
            return Err(unsupported("a backreference", at).coded(ErrorCode::Backreference));
        }
        let Some(c) = self.r.next() else { return Err(self.r.error("unexpected end of pattern", self.r.pos)) };
        let hint = if c == '_' || c.is_alphabetic() { NAMED } else { "" };
        Err(self.r.error(format!("unknown extension ?P{c}{hint}"), at + 1))
    }

    fn name(&mut self, end: char) -> Result<String> {
        let at = self.r.pos;
        let Some(name) = self.r.until(end) else {
            return Err(self.r.error(format!("missing {end}, unterminated name"), at));
        };
        if name.is_empty() {
            return Err(self.r.error("missing group name", at));
        }
        let mut chars = name.chars();
        let good = chars.next().is_some_and(|c| c == '_' || unicode::xid_start().contains(c as u32))
            && chars.all(|c| unicode::xid_continue().contains(c as u32));
        if good { Ok(name) } else { Err(self.r.error(format!("bad group name {name:?}"), at)) }
    }

    /// Reads flags up to `:` (the answer is what holds inside) or `)` (they hold from here on).
    fn inline_flags(&mut self, first: char, at: usize) -> Result<Option<PythonFlags>> {
        let mut read = InlineFlags { flags: self.flags, added: String::new(), removed: String::new(), at };
        let mut c = first;
        while !"-:)".contains(c) {
            read.turn_on(c, &self.r)?;
            c = self.flag_or("-:)")?.ok_or_else(|| self.r.error("missing -, : or )", self.r.pos))?;
        }
        if c == ')' {
            if self.b.depth() > 0 || !self.b.untouched() {
                return Err(self.r.error("global flags not at the start of the expression", at));
            }
            self.flags = read.for_all(self.flags, &self.r)?;
            return Ok(None);
        }
        if c == '-' {
            c = self.flag_or("")?.ok_or_else(|| self.r.error("missing flag", self.r.pos))?;
            while c != ':' {
                read.turn_off(c, &self.r)?;
                c = self.flag_or(":")?.ok_or_else(|| self.r.error("missing :", self.r.pos))?;
            }
        }
        read.for_group(&self.r).map(Some)
    }

    /// The next flag, or what comes in its place: one of `ends`. `None` without moving if there is neither; any other
    /// letter is an error.
    fn flag_or(&mut self, ends: &str) -> Result<Option<char>> {
        match self.r.peek() {
            Some(c) if "aiLmsux".contains(c) || ends.contains(c) => Ok(self.r.next()),
            Some(c) if c.is_alphabetic() => Err(self.r.error("unknown flag", self.r.pos)),
            _ => Ok(None),
        }
    }

    fn close(&mut self, at: usize) -> Result<()> {
        if self.b.depth() == 0 {
            return Err(self.r.error("unbalanced parenthesis", at));
        }
        let Some((n, offset, (group, outer))) = self.b.close() else { return Ok(()) };
        self.flags = outer;
        match group {
            PythonGroup::Plain | PythonGroup::Capture => self.b.add(n, Last::Item),
            PythonGroup::Atomic => self.b.node(AstNode::Atomic(n), offset, Last::Item),
            PythonGroup::Look { behind, negative } => {
                let (lo, hi) = self.b.ast.facts(n).width;
                if behind && lo != hi {
                    return Err(self.r.error("look-behind requires fixed-width pattern", offset));
                }
                self.b.node(AstNode::Look { body: n, behind, negative }, offset, Last::Item);
            }
        }
        Ok(())
    }
}

/// Flags in parentheses that are being read. Errors are Python's words.
struct InlineFlags {
    /// What they make of those around them.
    flags: PythonFlags,
    added: String,
    removed: String,
    /// Where the group begins.
    at: usize,
}

impl InlineFlags {
    /// A letter before the hyphen. It may stand there any number of times, as behind it.
    fn turn_on(&mut self, c: char, r: &PatternReader) -> Result<()> {
        if c == 'L' {
            return Err(r.error("bad inline flags: cannot use 'L' flag with a str pattern", self.at));
        }
        if !self.added.contains(c) {
            self.added.push(c);
        }
        self.flags.set(c, true);
        if self.added.contains('a') && self.added.contains('u') {
            return Err(r.error("bad inline flags: flags 'a', 'u' and 'L' are incompatible", self.at));
        }
        Ok(())
    }

    /// A letter behind the hyphen.
    fn turn_off(&mut self, c: char, r: &PatternReader) -> Result<()> {
        if "auL".contains(c) {
            return Err(r.error("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", self.at));
        }
        if !self.removed.contains(c) {
            self.removed.push(c);
        }
        self.flags.set(c, false);
        Ok(())
    }

    /// The flags of the whole pattern, which had others before.
    fn for_all(self, before: PythonFlags, r: &PatternReader) -> Result<PythonFlags> {
        if (before.unicode && self.added.contains('a')) || (before.ascii && self.added.contains('u')) {
            return Err(r.error("ASCII and UNICODE flags are incompatible", self.at));
        }
        Ok(self.flags)
    }

    /// The flags inside of a group.
    fn for_group(self, r: &PatternReader) -> Result<PythonFlags> {
        if self.added.chars().any(|c| self.removed.contains(c)) {
            return Err(r.error("bad inline flags: flag turned on and off", self.at));
        }
        Ok(self.flags)
    }
}
