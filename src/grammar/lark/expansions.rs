//! Bodies of definitions in Lark's notation: alternatives, sequences, repetitions.
//!
//! Parentheses are kept on a stack of their own, so that no nesting costs machine stack.

use crate::error::Result;
use crate::grammar::error_place::TextPlace;
use crate::grammar::lark::escapes;
use crate::grammar::lark::lexer::Token;
use crate::grammar::lark::parser::{Parser, shown};
use crate::grammar::model::UNBOUNDED;
use crate::grammar::parametric::Condition;
use crate::grammar::tree::{Part, PartId, check_depth};

/// The most copies that a bounded repetition may ask for.
const MOST_COPIES: u32 = 1 << 24;

/// A body, or a part of it in parentheses, that is being read.
struct OpenGroup {
    /// What closes it: `)`, `]`, or nothing where it is the whole body.
    close: Option<char>,
    at: usize,
    /// Alternatives that are complete.
    choice: Vec<PartId>,
    /// Sequences of this alternative that are complete, joined by `&`.
    all: Vec<PartId>,
    /// The sequence that is being read.
    sequence: Vec<PartId>,
    /// Complements that wait for what they are about.
    complements: usize,
    /// Which numbers of the rule the alternative is for.
    condition: Option<Condition>,
}

impl OpenGroup {
    fn new(close: Option<char>, at: usize) -> Self {
        OpenGroup {
            close,
            at,
            choice: Vec::new(),
            all: Vec::new(),
            sequence: Vec::new(),
            complements: 0,
            condition: None,
        }
    }
}

/// Whether an alternative ends before a symbol.
fn ends_alternative(next: Token<'_>) -> bool {
    matches!(next, Token::Newline | Token::End | Token::Mark('|' | ')' | ']' | '}'))
}

