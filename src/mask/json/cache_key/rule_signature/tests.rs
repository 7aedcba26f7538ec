use super::*;
use crate::mask::vocab_tables::VocabTables;
use crate::schema::{PropertyOrder, SchemaOptions};
use crate::vocab::sample::{bytes_and, ended};
use crate::{GuideOptions, Index, Limits, Vocabulary};
use std::sync::Arc;

fn vocabulary(more: &[&str]) -> Arc<Vocabulary> {
    ended(bytes_and(more))
}

fn insight(more: &[&str]) -> SignatureScope {
    VocabTables::for_vocabulary(&vocabulary(more)).unwrap().suffixes.insight
}

#[test]
fn how_far_suffixes_go_is_read_off_the_vocabulary() {
    assert_eq!(insight(&["{\"", "[[[", "\":"]), SignatureScope { brackets: 0, keys: false });
    assert_eq!(insight(&["\":{", "\": \""]), SignatureScope { brackets: 1, keys: false });
    assert_eq!(insight(&["\":{ \"", "\":[[{}"]), SignatureScope { brackets: 3, keys: false });
    assert_eq!(insight(&["\":[{\"a"]), SignatureScope { brackets: 2, keys: true });
    assert_eq!(insight(&["\":[\"a"]), SignatureScope { brackets: 1, keys: false });
}

/// How many rules of members were told apart, each schema over its own index.
fn told_apart(v: &Arc<Vocabulary>, members: &[&str]) -> usize {
    let tables = VocabTables::for_vocabulary(v).unwrap();
    let mut row = vec![0; v.words()];
    for (member, property_order) in members.iter().zip([PropertyOrder::Any, PropertyOrder::Schema].into_iter().cycle())
    {
        let options = SchemaOptions { property_order, ..SchemaOptions::default() };
        let text = format!(r#"{{"type":"object","properties":{{"m":{member}}},"additionalProperties":false}}"#);
        let index = Index::from_json_schema(&text, v, &options, &Limits::default()).unwrap();
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        // Behind the name, where a quote may bring the colon along. That masks are right is asserted on the way:
        // whatever is found is compared with what would be made.
        for byte in *b"{\"m" {
            assert!(guide.try_advance(byte.into()));
        }
        guide.fill_mask(&mut row);
    }
    tables.patches.members.0.len()
}

const TOKENS: [&str; 9] = ["\":", "\":{", "\":{}", "\":{\"", "\":[", "\":[]", "\":[[", "\":[{", "\":[\""];

#[test]
fn rules_that_no_suffix_tells_apart_share_what_suffixes_spell() {
    let alike: [&[&str]; 4] = [
        &[r#"{"type":"object"}"#, r#"{"type":"object","properties":{"a":{},"b":{"type":"null"}}}"#],
        &[
            r#"{"type":"object","required":["a"]}"#,
            r#"{"type":"object","properties":{"b":{}},"required":["b"],"maxProperties":2}"#,
        ],
        &[r#"{}"#, r#"true"#, r#"{"title":"x"}"#],
        &[
            r#"{"type":"array","items":{"type":"object","required":["a"]}}"#,
            r#"{"type":"array","items":{"type":"object","properties":{"b":{"type":"null"}},"required":["b"]}}"#,
        ],
    ];
    for members in alike {
        assert_eq!(told_apart(&vocabulary(&TOKENS), members), 1, "{members:?}");
    }
}

#[test]
fn rules_that_a_suffix_tells_apart_do_not() {
    let different: [&[&str]; 3] = [
        &[r#"{"type":"object"}"#, r#"{"type":"object","required":["a"]}"#, r#"{"const":{}}"#],
        &[
            r#"{"type":"array"}"#,
            r#"{"type":"array","minItems":1}"#,
            r#"{"type":"array","maxItems":1}"#,
            r#"{"type":"array","items":{"type":"string"}}"#,
            r#"{"type":"array","items":{"type":"array","items":{"type":"null"}}}"#,
            r#"{"type":"array","maxItems":0}"#,
        ],
        &[r#"{"type":"string"}"#, r#"{"type":["string","null"]}"#, r#"{"type":["string","object"]}"#],
    ];
    for members in different {
        assert_eq!(told_apart(&vocabulary(&TOKENS), members), members.len(), "{members:?}");
    }
}

#[test]
fn what_has_no_profile_shares_nothing() {
    let none = [
        r#"{"type":"array","prefixItems":[{"type":"null"}]}"#,
        r#"{"type":"array","contains":{"type":"null"}}"#,
        r#"{"type":"object","dependentRequired":{"a":["b"]}}"#,
        r#"{"type":"object","minProperties":2}"#,
        r#"{"type":"array","uniqueItems":true}"#,
    ];
    assert_eq!(told_apart(&vocabulary(&TOKENS), &none), 0);
    // Nor does an object where suffixes spell keys.
    let names = [r#"{"type":"object"}"#, r#"{"type":"object","properties":{"a":{}}}"#];
    assert_eq!(told_apart(&vocabulary(&["\":{\"a\"", "\":{\"b"]), &names), 0);
}
