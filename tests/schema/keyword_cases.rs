//! Schemas to rules, checked on instances: cases are data, the slow twin is the judge.
//!
//! `tests/data/schema_official.json` is a part of the official JSON-Schema-Test-Suite (MIT); `schema_own.json` holds
//! cases of our own where keywords meet.

use crate::support::rules_accept::rules_accept;
use interlock::json::rules::Rules;
use interlock::schema::{Enforcement, Formats, OnUnsupported, SchemaOptions, lower, parse_schema};
use interlock::{Error, ErrorKind, Limits, SourcePlace};
use serde_json::{Value, json};

fn rules(schema: &Value, options: &SchemaOptions) -> Result<Rules, Error> {
    let limits = Limits::default();
    let (model, mut report) = parse_schema(&schema.to_string(), options, &limits)?;
    lower(&model, options, &limits, &mut report)
}

fn annotate() -> SchemaOptions {
    SchemaOptions { formats: Formats::Annotate, ..SchemaOptions::default() }
}

/// Runs a file of cases; answers how many instances were judged and which schemas were refused as unsupported.
fn run(text: &str) -> (usize, Vec<String>) {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    let (mut judged, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for c in &cases {
        let name = c["name"].as_str().unwrap().to_string();
        let mut rules = match rules(&c["schema"], &annotate()) {
            Ok(r) => Some(r),
            Err(e) if e.kind() == ErrorKind::Unsatisfiable => None,
            Err(e) if e.kind() == ErrorKind::Unsupported => {
                refused.push(name);
                continue;
            }
            Err(e) => panic!("{name}: {e}"),
        };
        for (key, wanted) in [("valid", true), ("invalid", false)] {
            for v in c[key].as_array().unwrap() {
                judged += 1;
                if rules.as_mut().is_some_and(|r| rules_accept(r, v)) != wanted {
                    wrong.push(format!("{name}: {v} should be {key}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    (judged, refused)
}

/// Bounds of lengths are found however deep a pattern nests: of long texts none were, and nothing was left of these.
#[test]
fn lengths_of_long_patterns() {
    let text = "a".repeat(300);
    for (pattern, bounds, valid) in [
        (format!("^{text}$"), json!({"minLength": 1}), true),
        (format!("^{text}$"), json!({"minLength": 300, "maxLength": 300}), true),
        (format!("^{text}$"), json!({"minLength": 301}), false),
        (format!("^{text}$"), json!({"maxLength": 299}), false),
        (format!("^{}b{}$", "(?:".repeat(300), "a)+".repeat(300)), json!({"minLength": 1}), true),
    ] {
        let mut schema = bounds.clone();
        schema["type"] = json!("string");
        schema["pattern"] = json!(pattern);
        match rules(&schema, &annotate()) {
            Ok(_) => assert!(valid, "{bounds}"),
            Err(e) => assert!(!valid && e.kind() == ErrorKind::Unsatisfiable, "{bounds}: {e}"),
        }
    }
}

#[test]
fn official_cases() {
    let (judged, refused) = run(include_str!("../data/schema_official.json"));
    assert!(judged > 700, "only {judged} instances");
    // The negation of unevaluatedProperties is the one thing in them that has no exact form here.
    assert_eq!(refused, ["not: collect annotations inside a 'not', even if collection is disabled"]);
}

#[test]
fn own_cases() {
    let (judged, refused) = run(include_str!("../data/schema_own.json"));
    assert!(judged > 60, "only {judged} instances");
    assert!(refused.is_empty(), "{refused:?}");
}

/// What one draft knows and another does not, or reads otherwise.
#[test]
fn cases_of_each_draft() {
    let (judged, refused) = run(include_str!("../data/schema_drafts.json"));
    assert!(judged > 190, "only {judged} instances");
    assert!(refused.is_empty(), "{refused:?}");
}

fn error(schema: Value) -> (ErrorKind, String) {
    let e = rules(&schema, &annotate()).err().expect("an error");
    let pointer = match e.place() {
        SourcePlace::Pointer { pointer, .. } => pointer.clone(),
        other => panic!("no pointer but {other:?}: {e}"),
    };
    (e.kind(), pointer)
}

#[test]
fn empty_schemas_name_the_deepest_place() {
    let unsatisfiable = |p: &str| (ErrorKind::Unsatisfiable, p.to_string());
    let deep = json!({"type": "object", "required": ["a"], "properties": {"a": {
        "type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 3, "maximum": 2}}}});
    assert_eq!(error(deep), unsatisfiable("/properties/a/items"));
    let endless = json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
    assert_eq!(error(endless), unsatisfiable(""));
    assert_eq!(error(json!({"type": "string", "pattern": "^a{5}$", "maxLength": 3})), unsatisfiable(""));
    let few = json!({"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "minItems": 3});
    assert_eq!(error(few), unsatisfiable(""));
    let keys = json!({"type": "object", "patternProperties": {"^[ab]$": {}}, "additionalProperties": false,
        "minProperties": 3});
    assert_eq!(error(keys), unsatisfiable(""));
    let counts = json!({"type": "array", "maxItems": 3, "contains": {"const": 1}, "minContains": 2,
        "allOf": [{"contains": {"const": 2}, "minContains": 2}]});
    assert_eq!(error(counts), unsatisfiable(""));
}

#[test]
fn circles_in_place_are_schema_errors() {
    assert_eq!(error(json!({"$ref": "#"})).0, ErrorKind::Schema);
    assert_eq!(error(json!({"type": "object", "allOf": [{"$ref": "#"}]})).0, ErrorKind::Schema);
    let two = json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]},
        "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}, "$ref": "#/$defs/a"});
    assert_eq!(error(two).0, ErrorKind::Schema);
}

#[test]
fn what_cannot_be_stated_is_refused_or_wider() {
    // More keys than are tried one by one, and members with them need not be what has to exist.
    let schema = json!({"type": "object", "propertyNames": {"pattern": "^[a-z]{2}$"},
        "not": {"additionalProperties": {"type": "string"}}});
    let e = rules(&schema, &annotate()).err().expect("an error");
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    let SourcePlace::Pointer { pointer, keyword } = e.place() else { panic!("{e:?}") };
    assert_eq!((pointer.as_str(), keyword.as_str()), ("/not", "additionalProperties"));
    let options = SchemaOptions { on_unsupported: OnUnsupported::Warn, ..annotate() };
    let limits = Limits::default();
    let (model, mut report) = parse_schema(&schema.to_string(), &options, &limits).unwrap();
    let mut rules = lower(&model, &options, &limits, &mut report).unwrap();
    assert!(rules_accept(&mut rules, &json!({"ab": 1})));
    assert!(report.iter().any(|r| r.enforcement == Enforcement::Wider && r.pointer == "/not"));
}

/// What is left out below a negation leaves fewer documents, which the report says as well.
#[test]
fn what_is_left_out_under_a_negation_is_narrower_too() {
    let options = SchemaOptions { on_unsupported: OnUnsupported::Warn, ..annotate() };
    let limits = Limits::default();
    let said = |schema: Value| {
        let (model, mut report) = parse_schema(&schema.to_string(), &options, &limits).unwrap();
        let _ = lower(&model, &options, &limits, &mut report);
        let left_out = report.into_iter().filter(|r| r.keyword == "pattern" || r.keyword == "patternProperties");
        left_out.map(|r| r.enforcement).collect::<Vec<_>>()
    };
    let pattern = json!({"pattern": "^(a+)b\\1$"});
    let both = [Enforcement::Wider, Enforcement::Narrower];
    assert_eq!(said(json!({"type": "string", "allOf": [pattern]})), [Enforcement::Wider]);
    assert_eq!(said(json!({"type": "string", "oneOf": [pattern, {"maxLength": 3}]})), both);
    let strings = json!({"type": "string", "pattern": "^(a+)b\\1$"});
    assert_eq!(said(json!({"type": ["string", "null"], "not": strings})), both);
    assert_eq!(said(json!({"type": "array", "contains": pattern, "maxContains": 1})), both);
    let keys =
        json!({"patternProperties": {"^(a+)b\\1$": {"type": "null"}}, "additionalProperties": {"type": "integer"}});
    assert_eq!(said(keys), both);
}

#[test]
fn limits_fire_with_their_value() {
    let anys: Vec<Value> =
        (0..14).map(|i| json!({"anyOf": [{"required": [format!("a{i}")]}, {"required": [format!("b{i}")]}]})).collect();
    let e = rules(&json!({"type": "object", "allOf": anys}), &annotate()).err().expect("an error");
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.limit_values().is_some());
}

#[test]
fn large_schemas_stay_linear() {
    // Work is counted, so a quadratic step would break the limit of steps instead of a clock.
    let tools: Vec<Value> = (0..500)
        .map(|i| {
            json!({"type": "object", "required": ["tool", "input"], "additionalProperties": false, "properties": {
                "tool": {"const": format!("t{i}")},
                "input": {"type": "object", "properties": {format!("p{i}"): {"type": "string"}}}}})
        })
        .collect();
    for keyword in ["anyOf", "oneOf"] {
        let limits = Limits { max_algebra_steps: 60_000, ..Limits::default() };
        let schema = json!({keyword: tools});
        let (model, mut report) = parse_schema(&schema.to_string(), &annotate(), &limits).unwrap();
        let rules = lower(&model, &annotate(), &limits, &mut report).unwrap();
        assert_eq!(rules.rules[rules.root.0 as usize].objects.len(), 500);
    }
    let properties: serde_json::Map<String, Value> =
        (0..1000).map(|i| (format!("p{i}"), json!({"maxLength": i}))).collect();
    let schema = json!({"type": "object", "properties": properties});
    let limits = Limits { max_algebra_steps: 60_000, ..Limits::default() };
    let (model, mut report) = parse_schema(&schema.to_string(), &annotate(), &limits).unwrap();
    assert!(lower(&model, &annotate(), &limits, &mut report).is_ok());
}

#[test]
fn equal_schemas_share_one_rule() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"},
        "c": {"$ref": "#/$defs/s"}}, "additionalProperties": false, "$defs": {"s": {"type": "string"}}});
    let r = rules(&schema, &annotate()).unwrap();
    assert_eq!(r.rules.len(), 2);
    let any = r.rules[0].objects[0].properties.iter().map(|p| p.rule).collect::<Vec<_>>();
    assert!(any.iter().all(|r| *r == any[0]));
}

#[test]
fn open_objects_use_the_text_that_the_automaton_knows() {
    let mut r = rules(&json!({"type": "object", "properties": {"a": {"type": "null"}}}), &annotate()).unwrap();
    let any = r.exprs.any_text();
    let root = &r.rules[r.root.0 as usize].objects[0];
    assert_eq!(root.others.len(), 1);
    assert_eq!(root.others[0].keys, any);
}

#[test]
fn every_place_of_a_narrower_keyword_has_its_row() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "integer", "minimum": 1}, "b": {"type": "integer", "minimum": 1},
        "c": {"$ref": "#/properties/a"}}});
    let limits = Limits::default();
    let (model, mut report) = parse_schema(&schema.to_string(), &annotate(), &limits).unwrap();
    lower(&model, &annotate(), &limits, &mut report).unwrap();
    let rows = report.iter().filter(|r| r.enforcement == Enforcement::Narrower);
    let rows: Vec<_> = rows.map(|r| (r.pointer.as_str(), r.keyword.as_str())).collect();
    assert_eq!(rows, [("/properties/a", "minimum"), ("/properties/b", "minimum")]);
}
