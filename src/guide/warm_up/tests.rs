use std::sync::Arc;
use std::time::Duration;

use crate::guide::warm_up::background;
use crate::regex::{Dialect, RegexOptions};
use crate::schema::{SchemaOptions, Whitespace};
use crate::vocab::sample;
use crate::{Index, Limits, Vocabulary};

/// Single bytes, and tokens as texts have them.
fn vocabulary() -> Arc<Vocabulary> {
    let more = [
        "{\"", "\":", " \"", "\",", "\"}", "tool", "path", "na", "name", "sec", "onds", "\n  ", "{\n", "open", "st",
        "op", "\": \"",
    ];
    sample::ended(sample::bytes_and(more))
}

fn schema(text: &str, vocabulary: &Arc<Vocabulary>) -> Index {
    let options = SchemaOptions { whitespace: Whitespace::Flexible, ..Default::default() };
    Index::from_json_schema(text, vocabulary, &options, &Limits::default()).expect("the schema compiles")
}

fn pattern(text: &str, vocabulary: &Arc<Vocabulary>) -> Index {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(text, vocabulary, &options, &Limits::default()).expect("the pattern compiles")
}

/// Masks on the way of a text that a request would have to make.
fn missing(index: &Index, text: &str) -> usize {
    let mut guide = index.guide(&Default::default()).expect("a guide");
    let mut row = vec![0; index.vocabulary().words()];
    let mut rest = text.as_bytes();
    let mut made = usize::from(guide.make_mask(&mut row));
    while !rest.is_empty() {
        let len = guide.advance_longest(rest).unwrap_or_else(|| panic!("{text} is refused at {rest:?}"));
        rest = &rest[len..];
        made += usize::from(guide.make_mask(&mut row));
    }
    made
}

const CALLS: &str = r#"{"anyOf": [
    {"type": "object", "properties": {"tool": {"const": "open"}, "path": {"type": "string"}}, "required": ["tool"]},
    {"type": "object", "properties": {"tool": {"const": "wait"}, "seconds": {"type": "integer"}}, "required": ["tool"]},
    {"type": "object", "properties": {"tool": {"const": "stop"}, "now": {"type": "boolean"}}, "required": ["tool"]}
]}"#;

#[test]
fn what_was_made_is_known() {
    let v = vocabulary();
    let tree = r##"{"type": "object", "properties": {"name": {"type": "string"}, "of": {"type": "array", "items": {"$ref": "#"}}}}"##;
    let nested = r#"{"name": "a", "of": [{"name": "a", "of": [{"name": ""#;
    let all = [
        (schema(tree, &v), nested),
        (schema("{}", &v), r#"{"key": ["#),
        (schema(r#"{"enum": ["tool", "path", "name", "open"]}"#, &v), r#""path""#),
        (schema(r#"{"type": "array", "items": {"format": "date"}}"#, &v), r#"["0000-01-01", "#),
        (pattern("[a-z]{2,4}-[0-9]+(x|y)?", &v), "aa-0"),
    ];
    for (index, text) in all {
        assert!(index.warm_up(|| true) > 0, "{text}");
        assert_eq!(missing(&index, text), 0, "{text}");
        assert_eq!(index.warm_up(|| true), 0, "{text}");
    }
}

#[test]
fn each_alternative_is_met_in_each_style() {
    let index = schema(CALLS, &vocabulary());
    let documents = [
        r#"{"tool": "open", "path": ""#,
        r#"{"tool": "wait", "seconds": 1"#,
        r#"{"tool": "stop", "now": "#,
        r#"{"tool": "stop"}"#,
        r#"{"tool":"#,
        "{\n  \"tool\": \"",
    ];
    assert!(documents.iter().all(|text| missing(&schema(CALLS, &vocabulary()), text) > 0));
    index.warm_up(|| true);
    for text in documents {
        assert_eq!(missing(&index, text), 0, "{text}");
    }
}

#[test]
fn who_says_stop_is_heard() {
    let v = vocabulary();
    let mut asked = 0;
    let all = schema(CALLS, &v).warm_up(|| {
        asked += 1;
        true
    });
    let index = schema(CALLS, &v);
    assert_eq!(index.warm_up(|| false), 0);
    let mut left = asked / 8;
    let some = index.warm_up(|| {
        left -= 1;
        left > 0
    });
    assert!(some > 0 && some < all, "{some} of {all}");
    assert!(index.warm_up(|| true) > 0);
}

#[test]
fn who_says_stop_is_heard_inside_a_long_text() {
    let index = pattern("[ab]{9000}", &vocabulary());
    let mut asked = 0;
    index.warm_up(|| {
        asked += 1;
        asked < 50
    });
    assert!(asked < 60, "{asked}");
}

#[test]
fn what_can_only_go_deeper_is_left_at_that() {
    let v = vocabulary();
    for text in [
        r##"{"type": "array", "items": {"$ref": "#"}}"##,
        r##"{"type": "array", "items": [{"$ref": "#"}, {"$ref": "#"}]}"##,
    ] {
        let (index, mut asked) = (schema(text, &v), 0);
        let made = index.warm_up(|| {
            asked += 1;
            true
        });
        assert!(made > 0 && asked < 20_000, "{made} masks, asked {asked} times: {text}");
    }
    // A document of brackets alone that has to be deep.
    let deep = (0..400).fold(r#"{"type": "null"}"#.to_owned(), |inner, _| {
        format!(r#"{{"type": "array", "minItems": 1, "items": {inner}}}"#)
    });
    let (index, mut asked) = (schema(&deep, &v), 0);
    let made = index.warm_up(|| {
        asked += 1;
        true
    });
    assert!(made > 20 && asked < 5_000, "{made} masks, asked {asked} times");
}

#[test]
fn complete_tables_are_warm() {
    let index = pattern("yes|no", &vocabulary());
    index.build(Some(1), 4_096, |_, _| Ok(())).expect("it is built");
    assert_eq!(index.warm_up(|| true), 0);
}

#[test]
fn in_the_background_one_after_the_other() {
    let v = vocabulary();
    let all: Vec<Index> = (0..20).map(|i| schema(&CALLS.replace("path", &format!("path{i}")), &v)).collect();
    for index in &all {
        assert!(background::warm_up(index, Duration::from_secs(60)));
    }
    for index in &all {
        // The thread lets go of what is done.
        while index.num_holders() > 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(index.warm_up(|| true), 0);
    }
}
