//! Rules in GBNF and EBNF: alternatives, sequences, repetitions.
//!
//! Parentheses are kept on a stack of their own, so that no nesting costs machine stack.

use crate::error::Result;
use crate::error::near_name::did_you_mean;
use crate::grammar::bnf::reader::{Notation, Reader};
use crate::grammar::model::{TokenName, UNBOUNDED};
use crate::grammar::tree::{Attributes, Definition, Part, PartId, Tree, check_depth};
use crate::limits::Limits;

/// The most copies that a bounded repetition may ask for.
const MOST_COPIES: u32 = 1 << 24;

const NOT_CLOSED: &str = "this group is not closed; ')' must end it";

/// All rules of a text.
pub(super) fn rules(tree: &mut Tree, text: &str, notation: Notation, limits: &Limits) -> Result<()> {
    let mut r = Reader { tree, text, at: 0, notation };
    loop {
        r.pass_blanks(true);
        if r.at >= text.len() {
            return Ok(());
        }
        r.definition(limits)?;
    }
}

/// What a text begins with that other notations have for `::=`.
fn slip_of(rest: &str) -> Option<&'static str> {
    [":=", "=>", "=", "->"].into_iter().find(|slip| rest.starts_with(slip))
}

/// A body, or a part of it in parentheses, that is being read.
struct OpenGroup {
    at: usize,
    /// What must follow the rule is read.
    is_ahead: bool,
    choice: Vec<PartId>,
    sequence: Vec<PartId>,
}

impl OpenGroup {
    fn new(at: usize, is_ahead: bool) -> Self {
        OpenGroup { at, is_ahead, choice: Vec::new(), sequence: Vec::new() }
    }
}

impl Reader<'_, '_> {
    fn definition(&mut self, limits: &Limits) -> Result<()> {
        let start = self.at;
        let Some(name) = self.name() else {
            let message = match self.peek() {
                Some('|') => "no rule stands before this '|'".to_owned(),
                c => format!("a rule \"name ::= ...\" must begin here, not with {:?}", c.unwrap_or(' ')),
            };
            return Err(self.error(start, message));
        };
        let attributes = match self.peek() {
            Some('[') if self.notation == Notation::Ebnf => self.attributes()?,
            _ => Attributes::default(),
        };
        self.pass_blanks(true);
        if !self.takes("::=") {
            let hint = match slip_of(self.rest()) {
                Some(slip) => format!(", not {slip:?}; did you mean \"::=\"?"),
                None if self.peek() == Some(':') => "; rules are written \"name ::= ...\"".to_owned(),
                None => String::new(),
            };
            return Err(self.error(self.at, format!("\"::=\" must stand here, behind the name {name:?}{hint}")));
        }
        self.pass_blanks(true);
        let body = self.alternatives(limits)?;
        let place = self.place(start);
        let id = self.tree.definitions.len() as u32;
        if name == self.tree.spaces[0].start
            && let Some(p) =
                self.tree.below(body).into_iter().find(|&p| matches!(self.tree.part(p), Part::Ahead { .. }))
        {
            let message = "nothing follows the start rule, so look-ahead means nothing in it";
            return Err(self.tree.texts.error(self.tree.place(p), message));
        }
        let space = &mut self.tree.spaces[0];
        if space.names.insert(name.to_owned(), id).is_some() {
            return Err(self.error(start, format!("the rule {name:?} is defined twice")));
        }
        space.order.push(id);
        self.tree.definitions.push(Definition {
            name: name.to_owned(),
            terminal: false,
            declared: false,
            place,
            parameters: Vec::new(),
            priority: 0,
            attributes,
            body,
            space: 0,
            imported: false,
        });
        Ok(())
    }

    /// Whether the body ends here: at the end of its line in GBNF, before the next rule in EBNF.
    fn body_ends(&mut self) -> bool {
        self.pass_blanks(false);
        let line_end = self.at;
        self.pass_blanks(true);
        if self.at >= self.text.len() {
            return true;
        }
        let start = self.at;
        let ends = match self.notation {
            // An alternative may stand on a line of its own.
            Notation::Gbnf => self.text[line_end..start].contains(['\n', '\r']) && !self.rest().starts_with('|'),
            Notation::Ebnf => {
                self.name().is_some() && {
                    if self.peek() == Some('[') {
                        let rest = self.rest();
                        self.at += rest.find([']', '\n']).map_or(0, |n| n + 1);
                    }
                    self.pass_blanks(true);
                    self.rest().starts_with("::=")
                }
            }
        };
        self.at = start;
        ends
    }

