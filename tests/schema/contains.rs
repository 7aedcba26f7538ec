//! Several `contains` on one array, with bounds on the matches and on the length: every byte, judged by the list of all
//! documents. And `contains` where elements must differ.

use crate::support::every_byte::{bytes, compare};
use interlock::schema::{SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{Error, ErrorKind, Guide, GuideOptions, Index, Limits};
use serde_json::{Value, json};

/// What elements may be.
const VALUES: [&str; 5] = ["null", "true", "\"a\"", "\"ab\"", "\"b\""];
/// No array has more elements.
const MOST_ELEMENTS: usize = 4;

fn value(i: usize) -> Value {
    serde_json::from_str(VALUES[i]).unwrap()
}

/// A guide of a schema over single bytes, where it compiles.
fn guide_of(schema: &Value) -> Result<Guide, Error> {
    let options = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    let index = Index::from_json_schema(&schema.to_string(), &bytes(), &options, &Limits::default())?;
    Ok(index.guide(&GuideOptions::default()).unwrap())
}

/// How many bytes of a text a guide takes.
fn read(guide: &mut Guide, text: &str) -> usize {
    guide.advance_many(&text.bytes().map(u32::from).collect::<Vec<_>>())
}

/// A set of values, and a schema of it.
fn set(rng: &mut Rng) -> (Vec<Value>, Value) {
    let members: Vec<Value> = (0..VALUES.len()).filter(|_| rng.chance(45)).map(value).collect();
    let schema = if members.is_empty() { json!(false) } else { json!({ "enum": members }) };
    (members, schema)
}

/// All arrays up to [`MOST_ELEMENTS`] elements.
fn arrays() -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..MOST_ELEMENTS {
        let end = all.len();
        for i in from..end {
            all.extend((0..VALUES.len()).map(|v| [all[i].clone(), vec![value(v)]].concat()).collect::<Vec<_>>());
        }
        from = end;
    }
    all
}

#[test]
fn several_with_bounds_as_the_specification_says() {
    let everything = arrays();
    let mut rng = Rng(18);
    let (mut compared, mut empty, mut prefixes) = (0, 0, 0);
    for _ in 0..150 {
        let max = rng.below(MOST_ELEMENTS + 1);
        let min = rng.below(max + 1);
        let at: Vec<(Vec<Value>, Value)> = (0..rng.below(3)).map(|_| set(&mut rng)).collect();
        let (rest, rest_schema) = if rng.chance(60) {
            let all: Vec<Value> = (0..VALUES.len()).map(value).collect();
            (all.clone(), json!({ "enum": all }))
        } else {
            set(&mut rng)
        };
        // Values, fewest and most matches.
        let mut counted: Vec<(Vec<Value>, usize, Option<usize>)> = Vec::new();
        let mut all_of = Vec::new();
        for _ in 0..2 + rng.below(2) {
            let (members, schema) = set(&mut rng);
            let fewest = rng.below(3);
            let most = rng.chance(40).then(|| fewest + rng.below(2));
            let mut keywords = json!({ "contains": schema, "minContains": fewest });
            if let Some(most) = most {
                keywords["maxContains"] = json!(most);
            }
            all_of.push(keywords);
            counted.push((members, fewest, most));
        }
        let prefix: Vec<&Value> = at.iter().map(|a| &a.1).collect();
        let mut schema =
            json!({ "type": "array", "minItems": min, "maxItems": max, "items": rest_schema, "allOf": all_of });
        if !prefix.is_empty() {
            schema["prefixItems"] = json!(prefix);
        }
        let valid = |a: &[Value]| {
            let fits = |(i, e): (usize, &Value)| at.get(i).map_or(&rest, |place| &place.0).contains(e);
            (min..=max).contains(&a.len())
                && a.iter().enumerate().all(fits)
                && counted.iter().all(|(members, fewest, most)| {
                    let n = a.iter().filter(|e| members.contains(e)).count();
                    n >= *fewest && most.is_none_or(|m| n <= m)
                })
        };
        let documents: Vec<Value> = everything.iter().filter(|a| valid(a)).map(|a| Value::Array(a.clone())).collect();
        let text = schema.to_string();
        if documents.is_empty() {
            let Err(e) = guide_of(&schema) else { panic!("{text} was compiled") };
            assert_eq!(e.kind(), ErrorKind::Unsatisfiable, "{text}: {e}");
            empty += 1;
        } else {
            prefixes += compare(&text, &documents);
            compared += 1;
        }
    }
    assert!(
        compared > 50 && empty > 10 && prefixes > 10_000,
        "{compared} compared, {empty} empty, {prefixes} prefixes"
    );
}

/// What is said of a schema: the kind of its error, or how much of a text it takes and whether that may end.
fn said(schema: Value, text: &str) -> Result<(usize, bool), ErrorKind> {
    let mut guide = guide_of(&schema).map_err(|e| e.kind())?;
    Ok((read(&mut guide, text), guide.is_accepting()))
}

