//! Schemas that were once read wrongly, and a part of what a generator of schemas and another validator agreed on
//! (`tests/tools/rival_schemas.py --record`), each document judged byte by byte, in any order of keys.

use std::sync::Arc;

use interlock::schema::{Enforcement, PropertyOrder, SchemaOptions, Whitespace};
use interlock::{ErrorKind, Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::Value;

fn vocabulary() -> Arc<Vocabulary> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([Vec::new()]).collect();
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() }).unwrap()
}

fn options() -> SchemaOptions {
    SchemaOptions { property_order: PropertyOrder::Any, ..Default::default() }
}

fn compile(schema: &str, vocabulary: &Arc<Vocabulary>) -> interlock::Result<Index> {
    Index::from_json_schema(schema, vocabulary, &options(), &Limits::default())
}

fn accepts(index: &Index, text: &str) -> bool {
    let mut guide: Guide = index.guide(&GuideOptions::default()).unwrap();
    text.bytes().all(|b| guide.try_advance(u32::from(b))) && guide.is_accepting()
}

#[test]
fn once_wrong() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        // Elements that are arrays of several elements were never found to repeat.
        (
            r#"{"type":"array","uniqueItems":true}"#,
            &["[[1,2],[2,1]]", "[[1,2],[1,2,3]]", r#"[{"a":[1,2]},{"a":[1,3]}]"#, "[[1],[1,1]]"],
            &[
                "[[1,2],[1,2]]",
                "[[1,2],[1.0 ,\n2]]",
                "[[[1],2],[[1], 2]]",
                r#"[{"a":[1,2]},{"a":[1 , 2]}]"#,
                r#"[["a","b"],0,["\u0061", "b"]]"#,
            ],
        ),
        (
            r#"{"type":"array","items":{"type":"array","items":{"type":"array","uniqueItems":true}},"uniqueItems":true}"#,
            &["[[[1,2]],[[2,1]]]", "[[[1,2],[1,2]]]"],
            &["[[[1,2]],[[1,2]]]", "[[[1],[2]],[[1],[2]]]", "[[[1,1]]]", "[[[[1,2],[1,2]]]]"],
        ),
        // The first byte of a key beyond ASCII, in an element that may have few members.
        (
            r#"{"type":"array","items":{"type":"object","maxProperties":2},"uniqueItems":true}"#,
            &[r#"[{},{"é":1}]"#, r#"[{"é":{}},{"é":1,"è":2},{"😀":1}]"#],
            &["[{},{}]", r#"[{"é":1},{"\u00e9":1.0}]"#],
        ),
        // A required key has no room in an object without members.
        (r#"{"required":["a"],"maxProperties":0}"#, &["1", "[]"], &["{}", r#"{"a":1}"#]),
        (
            r#"{"required":["a"],"anyOf":[{"maxProperties":0},{"minProperties":2}]}"#,
            &[r#"{"a":1,"b":2}"#],
            &["{}", r#"{"a":1}"#],
        ),
        // Where an array of unique elements cannot be long enough, another alternative still can.
        (
            r#"{"properties":{"a":{"type":"array","items":{"enum":[1,2]},"minItems":3,"uniqueItems":true}}}"#,
            &["{}", r#"{"b":1}"#],
            &[r#"{"a":[1,2]}"#],
        ),
        (
            r#"{"items":{"type":"integer","minimum":-1,"maximum":1.5,"not":{"const":0}},"minItems":3,"uniqueItems":true}"#,
            &["{}"],
            &["[-1,1]", "[]"],
        ),
    ];
    let v = vocabulary();
    for (schema, valid, invalid) in rows {
        let index = compile(schema, &v).unwrap();
        for text in *valid {
            assert!(accepts(&index, text), "{schema} refuses {text}");
        }
        for text in *invalid {
            assert!(!accepts(&index, text), "{schema} accepts {text}");
        }
    }
    let nothing = compile(r#"{"type":"object","required":["a"],"maxProperties":0}"#, &v).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::Unsatisfiable);
}

/// A digit after which only spellings of an element are left that the array has is not allowed.
#[test]
fn digits_that_can_only_repeat_an_element() {
    let v = vocabulary();
    let index = compile(r#"{"type":"array","items":{"type":"number","maximum":1},"uniqueItems":true}"#, &v).unwrap();
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    for b in b"[1," {
        guide.advance(u32::from(*b)).unwrap();
    }
    let allowed = guide.allowed_token_ids();
    for b in 0..=255u32 {
        assert_eq!(allowed.contains(&b), guide.clone().try_advance(b), "byte {b}");
    }
    assert!(allowed.contains(&u32::from(b'0')) && !allowed.contains(&u32::from(b'1')));
}

#[test]
fn choices_with_borders_inside_are_told_apart() {
    let v = vocabulary();
    let print = |choices: &[&str]| {
        let choices: Vec<String> = choices.iter().map(|c| c.to_string()).collect();
        Index::from_choices(&choices, &v, &Limits::default()).unwrap().fingerprint()
    };
    assert_ne!(print(&["a", "b"]), print(&["a\0b"]));
    assert_ne!(print(&["a", "b"]), print(&["a\u{0}1:b"]));
    assert_eq!(print(&["a", "b"]), print(&["b", "a"]));
}

#[test]
fn recorded() {
    let v = vocabulary();
    let rows: Vec<Value> = serde_json::from_str(include_str!("../data/schema_rival.json")).unwrap();
    assert!(rows.len() >= 300);
    let texts = |v: &Value| v.as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_string()).collect::<Vec<_>>();
    for row in &rows {
        let schema = row["schema"].as_str().unwrap();
        let index = compile(schema, &v).unwrap_or_else(|e| panic!("{schema}: {e}"));
        for text in texts(&row["accepts"]) {
            assert!(accepts(&index, &text), "{schema} refuses {text}");
        }
        for text in texts(&row["refuses"]) {
            assert!(!accepts(&index, &text), "{schema} accepts {text}");
        }
    }
}

/// The names of rows at the root, in order.
fn narrowing(schema: &str, options: &SchemaOptions) -> Vec<String> {
    let index = Index::from_json_schema(schema, &vocabulary(), options, &Limits::default()).unwrap();
    let rows = index.report().iter().filter(|r| r.pointer.is_empty() && r.enforcement == Enforcement::Narrower);
    rows.map(|r| r.keyword.clone()).collect()
}

#[test]
fn options_that_narrow_have_rows() {
    let none: [&str; 0] = [];
    let declared = SchemaOptions::default();
    let tight = SchemaOptions { whitespace: Whitespace::Compact, ..options() };
    assert_eq!(narrowing(r#"{"type":"object"}"#, &declared), ["whitespace", "property_order", "numbers"]);
    assert_eq!(narrowing(r#"{"type":"object"}"#, &tight), ["whitespace", "numbers"]);
    assert_eq!(narrowing(r#"{"type":"array","items":{"type":"string"}}"#, &declared), ["whitespace"]);
    assert_eq!(narrowing(r#"{"type":"integer"}"#, &declared), ["numbers"]);
    assert_eq!(narrowing(r#"{"enum":[1,2.5,"a"]}"#, &declared), none);
}