    /// A body, up to the end of its rule.
    fn alternatives(&mut self, limits: &Limits) -> Result<PartId> {
        let start = self.at;
        let mut groups = vec![OpenGroup::new(start, false)];
        let mut waits = true;
        loop {
            let depth = groups.len();
            // A line does not end the body inside of a group, or where something must still follow.
            let open = depth > 1 || (waits && self.at > start);
            if open {
                self.pass_blanks(true);
            } else if self.body_ends() {
                let Some(mut group) = groups.pop() else { continue };
                self.end_alternative(&mut group);
                return Ok(self.tree.choice(group.choice, self.place(start)));
            }
            let at = self.at;
            let Some(group) = groups.last_mut() else { return Err(self.error(at, "this body has no end")) };
            let Some(c) = self.peek() else {
                if depth > 1 {
                    return Err(self.error(group.at, NOT_CLOSED));
                }
                waits = false;
                continue;
            };
            waits = false;
            if depth > 1 && self.rest().starts_with("::=") {
                // The next rule has begun.
                return Err(self.error(group.at, NOT_CLOSED));
            }
            match c {
                '|' => {
                    self.at += 1;
                    self.end_alternative(group);
                    waits = true;
                }
                '(' => {
                    check_depth(depth, limits, self.place(at))?;
                    self.at += 1;
                    groups.push(self.opened_group(at, depth)?);
                }
                ')' => {
                    if depth == 1 {
                        return Err(self.error(at, "no group is open that this ')' could close"));
                    }
                    self.at += 1;
                    self.close_group(&mut groups, at)?;
                }
                _ => {
                    let part = self.atom(c, limits)?;
                    self.end_atom(&mut groups, part, at)?;
                }
            }
        }
    }

    /// The group behind a parenthesis at `at`, which is taken: some are look-ahead.
    fn opened_group(&mut self, at: usize, depth: usize) -> Result<OpenGroup> {
        let is_ahead = self.notation == Notation::Ebnf && self.takes("=");
        if is_ahead && depth > 1 {
            return Err(self.error(at, "look-ahead \"(= ...)\" stands at the end of a rule only"));
        }
        Ok(OpenGroup::new(at, is_ahead))
    }

    /// Puts the innermost group, whose parenthesis at `at` is taken, into the one around it.
    fn close_group(&mut self, groups: &mut Vec<OpenGroup>, at: usize) -> Result<()> {
        let Some(mut group) = groups.pop() else { return Ok(()) };
        self.end_alternative(&mut group);
        let part = self.tree.choice(group.choice, self.place(group.at));
        if group.is_ahead { self.end_look_ahead(groups, part, at) } else { self.end_atom(groups, part, group.at) }
    }

    fn end_alternative(&mut self, group: &mut OpenGroup) {
        let parts = std::mem::take(&mut group.sequence);
        let place = parts.first().map_or(self.place(group.at), |&p| self.tree.place(p));
        let part = self.tree.sequence(parts, place);
        group.choice.push(part);
    }

    /// What must follow the last part of the alternative.
    fn end_look_ahead(&mut self, groups: &mut [OpenGroup], ahead: PartId, at: usize) -> Result<()> {
        let resume = self.at;
        let ends = self.body_ends() || self.rest().starts_with('|');
        self.at = resume;
        if !ends {
            return Err(self.error(at, "look-ahead \"(= ...)\" stands at the end of a rule only"));
        }
        let Some(group) = groups.last_mut() else { return Ok(()) };
        let body = group.sequence.pop();
        let place = self.place(group.at);
        let body = body.unwrap_or_else(|| self.tree.push(Part::Empty, place));
        let part = self.tree.push(Part::Ahead { body, ahead }, place);
        group.sequence.push(part);
        Ok(())
    }

    fn end_atom(&mut self, groups: &mut [OpenGroup], mut part: PartId, at: usize) -> Result<()> {
        let mut count = 0;
        loop {
            let resume = self.at;
            if groups.len() > 1 || self.notation == Notation::Ebnf {
                self.pass_blanks(true);
            } else {
                self.pass_blanks(false);
            }
            let here = self.at;
            let (min, max) = match self.peek() {
                Some('?') => (0, 1),
                Some('*') => (0, UNBOUNDED),
                Some('+') => (1, UNBOUNDED),
                Some('{') => self.count()?,
                _ => {
                    self.at = resume;
                    break;
                }
            };
            if self.at == here {
                self.at += 1;
            }
            count += 1;
            if count > 1 && self.notation == Notation::Ebnf {
                return Err(self.error(here, "a repetition stands behind another one; put that into parentheses"));
            }
            check_repeats(self, count, here)?;
            part = self.tree.push(Part::Repeat { body: part, min, max }, self.place(at));
        }
        if let Some(group) = groups.last_mut() {
            group.sequence.push(part);
        }
        Ok(())
    }

    /// `{m}`, `{m,}` or `{m,n}`.
    fn count(&mut self) -> Result<(u32, u32)> {
        let start = self.at;
        self.at += 1;
        self.pass_blanks(true);
        let Some(min) = self.number()? else {
            let hint = if self.peek() == Some(',') { "; write {0,n} for at most n" } else { "" };
            return Err(self.error(self.at, format!("a number of copies must stand here{hint}")));
        };
        self.pass_blanks(true);
        let mut max = min;
        if self.takes(",") {
            self.pass_blanks(true);
            max = self.number()?.unwrap_or(UNBOUNDED);
        }
        self.expect("}", "behind the count")?;
        if min > max {
            return Err(self.error(start, format!("this count is empty: {min} is more than {max}")));
        }
        if min > MOST_COPIES || (max != UNBOUNDED && max > MOST_COPIES) {
            return Err(self.error(start, format!("at most {MOST_COPIES} copies can be asked for")));
        }
        Ok((min, max))
    }

