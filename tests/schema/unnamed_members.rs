//! Objects that need some member which no name is known for: the negations of `patternProperties`, `propertyNames` and
//! `additionalProperties`.
//!
//! Each case of `tests/data/schema_witness.json` is a schema (several are MaskBench's) with instances. The slow twin
//! judges the rules; the guide must accept exactly the same instances byte by byte, with the keys in any order, agree
//! with its own masks, and never come to a place where nothing is allowed.

use crate::support::rules_accept::rules_accept;
use interlock::json::rules::Rules;
use interlock::schema::{Formats, PropertyOrder, SchemaOptions, Whitespace, lower, parse_schema};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn options(order: PropertyOrder) -> SchemaOptions {
    SchemaOptions {
        formats: Formats::Annotate,
        property_order: order,
        whitespace: Whitespace::Compact,
        ..SchemaOptions::default()
    }
}

fn rules(schema: &Value) -> Rules {
    let (options, limits) = (options(PropertyOrder::Any), Limits::default());
    let (model, mut report) = parse_schema(&schema.to_string(), &options, &limits).unwrap();
    lower(&model, &options, &limits, &mut report).unwrap_or_else(|e| panic!("{schema}: {e}"))
}

/// Every byte, and tokens that cross from a key into what follows it. The last id is the end.
fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let more = [
        "\":",
        "\":1",
        "\":\"",
        "{\"",
        ",\"",
        "a\":",
        "a\":1",
        "x\":1,\"",
        "\":1}",
        "\":{\"",
        "\":true",
        "0\":true}",
        "ab",
        "x-",
        "\":null",
        "a1",
        "a1\":\"",
        "b2\":\"",
        "3\":[",
        "\\u0061",
        "\\u0061\":1",
        "\":1,\"a",
        "},\"",
        "1,\"",
        "\":[1,2]",
        "]}",
    ];
    tokens.extend(more.iter().map(|t| t.as_bytes().to_vec()));
    let end = tokens.len() as u32;
    tokens.push(Vec::new());
    Vocabulary::new(tokens, VocabularyOptions { eos_token_ids: vec![end], ..VocabularyOptions::default() }).unwrap()
}

fn index(schema: &Value, order: PropertyOrder, vocabulary: &Arc<Vocabulary>) -> Index {
    Index::from_json_schema(&schema.to_string(), vocabulary, &options(order), &Limits::default())
        .unwrap_or_else(|e| panic!("{schema}: {e}"))
}

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("../data/schema_witness.json")).unwrap()
}

/// Texts of `v` with the members of the outermost object in every order.
fn spellings(v: &Value) -> Vec<String> {
    let Value::Object(members) = v else { return vec![v.to_string()] };
    let mut orders: Vec<Vec<String>> = vec![Vec::new()];
    for (k, v) in members {
        let text = format!("{}:{v}", Value::from(k.as_str()));
        let longer = orders.iter().flat_map(|o| {
            (0..=o.len()).map(|i| {
                let mut o = o.clone();
                o.insert(i, text.clone());
                o
            })
        });
        orders = longer.collect();
    }
    orders.into_iter().map(|o| format!("{{{}}}", o.join(","))).collect()
}

fn accepts(index: &Index, text: &str) -> bool {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    text.bytes().all(|b| guide.try_advance(u32::from(b))) && guide.is_accepting()
}

