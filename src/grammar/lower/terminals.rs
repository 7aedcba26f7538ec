//! Terminals as expressions.
//!
//! Parts that mean the same wherever they stand are put together by regular algebra, each terminal once. Where a
//! pattern looks around or repeats lazily, what stands beside it matters: the whole terminal is written as one pattern
//! then, as Lark does it, and read as such.

use crate::error::Result;
use crate::expr::{ExprId, Exprs, INF};
use crate::grammar::error_place::TextPlace;
use crate::grammar::lower::{Lowering, TerminalKey};
use crate::grammar::model::{Lexer, Terminal, TerminalId, UNBOUNDED};
use crate::grammar::tree::{DefinitionId, Part, PartId, SchemaText, SpaceId};
use crate::regex::{self, Dialect, RegexOptions, SymbolTexts};
use crate::schema::format;
use std::borrow::Cow;

/// What is known of a terminal's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminalState {
    /// Nothing.
    Unknown,
    /// It is being read: whoever names it now is a part of it.
    Open,
    /// It means this wherever it stands.
    Plain(ExprId),
    /// What stands beside it matters.
    LooksAround,
}

impl Lowering<'_> {
    /// The number of a terminal that has a definition.
    pub(super) fn defined_terminal(&mut self, id: DefinitionId) -> Result<TerminalId> {
        let key = TerminalKey::Definition(id);
        if let Some(&terminal) = self.terminal_ids.get(&key) {
            return Ok(terminal);
        }
        let d = &self.tree.definitions[id as usize];
        let texts = match self.state(id)? {
            TerminalState::Plain(e) => SymbolTexts { texts: e, context: None },
            _ => self.around(d.space, d.body)?,
        };
        let literal = matches!(self.tree.part(d.body), Part::Text { .. });
        Ok(self.add_terminal(key, d.name.clone(), d.place, texts, d.priority, literal))
    }

    /// The number of a terminal that is written where it is used.
    pub(super) fn terminal_of(&mut self, space: SpaceId, p: PartId) -> Result<TerminalId> {
        if let Part::Name(name) = self.tree.part(p) {
            let id = self.found(space, p, name)?;
            if self.tree.definitions[id as usize].terminal {
                return self.defined_terminal(id);
            }
            let message = format!("{name:?} is a rule, and a terminal must stand here");
            return Err(self.tree.texts.error(self.tree.place(p), message));
        }
        let literal_key = self.literal_key(p);
        if let Some(key) = &literal_key {
            if let Some(&id) = self.named_literals.get(&(space, key.clone())) {
                return self.defined_terminal(id);
            }
            if let Some(&terminal) = self.terminal_ids.get(key) {
                return Ok(terminal);
            }
        }
        let texts = self.texts_of(space, p)?;
        let key = literal_key.unwrap_or(TerminalKey::Expr(texts.texts));
        if texts.context.is_none()
            && let Some(&terminal) = self.terminal_ids.get(&key)
        {
            return Ok(terminal);
        }
        let literal = matches!(self.tree.part(p), Part::Text { .. });
        Ok(self.add_terminal(key, self.shown(p), self.tree.place(p), texts, 0, literal))
    }

    /// One terminal for neighbours in a sequence.
    pub(super) fn terminal_of_sequence(&mut self, space: SpaceId, parts: &[PartId]) -> Result<TerminalId> {
        let mut all = Vec::with_capacity(parts.len());
        for &p in parts {
            all.push(self.texts_of(space, p)?.texts);
        }
        let e = self.x.cat_all(&all);
        let key = TerminalKey::Expr(e);
        if let Some(&terminal) = self.terminal_ids.get(&key) {
            return Ok(terminal);
        }
        let name: Vec<String> = parts.iter().take(8).map(|&p| self.shown(p)).collect();
        let place = parts.first().map_or(TextPlace::default(), |&p| self.tree.place(p));
        let literal = parts.iter().all(|&p| matches!(self.tree.part(p), Part::Text { .. }));
        let texts = SymbolTexts { texts: e, context: None };
        Ok(self.add_terminal(key, name.join(" "), place, texts, 0, literal))
    }

    pub(super) fn add_terminal(
        &mut self,
        key: TerminalKey,
        name: String,
        place: TextPlace,
        texts: SymbolTexts,
        priority: i32,
        literal: bool,
    ) -> TerminalId {
        self.terminals.push(Terminal {
            name,
            place: self.tree.texts.offset(place),
            pattern: texts.texts,
            context: texts.context,
            priority,
            literal,
            max_tokens: None,
        });
        let id = self.terminals.len() as TerminalId - 1;
        self.terminal_ids.insert(key, id);
        id
    }

    /// The terminal of a rule with the attributes `lazy`, `suffix` or `stop`.
    pub(super) fn attributed_terminal(&mut self, id: DefinitionId) -> Result<TerminalId> {
        let d = &self.tree.definitions[id as usize];
        let a = &d.attributes;
        let mut e = self.plain_part(d.space, d.body, d.place)?;
        if let Some(end) = a.suffix.or(a.stop) {
            let end = self.plain_part(d.space, end, d.place)?;
            e = self.x.cat(e, end);
        }
        let shortest = self.x.shortest(e);
        let key = TerminalKey::Definition(id);
        let texts = SymbolTexts { texts: shortest, context: None };
        let terminal = self.add_terminal(key, d.name.clone(), d.place, texts, d.priority, false);
        self.lazy.push(terminal);
        Ok(terminal)
    }

    /// What a part accepts that must mean the same wherever it stands.
    pub(super) fn plain_part(&mut self, space: SpaceId, p: PartId, place: TextPlace) -> Result<ExprId> {
        for below in self.tree.below(p) {
            let name = match self.tree.part(below) {
                Part::Name(name) | Part::Template { name, .. } => name,
                Part::Tokens { .. }
                | Part::Document(_)
                | Part::Nested(_)
                | Part::Dispatch(_)
                | Part::Parametric { .. }
                | Part::If { .. } => "",
                _ => continue,
            };
            let is_rule = match name {
                "" => true,
                _ => !self.is_terminal(self.found(space, below, name)?),
            };
            if is_rule {
                let message =
                    "a rule with \"lazy\", \"suffix\" or \"stop\" is made of texts, patterns and terminals only";
                return Err(self.tree.texts.error(self.tree.place(below), message));
            }
        }
        match self.plain(space, p)? {
            Some(e) => Ok(e),
            None => {
                let message = "look-around and lazy repetitions mean nothing exact in a rule with \"lazy\", \"suffix\" \
                               or \"stop\"";
                Err(self.tree.texts.unsupported(place, message))
            }
        }
    }

    /// The texts of a part that stands alone as a terminal.
    fn texts_of(&mut self, space: SpaceId, p: PartId) -> Result<SymbolTexts> {
        match self.plain(space, p)? {
            Some(e) => Ok(SymbolTexts { texts: e, context: None }),
            None => self.around(space, p),
        }
    }

    /// The texts of a terminal that looks around, written as one pattern.
    fn around(&mut self, space: SpaceId, p: PartId) -> Result<SymbolTexts> {
        let place = self.tree.place(p);
        let (pattern, flags) = self.pattern_text(space, p)?;
        let options = RegexOptions { dialect: Dialect::Python, flags };
        let first = self.lexer != Lexer::Any;
        regex::lower_symbol(&mut self.x, &pattern, &options, first, self.limits)
            .map_err(|e| self.tree.texts.in_pattern(place, e, &pattern, options.dialect))
    }

    /// Whether a definition may be a part of a terminal. Without a lexer there are no terminals by name.
    fn is_terminal(&self, id: DefinitionId) -> bool {
        !self.tree.has_terminals || self.tree.definitions[id as usize].terminal
    }

    /// What is known of a terminal's definition, once it and all that it names are read.
    pub(super) fn state(&mut self, id: DefinitionId) -> Result<TerminalState> {
        let tree = self.tree;
        let mut open = vec![id];
        while let Some(&now) = open.last() {
            let d = &tree.definitions[now as usize];
            match self.states[now as usize] {
                TerminalState::Plain(_) | TerminalState::LooksAround => {
                    open.pop();
                    continue;
                }
                TerminalState::Unknown => {
                    self.states[now as usize] = TerminalState::Open;
                    for p in tree.below(d.body) {
                        let Part::Name(name) = tree.part(p) else { continue };
                        let named = self.found(d.space, p, name)?;
                        let other = &tree.definitions[named as usize];
                        if !self.is_terminal(named) {
                            let message = format!("{name:?} is a rule, and terminals are not made of rules");
                            return Err(tree.texts.error(tree.place(p), message));
                        }
                        match self.states[named as usize] {
                            TerminalState::Open => {
                                let message = format!(
                                    "the terminal {:?} contains itself; only rules are recursive, and are named in \
                                     small letters",
                                    other.name
                                );
                                return Err(tree.texts.error(tree.place(p), message));
                            }
                            TerminalState::Unknown => open.push(named),
                            _ => {}
                        }
                    }
                }
                TerminalState::Open => {
                    open.pop();
                    self.states[now as usize] = match self.plain(d.space, d.body)? {
                        Some(e) => TerminalState::Plain(e),
                        None => TerminalState::LooksAround,
                    };
                    self.x.check()?;
                }
            }
        }
        Ok(self.states[id as usize])
    }

    /// The expression of a part; `None` if what stands beside it matters.
    fn plain(&mut self, space: SpaceId, root: PartId) -> Result<Option<ExprId>> {
        let tree = self.tree;
        let parts = tree.below(root);
        let mut done: Vec<ExprId> = Vec::with_capacity(parts.len());
        for &p in &parts {
            let of = |done: &[ExprId], child: &PartId| parts.binary_search(child).map_or(Exprs::NEVER, |i| done[i]);
            let place = tree.place(p);
            let e = match tree.part(p) {
                Part::Empty => Exprs::EPS,
                Part::Text { text, any_case: false } => self.x.literal(text.as_bytes()),
                Part::Name(_) | Part::Text { .. } | Part::Pattern { .. } | Part::EcmaPattern { .. } => {
                    match self.name_or_pattern(space, p)? {
                        Some(e) => e,
                        None => return Ok(None),
                    }
                }
                Part::Class(ranges) => self.x.class(ranges),
                Part::Sequence(v) => {
                    let all: Vec<ExprId> = v.iter().map(|c| of(&done, c)).collect();
                    self.x.cat_all(&all)
                }
                Part::Choice(v) => {
                    let all: Vec<ExprId> = v.iter().map(|c| of(&done, c)).collect();
                    self.x.alt(&all)
                }
                Part::Repeat { body, min, max } => {
                    let max = if *max == UNBOUNDED { INF } else { *max };
                    self.x.rep(of(&done, body), *min, max)
                }
                Part::And(v) => {
                    let all: Vec<ExprId> = v.iter().map(|c| of(&done, c)).collect();
                    self.x.and(&all)
                }
                Part::Not(body) => self.x.not_text(of(&done, body)),
                Part::Substring(chunks) => self.neighbours(chunks),
                Part::JsonString(body) => self.json_spelling(of(&done, body)),
                Part::SchemaText(t) => self.schema_text(t).map_err(|e| tree.texts.at(place, &e))?,
                Part::Template { .. }
                | Part::Tokens { .. }
                | Part::Document(_)
                | Part::Nested(_)
                | Part::Dispatch(_)
                | Part::Parametric { .. }
                | Part::If { .. }
                | Part::Ahead { .. } => {
                    let message = "terminals are made of texts, patterns and terminals only; put this part into a rule";
                    return Err(tree.texts.error(place, message));
                }
            };
            done.push(e);
        }
        let last = done.last().copied().unwrap_or(Exprs::EPS);
        Ok(Some(last))
    }

    /// The expression of a part that is a terminal's name or a pattern; `None` if what stands beside it matters.
    fn name_or_pattern(&mut self, space: SpaceId, p: PartId) -> Result<Option<ExprId>> {
        let tree = self.tree;
        let dialect = match tree.part(p) {
            Part::EcmaPattern { .. } => Dialect::Ecma,
            _ => Dialect::Python,
        };
        let options = |flags: &str| RegexOptions { dialect, flags: flags.to_owned() };
        let (found, pattern) = match tree.part(p) {
            Part::Name(name) => return self.named_terminal(space, p, name),
            Part::Text { text, .. } => {
                let pattern = super::pattern_text::escaped(text);
                let options = options("i");
                (regex::lower_full(&mut self.x, &pattern, &options, self.limits).map(Some), Cow::Owned(pattern))
            }
            Part::Pattern { pattern, flags } => {
                let options = options(flags);
                (regex::lower_part(&mut self.x, pattern, &options, self.limits), Cow::Borrowed(&**pattern))
            }
            Part::EcmaPattern { pattern, flags } => {
                let options = options(flags);
                (regex::lower_full(&mut self.x, pattern, &options, self.limits).map(Some), Cow::Borrowed(&**pattern))
            }
            _ => return Ok(None),
        };
        found.map_err(|e| tree.texts.in_pattern(tree.place(p), e, &pattern, dialect))
    }

    fn named_terminal(&mut self, space: SpaceId, p: PartId, name: &str) -> Result<Option<ExprId>> {
        let id = self.found(space, p, name)?;
        if !self.is_terminal(id) {
            let message = format!("{name:?} is a rule, and a terminal must stand here");
            return Err(self.tree.texts.error(self.tree.place(p), message));
        }
        let state = match self.states[id as usize] {
            TerminalState::Unknown | TerminalState::Open => self.state(id)?,
            known => known,
        };
        Ok(match state {
            TerminalState::Plain(e) => Some(e),
            _ => None,
        })
    }

    /// The texts of the strings of a schema: those that its JSON strings stand for.
    fn schema_text(&mut self, t: &SchemaText) -> Result<ExprId> {
        let mut all = vec![self.x.any_text()];
        // A format that is not known says nothing, and was refused where it is written.
        all.extend(t.format.as_ref().and_then(|name| format::lower(&mut self.x, name)).map(|f| f.text));
        if let Some(pattern) = &t.pattern {
            all.push(regex::lower_search(&mut self.x, pattern, self.limits)?);
        }
        let (min, max) = t.lengths;
        if min > 0 || max.is_some() {
            let options = RegexOptions { dialect: Dialect::Python, flags: "s".to_owned() };
            let max = max.map_or_else(String::new, |n| n.to_string());
            all.push(regex::lower_full(&mut self.x, &format!(".{{{min},{max}}}"), &options, self.limits)?);
        }
        if all.len() > 1 {
            all.swap_remove(0);
        }
        Ok(self.x.and(&all))
    }

    /// Any number of neighbouring chunks of a list, in their order.
    fn neighbours(&mut self, chunks: &[String]) -> ExprId {
        let mut all = vec![Exprs::EPS];
        let mut from_here = Exprs::EPS;
        for chunk in chunks.iter().rev() {
            let e = self.x.literal_then(chunk.as_bytes(), from_here);
            from_here = self.x.alt(&[Exprs::EPS, e]);
            all.push(from_here);
        }
        self.x.alt(&all)
    }

    /// A part as it is written, cut off where it is long.
    fn shown(&self, p: PartId) -> String {
        let text = match self.tree.part(p) {
            Part::Text { text, any_case } => format!("{text:?}{}", if *any_case { "i" } else { "" }),
            Part::Pattern { pattern, flags } | Part::EcmaPattern { pattern, flags } => format!("/{pattern}/{flags}"),
            _ => {
                let place = self.tree.place(p);
                let rest = self.tree.texts.get(place.text).get(place.at..).unwrap_or_default();
                rest.lines().next().unwrap_or_default().trim().to_owned()
            }
        };
        match text.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}
