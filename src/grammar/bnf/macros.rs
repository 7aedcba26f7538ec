//! The macros of XGrammar's EBNF.

use crate::error::Result;
use crate::grammar::bnf::reader::Reader;
use crate::grammar::model::TokenName;
use crate::grammar::tree::{Dispatch, DispatchTag, Part, PartId, check_depth};
use crate::limits::Limits;

/// What is written like a call. Each has an arm in `macro_call`, and a place in docs/grammars.md.
#[derive(Clone, Copy, Debug)]
enum Macro {
    TagDispatch,
    TokenTagDispatch,
    Token,
    ExcludeToken,
    Regex,
    Substring,
}

impl Macro {
    /// The macro with this name.
    fn from_name(name: &str) -> Option<Macro> {
        Some(match name {
            "TagDispatch" => Macro::TagDispatch,
            "TokenTagDispatch" => Macro::TokenTagDispatch,
            "Token" => Macro::Token,
            "ExcludeToken" => Macro::ExcludeToken,
            "Regex" => Macro::Regex,
            "Substring" => Macro::Substring,
            _ => return None,
        })
    }
}

/// An argument of a macro.
#[derive(Clone, Debug)]
enum Argument {
    Text(String),
    Number(u32),
    Bool(bool),
    /// The name of a rule.
    Name(String, usize),
    List(Vec<Argument>),
    /// `name=value`.
    Named(String, Box<Argument>),
}

impl Reader<'_, '_> {
    /// Whether a name before a parenthesis is a macro's.
    pub(super) fn is_macro(&self, name: &str) -> bool {
        Macro::from_name(name).is_some()
    }

    /// A macro, whose parenthesis comes next.
    pub(super) fn macro_call(&mut self, name: &str, start: usize, limits: &Limits) -> Result<PartId> {
        let Some(which) = Macro::from_name(name) else {
            return Err(self.error(start, format!("there is no macro {name}")));
        };
        let arguments = self.arguments(limits)?;
        let place = self.place(start);
        let part = match which {
            Macro::Regex => return self.regex(arguments, start),
            Macro::Substring => {
                let texts: Option<Vec<String>> = arguments.into_iter().map(Argument::text).collect();
                let Some(texts) = texts else { return Err(self.error(start, "Substring takes texts")) };
                Part::Substring(texts)
            }
            Macro::Token | Macro::ExcludeToken => {
                let tokens: Option<Vec<TokenName>> = arguments.into_iter().map(Argument::token).collect();
                let complement = matches!(which, Macro::ExcludeToken);
                let Some(tokens) = tokens.filter(|t| complement || !t.is_empty()) else {
                    return Err(self.error(start, format!("{name} takes ids or names of special tokens")));
                };
                Part::Tokens { tokens, complement }
            }
            Macro::TagDispatch | Macro::TokenTagDispatch => self.dispatch(name, arguments, start)?,
        };
        Ok(self.tree.push(part, place))
    }

    fn regex(&mut self, arguments: Vec<Argument>, start: usize) -> Result<PartId> {
        let wrong = "Regex takes a pattern, and perhaps flags=\"...\" and json_string=true";
        let mut arguments = arguments.into_iter();
        let Some(Argument::Text(mut pattern)) = arguments.next() else { return Err(self.error(start, wrong)) };
        // Without flags a dot matches ends of lines too.
        let (mut flags, mut in_json) = ("s".to_owned(), false);
        for argument in arguments {
            match argument {
                Argument::Named(name, value) => match (name.as_str(), *value) {
                    ("flags", Argument::Text(letters)) => flags = letters,
                    ("json_string", Argument::Bool(on)) => in_json = on,
                    _ => return Err(self.error(start, wrong)),
                },
                _ => return Err(self.error(start, wrong)),
            }
        }
        if let Some(bad) = flags.chars().find(|c| !"imsu".contains(*c)) {
            return Err(self.error(start, format!("there is no flag {bad:?}; the flags are i, m, s and u")));
        }
        // A group of flags that holds for the whole pattern.
        if let Some((letters, rest)) = pattern.strip_prefix("(?").and_then(|p| p.split_once(')'))
            && !letters.is_empty()
            && letters.chars().all(|c| "ims".contains(c))
        {
            let new: Vec<char> = letters.chars().filter(|c| !flags.contains(*c)).collect();
            flags.extend(new);
            pattern = rest.to_owned();
        }
        let place = self.place(start);
        let part = self.tree.push(Part::EcmaPattern { pattern, flags }, place);
        Ok(if in_json { self.tree.push(Part::JsonString(part), place) } else { part })
    }

