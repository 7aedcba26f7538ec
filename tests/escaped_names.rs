//! Masks inside keys of closed objects where tokens spell escapes, in whole or in part: a name may be written by them.

mod support;

use interlock::frontend::schema::{ConstantSpelling, PropertyOrder, SchemaOptions, Whitespace};
use interlock::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use std::sync::Arc;
use support::twin::{difference, tried_row};

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
        for spelling in [ConstantSpelling::Any, ConstantSpelling::Plain] {
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