/// Each `contains` is in reach after the first element, and both together are not.
#[test]
fn places_that_are_left_are_not_promised_twice() {
    let schema = json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}],
        "items": {"type": "string"}, "allOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]});
    assert_eq!(said(schema.clone(), "[3"), Ok((1, false)));
    assert_eq!(said(schema.clone(), "[2,1,\"a\"]"), Ok((9, true)));
    assert_eq!(said(schema, "[1,1"), Ok((3, false)));
}

#[test]
fn elements_that_differ_and_are_counted() {
    let unique = |more: Value| {
        let mut schema = json!({"type": "array", "uniqueItems": true});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    // More matches than there are values to match.
    let no: [Value; 3] = [
        json!({"contains": {"const": 1}, "minContains": 2}),
        json!({"contains": {"type": "boolean"}, "minContains": 3}),
        json!({"contains": {"enum": [1, "a", 1.0]}, "minContains": 3, "maxItems": 5}),
    ];
    for more in no {
        assert_eq!(said(unique(more.clone()), ""), Err(ErrorKind::Unsatisfiable), "{more}");
    }
    let two = json!({"contains": {"enum": [1, 2]}, "minContains": 2, "maxItems": 3});
    assert_eq!(said(unique(two.clone()), "[5,1,2]"), Ok((7, true)));
    assert_eq!(said(unique(two.clone()), "[5,1,1"), Ok((5, false)));
    assert_eq!(said(unique(two), "[5,6"), Ok((3, false)));
    // One element for both, or one for each.
    let both = json!({"allOf": [{"contains": {"type": "boolean"}}, {"contains": {"const": true}}], "maxItems": 2});
    assert_eq!(said(unique(both.clone()), "[true]"), Ok((6, true)));
    assert_eq!(said(unique(both.clone()), "[false,true]"), Ok((12, true)));
    assert_eq!(said(unique(both.clone()), "[5,true]"), Ok((8, true)));
    assert_eq!(said(unique(both), "[5,false"), Ok((3, false)));
    // All but one are booleans, of which there are two.
    let few = json!({"items": {"type": ["string", "boolean"]}, "contains": {"type": "string"}, "maxContains": 1,
        "minItems": 5});
    assert_eq!(said(unique(few), ""), Err(ErrorKind::Unsupported));
}

/// A completion takes another value that counts where the array has the nearest one, or has no room for it.
#[test]
fn what_is_missing_is_written_from_what_is_left() {
    let mixed = json!({"type": ["string", "boolean", "integer"]});
    let cases = [
        (json!({"contains": {"type": "boolean"}, "minContains": 2}), "[", 11),
        (json!({"contains": {"type": "boolean"}, "minContains": 2}), "[5,true", 7),
        (json!({"contains": {"enum": ["aaa", "aab"]}, "minContains": 2}), "[\"aaa\"", 7),
        (json!({"contains": {"enum": ["aaa", "aab"]}, "minContains": 2}), "[\"a", 10),
        (json!({"contains": {"enum": [10, 11, 12]}, "minContains": 3}), "[", 9),
        (json!({"items": mixed, "contains": {"enum": ["b", true, 0]}, "minContains": 3}), "[4,", 12),
        (
            json!({"uniqueItems": false, "allOf": [{"contains": {"type": "integer"}, "maxContains": 1},
            {"contains": {"enum": [2, null]}, "minContains": 3}]}),
            "[7,",
            16,
        ),
        (json!({"contains": {"pattern": "^abc", "type": "string"}, "minContains": 3}), "[", 24),
    ];
    for (mut schema, text, most) in cases {
        schema["type"] = json!("array");
        schema["uniqueItems"] = schema.get("uniqueItems").cloned().unwrap_or(json!(true));
        let mut guide = guide_of(&schema).unwrap();
        assert_eq!(read(&mut guide, text), text.len());
        let n = guide.min_tokens_to_finish().unwrap();
        assert!(n <= most, "{n} tokens for {schema} after {text}");
    }
}

/// A spelling that is not counted does not use up a value that is asked for.
#[test]
fn no_spelling_uses_up_what_is_asked_for() {
    let cases = [
        (json!({"contains": {"const": 0}}), "[0e04,"),
        (json!({"contains": {"enum": [0, true]}, "minContains": 2}), "[true,0e0]"),
        (json!({"contains": {"type": "integer", "minimum": 0, "maximum": 1}}), "[0e0,1e0,"),
        (json!({"contains": {"type": "number", "minimum": 0, "maximum": 0.5, "multipleOf": 0.5}}), "[0.5e0,0e0,"),
        (json!({"contains": {"const": "b"}}), "[\"\\u0062\","),
    ];
    for (mut schema, text) in cases {
        schema["type"] = json!("array");
        schema["uniqueItems"] = json!(true);
        let mut guide = guide_of(&schema).unwrap();
        let n = read(&mut guide, text);
        assert!(n < text.len(), "{schema} goes on after {text}");
        assert!(guide.min_tokens_to_finish().unwrap() < 20, "{schema} after {}", &text[..n]);
    }
}
