//! What engines of this kind have answered wrongly, keyword by keyword. Each row is a schema or a pattern on which some
//! engine accepted too much, refused too much, or fell over; the documents are judged byte by byte, in any order of
//! keys.

use std::sync::Arc;

use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::{ErrorKind, Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

fn vocabulary() -> Arc<Vocabulary> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([Vec::new()]).collect();
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() }).unwrap()
}

fn accepts(index: &Index, text: &str) -> bool {
    let mut guide: Guide = index.guide(&GuideOptions::default()).unwrap();
    text.bytes().all(|b| guide.try_advance(u32::from(b))) && guide.is_accepting()
}

fn compile(schema: &str) -> interlock::Result<Index> {
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..Default::default() };
    Index::from_json_schema(schema, &vocabulary(), &options, &Limits::default())
}

/// Schemas as text, with documents that they accept and refuse.
#[test]
fn schemas() {
    let rows: Vec<serde_json::Value> = serde_json::from_str(include_str!("../data/known_mistakes.json")).unwrap();
    assert!(rows.len() > 80);
    for row in &rows {
        let (what, schema) = (row["what"].as_str().unwrap(), row["schema"].as_str().unwrap());
        let index = compile(schema).unwrap_or_else(|e| panic!("{what}: {schema}: {e}"));
        for (key, wanted) in [("accepts", true), ("refuses", false)] {
            for text in row[key].as_array().unwrap().iter().map(|t| t.as_str().unwrap()) {
                assert_eq!(accepts(&index, text), wanted, "{what}: {schema} {key} {text}");
            }
        }
    }
    assert_eq!(compile(r#"{"type":"integer","const":"a"}"#).err().map(|e| e.kind()), Some(ErrorKind::Unsatisfiable));
}

#[test]
fn patterns() {
    let v = vocabulary();
    let python = |p: &str| {
        Index::from_regex(p, &v, &RegexOptions { dialect: Dialect::Python, flags: String::new() }, &Limits::default())
    };
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("a|ab", &["a", "ab"], &["b"]),
        ("foo|foobar", &["foo", "foobar"], &["foob"]),
        ("x*|y", &["", "xx", "y"], &["xy"]),
        ("a+?", &["a", "aaa"], &[""]),
        ("a??b?", &["", "a", "b", "ab"], &["ba"]),
        (r"0(\.[0-9]+)?", &["0", "0.5"], &["0."]),
        (r"\Aab\Z", &["ab"], &["AabZ", "abZ"]),
        (r"\bab\b", &["ab"], &["a"]),
        ("a{,3}", &["", "aaa"], &["aaaa", "a{,3}"]),
        ("[[:alpha:]]", &["a]", ":]"], &["b", "b]"]),
        ("[a&&b]", &["&", "a", "b"], &["c"]),
        ("a.b", &["axb"], &["a\nb"]),
        ("a++b", &["aab"], &["b"]),
        ("^ab$", &["ab"], &["a"]),
        ("(?i)ab", &["aB"], &["ac"]),
        (r"\d", &["1", "१"], &["a"]),
    ];
    for (pattern, good, bad) in rows {
        let index = python(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
        for text in *good {
            assert!(accepts(&index, text), "{pattern} refuses {text:?}");
        }
        for text in *bad {
            assert!(!accepts(&index, text), "{pattern} accepts {text:?}");
        }
    }
    assert_eq!(python(r"(a)\1").err().map(|e| e.kind()), Some(ErrorKind::Unsupported));
}

#[test]
fn what_once_took_minutes_or_gigabytes() {
    let one_of = (0..12).fold(r#"{"type":"integer"}"#.to_string(), |s, i| {
        format!(r#"{{"oneOf":[{s},{{"type":"string","maxLength":{i}}}]}}"#)
    });
    let optional: Vec<String> = (0..20).map(|i| format!(r#""p{i}":{{"type":"string"}}"#)).collect();
    let words: Vec<String> = (0..1_000).map(|i| format!(r#""word {i}""#)).collect();
    for (schema, good, bad) in [
        (r#"{"type":"string","maxLength":5000}"#.to_string(), r#""a""#.to_string(), "1"),
        (
            format!(r#"{{"type":"object","properties":{{{}}}}}"#, optional.join(",")),
            r#"{"p7":"a","p3":""}"#.into(),
            r#"{"p7":1}"#,
        ),
        (format!(r#"{{"enum":[{}]}}"#, words.join(",")), r#""word 999""#.into(), r#""word""#),
        (r#"{"type":"array","items":{"type":"integer"},"maxItems":500}"#.into(), "[1,2]".into(), "[null]"),
        (one_of, "1".into(), "null"),
        (r#"{"type":"string","pattern":"^((a{1,30}){1,30}){1,30}$"}"#.into(), r#""aaaa""#.into(), r#""b""#),
    ] {
        let index = compile(&schema).unwrap_or_else(|e| panic!("{schema}: {e}"));
        assert!(accepts(&index, &good) && !accepts(&index, bad), "{schema}");
    }
    // Deeper than any reader's stack, and more states than anybody has room for.
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(10_000), "}".repeat(10_000));
    assert_eq!(compile(&deep).err().map(|e| e.kind()), Some(ErrorKind::Limit));
    let index = compile(r#"{"type":"string","pattern":"^(.*a.{14})$"}"#).unwrap();
    assert!(accepts(&index, r#""xa01234567890123""#) && !accepts(&index, r#""xb01234567890123""#));
}