    fn dispatch(&mut self, name: &str, arguments: Vec<Argument>, start: usize) -> Result<Part> {
        let by_token = name == "TokenTagDispatch";
        let what = if by_token { "token" } else { "text" };
        let wrong =
            format!("{name} takes pairs ({what}, rule), and perhaps loop_after_dispatch=... and excludes=(...)");
        let tag = |a: Argument| match by_token {
            true => a.token().map(DispatchTag::Token),
            false => a.text().filter(|s| !s.is_empty()).map(DispatchTag::Text),
        };
        let mut found = Dispatch { tags: Vec::new(), repeats: true, excludes: Vec::new() };
        for argument in arguments {
            match argument {
                Argument::List(pair) => {
                    let mut pair = pair.into_iter();
                    let (Some(first), Some(Argument::Name(rule, at)), None) = (pair.next(), pair.next(), pair.next())
                    else {
                        return Err(self.error(start, wrong));
                    };
                    let Some(tag) = tag(first) else { return Err(self.error(start, wrong)) };
                    let place = self.place(at);
                    let part = self.tree.push(Part::Name(rule.into()), place);
                    found.tags.push((tag, part));
                }
                Argument::Named(name, value) => match (name.as_str(), *value) {
                    ("loop_after_dispatch", Argument::Bool(on)) => found.repeats = on,
                    ("excludes", Argument::List(list)) => {
                        let list: Option<Vec<DispatchTag>> = list.into_iter().map(tag).collect();
                        let Some(list) = list else { return Err(self.error(start, wrong)) };
                        found.excludes = list;
                    }
                    _ => return Err(self.error(start, format!("{wrong}; {name} is none of these"))),
                },
                _ => return Err(self.error(start, wrong)),
            }
        }
        Ok(Part::Dispatch(Box::new(found)))
    }

    /// A text, a number, a word or a name, which begins with `c`.
    fn value_or_name(&mut self, c: char) -> Result<ValueOrName> {
        let at = self.at;
        let value = match c {
            '"' => Argument::Text(self.string()?),
            c if c.is_ascii_digit() => Argument::Number(self.number()?.unwrap_or(0)),
            _ => {
                let Some(word) = self.name() else {
                    return Err(self.error(at, "a text, a number or a name must stand here"));
                };
                self.pass_blanks(true);
                if self.takes("=") {
                    return Ok(ValueOrName::NameOfNext(word.to_owned()));
                }
                match word {
                    "true" => Argument::Bool(true),
                    "false" => Argument::Bool(false),
                    _ => Argument::Name(word.to_owned(), at),
                }
            }
        };
        Ok(ValueOrName::Value(value))
    }

    /// What stands in the parentheses that come next.
    fn arguments(&mut self, limits: &Limits) -> Result<Vec<Argument>> {
        let start = self.at;
        // Lists that are open, each with the name that its value gets.
        let mut open: Vec<(Vec<Argument>, Option<String>)> = Vec::new();
        let mut name: Option<String> = None;
        let mut wants_value = true;
        loop {
            self.pass_blanks(true);
            let at = self.at;
            let value = match self.peek() {
                None => return Err(self.error(start, "these arguments are not closed; ')' must end them")),
                Some('(') if wants_value => {
                    self.at += 1;
                    check_depth(open.len() + 1, limits, self.place(at))?;
                    open.push((Vec::new(), name.take()));
                    continue;
                }
                Some(')') => {
                    self.at += 1;
                    let Some((list, list_name)) = open.pop() else { return Ok(Vec::new()) };
                    if open.is_empty() {
                        return Ok(list);
                    }
                    name = list_name;
                    Argument::List(list)
                }
                Some(',') if !wants_value => {
                    self.at += 1;
                    wants_value = true;
                    continue;
                }
                Some(c) if wants_value => match self.value_or_name(c)? {
                    ValueOrName::Value(value) => value,
                    ValueOrName::NameOfNext(word) => {
                        name = Some(word);
                        continue;
                    }
                },
                Some(_) => return Err(self.error(at, "',' or ')' must stand behind an argument")),
            };
            wants_value = false;
            let value = match name.take() {
                Some(name) => Argument::Named(name, Box::new(value)),
                None => value,
            };
            if let Some(list) = open.last_mut() {
                list.0.push(value);
            }
        }
    }
}

/// What may stand where an argument begins, but for a list.
enum ValueOrName {
    Value(Argument),
    /// The name of an argument, with the `=` behind it.
    NameOfNext(String),
}

impl Argument {
    fn text(self) -> Option<String> {
        match self {
            Argument::Text(s) => Some(s),
            _ => None,
        }
    }

    fn token(self) -> Option<TokenName> {
        match self {
            Argument::Text(s) => Some(TokenName::Text(s)),
            Argument::Number(n) => Some(TokenName::Id(n)),
            _ => None,
        }
    }
}
