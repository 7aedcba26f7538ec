//! Formats that are narrower here than their standards, where they are negated: what is accepted is certainly not of
//! the format, also by a reading that is wider than the one enforced.

use std::sync::Arc;

use interlock::schema::{Enforcement, SchemaOptions, format};
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

fn vocabulary() -> Arc<Vocabulary> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([Vec::new()]).collect();
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() }).unwrap()
}

fn compile(schema: &str) -> Index {
    Index::from_json_schema(schema, &vocabulary(), &SchemaOptions::default(), &Limits::default()).expect(schema)
}

fn accepts(index: &Index, text: &str) -> bool {
    let mut guide: Guide = index.guide(&GuideOptions::default()).unwrap();
    text.bytes().all(|b| guide.try_advance(u32::from(b))) && guide.is_accepting()
}

fn check(schema: &str, good: &[&str], bad: &[&str]) {
    let index = compile(schema);
    for text in good {
        assert!(accepts(&index, text), "{schema} refuses {text}");
    }
    for text in bad {
        assert!(!accepts(&index, text), "{schema} accepts {text}");
    }
}

/// Format, what is none of it, and what is, the last of these by the standard only.
const NARROWER: &[(&str, &[&str], &[&str])] = &[
    ("time", &["noon", "1:2", "", "12:00:00", "12:00Z"], &["12:00:00Z", "23:59:60+00:07"]),
    (
        "date-time",
        &["2024-01-01", "today", "2024-02-30T00:00:00Z", "2024-01-01T12:00:00"],
        &["2024-01-01T00:00:00Z", "2024-01-01T23:59:60Z"],
    ),
    ("duration", &["1 day", "", "PX"], &["P1D", "p1y"]),
    ("email", &["a", "@", "a@"], &["a@b.org", "\\\"a<b\\\"@c.org"]),
    ("idn-email", &["é"], &["é@ü.de", "é@xn--c.de"]),
    ("hostname", &["a b", "é", ""], &["a.b", "xn--4gbwdl.xn--wgbh1c"]),
    ("idn-hostname", &["a b", "a@b"], &["bücher.example", "xn--4gbwdl"]),
    ("relative-json-pointer", &["a", "/a", "#"], &["0#", "0+1"]),
    ("regex", &["*", ")a", "+"], &["a*", "(a)(b)\\\\2"]),
];

#[test]
fn every_narrower_format_has_a_row() {
    let is_narrower = |name: &&str| {
        let index = compile(&format!(r#"{{"type":"string","format":"{name}"}}"#));
        index.report().iter().any(|r| r.keyword == "format" && r.enforcement == Enforcement::Narrower)
    };
    let narrower: Vec<&str> = format::names().filter(is_narrower).collect();
    let mut rows: Vec<&str> = NARROWER.iter().map(|row| row.0).collect();
    rows.sort_unstable();
    assert_eq!(rows, narrower, "NARROWER has a row for each format that is narrower than its standard");
}

#[test]
fn nothing_of_the_format_is_accepted() {
    for (format, good, bad) in NARROWER {
        let quoted = |t: &&str| format!("\"{t}\"");
        let good: Vec<String> = good.iter().map(quoted).collect();
        let bad: Vec<String> = bad.iter().map(quoted).collect();
        let (good, bad): (Vec<&str>, Vec<&str>) =
            (good.iter().map(String::as_str).collect(), bad.iter().map(String::as_str).collect());
        let schema = format!(r#"{{"type":"string","not":{{"format":"{format}"}}}}"#);
        check(&schema, &good, &bad);
        let row = compile(&schema).report().iter().find(|r| r.keyword == "format").cloned().unwrap();
        assert!(row.enforcement == Enforcement::Narrower && row.reason.contains("negated"), "{row:?}");
        // Twice negated is the format itself, or less. The states of the names beyond ASCII are too many for that.
        if format.starts_with("idn-") {
            continue;
        }
        let schema = format!(r#"{{"type":"string","not":{{"not":{{"format":"{format}"}}}}}}"#);
        check(&schema, &bad[..1], &good);
    }
}

#[test]
fn alternatives_of_one_of() {
    check(
        r#"{"type":"string","oneOf":[{"format":"date"},{"format":"date-time"}]}"#,
        &[r#""2024-02-29""#, r#""2024-02-29T00:00:00Z""#],
        &[r#""2023-02-29""#, r#""""#, r#""2024-02-29T""#],
    );
    // Four numbers with dots are a name as well, so they are two of these.
    check(
        r#"{"oneOf":[{"format":"hostname"},{"format":"ipv4"},{"format":"ipv6"}],"type":"string"}"#,
        &[r#""a.example""#, r#""::1""#, r#""1.2.3.4.5""#],
        &[r#""1.2.3.4""#, r#""a b""#, r#""xn--4gbwdl""#],
    );
    check(
        r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"string","format":"email"}},"required":["a"]},
            {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"null"}},"required":["a","b"]}],"additionalProperties":false,"properties":{"a":{},"b":{}}}"#,
        &[r#"{"a":"x@y.z"}"#, r#"{"a":"x","b":null}"#, r#"{"a":"x@y.z","b":1}"#],
        &[r#"{"a":"x"}"#, r#"{"a":"x@y.z","b":null}"#, r#"{"a":"\"<\"@y.z","b":null}"#],
    );
    check(
        r#"{"type":"string","if":{"format":"hostname"},"then":{"maxLength":1},"else":{"maxLength":2}}"#,
        &[r#""a""#, r#"" a""#],
        &[r#""ab""#, r#"" ab""#],
    );
    // Enumerated words are judged one by one.
    check(
        r#"{"enum":["a@b.c","ab","\"<\"@b.c",1],"not":{"format":"email","type":"string"}}"#,
        &[r#""ab""#, "1"],
        &[r#""a@b.c""#, r#""\"<\"@b.c""#],
    );
}

#[test]
fn a_format_and_the_wider_one_that_holds_it_are_the_narrow_one() {
    for (narrow, wide, good, bad) in
        [("email", "idn-email", "\"a@b.org\"", "\"é@b.org\""), ("hostname", "idn-hostname", "\"a.org\"", "\"é.org\"")]
    {
        for (a, b) in [(narrow, wide), (wide, narrow)] {
            let schema =
                format!(r#"{{"type":"string","allOf":[{{"format":"{a}"}},{{"format":"{b}"}},{{"maxLength":9}}]}}"#);
            check(&schema, &[good], &[bad]);
        }
        // What the narrow format takes, the wide one takes.
        let wide = compile(&format!(r#"{{"type":"string","format":"{wide}"}}"#));
        for text in ["a@b.org", "a.b@c-d.e", "\\\"x y\\\"@b.org", "a.org", "1.2", "x--y.org", "a-1.B"] {
            let text = format!("\"{text}\"");
            let narrow = compile(&format!(r#"{{"type":"string","format":"{narrow}"}}"#));
            assert!(!accepts(&narrow, &text) || accepts(&wide, &text), "{text}");
        }
    }
}
