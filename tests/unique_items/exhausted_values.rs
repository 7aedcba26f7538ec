//! Arrays of unique elements that use all of their values up, and budgets that nothing may outlast.

use crate::support::vocabulary;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::{ErrorKind, Guide, GuideOptions, Index, Limits, Vocabulary};
use std::sync::{Arc, OnceLock};

fn small() -> Arc<Vocabulary> {
    static SMALL: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    SMALL.get_or_init(vocabulary::small).clone()
}

fn schema(text: &str) -> interlock::Result<Index> {
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..SchemaOptions::default() };
    Index::from_json_schema(text, &small(), &options, &Limits::default())
}

fn start(index: &Index) -> Guide {
    index.guide(&GuideOptions::default()).unwrap()
}

fn byte(b: u8) -> u32 {
    let v = small();
    v.trie().child(0, b).map(|n| v.trie().tokens(n)[0]).unwrap()
}

/// Takes a text byte by byte; answers how far it came.
fn take(guide: &mut Guide, text: &str) -> usize {
    text.bytes().take_while(|&b| guide.try_advance(byte(b))).count()
}

#[test]
fn numbers_run_out_however_they_are_spelled() {
    for (schema_of, n) in [
        (r#"{"type":"array","uniqueItems":true,"items":{"type":"integer","minimum":0,"maximum":199}}"#.to_owned(), 200),
        (
            format!(r#"{{"type":"array","uniqueItems":true,"items":{{"enum":{:?}}}}}"#, (0..150).collect::<Vec<u32>>()),
            150,
        ),
        (
            format!(
                r#"{{"type":"array","uniqueItems":true,"minItems":130,"items":{{"enum":{:?}}}}}"#,
                (0..130).collect::<Vec<u32>>()
            ),
            130,
        ),
    ] {
        let index = schema(&schema_of).unwrap();
        let mut guide = start(&index);
        let text: String = (0..n).map(|i| format!("{}{i}", if i == 0 { "[" } else { "," })).collect();
        assert_eq!(take(&mut guide, &text), text.len());
        assert!(!guide.try_advance(byte(b',')), "all {n} values are used");
        assert_eq!(take(&mut guide, "]"), 1);
        assert!(guide.is_accepting());
        // One is left, and only it may follow.
        let mut guide = start(&index);
        let text = text.replace(",77,", ",");
        assert_eq!(take(&mut guide, &text), text.len());
        assert_eq!(take(&mut guide, ",7"), 2);
        assert!(!guide.try_advance(byte(b',')) && !guide.try_advance(byte(b'5')) && !guide.try_advance(byte(b'.')));
        assert_eq!(take(&mut guide, "7]"), 2);
    }
}

#[test]
fn strings_run_out_beyond_any_list() {
    let words: Vec<String> = (0..700).map(|i| format!("w{i}")).collect();
    let index = schema(&format!(r#"{{"type":"array","uniqueItems":true,"items":{{"enum":{words:?}}}}}"#)).unwrap();
    let mut guide = start(&index);
    let text = format!("[{}", words.iter().map(|w| format!("{w:?}")).collect::<Vec<_>>().join(","));
    assert_eq!(take(&mut guide, &text), text.len());
    assert!(!guide.try_advance(byte(b',')));
    assert_eq!(take(&mut guide, "]"), 1);
}

#[test]
fn arrays_that_ask_for_too_many_values_are_no_part_of_a_schema() {
    let few = [
        r#"{"enum":[1,2,3,1.0]}"#,
        r#"{"type":"number","minimum":0,"maximum":0.5,"multipleOf":0.25}"#,
        r#"{"anyOf":[{"type":"string","pattern":"^[ab]$"},{"type":"string","pattern":"^[bc]$"}]}"#,
        r#"{"anyOf":[{"const":"a"},{"type":"boolean"},{"enum":["a",true]}]}"#,
    ];
    for items in few {
        let array = |n: usize| format!(r#"{{"type":"array","uniqueItems":true,"minItems":{n},"items":{items}}}"#);
        let error = schema(&array(4)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsatisfiable, "{items}");
        assert!(schema(&array(3)).is_ok(), "{items}");
        let optional =
            format!(r#"{{"type":"object","properties":{{"a":{},"b":{{}}}},"additionalProperties":false}}"#, array(4));
        let mut guide = start(&schema(&optional).unwrap());
        assert_eq!(take(&mut guide, "{\"a"), 2, "{items}");
        assert_eq!(take(&mut guide, "b\":1}"), 5, "{items}");
    }
}

#[test]
fn counts_behind_a_choice_are_exact() {
    // After an `a` at most 20 characters follow, so 40 are only reached from 20 on.
    let index = schema(r#"{"type":"string","pattern":"^c*(a{1,20}|b{1,100})$","minLength":40}"#).unwrap();
    let mut guide = start(&index);
    take(&mut guide, "\"");
    for count in 0..45 {
        let mut row = vec![0; small().words()];
        guide.fill_mask(&mut row);
        for t in 0..small().size() as u32 {
            let mut fork = guide.clone();
            assert_eq!(row[t as usize / 32] >> (t % 32) & 1 == 1, fork.try_advance(t), "{count}: {t}");
        }
        assert_eq!(guide.clone().try_advance(byte(b'a')), count >= 20);
        assert_eq!(take(&mut guide, "c"), 1);
    }
}

#[test]
fn what_a_token_begins_fits_the_budget() {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let index = Index::from_regex("a|b[cd]{60}", &small(), &options, &Limits::default()).unwrap();
    let mut guide = index.guide(&GuideOptions { max_tokens: Some(40), ..GuideOptions::default() }).unwrap();
    assert!(guide.try_advance(byte(b'a')));
    guide.rollback(1).unwrap();
    assert!(!guide.try_advance(byte(b'b')), "what it begins takes too long");
    let long = "b".repeat(120);
    let index = schema(&format!(r#"{{"enum":["a","{long}"]}}"#)).unwrap();
    let mut guide = index.guide(&GuideOptions { max_tokens: Some(40), ..GuideOptions::default() }).unwrap();
    assert_eq!(take(&mut guide, "\"b"), 1);
    assert_eq!(take(&mut guide, "a\""), 2);
}
