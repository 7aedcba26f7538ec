//! `uniqueItems` over elements that the schema knows, and its negation where elements have few values.

use interlock::schema::SchemaOptions;
use interlock::{ErrorKind, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::{Value, json};

fn compile(schema: &Value) -> interlock::Result<Index> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([Vec::new()]).collect();
    let vocabulary = Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() })?;
    Index::from_json_schema(&schema.to_string(), &vocabulary, &SchemaOptions::default(), &Limits::default())
}

fn accepts(index: &Index, text: &str) -> bool {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    text.bytes().all(|b| guide.try_advance(u32::from(b))) && guide.is_accepting()
}

/// All arrays of up to `most` of these elements.
fn arrays(elements: &[&str], most: usize) -> Vec<String> {
    let mut lists: Vec<Vec<&str>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let to = lists.len();
        for i in from..to {
            lists.extend(elements.iter().map(|e| [&lists[i][..], &[e]].concat()).collect::<Vec<_>>());
        }
        from = to;
    }
    lists.iter().map(|list| format!("[{}]", list.join(","))).collect()
}

/// Whether two elements are equal, numbers by their value and members in any order.
fn repeats(array: &Value) -> bool {
    fn normal(v: &Value) -> Value {
        match v {
            Value::Number(n) => json!(n.as_f64()),
            Value::Array(a) => a.iter().map(normal).collect(),
            Value::Object(o) => {
                let mut members: Vec<_> = o.iter().map(|(k, v)| (k.clone(), normal(v))).collect();
                members.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(members.into_iter().collect())
            }
            other => other.clone(),
        }
    }
    let all: Vec<Value> = array.as_array().unwrap().iter().map(normal).collect();
    (1..all.len()).any(|i| all[..i].contains(&all[i]))
}

#[test]
fn constant_arrays_are_judged_by_their_elements() {
    let values = json!([
        [1, 1], [1, 1.0], [1, 2], [], [true, 1], [[1], [1]], [[1], [2]], [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        [{"a": 1}, {"a": 2}], ["a", "b", "a"], [null, null], ["1", 1]
    ]);
    let unique = compile(&json!({"enum": values, "uniqueItems": true})).unwrap();
    let repeated = compile(&json!({"enum": values, "not": {"uniqueItems": true}})).unwrap();
    for value in values.as_array().unwrap() {
        let text = value.to_string();
        assert_eq!(accepts(&unique, &text), !repeats(value), "{text}");
        assert_eq!(accepts(&repeated, &text), repeats(value), "{text}");
    }
    let none = compile(&json!({"const": [1, 1], "uniqueItems": true})).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::Unsatisfiable);
}

#[test]
fn repetition_of_few_values_is_counted() {
    let cases = [
        (json!({"items": {"type": "boolean"}}), vec!["true", "false"]),
        (json!({"items": {"type": ["null", "boolean"]}, "maxItems": 3}), vec!["true", "false", "null"]),
        (json!({"items": {"enum": [1, "a", [1]]}, "minItems": 1}), vec!["1", "\"a\"", "[1]"]),
        (json!({"prefixItems": [{"const": 1}], "items": {"enum": [1, 2]}}), vec!["1", "2"]),
        (json!({"items": {"enum": [1, 2, 3]}, "contains": {"const": 3}}), vec!["1", "2", "3"]),
    ];
    for (mut schema, elements) in cases {
        schema["type"] = json!("array");
        let all = compile(&schema).unwrap();
        schema["not"] = json!({"uniqueItems": true});
        let index = compile(&schema).unwrap();
        for text in arrays(&elements, 4) {
            let wanted = accepts(&all, &text) && repeats(&serde_json::from_str(&text).unwrap());
            assert_eq!(accepts(&index, &text), wanted, "{schema} {text}");
        }
    }
    let open = compile(&json!({"type": "array", "not": {"uniqueItems": true}})).unwrap_err();
    assert_eq!(open.kind(), ErrorKind::Unsupported);
}
