//! What llguidance adds to Lark's notation: special tokens, grammars inside of grammars, JSON Schemas, attributes.

use serde_json::Value;

use crate::error::near_name::did_you_mean;
use crate::error::{ErrorCode, Result};
use crate::grammar::error_place::TextPlace;
use crate::grammar::lark::lexer::Token;
use crate::grammar::lark::parser::{Parser, shown};
use crate::grammar::model::TokenName;
use crate::grammar::tree::{Attributes, Module, Part, PartId, SchemaText, Space};
use crate::schema::format;

/// Grammars nest no deeper in each other than this.
pub(crate) const MOST_NESTED: usize = 50;

impl<'a> Parser<'a, '_> {
    /// A special token, by what stands between `<` and `>`.
    pub fn special_token(&mut self, inside: &str, place: TextPlace) -> Result<Part> {
        let Some(ids) = inside.strip_prefix('[').and_then(|s| s.strip_suffix(']')) else {
            // The name in the tokenizer has the angles.
            return Ok(Part::Tokens { tokens: vec![TokenName::Text(format!("<{inside}>"))], complement: false });
        };
        let wrong = |p: &Self, message: String| p.error(place.at, message);
        if ids == "*" {
            return Ok(Part::Tokens { tokens: Vec::new(), complement: true });
        }
        let (ids, complement) = match ids.strip_prefix('^') {
            Some(rest) => (rest, true),
            None => (ids, false),
        };
        let mut tokens = Vec::new();
        for item in ids.split(',') {
            let item = item.trim();
            let number = |p: &Self, s: &str| -> Result<u32> {
                let digits = !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
                let n = if digits { s.parse().ok() } else { None };
                n.ok_or_else(|| {
                    wrong(p, format!("{s:?} is no id of a token; ids are numbers, ranges of them, or '*' alone"))
                })
            };
            tokens.push(match item.split_once('-') {
                None => TokenName::Id(number(self, item)?),
                Some((first, last)) => {
                    let (first, last) = (number(self, first.trim())?, number(self, last.trim())?);
                    if first > last {
                        return Err(wrong(self, format!("this range of ids is empty: {first} is more than {last}")));
                    }
                    TokenName::Range(first, last)
                }
            });
        }
        Ok(Part::Tokens { tokens, complement })
    }

    /// A grammar that the caller knows by a name.
    pub fn named_grammar(&mut self, name: &str, place: TextPlace) -> Result<PartId> {
        let Some(text) = self.imported.grammars.get(name) else {
            let hint = did_you_mean(name, self.imported.grammars.keys().map(String::as_str));
            let message = format!("no grammar is known by the name {name:?}{hint}");
            let e = self.error(place.at, message).coded_about(ErrorCode::UnknownGrammar, name);
            return Err(e.with_hint("pass it in `grammars`"));
        };
        if let Some(&space) = self.imported.spaces.borrow().get(name) {
            return match space {
                Some(space) => Ok(self.tree.push(Part::Nested(space), place)),
                None => Err(self.error(place.at, format!("the grammar {name:?} contains itself"))),
            };
        }
        if self.nested >= MOST_NESTED {
            return Err(self.error(place.at, format!("grammars nest no deeper than {MOST_NESTED} in each other")));
        }
        self.imported.spaces.borrow_mut().insert(name.to_owned(), None);
        let number = self.tree.texts.add(name, text.clone());
        let space = self.new_space(TextPlace { text: number, at: 0 });
        let module = self.new_module();
        let mut inner =
            Parser::new(self.tree, (number, text), self.limits, self.imported, (space, module), self.nested + 1);
        inner.statements()?;
        self.imported.spaces.borrow_mut().insert(name.to_owned(), Some(space));
        Ok(self.tree.push(Part::Nested(space), place))
    }

    fn new_space(&mut self, place: TextPlace) -> u32 {
        self.tree.spaces.push(Space { start: "start".to_owned(), place, ..Space::default() });
        self.tree.spaces.len() as u32 - 1
    }

    fn new_module(&mut self) -> u32 {
        self.tree.modules.push(Module::default());
        self.tree.modules.len() as u32 - 1
    }

    /// `%json`, `%json_text`, `%regex` or `%lark` inside of a body.
    pub fn inline_directive(&mut self, name: &str, place: TextPlace) -> Result<PartId> {
        match name {
            "json" => {
                let (_, text) = self.json(place.at)?;
                Ok(self.tree.push(Part::Document(text.to_owned()), place))
            }
            "json_text" => {
                let (value, _) = self.json(place.at)?;
                let text = self.schema_text(&value, place.at)?;
                Ok(self.tree.push(Part::SchemaText(Box::new(text)), place))
            }
            "regex" => {
                let (value, _) = self.json(place.at)?;
                let part = match value.get("ecma") {
                    Some(pattern) => self.ecma_pattern(&value, pattern, place.at)?,
                    None => Part::Substring(self.chunks(&value, place.at)?),
                };
                Ok(self.tree.push(part, place))
            }
            "lark" => {
                while self.takes(Token::Newline)? {}
                let at = self.expect('{', "before the nested grammar")?;
                if self.nested >= MOST_NESTED {
                    return Err(self.error(at, format!("grammars nest no deeper than {MOST_NESTED} in each other")));
                }
                let space = self.new_space(self.place(at));
                let module = self.new_module();
                let text = self.lexer.text;
                let mut inner = Parser::new(
                    self.tree,
                    (self.number, text),
                    self.limits,
                    self.imported,
                    (space, module),
                    self.nested + 1,
                );
                inner.in_braces = true;
                inner.lexer.at = self.lexer.at;
                inner.statements()?;
                // The closing brace is what it stopped at.
                let end = inner.expect('}', "behind the nested grammar")?;
                self.lexer.at = end + 1;
                Ok(self.tree.push(Part::Nested(space), place))
            }
            "if" => Err(self.error(place.at, "%if stands behind an alternative of a rule with a number")),
            _ => {
                let hint = did_you_mean(name, ["json", "json_text", "regex", "lark"].into_iter());
                Err(self.error(place.at, format!("%{name} means nothing inside of a body{hint}")))
            }
        }
    }

    /// The JSON value that comes next, and its text.
    fn json(&mut self, at: usize) -> Result<(Value, &'a str)> {
        // Nothing was looked at behind the directive: a value is no symbol of this notation.
        let from = self.lexer.at;
        let rest = &self.lexer.text[from..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let end = values.byte_offset();
                self.lexer.at = from + end;
                Ok((value, rest[..end].trim()))
            }
            Some(Err(e)) => {
                let line = rest.split_inclusive('\n').take(e.line().saturating_sub(1)).map(str::len).sum::<usize>();
                let column =
                    rest[line.min(rest.len())..].chars().take(e.column().saturating_sub(1)).map(char::len_utf8);
                let place = (from + line + column.sum::<usize>()).min(self.lexer.text.len());
                let what = e.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                Err(self.error(place, format!("this is no JSON value: {what}")))
            }
            None => Err(self.error(at, "a JSON value must stand behind the directive")),
        }
    }

    /// The pattern of `%regex { "ecma": "...", "flags": "..." }`; the flags may be left out.
    fn ecma_pattern(&self, value: &Value, pattern: &Value, at: usize) -> Result<Part> {
        let flags = value.get("flags").map_or(Some(""), Value::as_str);
        let others =
            value.as_object().into_iter().flatten().filter(|(key, _)| !["ecma", "flags"].contains(&key.as_str()));
        let (Some(pattern), Some(flags), 0) = (pattern.as_str(), flags, others.count()) else {
            return Err(self.error(at, "%regex with \"ecma\" takes a pattern, and \"flags\" as a text"));
        };
        Ok(Part::EcmaPattern { pattern: pattern.to_owned(), flags: flags.to_owned() })
    }

    /// What the schema of `%json_text { ... }` says about strings.
    fn schema_text(&self, value: &Value, at: usize) -> Result<SchemaText> {
        let Some(object) = value.as_object() else { return Err(self.error(at, "%json_text takes an object")) };
        let mut found = SchemaText::default();
        for (key, value) in object {
            match (key.as_str(), value) {
                ("type", Value::String(kind)) if kind == "string" => {}
                ("format", Value::String(name)) if format::is_known(name) => {
                    found.format = Some(name.clone());
                }
                ("format", Value::String(name)) => {
                    let hint = did_you_mean(name, format::names());
                    return Err(self.unsupported(at, format!("the format {name:?} is not known{hint}")));
                }
                ("pattern", Value::String(pattern)) => found.pattern = Some(pattern.clone()),
                ("minLength", Value::Number(n)) if n.is_u64() => found.lengths.0 = n.as_u64().unwrap_or_default(),
                ("maxLength", Value::Number(n)) if n.is_u64() => found.lengths.1 = n.as_u64(),
                _ => {
                    let message = format!(
                        "%json_text takes an object with \"type\": \"string\", \"format\", \"pattern\", \"minLength\" \
                         and \"maxLength\", and {key:?} is not one of these"
                    );
                    return Err(self.error(at, message));
                }
            }
        }
        Ok(found)
    }

    /// The chunks of `%regex { "substring_...": ... }`.
    fn chunks(&self, value: &Value, at: usize) -> Result<Vec<String>> {
        let form = "%regex takes an object with one of \"substring_chunks\" (a list of texts), \"substring_words\", \
                    \"substring_chars\" (a text) and \"ecma\" (a pattern)";
        let Some((key, value)) = value.as_object().filter(|o| o.len() == 1).and_then(|o| o.iter().next()) else {
            return Err(self.error(at, form));
        };
        match (key.as_str(), value) {
            ("substring_chunks", Value::Array(items)) => {
                let texts: Option<Vec<String>> = items.iter().map(|v| v.as_str().map(str::to_owned)).collect();
                texts.ok_or_else(|| self.error(at, "\"substring_chunks\" is a list of texts"))
            }
            ("substring_chars", Value::String(text)) => Ok(text.chars().map(String::from).collect()),
            ("substring_words", Value::String(text)) => Ok(words(text)),
            ("substring_chunks", _) => Err(self.error(at, "\"substring_chunks\" is a list of texts")),
            ("substring_chars" | "substring_words", _) => Err(self.error(at, format!("{key:?} is a text"))),
            _ => Err(self.error(at, form)),
        }
    }

    /// `%llguidance { ... }`: options of a grammar.
    pub fn options(&mut self) -> Result<()> {
        let at = self.lexer.at;
        let (value, _) = self.json(at)?;
        let Some(object) = value.as_object() else { return Err(self.error(at, "%llguidance takes an object")) };
        for (key, value) in object {
            let Some(on) = value.as_bool() else {
                return Err(self.error(at, format!("the option {key:?} is true or false")));
            };
            match key.as_str() {
                // Neither changes what is accepted: forced tokens are the caller's choice here.
                "no_forcing" | "allow_initial_skip" => {}
                "ignore_once" => self.tree.spaces[self.space as usize].ignore_once = on,
                "allow_invalid_utf8" if on => {
                    return Err(self.unsupported(at, "\"allow_invalid_utf8\" is not supported; outputs are UTF-8 here"));
                }
                "allow_invalid_utf8" => {}
                _ => {
                    let known = ["no_forcing", "allow_initial_skip", "ignore_once", "allow_invalid_utf8"];
                    let hint = did_you_mean(key, known.into_iter());
                    return Err(self.error(at, format!("there is no option {key:?}{hint}")));
                }
            }
        }
        Ok(())
    }

    /// What stands in brackets behind the name of a rule.
    pub fn attributes(&mut self) -> Result<Attributes> {
        const KNOWN: [&str; 7] = ["lazy", "suffix", "stop", "capture", "max_tokens", "temperature", "event"];
        self.expect('[', "before the attributes")?;
        let mut found = Attributes::default();
        let mut seen: Vec<&str> = Vec::new();
        loop {
            let (name, at) = self.expect_name("the name of an attribute")?;
            if !KNOWN.contains(&name) {
                let hint = did_you_mean(name, KNOWN.into_iter());
                return Err(self.error(at, format!("there is no attribute {name:?}{hint}")));
            }
            if seen.contains(&name) {
                return Err(self.error(at, format!("the attribute {name:?} stands here twice")));
            }
            seen.push(name);
            if self.takes(Token::Mark('='))? {
                self.attribute_value(name, at, &mut found)?;
            } else {
                match name {
                    "lazy" => found.lazy = true,
                    "capture" => found.capture = Some(String::new()),
                    _ => return Err(self.error(at, format!("a value must stand behind {name:?}, as in {name}=..."))),
                }
            }
            match self.take()? {
                (Token::Mark(','), _) => {}
                (Token::Mark(']'), _) => break,
                (token, at) => {
                    let message = format!("',' or ']' must stand behind an attribute, not {}", shown(token));
                    return Err(self.error(at, message));
                }
            }
        }
        if found.suffix.is_some() && found.stop.is_some() {
            let at = self.lexer.at.saturating_sub(1);
            return Err(self.error(at, "a rule has \"suffix\" or \"stop\", not both"));
        }
        Ok(found)
    }

    /// The value of an attribute, behind the equals sign.
    fn attribute_value(&mut self, name: &str, at: usize, found: &mut Attributes) -> Result<()> {
        match name {
            "lazy" => return Err(self.error(at, "\"lazy\" has no value")),
            "capture" => match self.take()? {
                (Token::Text { raw, any_case: false }, at) if raw.chars().any(char::is_control) => {
                    return Err(self.error(at, "the name of a capture has no control characters"));
                }
                (Token::Text { raw, any_case: false }, _) => found.capture = Some(raw.to_owned()),
                (_, at) => return Err(self.error(at, "the name of a capture is a text")),
            },
            // What structural tags say of their parts. No name of a capture begins so.
            "event" => match self.take()? {
                (Token::Text { raw, any_case: false }, _) => found.capture = Some(format!("\u{1}{raw}")),
                (_, at) => return Err(self.error(at, "an event is a text")),
            },
            "max_tokens" => match self.take()? {
                (Token::Number(n), at) => {
                    let n = n.parse().map_err(|_| self.error(at, "\"max_tokens\" is a number from 0"))?;
                    found.max_tokens = Some(n);
                }
                (_, at) => return Err(self.error(at, "\"max_tokens\" is a number from 0")),
            },
            "temperature" => self.temperature()?,
            "suffix" => found.suffix = Some(self.end_of_lazy_rule()?),
            _ => found.stop = Some(self.end_of_lazy_rule()?),
        }
        Ok(())
    }

    /// The text, pattern or terminal that ends a rule.
    fn end_of_lazy_rule(&mut self) -> Result<PartId> {
        let (token, at) = self.take()?;
        if !matches!(token, Token::Text { .. } | Token::Pattern { .. } | Token::Name(_)) {
            let message = format!("a text, a pattern or a terminal must stand here, not {}", shown(token));
            return Err(self.error(at, message));
        }
        let place = self.place(at);
        self.atom(token, place)
    }

    /// A temperature is for whoever samples; it says nothing about what is accepted.
    fn temperature(&mut self) -> Result<()> {
        let (token, at) = self.take()?;
        let mut digits = match token {
            Token::Number(n) => n.to_owned(),
            _ => return Err(self.error(at, "a temperature is a number")),
        };
        if self.takes(Token::Mark('.'))?
            && let (Token::Number(n), _) = self.peek()?
        {
            self.take()?;
            digits = format!("{digits}.{n}");
        }
        match digits.parse::<f64>() {
            Ok(t) if t >= 0.0 => Ok(()),
            _ => Err(self.error(at, "a temperature is a number from 0")),
        }
    }
}

/// The words of a text and what stands between them, each a chunk.
fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut in_word = None;
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '_';
        match out.last_mut() {
            Some(last) if in_word == Some(word) => last.push(c),
            _ => out.push(c.to_string()),
        }
        in_word = Some(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_chunks_with_what_is_between_them() {
        assert_eq!(words("foo, bar_1 "), ["foo", ", ", "bar_1", " "]);
        assert!(words("").is_empty());
    }
}