    fn atom(&mut self, c: char, limits: &Limits) -> Result<PartId> {
        let at = self.at;
        let place = self.place(at);
        let part = match c {
            '"' => Part::Text { text: self.string()?, any_case: false },
            '[' => Part::Class(self.class()?),
            '.' if self.notation == Notation::Gbnf => {
                self.at += 1;
                Part::Class(vec![('\0', char::MAX)])
            }
            '<' | '!' if self.notation == Notation::Gbnf => self.token()?,
            '*' | '+' | '?' | '{' => {
                return Err(self.error(at, format!("nothing stands before {c:?} that it could repeat")));
            }
            _ => {
                let Some(name) = self.name() else {
                    if let Some(slip) = slip_of(self.rest()) {
                        return Err(self.error(at, format!("{slip:?} means nothing here; did you mean \"::=\"?")));
                    }
                    let hint = match c {
                        '\'' => "; texts stand in double quotes",
                        '/' => "; patterns in slashes are no part of this notation",
                        '<' | '!' => "; special tokens are written Token(\"<name>\") and ExcludeToken(\"<name>\")",
                        _ => "",
                    };
                    return Err(self.error(at, format!("the character {c:?} means nothing here{hint}")));
                };
                if self.notation == Notation::Ebnf {
                    let resume = self.at;
                    self.pass_blanks(true);
                    if self.peek() == Some('(') && self.is_macro(name) {
                        return self.macro_call(name, at, limits);
                    }
                    self.at = resume;
                }
                Part::Name(name.into())
            }
        };
        Ok(self.tree.push(part, place))
    }

    /// `<name>`, `<[id]>`, and either with `!` for any other token.
    fn token(&mut self) -> Result<Part> {
        let start = self.at;
        let complement = self.takes("!");
        if !self.takes("<") {
            return Err(self.error(start, "a special token must stand behind '!', as in !<name>"));
        }
        let rest = self.rest();
        let length = rest.find(['>', '\n']).filter(|&n| rest[n..].starts_with('>') && n > 0);
        let Some(length) = length else {
            return Err(self.error(start, "this special token is not closed; '>' must end it"));
        };
        self.at += length + 1;
        let inside = &rest[..length];
        let token = match inside.strip_prefix('[') {
            None => TokenName::Text(format!("<{inside}>")),
            Some(id) => {
                let id = id.strip_suffix(']').and_then(|id| id.trim().parse().ok());
                let id = id.ok_or_else(|| self.error(start, "an id of a token is a number, as in <[1000]>"))?;
                TokenName::Id(id)
            }
        };
        Ok(Part::Tokens { tokens: vec![token], complement })
    }

    /// What stands in brackets behind the name of a rule.
    fn attributes(&mut self) -> Result<Attributes> {
        const KNOWN: [&str; 4] = ["lazy", "capture", "max_tokens", "temperature"];
        self.at += 1;
        let mut found = Attributes::default();
        let mut seen: Vec<&str> = Vec::new();
        loop {
            self.pass_blanks(true);
            let at = self.at;
            let Some(name) = self.name() else {
                return Err(self.error(at, "the name of an attribute must stand here"));
            };
            if !KNOWN.contains(&name) {
                let hint = did_you_mean(name, KNOWN.into_iter());
                return Err(self.error(at, format!("there is no attribute {name:?}{hint}")));
            }
            if seen.contains(&name) {
                return Err(self.error(at, format!("the attribute {name:?} stands here twice")));
            }
            seen.push(name);
            self.pass_blanks(true);
            let has_value = self.takes("=");
            self.pass_blanks(true);
            match (name, has_value) {
                ("lazy", false) => found.lazy = true,
                ("capture", false) => found.capture = Some(String::new()),
                ("capture", true) if self.peek() == Some('"') => found.capture = Some(self.string()?),
                ("max_tokens", true) => {
                    let number = self.number()?;
                    found.max_tokens = Some(number.ok_or_else(|| self.error(at, "\"max_tokens\" is a number from 0"))?);
                }
                ("temperature", true) => {
                    let rest = self.rest();
                    let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
                    if rest[..length].parse::<f64>().is_err() {
                        return Err(self.error(at, "a temperature is a number from 0"));
                    }
                    self.at += length;
                }
                _ => return Err(self.error(at, format!("the value of {name:?} is missing, or is not of its kind"))),
            }
            self.pass_blanks(true);
            if self.takes("]") {
                return Ok(found);
            }
            self.expect(",", "or ']', behind an attribute")?;
        }
    }
}

/// Repetitions of repetitions nest.
fn check_repeats(r: &Reader<'_, '_>, count: usize, at: usize) -> Result<()> {
    const MOST_REPEATS: usize = 4;
    if count > MOST_REPEATS {
        return Err(r.error(at, format!("at most {MOST_REPEATS} repetitions stand behind one part")));
    }
    Ok(())
}
