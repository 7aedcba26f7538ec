//! The rules of a grammar in GBNF or EBNF, which structural tags write into their own grammars.

use crate::grammar::model::TokenName;
use crate::grammar::{Symbol, flat_rules};
use crate::python::compile::choose;
use crate::python::convert::pickle_recipe::SYNTAXES;
use crate::python::errors::detached;
use pyo3::prelude::*;

/// The name of a rule, and its body as pairs of a kind and a value.
type Rule = (String, Vec<(&'static str, Value)>);

/// What a symbol says. Python gets the value alone.
#[derive(IntoPyObject)]
pub enum Value {
    Text(String),
    Texts(Vec<String>),
    Ranges(Vec<(u32, u32)>),
    Pattern((String, String)),
    Tokens((Vec<Token>, usize)),
}

/// A special token by its text or its id.
#[derive(IntoPyObject)]
pub enum Token {
    Text(String),
    Id(u32),
}

/// The rules of a grammar as whole grammars are read: names, and bodies as pairs of a kind and a value. The value of
/// special tokens is a list of them, and the byte at which they are named.
#[pyfunction]
pub fn _flat_rules(py: Python<'_>, text: &str, syntax: &str) -> PyResult<Vec<Rule>> {
    let syntax = choose(py, "syntax", syntax, &SYNTAXES)?;
    let rules = detached(py, || flat_rules(text, syntax))?;
    Ok(rules.into_iter().map(|(name, body)| (name, body.into_iter().map(pair).collect())).collect())
}

fn pair(symbol: Symbol) -> (&'static str, Value) {
    match symbol {
        Symbol::Mark(mark) => ("mark", Value::Text(mark)),
        Symbol::Text(text) => ("text", Value::Text(text)),
        Symbol::Rule(name) => ("rule", Value::Text(name)),
        Symbol::Class(ranges) => {
            ("class", Value::Ranges(ranges.into_iter().map(|(low, high)| (low.into(), high.into())).collect()))
        }
        Symbol::Pattern(pattern, flags) => ("pattern", Value::Pattern((pattern, flags))),
        Symbol::Substring(texts) => ("substring", Value::Texts(texts)),
        Symbol::Tokens(all, at) => ("tokens", Value::Tokens((tokens(all), at))),
        Symbol::OtherTokens(all, at) => ("other_tokens", Value::Tokens((tokens(all), at))),
    }
}

fn tokens(all: Vec<TokenName>) -> Vec<Token> {
    let by_name = |token| match token {
        TokenName::Text(text) => vec![Token::Text(text)],
        TokenName::Id(id) => vec![Token::Id(id)],
        TokenName::Range(first, last) => (first..=last).map(Token::Id).collect(),
    };
    all.into_iter().flat_map(by_name).collect()
}
