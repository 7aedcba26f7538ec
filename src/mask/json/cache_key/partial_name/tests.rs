use crate::mask::vocab_tables::VocabTables;
use crate::schema::{PropertyOrder, SchemaOptions};
use crate::vocab::sample::{bytes_and, ended};
use crate::{GuideOptions, Index, Limits, Vocabulary};
use std::sync::Arc;

fn vocabulary(more: &[&str]) -> Arc<Vocabulary> {
    ended(bytes_and(more))
}

fn index(v: &Arc<Vocabulary>, schema: &str) -> Index {
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..SchemaOptions::default() };
    Index::from_json_schema(schema, v, &options, &Limits::default()).unwrap()
}

/// Whether the mask behind `text` was remembered, and the mask; masks before it are not asked for.
fn mask_behind(v: &Arc<Vocabulary>, index: &Index, text: &str) -> (bool, Vec<u32>) {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    text.bytes().for_each(|b| assert!(guide.try_advance(u32::from(b)), "{text}"));
    let tables = VocabTables::for_vocabulary(v).unwrap();
    let before = tables.stats().mask_hits;
    let mut row = vec![0; v.words()];
    guide.fill_mask(&mut row);
    (tables.stats().mask_hits > before, row)
}

#[test]
fn schemas_share_what_is_inside_a_name() {
    let v = vocabulary(&["am", "ame", "ame\":"]);
    let one = index(&v, r#"{"properties":{"name":{"type":"null"},"b":{}},"additionalProperties":false}"#);
    let other =
        index(&v, r#"{"items":{"properties":{"c":{},"name":{}},"required":["c"],"additionalProperties":false}}"#);
    let (known, made) = mask_behind(&v, &one, r#"{"nam"#);
    assert!(!known);
    let (known, found) = mask_behind(&v, &other, r#"[{"nam"#);
    assert!(known && found == made);
    // A token ends the name from here on, and then it matters where that is.
    mask_behind(&v, &one, r#"{"n"#);
    assert!(!mask_behind(&v, &other, r#"[{"n"#).0);
    // More may follow: the rests differ.
    let more = index(&v, r#"{"properties":{"name":{},"nami":{}},"additionalProperties":false}"#);
    assert!(!mask_behind(&v, &more, r#"{"nam"#).0);
}

#[test]
fn members_with_equal_rules_share_the_ends_of_their_names() {
    let v = vocabulary(&[]);
    let index = index(&v, r#"{"type":"object","properties":{"ab":{"type":"null"},"cd":{"type":"null"},"ef":{}}}"#);
    let (known, made) = mask_behind(&v, &index, r#"{"ab"#);
    assert!(!known);
    let (known, found) = mask_behind(&v, &index, r#"{"cd"#);
    assert!(known && found == made);
    assert!(!mask_behind(&v, &index, r#"{"ef"#).0);
}

#[test]
fn keys_without_a_name_are_out_of_view_of_an_empty_key() {
    let v = vocabulary(&[",\"\"", ",\"\":"]);
    let index = index(&v, r#"{"additionalProperties":{"type":"integer"}}"#);
    let (_, made) = mask_behind(&v, &index, r#"{"x":1"#);
    let (known, found) = mask_behind(&v, &index, r#"{"y":1"#);
    assert!(known && found == made);
    // Where the object has the empty key, no token may spell it again.
    let (known, found) = mask_behind(&v, &index, r#"{"":1"#);
    assert!(!known && found != made);
}