impl<'a> Parser<'a, '_> {
    /// A body, up to the end of its statement.
    pub fn expansions(&mut self) -> Result<PartId> {
        let start = self.peek()?.1;
        let mut groups = vec![OpenGroup::new(None, start)];
        loop {
            let (token, at) = self.peek()?;
            let depth = groups.len();
            let Some(group) = groups.last_mut() else { return Err(self.error(at, "this body has no end")) };
            let place = TextPlace { text: self.number, at };
            match token {
                Token::Newline if group.close.is_some() => {
                    self.take()?;
                }
                Token::Newline | Token::End | Token::Mark('}') => {
                    return self.end_body(group, token, at, start);
                }
                // The next definition has begun.
                Token::Mark(':') if group.close.is_some() => return self.end_body(group, token, at, start),
                Token::Mark('|') => {
                    self.take()?;
                    self.end_alternative(group, at)?;
                }
                Token::Mark('&') => {
                    self.take()?;
                    self.end_sequence(group, at)?;
                }
                Token::Mark('~') => {
                    self.take()?;
                    group.complements += 1;
                }
                Token::Directive("if") => {
                    self.take()?;
                    if group.condition.is_some() {
                        return Err(self.error(at, "%if stands here twice; join conditions by and(...)"));
                    }
                    group.condition = Some(self.condition_at_the_end()?);
                }
                Token::Arrow => {
                    self.take()?;
                    self.expect_name("an alias")?;
                    let (next, at) = self.peek()?;
                    if !ends_alternative(next) {
                        return Err(
                            self.error(at, "an alias ends its alternative; '|' or the next line must follow it")
                        );
                    }
                }
                Token::Mark(open @ ('(' | '[')) => {
                    self.take()?;
                    check_depth(depth + self.nested, self.limits, self.place(at))?;
                    groups.push(OpenGroup::new(Some(if open == '(' { ')' } else { ']' }), at));
                }
                Token::Mark(close @ (')' | ']')) => {
                    self.take()?;
                    self.close_group(&mut groups, close, at)?;
                }
                _ => {
                    self.take()?;
                    let part = self.atom(token, place)?;
                    self.end_atom(&mut groups, part, place)?;
                }
            }
        }
    }

    /// A condition behind `%if`, with which an alternative ends, but for an alias.
    fn condition_at_the_end(&mut self) -> Result<Condition> {
        let condition = self.condition(0)?;
        let (next, at) = self.peek()?;
        if next != Token::Arrow && !ends_alternative(next) {
            return Err(self.error(at, "%if ends its alternative; '|' or the next line must follow it"));
        }
        Ok(condition)
    }

    /// Ends a body that began at `start`: no group may be open, but braces around it may.
    fn end_body(&mut self, group: &mut OpenGroup, end: Token<'a>, at: usize, start: usize) -> Result<PartId> {
        if let Some(close) = group.close {
            return Err(self.error(group.at, format!("this group is not closed; {close:?} must end it")));
        }
        if end == Token::Mark('}') && !self.in_braces {
            return Err(self.error(at, "no '{' stands before this '}'"));
        }
        self.end_alternative(group, at)?;
        let alternatives = std::mem::take(&mut group.choice);
        Ok(self.tree.choice(alternatives, self.place(start)))
    }

    /// Puts the innermost group, which `close` ends, into the one around it.
    fn close_group(&mut self, groups: &mut Vec<OpenGroup>, close: char, at: usize) -> Result<()> {
        let Some(mut group) = groups.pop() else { return Ok(()) };
        if group.close != Some(close) {
            let message = match group.close {
                Some(other) => format!("{other:?} must close the group here, not {close:?}"),
                None => format!("no group is open that this {close:?} could close"),
            };
            return Err(self.error(at, message));
        }
        self.end_alternative(&mut group, at)?;
        let opened = self.place(group.at);
        let mut part = self.tree.choice(group.choice, opened);
        if close == ']' {
            part = self.tree.push(Part::Repeat { body: part, min: 0, max: 1 }, opened);
        }
        self.end_atom(groups, part, opened)
    }

    /// Puts a part with the repetition behind it and the complements before it into the open sequence.
    fn end_atom(&mut self, groups: &mut [OpenGroup], part: PartId, place: TextPlace) -> Result<()> {
        let mut part = self.repetition(part, place)?;
        if let Some(group) = groups.last_mut() {
            for _ in 0..std::mem::take(&mut group.complements) {
                part = self.tree.push(Part::Not(part), place);
            }
            group.sequence.push(part);
        }
        Ok(())
    }

    fn end_sequence(&mut self, group: &mut OpenGroup, at: usize) -> Result<()> {
        if group.complements > 0 {
            return Err(self.error(at, "what '~' complements must stand behind it"));
        }
        let parts = std::mem::take(&mut group.sequence);
        let place = parts.first().map_or(self.place(at), |&p| self.tree.place(p));
        let part = self.tree.sequence(parts, place);
        group.all.push(part);
        Ok(())
    }

    fn end_alternative(&mut self, group: &mut OpenGroup, at: usize) -> Result<()> {
        self.end_sequence(group, at)?;
        let mut all = std::mem::take(&mut group.all);
        let place = all.first().map_or(self.place(at), |&p| self.tree.place(p));
        let mut part = if all.len() == 1 { all.swap_remove(0) } else { self.tree.push(Part::And(all), place) };
        if let Some(condition) = group.condition.take() {
            part = self.tree.push(Part::If { body: part, condition: Box::new(condition) }, place);
        }
        group.choice.push(part);
        Ok(())
    }

    /// What stands alone, after its first symbol.
    pub fn atom(&mut self, token: Token<'a>, place: TextPlace) -> Result<PartId> {
        let part = match token {
            Token::Name(name) => return self.named(name, place),
            Token::Text { raw, any_case } => return self.text_or_range(raw, any_case, place),
            Token::Pattern { raw, flags } => {
                let pattern = escapes::pattern(raw).map_err(|(at, message)| self.error(place.at + 1 + at, message))?;
                Part::Pattern { pattern, flags: flags.to_owned() }
            }
            Token::Special(name) => self.special_token(name, place)?,
            Token::Grammar(name) => return self.named_grammar(name, place),
            Token::Directive(name) => return self.inline_directive(name, place),
            Token::Mark(op @ ('?' | '*' | '+')) => {
                return Err(self.error(place.at, format!("nothing stands before {op:?} that it could repeat")));
            }
            _ => {
                let slip = token == Token::Mark('=') && self.tree.texts.get(self.number)[..place.at].ends_with(':');
                let hint = if slip { "; write \":\" for \":=\"" } else { "" };
                let message = format!("a name, a text or a pattern must stand here, not {}{hint}", shown(token));
                return Err(self.error(place.at, message));
            }
        };
        Ok(self.tree.push(part, place))
    }

    /// The name of a rule, a terminal or a parameter, or a template with its arguments.
    fn named(&mut self, name: &'a str, place: TextPlace) -> Result<PartId> {
        let is_parameter = self.parameters.iter().any(|p| p == name);
        let name = if is_parameter { name.to_owned() } else { self.global(name) };
        if self.takes(Token::Parameter)? {
            let step = self.step()?;
            return Ok(self.tree.push(Part::Parametric { name: name.into(), step }, place));
        }
        let is_template = self.peek()?.0 == Token::Mark('{') && !self.is_count_ahead();
        if !is_template {
            return Ok(self.tree.push(Part::Name(name.into()), place));
        }
        self.template(name, place)
    }

    /// Whether the brace ahead opens a count, as in `x{1,2}`, and no list of arguments.
    fn is_count_ahead(&self) -> bool {
        let rest = self.lexer.text[self.lexer.at..].trim_start();
        rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, ',' | '-' | '+'))
    }

    fn template(&mut self, name: String, place: TextPlace) -> Result<PartId> {
        // Templates that have others as arguments, which are still open.
        let mut open = vec![(name, place, Vec::new())];
        self.expect('{', "before the arguments")?;
        loop {
            let (token, at) = self.take()?;
            check_depth(open.len() + self.nested, self.limits, self.place(at))?;
            let argument = match token {
                Token::Newline => continue,
                Token::Name(name) => {
                    let is_parameter = self.parameters.iter().any(|p| p == name);
                    let name = if is_parameter { name.to_owned() } else { self.global(name) };
                    if self.takes(Token::Mark('{'))? {
                        open.push((name, self.place(at), Vec::new()));
                        continue;
                    }
                    let place = self.place(at);
                    self.tree.push(Part::Name(name.into()), place)
                }
                _ => {
                    let place = self.place(at);
                    self.atom(token, place)?
                }
            };
            let Some(last) = open.last_mut() else { return Ok(argument) };
            last.2.push(argument);
            loop {
                let (token, at) = self.take()?;
                match token {
                    Token::Newline => {}
                    Token::Mark(',') => break,
                    Token::Mark('}') => {
                        let Some((name, place, arguments)) = open.pop() else { return Ok(argument) };
                        let part = self.tree.push(Part::Template { name: name.into(), arguments }, place);
                        match open.last_mut() {
                            Some(outer) => outer.2.push(part),
                            None => return Ok(part),
                        }
                    }
                    _ => {
                        let message = format!("',' or '}}' must stand behind an argument, not {}", shown(token));
                        return Err(self.error(at, message));
                    }
                }
            }
        }
    }

    fn text(&self, raw: &str, place: TextPlace) -> Result<String> {
        escapes::text(raw).map_err(|(at, message)| self.error(place.at + 1 + at, message))
    }

    fn text_or_range(&mut self, raw: &str, any_case: bool, place: TextPlace) -> Result<PartId> {
        let text = self.text(raw, place)?;
        if !self.takes(Token::To)? {
            return Ok(self.tree.push(Part::Text { text, any_case }, place));
        }
        let (Token::Text { raw, any_case: last_any_case }, at) = self.take()? else {
            return Err(self.error(place.at, "a range goes from a text of one character to another: \"a\"..\"z\""));
        };
        if any_case || last_any_case {
            return Err(self.error(place.at, "a range has no flags; write both ranges, as \"a\"..\"z\" | \"A\"..\"Z\""));
        }
        let last = self.text(raw, self.place(at))?;
        let one = |s: &str| {
            let mut chars = s.chars();
            chars.next().filter(|_| chars.next().is_none())
        };
        let Some(first) = one(&text) else {
            return Err(self.error(place.at, "each side of a range is one character"));
        };
        let Some(last) = one(&last) else { return Err(self.error(at, "each side of a range is one character")) };
        if first > last {
            let message = format!("this range is empty: {first:?} comes behind {last:?}");
            return Err(self.error(place.at, message));
        }
        Ok(self.tree.push(Part::Class(vec![(first, last)]), place))
    }

    /// The repetition that stands behind a part.
    fn repetition(&mut self, part: PartId, place: TextPlace) -> Result<PartId> {
        let (token, at) = self.peek()?;
        let (min, max) = match token {
            Token::Mark('?') => (0, 1),
            Token::Mark('*') => (0, UNBOUNDED),
            Token::Mark('+') => (1, UNBOUNDED),
            Token::Mark('~') => {
                // Without a number behind it, it is the complement of the next part.
                let rest = self.lexer.text[self.lexer.at..].trim_start_matches([' ', '\t']);
                if !rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+')) {
                    return Ok(part);
                }
                self.take()?;
                let min = self.count()?;
                let max = if self.takes(Token::To)? { self.count()? } else { min };
                return self.repeated(part, (min, max), at, place);
            }
            Token::Mark('{') if self.is_count_ahead() => {
                self.take()?;
                let least = match self.peek()?.0 {
                    Token::Mark(',') => None,
                    _ => Some(self.count()?),
                };
                let max = if !self.takes(Token::Mark(','))? {
                    least.unwrap_or(0)
                } else if self.peek()?.0 == Token::Mark('}') {
                    UNBOUNDED
                } else {
                    self.count()?
                };
                self.expect('}', "behind the count")?;
                if least.is_none() && max == UNBOUNDED {
                    return Err(self.error(at, "this count says nothing; write '*' for any number"));
                }
                return self.repeated(part, (least.unwrap_or(0), max), at, place);
            }
            _ => return Ok(part),
        };
        self.take()?;
        self.repeated(part, (min, max), at, place)
    }

    fn repeated(&mut self, part: PartId, (min, max): (u32, u32), at: usize, place: TextPlace) -> Result<PartId> {
        if min > max {
            return Err(self.error(at, format!("this count is empty: {min} is more than {max}")));
        }
        if let (Token::Mark(op @ ('?' | '*' | '+')), at) = self.peek()? {
            let message = format!("{op:?} stands behind a repetition; put the repetition into parentheses");
            return Err(self.error(at, message));
        }
        Ok(self.tree.push(Part::Repeat { body: part, min, max }, place))
    }

    fn count(&mut self) -> Result<u32> {
        let (token, at) = self.take()?;
        let Token::Number(digits) = token else {
            return Err(self.error(at, format!("a number of copies must stand here, not {}", shown(token))));
        };
        if digits.starts_with('-') {
            return Err(self.error(at, "a number of copies is not negative"));
        }
        match digits.parse() {
            Ok(n) if n <= MOST_COPIES => Ok(n),
            _ => Err(self.error(at, format!("at most {MOST_COPIES} copies can be asked for"))),
        }
    }
}
