//! Schemas and documents from strangers: each ends in an index or in a typed error, and what comes next works as
//! before.

use crate::support::vocabulary;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::{ErrorKind, GuideOptions, Index, Limits, Vocabulary};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

fn small() -> Arc<Vocabulary> {
    static SMALL: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    SMALL.get_or_init(vocabulary::small).clone()
}

fn compile(text: &str, order: PropertyOrder) -> interlock::Result<Index> {
    let options = SchemaOptions { property_order: order, ..SchemaOptions::default() };
    Index::from_json_schema(text, &small(), &options, &Limits::default())
}

/// A few steps under the masks; a mask that allows nothing is a dead end.
fn walk(index: &Index, name: &str) {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    for step in 0..8usize {
        let allowed = guide.allowed_token_ids();
        assert!(!allowed.is_empty(), "{name}: a dead end");
        assert!(guide.try_advance(allowed[step * 7_919 % allowed.len()]), "{name}");
        if guide.is_terminated() {
            break;
        }
    }
}

/// What a source must end in: any of these kinds, or an index where there is none.
fn ends(name: &str, text: &str, kinds: &[ErrorKind]) {
    for order in [PropertyOrder::Any, PropertyOrder::Schema] {
        match compile(text, order) {
            Ok(index) => {
                assert!(kinds.is_empty(), "{name} is compiled");
                walk(&index, name);
            }
            Err(e) => assert!(kinds.contains(&e.kind()), "{name}: {e}"),
        }
    }
    let after = compile(r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#, PropertyOrder::Any).unwrap();
    walk(&after, "what comes next");
}

const LIMIT: &[ErrorKind] = &[ErrorKind::Limit];
const SCHEMA: &[ErrorKind] = &[ErrorKind::Schema];
const FITS: &[ErrorKind] = &[];

fn around(open: &str, inner: &str, close: &str, n: usize) -> String {
    [&open.repeat(n), inner, &close.repeat(n)].concat()
}

#[test]
fn nesting() {
    for (open, inner, close) in [
        (r#"{"items":"#, "{}", "}"),
        (r#"{"not":"#, "{}", "}"),
        (r#"{"anyOf":["#, r#"{"type":"string"}"#, "]}"),
        (r#"{"properties":{"a":"#, "true", "}}"),
        (r#"{"const":["#, "1", "]}"),
    ] {
        ends(open, &around(open, inner, close, 400), FITS);
        ends(open, &around(open, inner, close, 10_000), LIMIT);
        ends(open, &around(open, inner, close, 100_000), LIMIT);
    }
    ends("const", &format!("{{\"const\":{}}}", around("[", "", "]", 900)), FITS);
    ends("const", &format!("{{\"const\":{}}}", around("[", "", "]", 10_000)), LIMIT);
    ends("unclosed", &"[".repeat(10_000), LIMIT);
    ends("unclosed", &"[".repeat(900), SCHEMA);
}

#[test]
fn references_without_progress() {
    for text in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"oneOf":[{"$ref":"#"},{"type":"string"}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
    ] {
        ends(text, text, SCHEMA);
    }
    let n = 20_000;
    let mut defs: serde_json::Map<String, Value> =
        (0..n).map(|i| (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}))).collect();
    defs.insert(format!("d{n}"), json!({"type": "string"}));
    ends("a chain", &json!({"$ref": "#/$defs/d0", "$defs": defs}).to_string(), FITS);
    let mut defs: serde_json::Map<String, Value> = (0..60)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            (format!("d{i}"), json!({"anyOf": [next, {"properties": {"x": next}, "required": ["x"]}]}))
        })
        .collect();
    defs.insert("d60".into(), json!({"type": "object"}));
    ends("a tree", &json!({"$ref": "#/$defs/d0", "$defs": defs}).to_string(), FITS);
}

#[test]
fn large_sources() {
    let word = |i: u32| format!("{:x}", i.wrapping_mul(2_654_435_761));
    let words: Vec<String> = (0..100_000).map(word).collect();
    ends("an enum of a megabyte", &json!({"enum": words}).to_string(), FITS);
    let objects: Vec<Value> = (0..20_000).map(|i| json!({word(i): [i]})).collect();
    ends("an enum of objects", &json!({"enum": objects}).to_string(), LIMIT);
    ends("one long value", &json!({"const": "x".repeat(1_000_000)}).to_string(), FITS);
    ends("more bytes than the limit", &format!("{{\"description\":\"{}\"}}", "x".repeat(65 << 20)), LIMIT);
    let wide: serde_json::Map<String, Value> = (0..200_000).map(|i| (format!("p{i}"), json!({}))).collect();
    ends("more schemas than the limit", &json!({"properties": wide}).to_string(), LIMIT);
    ends("a name that is too long", &json!({"properties": {"k".repeat(70_000): {}}}).to_string(), LIMIT);
}

/// Texts of one hash under rustc-hash, which has no seed: with it, each look-up would pass all that are there, and this
/// test would take an hour. `src/hash.rs` says which tables have one.
#[test]
fn names_that_collide_without_a_seed() {
    let names: Vec<String> = (0..100_000).map(|i| format!("aaaaaaaa00000539bbbbbbbbcccccccc$MB]nDt7{i:08}")).collect();
    let members = |n: usize, value: Value| -> serde_json::Map<String, Value> {
        names[..n].iter().map(|name| (name.clone(), value.clone())).collect()
    };
    let each =
        |n: usize, keyword: &str| -> Vec<Value> { names[..n].iter().map(|name| json!({keyword: name})).collect() };
    let ids: serde_json::Map<String, Value> =
        names.iter().zip(each(50_000, "$id")).map(|(name, id)| (name.clone(), id)).collect();
    let anchors: serde_json::Map<String, Value> =
        (0..50_000).map(|i| (format!("d{i}"), json!({"$anchor": format!("A{}", names[i])}))).collect();
    for (name, schema, kinds) in [
        ("properties", json!({"properties": members(50_000, json!(true))}), FITS),
        ("required", json!({"required": names[..50_000]}), FITS),
        ("an enum", json!({"enum": names}), FITS),
        ("a constant", json!({"const": members(20_000, json!(1))}), FITS),
        ("ids", json!({"$defs": ids}), FITS),
        ("anchors", json!({"$defs": anchors}), FITS),
        ("formats", json!({"anyOf": each(10_000, "format")}), FITS),
        ("references", json!({"anyOf": each(50_000, "$ref")}), &[ErrorKind::Unsupported]),
        ("keywords", Value::Object(members(100_000, json!(1))), FITS),
    ] {
        ends(name, &schema.to_string(), kinds);
    }
}

#[test]
fn bounds() {
    for (keyword, kind) in [
        ("maxLength", "string"),
        ("minLength", "string"),
        ("maxItems", "array"),
        ("minItems", "array"),
        ("maxProperties", "object"),
        ("minProperties", "object"),
    ] {
        for bound in ["1000000000", "4294967295", "18446744073709551616"] {
            let text = format!("{{\"type\":\"{kind}\",\"{keyword}\":{bound}}}");
            match compile(&text, PropertyOrder::Any) {
                Ok(index) => walk(&index, &text),
                Err(e) => assert!(matches!(e.kind(), ErrorKind::Limit | ErrorKind::Unsatisfiable), "{text}: {e}"),
            }
        }
        ends(keyword, &format!("{{\"{keyword}\":-1}}"), SCHEMA);
    }
    ends("digits", &format!("{{\"type\":\"integer\",\"maximum\":{}}}", "9".repeat(100_000)), FITS);
    ends("exponent", r#"{"type":"number","minimum":1e999999999}"#, LIMIT);
    ends("multiple", r#"{"type":"number","multipleOf":1e300}"#, LIMIT);
    ends(
        "contains",
        r#"{"type":"array","contains":{"type":"integer"},"minContains":1000000000,"maxContains":1000000001}"#,
        LIMIT,
    );
}

#[test]
fn boolean_algebra() {
    let mut either = json!({"type": "string"});
    let mut neither = json!({"type": "integer", "minimum": 1});
    for i in 0..20 {
        let key = format!("k{i}");
        either = json!({"oneOf": [either, {"type": "object", "properties": {&key: {"const": i}}, "required": [&key]}]});
        neither = json!({"not": {"oneOf": [neither, {"properties": {&key: {"type": "integer"}}, "required": [&key]}]}});
    }
    let pairs: Vec<Value> =
        (0..20).map(|i| json!({"oneOf": [{"required": [format!("a{i}")]}, {"required": [format!("b{i}")]}]})).collect();
    for (name, schema) in [("oneOf", either), ("not", neither), ("pairs", json!({"type": "object", "allOf": pairs}))] {
        match compile(&schema.to_string(), PropertyOrder::Any) {
            Ok(index) => walk(&index, name),
            Err(e) => assert_eq!(e.kind(), ErrorKind::Limit, "{name}: {e}"),
        }
    }
}

#[test]
fn patterns_in_every_place() {
    let list = (0..2_000u32).map(|i| format!("w{:x}", i.wrapping_mul(2_654_435_761))).collect::<Vec<_>>().join("|");
    let patterns = [
        ".*a.{14}",
        "a.{20}$",
        "(a{1,30}){1,30}",
        "^[a-z]{1,5000}$",
        r"^(?=.*\d)(?=.*[a-z]).{8,64}$",
        "(x+x+)+y",
        "^.{0,1000000}$",
        &"a?b?".repeat(2_000),
        r"(?:(?:\ba)*b?){1000}",
        &format!("[{}]", r"\p{L}".repeat(10_000)),
        &around("(?:", &"a*b*".repeat(20_000), ")b", 900),
        "^(.*,){20}x$",
        &list,
        &around("(", "a", ")", 900),
        &around("(", "a", ")", 100_000),
    ];
    for p in patterns {
        let name: String = p.chars().take(40).collect();
        for schema in [
            json!({"type": "string", "pattern": p}),
            json!({"type": "string", "not": {"pattern": p}}),
            json!({"type": "object", "patternProperties": {p: {"type": "integer"}}}),
            json!({"type": "object", "patternProperties": {p: {}}, "additionalProperties": false, "minProperties": 2}),
            json!({"propertyNames": {"pattern": p}}),
        ] {
            match compile(&schema.to_string(), PropertyOrder::Any) {
                Ok(index) => walk(&index, &name),
                Err(e) => assert!(matches!(e.kind(), ErrorKind::Limit | ErrorKind::Unsatisfiable), "{name}: {e}"),
            }
        }
    }
    // Each search is within its limit; all of them together need not be.
    let many: serde_json::Map<String, Value> = (1..40).map(|i| (format!("a{{{i}}}b"), json!({"minimum": i}))).collect();
    match compile(&json!({"patternProperties": many}).to_string(), PropertyOrder::Any) {
        Ok(index) => walk(&index, "classes of keys"),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Limit, "classes of keys: {e}"),
    }
}

#[test]
fn text_that_is_no_schema() {
    ends("a lone surrogate", r#"{"const":"\ud800"}"#, SCHEMA);
    ends("a lone surrogate in a name", r#"{"properties":{"\udc00":{}}}"#, SCHEMA);
    ends("a lone surrogate in a pattern", r#"{"patternProperties":{"\ud800":{}}}"#, SCHEMA);
    ends("a pair in the wrong order", r#"{"enum":["\ude00\ud83d"]}"#, SCHEMA);
    ends("a pair", r#"{"required":["\ud83d\ude00"]}"#, FITS);
    ends("keys twice", r#"{"type":"string","type":"integer"}"#, SCHEMA);
    ends("names twice", r#"{"properties":{"a":{},"\u0061":{}}}"#, SCHEMA);
    for text in ["", "nul", "{", "[]", "1", "\"a\"", "{\"a\":}", "{} {}"] {
        ends(text, text, SCHEMA);
    }
}

#[test]
fn choices_keep_their_borders() {
    let v = small();
    let fingerprint = |list: &[&str]| {
        let list: Vec<String> = list.iter().map(|s| s.to_string()).collect();
        Index::from_choices(&list, &v, &Limits::default()).unwrap().fingerprint()
    };
    assert_ne!(fingerprint(&["a", "b"]), fingerprint(&["a\0b"]));
    assert_ne!(fingerprint(&["a", "b"]), fingerprint(&["a\u{0}1:b"]));
    assert_eq!(fingerprint(&["a", "b"]), fingerprint(&["b", "a"]));
}

#[test]
fn stop_tokens_that_spell_what_is_needed_are_refused() {
    let byte = |s: &str, v: &Vocabulary| (0..v.len() as u32).find(|&t| v.spelling(t) == Some(s.as_bytes())).unwrap();
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let bytes = small();
    let index = |p: &str, v: &Arc<Vocabulary>| Index::from_regex(p, v, &options, &Limits::default()).unwrap();
    let guide = |index: &Index, stops: Vec<u32>| {
        index.guide(&GuideOptions { stop_token_ids: Some(stops), ..GuideOptions::default() })
    };
    let refused = |index: &Index, stops: Vec<u32>| {
        assert_eq!(guide(index, stops).err().map(|e| e.kind()), Some(ErrorKind::Argument));
    };
    refused(&index("ba", &bytes), vec![byte("a", &bytes)]);
    assert!(guide(&index("bc", &bytes), vec![byte("a", &bytes)]).is_ok(), "no output has it");
    assert!(guide(&index("b(ab)+", &bytes), vec![byte("ab", &bytes)]).is_ok(), "its bytes are tokens");
    let json = compile(r#"{"type":"object"}"#, PropertyOrder::Any).unwrap();
    refused(&json, vec![byte("{", &bytes)]);
    assert!(guide(&json, vec![byte("\n", &bytes)]).is_ok(), "a line feed can be left out");
    // Without tokens of single bytes a longer token may be the only way on.
    let v = Vocabulary::new(
        ["a", "b", "ab", "ca", ""].map(|t| t.as_bytes().to_vec()),
        interlock::VocabularyOptions { eos_token_ids: vec![4], ..Default::default() },
    )
    .unwrap();
    refused(&index("bca", &v), vec![3]);
    assert!(guide(&index("ba", &v), vec![3, 2]).is_ok());
    // A byte that never was a token is not lost by one that other tokens spell.
    let v = Vocabulary::new(
        ["a", "b", "ab", "", "ab", "cd", "cd", "cb"].map(|t| t.as_bytes().to_vec()),
        interlock::VocabularyOptions { eos_token_ids: vec![3], ..Default::default() },
    )
    .unwrap();
    assert!(guide(&index("a[bc]", &v), vec![4]).is_ok(), "another token is the same");
    assert!(guide(&index("a[bc]", &v), vec![2, 4]).is_ok(), "its bytes are tokens");
    refused(&index("a[bc]", &v), vec![1]);
    assert!(guide(&index("ac[db]", &v), vec![5, 3]).is_ok());
    refused(&index("ac[db]", &v), vec![5, 6]);
}

/// A source that takes more steps than this compile may, at any place of a schema: a typed error, soon.
#[test]
fn work_is_bounded_wherever_it_is_asked_for() {
    let limits = Limits { max_compile_steps: 60_000, ..Limits::default() };
    let nested = "^((a{1,100}){1,100}){1,100}$";
    let other = "^(([ab]{1,100}){1,90}){1,80}$";
    // What is read between two counts keeps their alternatives apart.
    let apart = "^(([ab]{2,90}a?){2,100}b{1,70}){1,100}$";
    let numbers: Vec<u32> = (0..30_000).collect();
    let bounds: Vec<Value> = (0..3_000).map(|i| json!({"type": "integer", "minimum": i})).collect();
    let overlapping: serde_json::Map<String, Value> =
        (0..200).map(|i| (format!("^a.*{i}$"), json!({"minimum": i}))).collect();
    let letters: Vec<Value> = (1..200).map(|i| json!({"pattern": format!(r"\p{{L}}\p{{Lu}}{{{i}}}")})).collect();
    for (name, schema) in [
        ("keys", json!({"patternProperties": {nested: {"type": "integer"}}})),
        ("keys twice", json!({"patternProperties": {nested: {"type": "integer"}, other: {"type": "string"}}})),
        ("names", json!({"propertyNames": {"pattern": nested}, "minProperties": 2})),
        ("no names", json!({"propertyNames": {"not": {"pattern": nested}}})),
        ("negated", json!({"type": "string", "not": {"pattern": nested}})),
        ("both", json!({"type": "string", "allOf": [{"not": {"pattern": nested}}, {"pattern": other}]})),
        ("lengths", json!({"type": "string", "pattern": apart, "minLength": 5000, "maxLength": 5010})),
        (
            "unique",
            json!({"type": "array", "uniqueItems": true, "minItems": 3,
                "items": {"type": "string", "pattern": nested}}),
        ),
        ("numbers", json!({"enum": numbers})),
        ("lexemes", json!({"prefixItems": bounds})),
        ("classes", json!({"patternProperties": overlapping})),
        ("letters", json!({"type": "string", "allOf": letters})),
    ] {
        let options = SchemaOptions { property_order: PropertyOrder::Any, ..SchemaOptions::default() };
        let Err(e) = Index::from_json_schema(&schema.to_string(), &small(), &options, &limits) else {
            panic!("{name} is compiled");
        };
        assert_eq!((e.kind(), e.limit_values().map(|l| l.0)), (ErrorKind::Limit, Some(60_000)), "{name}: {e}");
    }
    // As it stands, the same pattern is an index, and even with lengths: unions drop what is included in them.
    ends(nested, &json!({"type": "string", "pattern": nested}).to_string(), FITS);
    let bounded = json!({"type": "string", "pattern": nested, "minLength": 5000, "maxLength": 5010}).to_string();
    let found = Index::from_json_schema(&bounded, &small(), &SchemaOptions::default(), &limits);
    assert!(found.is_ok(), "{:?}", found.err());
}

#[test]
fn combinations() {
    let branches = |n: u32, branch: &dyn Fn(u32) -> Value| (0..n).map(branch).collect::<Vec<Value>>();
    let key = |i: u32| format!("k{i}");
    let props = |n: u32, of: &dyn Fn(u32) -> Value| (0..n).map(|j| (key(j), of(j))).collect::<serde_json::Map<_, _>>();
    let constants = |i: u32| json!({"properties": props(50, &|j| json!({"const": i * j % 97})), "required": ["k0"]});
    let closed =
        |i: u32| json!({"properties": props(20, &|j| json!({"minimum": i + j})), "additionalProperties": false});
    let told = |i: u32| json!({"properties": {"t": {"const": i}, key(i): {"type": "integer"}}, "required": ["t"]});
    let mut chain = json!({"type": "object"});
    for i in 0..60 {
        let when = json!({"properties": {"t": {"const": i}}, "required": ["t"]});
        chain = json!({"if": when, "then": {"required": [key(i)]}, "else": chain});
    }
    let ring = |n: u32| {
        (0..n).map(|i| (key(i), json!({"required": [key((i + 1) % n)]}))).collect::<serde_json::Map<String, Value>>()
    };
    let asks = |name: String| json!({"required": [name]});
    let any = |i: u32| json!({"anyOf": [asks(format!("a{i}")), asks(format!("b{i}")), {"maxProperties": i}]});
    let refused = |i: u32| json!({"not": {"pattern": format!("x{i}y")}});
    for (name, schema, kinds) in [
        ("anyOf with common keys", json!({"anyOf": branches(200, &constants)}), FITS),
        ("oneOf of closed objects", json!({"oneOf": branches(3, &closed)}), FITS),
        ("unevaluated below oneOf", json!({"oneOf": branches(100, &told), "unevaluatedProperties": false}), FITS),
        ("unevaluated below anyOf", json!({"anyOf": branches(300, &constants), "unevaluatedProperties": false}), LIMIT),
        ("if chain", chain, FITS),
        ("allOf of anyOf", json!({"allOf": branches(200, &any)}), LIMIT),
        ("a ring of schemas", json!({"dependentSchemas": ring(40)}), FITS),
        ("complements of keys", json!({"propertyNames": {"allOf": branches(60, &refused)}}), LIMIT),
        ("small steps", json!({"multipleOf": 0.000_000_7, "minimum": 1, "maximum": 2}), FITS),
        (
            "many of an array",
            json!({"contains": {"type": "integer"}, "minContains": 1_000_000_000, "type": "array"}),
            LIMIT,
        ),
        (
            "many unique ones",
            json!({"type": "array", "contains": {"multipleOf": 2}, "minContains": 4_000, "uniqueItems": true,
                   "items": {"type": "integer", "minimum": 0, "maximum": 100_000}}),
            LIMIT,
        ),
    ] {
        ends(name, &schema.to_string(), kinds);
    }
}
