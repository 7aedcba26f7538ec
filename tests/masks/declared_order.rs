//! Masks of objects in declared order, where places that no token tells apart share what is remembered of them: walks
//! that skip different names, over tokens that spell as much of the next keys as any, against the twin that steps every
//! token.

use crate::support::every_byte::compare;
use crate::support::walk::follow_compared;
use interlock::schema::{PropertyOrder, SchemaOptions, Spelling};
use interlock::util::rng::Rng;
use interlock::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

const NAMES: &[&str] = &["a", "ab", "abc", "b", "ba", "c", "", "é", "zz"];
const VALUES: &[(&str, &str)] = &[
    ("1", r#"{"type":"integer","minimum":0,"maximum":19}"#),
    ("1", r#"{"enum":[1,true]}"#),
    ("\"\"", r#"{"type":"string"}"#),
    ("{}", r#"{"type":"object","properties":{"a":{"const":1},"b":{"const":1}},"additionalProperties":false}"#),
    ("[]", r#"{"type":"array","items":{"type":"string"}}"#),
];

/// Every byte, and tokens that close keys and values and go on. Some vocabularies spell the beginnings of keys behind a
/// comma, and some of those whole keys and the beginning of another one.
fn vocabulary(behind: bool, chains: bool) -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new()];
    tokens.extend((0..=255u8).map(|b| vec![b]));
    let mut more = vec![
        ",\"",
        ", \"",
        "\",\"",
        "1,\"",
        "1}",
        "1},\"",
        "{}",
        "{},\"",
        "{}}",
        "[]",
        "[],\"",
        "\":",
        "\":1",
        "\":1,\"",
        "\":1}",
        "\":\"\",\"",
        "\":{\"a",
        "a\":",
        "a\"",
        "b\":1",
        "c\":\"",
        "bc\"",
        "\"a\":",
        "\"ab\":1",
        "\"b\"",
        "\"zz\":",
        "{\"",
        "{\"a\":",
        "{\"c\":1",
        "\\u0061\":",
        "\\u0062",
        "\"\\u0061b\":1",
        "xy\":",
        "\"x\":",
        "}}",
        "}},\"",
        "]}",
        ": ",
        "  ",
    ];
    if behind {
        more.extend([
            ",\"ab",
            ",\"b",
            ",\"c\"",
            ",\"z",
            ",\"\\",
            ",\"\\u00",
            ",\"\"",
            ",\"\":",
            "\",\"a",
            "\",\"b\"",
            "1,\"b",
            "1,\"ba\":",
            "1},\"c",
            "{},\"b",
            "[],\"a",
            "\":1,\"b",
            "\":1,\"b\"",
            "b\":1,\"c",
            ",\"x\":",
        ]);
    }
    if chains {
        more.extend([",\"a\":1,\"", ",\"b\":1,\"c", "1,\"ab\":1,\"b\":"]);
    }
    tokens.extend(more.iter().map(|t| t.as_bytes().to_vec()));
    let options = VocabularyOptions { eos_token_ids: vec![0], ..VocabularyOptions::default() };
    Vocabulary::new(tokens, options).unwrap()
}

/// An object of some of the names, of which some are needed; most of them have equal values, so that places are alike.
fn schema(rng: &mut Rng) -> (String, Vec<&'static str>, &'static str) {
    let mut names: Vec<&str> = NAMES.to_vec();
    for i in (1..names.len()).rev() {
        names.swap(i, rng.below(i + 1));
    }
    names.truncate(3 + rng.below(5));
    let (text, value) = VALUES[rng.below(VALUES.len())];
    let other = |rng: &mut Rng| if rng.chance(20) { VALUES[rng.below(2)].1 } else { value };
    let properties: Vec<String> = names.iter().map(|n| format!("{}:{}", quoted(n), other(rng))).collect();
    let most = 10 + rng.below(40);
    let required: Vec<String> = names.iter().filter(|_| rng.chance(most)).map(|n| quoted(n)).collect();
    let others = match rng.below(4) {
        0 => String::new(),
        1 => ",\"additionalProperties\":{\"type\":\"integer\"}".to_owned(),
        2 => ",\"patternProperties\":{\"^[xc]\":{\"const\":1}},\"additionalProperties\":false".to_owned(),
        _ => ",\"additionalProperties\":false".to_owned(),
    };
    let (properties, required) = (properties.join(","), required.join(","));
    let object = format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]{others}}}"#);
    let source = if rng.chance(30) { format!(r#"{{"type":"array","items":{object}}}"#) } else { object };
    (source, names, text)
}

/// A document of some of the names in their order, perhaps with others behind them, that may be refused somewhere.
fn document(rng: &mut Rng, names: &[&str], text: &str, array: bool) -> String {
    let object = |rng: &mut Rng| {
        let skipped = 20 + 20 * rng.below(3);
        let mut keys: Vec<&str> = names.iter().copied().filter(|_| !rng.chance(skipped)).collect();
        for other in ["x", "xy", "c", "b"] {
            keys.extend(rng.chance(15).then_some(other));
        }
        let value = |rng: &mut Rng| if rng.chance(15) { "1" } else { text };
        let members: Vec<String> = keys.iter().map(|k| format!("{}:{}", quoted(k), value(rng))).collect();
        format!("{{{}}}", members.join(","))
    };
    match array {
        true => format!("[{},{}]", object(rng), object(rng)),
        false => object(rng),
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Many documents over one index, cut into tokens at random, so that places meet.
fn walk(index: &Index, rng: &mut Rng, what: &str, mut document: impl FnMut(&mut Rng) -> String) -> usize {
    let mut one = || {
        let text = document(rng);
        follow_compared(index.guide(&GuideOptions::default()).unwrap(), &text, rng, what)
    };
    (0..25).map(|_| one()).sum()
}

#[test]
fn places_that_no_token_tells_apart_have_one_mask() {
    let mut rng = Rng(33);
    let mut compared = 0;
    for case in 0..100 {
        let v = vocabulary(case % 3 > 0, case % 3 > 1);
        let spelling = rng.chance(60).then(|| if rng.chance(50) { Spelling::Constants } else { Spelling::Plain });
        let options = SchemaOptions { property_order: PropertyOrder::Schema, spelling, ..SchemaOptions::default() };
        let (source, names, text) = schema(&mut rng);
        let Ok(index) = Index::from_json_schema(&source, &v, &options, &Limits::default()) else { continue };
        let one = |rng: &mut Rng| document(rng, &names, text, source.starts_with("{\"type\":\"array"));
        compared += walk(&index, &mut rng, &source, one);
    }
    assert!(compared > 15_000, "only {compared} masks");
}

#[test]
fn names_that_ask_for_gone_ones_are_not_counted_on() {
    let mut rng = Rng(91);
    let names = ["a", "b", "c", "d", "e", "f"];
    for _ in 0..40 {
        // Who asks for whom has no circle: by an order of its own.
        let mut order = names.to_vec();
        (1..order.len()).for_each(|i| order.swap(i, rng.below(i + 1)));
        let mut asks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (i, name) in order.iter().enumerate() {
            let below: Vec<&str> = order[..i].iter().copied().filter(|_| rng.chance(25)).collect();
            asks.extend((!below.is_empty()).then_some((*name, below)));
        }
        let min = 2 + rng.below(4);
        let properties: BTreeMap<_, _> = names.map(|n| (n, json!({"const": 1}))).into_iter().collect();
        let schema = json!({"type": "object", "properties": properties, "additionalProperties": false,
            "minProperties": min, "dependentRequired": asks});
        let members = |set: u32| (0..names.len()).filter(move |i| set >> i & 1 == 1).map(|i| names[i]);
        let whole = |set: &u32| {
            members(*set).all(|n| asks.get(n).is_none_or(|a| a.iter().all(|n| members(*set).any(|m| m == *n))))
        };
        let sets = (0..1u32 << names.len()).filter(|s| s.count_ones() as usize >= min && whole(s));
        let documents: Vec<_> = sets.map(|s| members(s).map(|n| (n.to_owned(), json!(1))).collect()).collect();
        compare(&schema.to_string(), &documents);
    }
}
