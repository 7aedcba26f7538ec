//! Recipes: what an index was made from, as text.
//!
//! A recipe is JSON: the name of the class method that makes the index, and its arguments with `null` for the
//! vocabulary. Indexes that are compiled in this process write theirs from their arguments; one that came from a file
//! keeps the file's. A recipe is read and compiled without Python, so guides can make the engine of a stored index on
//! any thread and without the GIL.

use std::sync::Arc;

use serde_json::Value;

use crate::compile::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::grammar::model::Lexer;
use crate::grammar::{GrammarOptions, Syntax};
use crate::index::Index;
use crate::limits::Limits;
use crate::python::convert::limits;
use crate::python::runtime::process_caches;
use crate::regex::{Dialect, RegexOptions};
use crate::schema::{Formats, OnUnsupported, PropertyOrder, SchemaOptions, Spelling, Whitespace};
use crate::vocab::Vocabulary;

/// What `dialect` may be.
pub const DIALECTS: [(&str, Dialect); 2] = [("python", Dialect::Python), ("ecma", Dialect::Ecma)];
/// What `property_order` may be.
pub const ORDERS: [(&str, PropertyOrder); 2] = [("schema", PropertyOrder::Schema), ("any", PropertyOrder::Any)];
/// What `on_unsupported` may be.
pub const ON_UNSUPPORTED: [(&str, OnUnsupported); 2] = [("error", OnUnsupported::Error), ("warn", OnUnsupported::Warn)];
/// What `formats` may be.
pub const FORMATS: [(&str, Formats); 2] = [("assert", Formats::Assert), ("annotate", Formats::Annotate)];
/// What `spelling` may be.
pub const SPELLINGS: [(&str, Spelling); 3] =
    [("any", Spelling::Any), ("constants", Spelling::Constants), ("plain", Spelling::Plain)];

/// What `syntax` may be.
pub const SYNTAXES: [(&str, Syntax); 3] = [("lark", Syntax::Lark), ("gbnf", Syntax::Gbnf), ("ebnf", Syntax::Ebnf)];
/// What `lexer` may be.
pub const LEXERS: [(&str, Lexer); 3] =
    [("any", Lexer::Any), ("dynamic", Lexer::Dynamic), ("contextual", Lexer::Contextual)];

/// What `whitespace` stands for: one of three names, or a pattern.
pub fn whitespace(given: &str) -> Whitespace {
    match given {
        "flexible" => Whitespace::Flexible,
        "compact" => Whitespace::Compact,
        "spaced" => Whitespace::Spaced,
        pattern => Whitespace::Pattern(pattern.to_owned()),
    }
}

/// The kinds of sources, by the names of the methods that compile them.
pub const METHODS: [&str; 4] = ["from_regex", "from_json_schema", "from_choices", "from_grammar"];

/// Where among the arguments of a method its limits are.
pub fn limits_at(method: &str) -> usize {
    match method {
        "from_regex" => 4,
        "from_json_schema" | "from_grammar" => 7,
        _ => 2,
    }
}

/// The method that a recipe names, without reading the rest.
pub fn method_of(recipe: &str) -> Option<&'static str> {
    let rest = recipe.strip_prefix("[\"")?;
    METHODS.into_iter().find(|method| rest.strip_prefix(method).is_some_and(|rest| rest.starts_with('"')))
}

fn damaged() -> Error {
    Error::new(ErrorKind::Artifact, "the recipe of the index has no sense")
}

fn named<T: Copy>(value: Option<&Value>, known: &[(&str, T)]) -> Option<T> {
    let given = value?.as_str()?;
    known.iter().find(|(name, _)| *name == given).map(|&(_, value)| value)
}

fn texts(value: &Value) -> Option<Vec<(String, String)>> {
    value.as_object()?.iter().map(|(uri, text)| Some((uri.clone(), text.as_str()?.to_owned()))).collect()
}

fn limits_of(value: &Value) -> Option<Limits> {
    let mut limits = Limits::default();
    for (name, value) in value.as_object()? {
        let (_, field) = limits::fields(&mut limits).into_iter().find(|(known, _)| known == name)?;
        *field = usize::try_from(value.as_u64()?).ok()?;
    }
    Some(limits)
}

/// The index that a recipe makes.
///
/// # Errors
/// `Artifact` if the text is no recipe; those of compiling.
pub fn compile(recipe: &str, vocabulary: &Arc<Vocabulary>) -> Result<Index> {
    let value: Value = serde_json::from_str(recipe).map_err(|_| damaged())?;
    let (source, limits) = read(&value).ok_or_else(damaged)?;
    let index = source.compile(vocabulary, &limits);
    process_caches::compiled(vocabulary, index.is_ok());
    index
}

fn read(recipe: &Value) -> Option<(Source, Limits)> {
    let [method, arguments] = recipe.as_array()?.as_slice() else { return None };
    let arguments = arguments.as_array()?;
    let method = method.as_str()?;
    let limits = limits_of(arguments.get(limits_at(method))?)?;
    let source = arguments.first()?;
    let source = match (method, arguments.len()) {
        ("from_regex", 5) => {
            let flags = arguments[3].as_str()?.to_owned();
            let options = RegexOptions { dialect: named(arguments.get(2), &DIALECTS)?, flags };
            Source::Pattern { text: source.as_str()?.to_owned(), options }
        }
        ("from_json_schema", 9) => {
            let options = SchemaOptions {
                whitespace: whitespace(arguments[2].as_str()?),
                property_order: named(arguments.get(3), &ORDERS)?,
                on_unsupported: named(arguments.get(4), &ON_UNSUPPORTED)?,
                formats: named(arguments.get(5), &FORMATS)?,
                documents: texts(&arguments[6])?,
                spelling: match &arguments[8] {
                    Value::Null => None,
                    given => Some(named(Some(given), &SPELLINGS)?),
                },
            };
            Source::Schema { text: source.as_str()?.to_owned(), options }
        }
        ("from_choices", 3) => {
            let choices: Option<_> = source.as_array()?.iter().map(|c| Some(c.as_str()?.to_owned())).collect();
            Source::Choices(choices?)
        }
        ("from_grammar", 8) => {
            let named_texts = |at: usize| Some(texts(&arguments[at])?.into_iter().collect());
            let options = GrammarOptions {
                syntax: named(arguments.get(2), &SYNTAXES)?,
                start: match &arguments[3] {
                    Value::Null => None,
                    given => Some(given.as_str()?.to_owned()),
                },
                lexer: match &arguments[4] {
                    Value::Null => None,
                    given => Some(named(Some(given), &LEXERS)?),
                },
                imports: named_texts(5)?,
                grammars: named_texts(6)?,
            };
            Source::Grammar { text: source.as_str()?.to_owned(), options }
        }
        _ => return None,
    };
    Some((source, limits))
}
