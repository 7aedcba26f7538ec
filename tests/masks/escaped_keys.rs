//! Masks inside keys of closed objects where tokens spell escapes, in whole or in part: a name may be written by them,
//! and so may a key that only a pattern allows, while some of its keys are used up.

use crate::support::twin::{difference, tried_row};
use interlock::schema::{PropertyOrder, SchemaOptions, Spelling, Whitespace};
use interlock::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use std::sync::Arc;

/// All bytes, and tokens that begin, end or pass an escape.
fn vocabulary() -> Arc<Vocabulary> {
    // Separated by spaces; "_" is one.
    const PIECES: &str = r#"\u \u0 \u00 \u006 \u0061 \u0061b \u0061" \u0061": \u006e \u00e9 \u00E \n \n" \" \"b \\ \/ \ud8 \ud83d
        \ud83d\ude00 00 61 a\ a\u00 "a "\u "\u0061 ab ab" b": n\ _"\ u00 \u0062"#;
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.extend(PIECES.split_whitespace().map(|p| p.replace('_', " ").into_bytes()));
    let end = tokens.len() as u32;
    tokens.push(Vec::new());
    let options = VocabularyOptions { eos_token_ids: vec![end], ..VocabularyOptions::default() };
    Vocabulary::new(&tokens, options).unwrap()
}

const SPELLINGS: [Spelling; 5] =
    [Spelling::Any, Spelling::Constants, Spelling::Plain, Spelling::PlainValues, Spelling::PlainPatterns];

#[test]
fn masks_in_names_are_what_each_token_says() {
    let v = vocabulary();
    let schemas = [
        r#"{"properties":{"a":{},"ab":{"type":"null"},"n":{}},"additionalProperties":false}"#,
        r#"{"properties":{"a\nb":{},"a\"b":{},"a\\":{},"a/":{}},"additionalProperties":false}"#,
        r#"{"properties":{"aé":{},"é":{},"😀":{},"\u0001":{}},"additionalProperties":false}"#,
        r#"{"anyOf":[{"properties":{"ab":{"const":1}},"additionalProperties":false},{"properties":{"a\n":{},"aé":{}},"additionalProperties":false}]}"#,
        r#"{"properties":{"ab":{},"id":{}},"patternProperties":{"^n.$":{}},"additionalProperties":false}"#,
        r#"{"properties":{"ab":{}},"required":["ab"]}"#,
    ];
    let texts = [
        r#"{"a":null,"ab":null"#,
        r#"{"\u0061":1,"\u0061b":null,"n":1}"#,
        r#"{"a\nb":1,"a\"b":1,"\u0061\\":1,"a\/":1}"#,
        r#"{"a\u00e9":1,"é":1,"\ud83d\ude00":1,"\u0001":1}"#,
        r#"{"a\u0062":1}"#,
        r#"{"na":1,"id":1,"ab":1}"#,
    ];
    let mut row = vec![0; v.words()];
    let mut places = 0;
    for schema in schemas {
        for spelling in SPELLINGS {
            let options = SchemaOptions {
                whitespace: Whitespace::Flexible,
                property_order: PropertyOrder::Any,
                spelling: Some(spelling),
                ..SchemaOptions::default()
            };
            let index = Index::from_json_schema(schema, &v, &options, &Limits::default()).unwrap();
            for text in texts {
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                for byte in text.bytes() {
                    guide.fill_mask(&mut row);
                    if let Some(wrong) = difference(&v, &row, &tried_row(&guide)) {
                        panic!("{schema}, {spelling:?}, {text}, before {:?}: {wrong}", byte as char);
                    }
                    places += 1;
                    if !guide.try_advance(byte.into()) {
                        break;
                    }
                }
            }
        }
    }
    assert!(places > 400, "only {places} places");
}

