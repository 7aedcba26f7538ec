//! Rows that indexes of one vocabulary share are the rows that each of them would make. Many small schemas meet the
//! same parts of masks in different places, in runs of whitespace that are bounded or not, against the twin that steps
//! every token.

use crate::support::twin::{difference, tried_row};
use crate::support::vocabulary;
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::{GuideOptions, Index, Limits, Vocabulary};

/// Compares the mask at every place of a document with its twin's; the document is taken by the longest tokens that are
/// allowed, so that strings are entered and left in the middle of tokens.
fn check(index: &Index, v: &Vocabulary, document: &str, longest: usize) -> usize {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let mut row = vec![0; v.words()];
    let (mut rest, mut compared) = (document.as_bytes(), 0);
    loop {
        // Anything may be in a row before.
        row.fill((compared as u32).wrapping_mul(0x9E37_79B9));
        guide.fill_mask(&mut row);
        if let Some(d) = difference(v, &row, &tried_row(&guide)) {
            let place = String::from_utf8_lossy(&document.as_bytes()[..document.len() - rest.len()]).into_owned();
            panic!("after {place:?}: {d}");
        }
        compared += 1;
        if rest.is_empty() {
            return compared;
        }
        let fits = |t: &u32| v.token_bytes(*t).is_some_and(|b| b.len() <= longest && rest.starts_with(b));
        let length = |t: &u32| v.token_bytes(*t).map_or(0, <[u8]>::len);
        let Some(token) = guide.allowed_token_ids().into_iter().filter(fits).max_by_key(length) else {
            panic!("{document} is not allowed behind {} bytes", document.len() - rest.len());
        };
        assert!(guide.try_advance(token));
        rest = &rest[length(&token)..];
    }
}

#[test]
fn places_of_many_schemas_have_their_own_masks() {
    let v = vocabulary::small();
    // Values that begin alike and go on in different ways, so that one part differs and the others are shared.
    let values = [
        (r#"{"type":"string"}"#, r#""foo""#),
        (r#"{"type":"string","maxLength":40}"#, r#""foo""#),
        (r#"{"type":["string","null"]}"#, r#""foo""#),
        (r#"{"enum":["foo","foobar"]}"#, r#""foo""#),
        (r#"{"type":"integer"}"#, "12"),
        (r#"{"type":["integer","string"]}"#, "12"),
        (r#"{"type":"array","items":{"type":"string"}}"#, r#"["foo", "a"]"#),
        (r#"{"type":"object","additionalProperties":{"type":"string"}}"#, r#"{"foo": "a"}"#),
        ("{}", "true"),
    ];
    let wholes = [
        |value: &str| {
            format!(
                r#"{{"properties":{{"a":{value},"b":{value}}},"required":["a","b"],"additionalProperties":false,"type":"object"}}"#
            )
        },
        |value: &str| format!(r#"{{"properties":{{"a":{value}}},"additionalProperties":{value},"type":"object"}}"#),
        |value: &str| {
            format!(
                r#"{{"properties":{{"a":{value},"b":{value}}},"minProperties":2,"maxProperties":2,"type":"object"}}"#
            )
        },
    ];
    let spaces = [Whitespace::Flexible, Whitespace::Pattern("[ \\n]{0,3}".into()), Whitespace::Spaced];
    let mut compared = 0;
    for whitespace in &spaces {
        for (value, member) in values {
            for (n, whole) in wholes.iter().enumerate() {
                let options = SchemaOptions {
                    whitespace: whitespace.clone(),
                    property_order: if n == 0 { PropertyOrder::Schema } else { PropertyOrder::Any },
                    ..SchemaOptions::default()
                };
                let index = Index::from_json_schema(&whole(value), &v, &options, &Limits::default()).unwrap();
                for longest in [1, 64] {
                    let document = format!(r#"{{"a": {member}, "b": {member}}}"#);
                    compared += check(&index, &v, &document, longest);
                }
            }
        }
    }
    assert!(compared > 2_000, "only {compared} masks");
}
