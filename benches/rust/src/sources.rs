//! The sources that are measured, each with a text that it accepts.

use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::SchemaOptions;
use interlock::{GrammarOptions, Index, Lexer, Limits, Vocabulary};
use std::fmt::Write;
use std::sync::Arc;

/// A small schema, as of one tool.
pub const SMALL: &str = r#"{"type": "object", "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 80},
    "age": {"type": "integer", "minimum": 0, "maximum": 150},
    "email": {"type": "string", "format": "email"},
    "kind": {"enum": ["private", "business", "public"]},
    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 8}},
    "required": ["name", "age", "kind"], "additionalProperties": false}"#;

/// Groups of the large schema.
pub const LARGE_GROUPS: usize = 20;

/// What [`SMALL`] accepts.
pub const SMALL_TEXT: &str = r#"{"name": "the total colour of it", "age": 36, "email": "foo.bar@test.org", "kind": "business", "tags": ["red", "green", "a date of 12 left"]}"#;

/// A pattern with few states: a date and a time.
pub const PATTERN: &str = r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T[0-2]\d:[0-5]\d";

/// A schema of `20 * groups` properties in nested objects, of all the kinds that real ones mix.
pub fn large(groups: usize) -> String {
    let mut properties = String::new();
    for g in 0..groups {
        let mut members = String::new();
        for m in 0..20 {
            let value = match (g + m) % 10 {
                0 => r#"{"type": "string"}"#,
                1 => r#"{"type": "string", "maxLength": 120}"#,
                2 => r#"{"type": "integer", "minimum": 0, "maximum": 65535}"#,
                3 => r#"{"type": "number"}"#,
                4 => r#"{"type": "boolean"}"#,
                5 => r#"{"enum": ["low", "normal", "high", "none"]}"#,
                6 => r#"{"type": ["string", "null"], "pattern": "^[a-z][a-z0-9_-]{0,40}$"}"#,
                7 => r#"{"type": "string", "format": "date-time"}"#,
                8 => r##"{"$ref": "#/$defs/place"}"##,
                _ => r#"{"type": "array", "items": {"type": "string", "format": "uuid"}}"#,
            };
            let comma = if m == 0 { "" } else { ", " };
            write!(members, r#"{comma}"member_{g}_{m}": {value}"#).expect("a String takes all text");
        }
        let comma = if g == 0 { "" } else { ", " };
        write!(
            properties,
            r#"{comma}"group_{g}": {{"type": "object", "properties": {{{members}}}, "required": ["member_{g}_0", "member_{g}_3"]}}"#
        )
        .expect("a String takes all text");
    }
    format!(
        r##"{{"$defs": {{"place": {{"anyOf": [
            {{"type": "object", "properties": {{"lat": {{"type": "number", "minimum": -90, "maximum": 90}}, "lon": {{"type": "number"}}}}, "required": ["lat", "lon"], "additionalProperties": false}},
            {{"type": "object", "properties": {{"name": {{"type": "string"}}, "within": {{"$ref": "#/$defs/place"}}}}, "required": ["name"], "additionalProperties": false}}]}}}},
        "type": "object", "properties": {{{properties}}}}}"##
    )
}

/// What [`large`] accepts: the first `groups` groups, half of the members of each.
pub fn large_text(groups: usize) -> String {
    let mut text = String::from("{");
    for g in 0..groups {
        write!(text, r#"{}"group_{g}": {{"#, if g == 0 { "" } else { ", " }).expect("a String takes all text");
        let mut first = true;
        for m in (0..20).filter(|m| m % 2 == 0 || *m == 3) {
            let value = match (g + m) % 10 {
                0 | 1 => r#""some words of a text, with commas""#,
                2 => "4096",
                3 => "-12.5e3",
                4 => "true",
                5 => r#""normal""#,
                6 => r#""name_of-x1""#,
                7 => r#""2024-01-31T12:30:00Z""#,
                8 => r#"{"name": "left", "within": {"lat": 12.5, "lon": -7}}"#,
                _ => r#"["123e4567-e89b-12d3-a456-426614174000"]"#,
            };
            let comma = if std::mem::take(&mut first) { "" } else { ", " };
            write!(text, r#"{comma}"member_{g}_{m}": {value}"#).expect("a String takes all text");
        }
        text.push('}');
    }
    text + "}"
}

/// An object of `properties` strings and numbers, all optional.
pub fn wide(properties: usize) -> String {
    let members: Vec<String> = (0..properties)
        .map(|i| format!(r#""field_{i}": {{"type": "{}"}}"#, if i % 2 == 0 { "string" } else { "integer" }))
        .collect();
    format!(r#"{{"type": "object", "properties": {{{}}}, "additionalProperties": false}}"#, members.join(", "))
}

/// A call of one of `tools` tools, told apart by their name.
pub fn tools(tools: usize) -> String {
    let branches: Vec<String> = (0..tools)
        .map(|i| {
            format!(
                r#"{{"type": "object", "properties": {{"tool": {{"const": "tool_{i}"}}, "input": {{"type": "object", "properties": {{"text_{i}": {{"type": "string"}}, "count": {{"type": "integer"}}}}, "required": ["text_{i}"], "additionalProperties": false}}}}, "required": ["tool", "input"], "additionalProperties": false}}"#
            )
        })
        .collect();
    format!(r#"{{"anyOf": [{}]}}"#, branches.join(", "))
}

/// Text in which calls of `tools` tools may stand, each between delimiters of its own, as a grammar of Lark.
pub fn tools_in_text(tools: usize) -> String {
    let schema = r#"{"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}}"#;
    let names: Vec<String> = (0..tools).map(|i| format!("tool_{i}")).collect();
    let mut text = format!("start: (TEXT? call)* TEXT?\ncall: {}\n", names.join(" | "));
    for name in names {
        writeln!(text, r#"{name}: "<call={name}>" arguments "</call>""#).expect("a String takes all text");
    }
    text + "TEXT: /(?:(?!<call=)[\\s\\S])+/\narguments: %json " + schema + "\n"
}

/// The index of a grammar of Lark, read as a context-free one.
pub fn grammar(text: &str, vocabulary: &Arc<Vocabulary>) -> Index {
    let options = GrammarOptions { lexer: Some(Lexer::Any), ..GrammarOptions::default() };
    Index::from_grammar(text, vocabulary, &options, &Limits::default()).expect("the grammar compiles")
}

/// The index of a grammar with keywords, names and comments, of whose terminals the longest match is taken.
pub fn competing(vocabulary: &Arc<Vocabulary>) -> Index {
    let text = include_str!("../../../tests/data/queries.lark");
    let options = GrammarOptions { lexer: Some(Lexer::Contextual), ..GrammarOptions::default() };
    Index::from_grammar(text, vocabulary, &options, &Limits::default()).expect("the grammar compiles")
}

/// The index of a schema under the default options.
pub fn schema(text: &str, vocabulary: &Arc<Vocabulary>) -> Index {
    Index::from_json_schema(text, vocabulary, &SchemaOptions::default(), &Limits::default())
        .expect("the schema compiles")
}

/// The index of a pattern of Python's dialect.
pub fn pattern(text: &str, vocabulary: &Arc<Vocabulary>) -> Index {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(text, vocabulary, &options, &Limits::default()).expect("the pattern compiles")
}