#[test]
fn instances_are_accepted_in_any_order_of_keys() {
    let vocabulary = vocabulary();
    let (mut judged, mut wrong) = (0, Vec::new());
    for c in cases() {
        let schema = &c["schema"];
        let mut rules = rules(schema);
        let index = index(schema, PropertyOrder::Any, &vocabulary);
        for (key, wanted) in [("valid", true), ("invalid", false)] {
            for v in c[key].as_array().unwrap() {
                judged += 1;
                if rules_accept(&mut rules, v) != wanted {
                    wrong.push(format!("{}: rules: {v} should be {key}", c["name"]));
                }
                for text in spellings(v) {
                    if accepts(&index, &text) != wanted {
                        wrong.push(format!("{}: guide: {text} should be {key}", c["name"]));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged > 60, "only {judged} instances");
}

/// Walks along allowed tokens, mostly along ones that the schemas speak of; answers whether the document was ended.
fn walk(name: &str, index: &Index, rules: &mut Rules, random: &mut Rng) -> bool {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let end = index.vocabulary().len() as u32 - 1;
    for step in 0..80 {
        let allowed = guide.allowed_token_ids();
        let text: Vec<u8> =
            guide.tokens().iter().flat_map(|&t| index.vocabulary().token_bytes(t).unwrap().to_vec()).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!allowed.is_empty(), "{name}: nothing may follow {text}");
        if guide.is_accepting() {
            let v: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {text}: {e}"));
            assert!(rules_accept(rules, &v), "{name}: {text} was accepted");
            if step > 60 || random.below(3) == 0 || allowed == [end] {
                return true;
            }
        }
        for id in 0..=end {
            let taken = guide.try_advance(id);
            assert_eq!(taken, allowed.binary_search(&id).is_ok(), "{name}: mask and step differ on {id} after {text}");
            if taken {
                guide.rollback(1).unwrap();
            }
        }
        let likely: Vec<u32> = allowed
            .iter()
            .copied()
            .filter(|&t| t != end && (t >= 256 || b"\"{}[]:,0123459.abcdxtruefalsn-".contains(&(t as u8))))
            .collect();
        let closing: Vec<u32> = likely.iter().copied().filter(|&t| t < 256 && b"\"}]".contains(&(t as u8))).collect();
        let from = match random.below(4) {
            0 if !closing.is_empty() => &closing,
            0..=2 if !likely.is_empty() => &likely,
            _ if step > 50 && !closing.is_empty() => &closing,
            _ => &allowed,
        };
        let id = from[random.below(from.len())];
        if id == end {
            return true;
        }
        assert!(guide.try_advance(id));
    }
    false
}

#[test]
fn walks_never_get_stuck_and_end_in_what_the_rules_accept() {
    let vocabulary = vocabulary();
    let walks: usize = std::env::var("WALKS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut random = Rng(7);
    let mut ended = 0;
    for c in cases() {
        let name = c["name"].as_str().unwrap();
        let mut rules = rules(&c["schema"]);
        for order in [PropertyOrder::Any, PropertyOrder::Schema] {
            let index = index(&c["schema"], order, &vocabulary);
            for _ in 0..walks {
                ended += usize::from(walk(name, &index, &mut rules, &mut random));
            }
        }
    }
    assert!(ended > 100, "only {ended} walks came to an end");
}

#[test]
fn different_witnesses_are_different_states() {
    let schema = json!({"type": "object", "not": {"additionalProperties": {"type": "string"}}});
    let index = index(&schema, PropertyOrder::Any, &vocabulary());
    let key = |text: &str| {
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        assert!(text.bytes().all(|b| guide.try_advance(u32::from(b))));
        guide.state_key()
    };
    assert_ne!(key("{\"a\":1"), key("{\"a\":\"\""));
    assert_ne!(key("{\"a\":[]"), key("{\"a\":\"\""));
    assert_eq!(key("{\"a\":[]"), key("{\"a\":{}"));
}

#[test]
fn witnesses_beyond_the_room_are_empty() {
    let no = |p: &str| json!({"not": {"patternProperties": {p: {"type": "string"}}}});
    let schema = json!({"type": "object", "maxProperties": 1, "allOf": [no("^a"), no("^b")]});
    let (options, limits) = (options(PropertyOrder::Any), Limits::default());
    let (model, mut report) = parse_schema(&schema.to_string(), &options, &limits).unwrap();
    let e = lower(&model, &options, &limits, &mut report).err().expect("an error");
    assert_eq!(e.kind(), ErrorKind::Unsatisfiable);
}

fn object(members: &[(&str, Value)]) -> Value {
    Value::Object(members.iter().map(|(k, v)| (k.to_string(), v.clone())).collect::<Map<_, _>>())
}

/// All objects over few keys and values, judged by hand-written meaning.
#[test]
fn every_small_object_is_judged_by_the_meaning_of_not() {
    let vocabulary = vocabulary();
    let schema = json!({"type": "object", "maxProperties": 2, "properties": {"n": {"type": "null"}},
        "allOf": [{"not": {"patternProperties": {"^a": {"type": "string"}}}},
                  {"not": {"additionalProperties": {"type": "integer"}, "properties": {"n": {}}}}]});
    let index = index(&schema, PropertyOrder::Any, &vocabulary);
    let mut rules = rules(&schema);
    let keys = ["a", "ab", "b", "n"];
    let values = [json!(1), json!("s"), json!(null)];
    let mut judged = 0;
    for present in 0..16u32 {
        let mut all: Vec<Vec<(&str, Value)>> = vec![Vec::new()];
        for (_, k) in keys.iter().enumerate().filter(|(i, _)| present >> i & 1 == 1) {
            let with = |m: &Vec<(&'static str, Value)>, v: &Value| {
                let mut m = m.clone();
                m.push((*k, v.clone()));
                m
            };
            all = all.iter().flat_map(|m| values.iter().map(move |v| with(m, v)).collect::<Vec<_>>()).collect();
        }
        for members in all {
            let wanted = members.len() <= 2
                && members.iter().all(|(k, v)| *k != "n" || v.is_null())
                && members.iter().any(|(k, v)| k.starts_with('a') && !v.is_string())
                && members.iter().any(|(k, v)| *k != "n" && !v.is_number());
            let v = object(&members);
            assert_eq!(rules_accept(&mut rules, &v), wanted, "rules: {v}");
            for text in spellings(&v) {
                assert_eq!(accepts(&index, &text), wanted, "guide: {text}");
                judged += 1;
            }
        }
    }
    assert!(judged > 1000);
}

/// A key that some pattern asks for makes as many different elements as the pattern has texts, also where it is the
/// only key that there is room for.
#[test]
fn unique_elements_of_one_key_that_must_match() {
    let element = json!({"type": "object", "maxProperties": 1, "propertyNames": {"pattern": "^[ab]+$"},
        "additionalProperties": {"type": "null"}, "not": {"propertyNames": {"not": {"pattern": "ab"}}}});
    let schema = json!({"type": "array", "uniqueItems": true, "items": element});
    for order in [PropertyOrder::Any, PropertyOrder::Schema] {
        let index = index(&schema, order, &vocabulary());
        assert!(accepts(&index, r#"[{"ab":null},{"aab":null},{"abb":null},{"aaaab":null}]"#));
        assert!(accepts(&index, r#"[{"ab":null},{"\u0061\u0062b":null}]"#));
        assert!(!accepts(&index, r#"[{"ab":null},{"\u0061b":null}]"#));
        assert!(!accepts(&index, r#"[{"ab":null},{"ab":null}]"#));
        assert!(!accepts(&index, r#"[{"ab":null},{"b":null}]"#));
    }
}

/// MaskBench schemas that need witnesses, where their files are at hand: see `tests/schema/official_suite.rs`.
#[test]
#[ignore = "needs INTERLOCK_SCHEMA_DATA"]
fn mask_bench_schemas_with_witnesses_are_judged_by_guides() {
    let dir = std::env::var_os("INTERLOCK_SCHEMA_DATA").map(std::path::PathBuf::from);
    let dir = dir.expect("INTERLOCK_SCHEMA_DATA names a folder");
    let vocabulary = vocabulary();
    let mut wrong = Vec::new();
    for name in ["JsonSchemaStore---vega", "JsonSchemaStore---tye-schema"] {
        let text = std::fs::read_to_string(dir.join(format!("{name}.json"))).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let any = SchemaOptions { formats: Formats::Assert, ..options(PropertyOrder::Any) };
        let text = file["schema"].to_string();
        let index = Index::from_json_schema(&text, &vocabulary, &any, &Limits::default()).unwrap();
        for t in file["tests"].as_array().unwrap() {
            if accepts(&index, &t["data"].to_string()) != t["valid"].as_bool().unwrap() {
                wrong.push(format!("{name}: {}", t["description"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