/// The keys of at most two characters that an escape may begin or end, each in a few spellings.
fn spelled(key: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for c in key.chars() {
        let mut units = [0; 2];
        let digits: String = c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let short = match c {
            '"' | '\\' => Some(format!("\\{c}")),
            ' '.. => Some(c.to_string()),
            _ => None,
        };
        let ways = short.into_iter().chain([digits]);
        all = ways.flat_map(|way| all.iter().map(move |text| format!("{text}{way}")).collect::<Vec<_>>()).collect();
    }
    all
}

#[test]
fn keys_of_a_pattern_that_are_left_may_be_written_by_escapes() {
    let (v, bytes) = (vocabulary(), crate::support::every_byte::bytes());
    let cases: [(&str, &[&str]); 6] = [
        (r#"^[\"\\\\]$"#, &["\"", "\\"]),
        (r"^[\u0001-\u0003]$", &["\u{1}", "\u{2}", "\u{3}"]),
        ("^[xy]$", &["x", "y"]),
        ("^[ab]{2}$", &["aa", "ab", "ba", "bb"]),
        ("^(a|[bn]a?)$", &["a", "b", "ba", "n", "na"]),
        ("^([ab]|é|\u{1F600}|a\\n)$", &["a", "b", "é", "\u{1F600}", "a\n"]),
    ];
    let options = SchemaOptions {
        whitespace: Whitespace::Compact,
        property_order: PropertyOrder::Any,
        spelling: Some(Spelling::Any),
        ..SchemaOptions::default()
    };
    for (pattern, keys) in cases {
        let schema = format!(
            r#"{{"type":"object","patternProperties":{{"{pattern}":{{"const":1}}}},"additionalProperties":false,"minProperties":2}}"#
        );
        let index = |v| Index::from_json_schema(&schema, v, &options, &Limits::default()).unwrap();
        let (index, plain) = (index(&v), index(&bytes));
        // Whichever of them come first, the byte that may follow a key that was begun is one that some other goes on
        // with.
        for first in 0..keys.len() {
            for used in 1..keys.len() {
                let taken: Vec<&str> = (0..used).map(|i| keys[(first + i) % keys.len()]).collect();
                let members: String = taken.iter().map(|key| format!("{}:1,", serde_json::json!(key))).collect();
                let left: Vec<String> =
                    keys.iter().filter(|key| !taken.contains(key)).flat_map(|key| spelled(key)).collect();
                for text in &left {
                    let whole = format!("{{{members}\"{text}\":1");
                    let mut guide = plain.guide(&GuideOptions::default()).unwrap();
                    let start = whole.len() - text.len() - 3;
                    for (i, byte) in whole.bytes().enumerate() {
                        if (start..start + text.len()).contains(&i) {
                            let begun = &text.as_bytes()[..i - start];
                            let next = left.iter().filter_map(|l| l.as_bytes().strip_prefix(begun)?.first());
                            let allowed = guide.allowed_token_ids();
                            for &byte in next {
                                assert!(allowed.contains(&byte.into()), "{schema}, {whole}: {byte} at {i}");
                            }
                        }
                        assert!(guide.try_advance(byte.into()), "{schema}, {whole}: byte {i}");
                    }
                }
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                let mut row = vec![0; v.words()];
                for byte in format!("{{{members}\"{}", left[0]).bytes() {
                    guide.fill_mask(&mut row);
                    let wrong = difference(&v, &row, &tried_row(&guide));
                    assert_eq!(wrong, None, "{schema}, {members}, before {byte}");
                    assert!(guide.try_advance(byte.into()), "{schema}, {members}");
                }
                // What is used up stays so, in any spelling.
                for text in taken.iter().flat_map(|key| spelled(key)) {
                    let mut guide = plain.guide(&GuideOptions::default()).unwrap();
                    assert!(format!("{{{members}\"").bytes().all(|b| guide.try_advance(b.into())));
                    assert!(
                        !format!("{text}\"").bytes().all(|b| guide.try_advance(b.into())),
                        "{schema} {members}{text}"
                    );
                }
            }
        }
    }
}
