//! Arrays of unique arrays and objects, byte for byte against a list of everything that an element may be.
//!
//! Random items are small enough that all texts of them can be written down: every order of members, every value. A
//! byte may follow exactly if one of the texts goes on with it whose value the array does not have. Where keys and
//! strings are too many to write down, documents say what must be accepted.

use std::collections::BTreeSet;

use crate::support::every_byte::bytes;
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits};
use serde_json::{Map, Value, json};

/// More texts than this are not listed.
const MOST_TEXTS: usize = 400;

/// A guide, or none where containers would have to be counted.
fn guide_of(schema: &Value, property_order: PropertyOrder) -> Option<Guide> {
    let options = SchemaOptions { whitespace: Whitespace::Compact, property_order, ..Default::default() };
    match Index::from_json_schema(&schema.to_string(), &bytes(), &options, &Limits::default()) {
        Ok(index) => Some(index.guide(&GuideOptions::default()).unwrap()),
        Err(error) => {
            assert!(error.to_string().contains("would need to count them"), "{schema} {error}");
            None
        }
    }
}

fn allowed(guide: &mut Guide) -> BTreeSet<u8> {
    guide.allowed_token_ids().into_iter().filter(|&id| id < 256).map(|id| id as u8).collect()
}

/// A schema and all texts that it accepts, without blanks and escapes.
type Listed = (Value, Vec<String>);

fn scalar(rng: &mut Rng) -> Listed {
    let texts = |all: &[&str]| all.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    match rng.below(5) {
        0 => (json!({"enum": ["a", "ab", "b", true]}), texts(&["\"a\"", "\"ab\"", "\"b\"", "true"])),
        1 => (json!({"type": "string", "pattern": "^[ab]c?$"}), texts(&["\"a\"", "\"b\"", "\"ac\"", "\"bc\""])),
        2 => (json!({"type": ["boolean", "null"]}), texts(&["true", "false", "null"])),
        3 => (json!({"type": "boolean"}), texts(&["true", "false"])),
        _ => (json!({"const": true}), texts(&["true"])),
    }
}

/// All sequences of `min` to `max` of `items`; `apart` says which two may not be in one of them.
fn sequences<T>(items: &[T], min: usize, max: usize, apart: impl Fn(&T, &T) -> bool) -> Option<Vec<Vec<usize>>> {
    let (mut out, mut last) = (Vec::new(), vec![Vec::new()]);
    for len in 0..=max {
        if len >= min {
            out.extend(last.iter().cloned());
        }
        let longer = |s: &Vec<usize>| {
            let free = |i: &usize| s.iter().all(|&k| !apart(&items[k], &items[*i]));
            (0..items.len()).filter(free).map(|i| [s.as_slice(), &[i]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        if out.len() + last.len() > 8 * MOST_TEXTS {
            return None;
        }
    }
    Some(out)
}

/// An object whose keys are in classes, and perhaps a name.
fn object(rng: &mut Rng, depth: usize) -> Option<Listed> {
    let classes: [(&str, &[&str]); 5] = [
        ("^[ab]{2}$", &["aa", "ab", "ba", "bb"]),
        ("^k[01]$", &["k0", "k1"]),
        ("^c+d?$", &[]),
        ("^(ca|cb|xyzxyz)$", &["ca", "cb", "xyzxyz"]),
        ("^m$", &["m"]),
    ];
    let mut members: Vec<(String, String)> = Vec::new();
    let (mut patterns, mut properties, mut required) = (Map::new(), Map::new(), Vec::new());
    let mut chosen = |key: &str, texts: &[String]| members.extend(texts.iter().map(|t| (key.to_owned(), t.clone())));
    for (pattern, keys) in classes {
        if rng.chance(40) {
            let (schema, texts) = listed(rng, depth + 1)?;
            patterns.insert(pattern.to_owned(), if keys.is_empty() { json!(false) } else { schema });
            keys.iter().for_each(|k| chosen(k, &texts));
        }
    }
    for name in ["n", "nn"] {
        if rng.chance(30) {
            let (schema, texts) = listed(rng, depth + 1)?;
            chosen(name, &texts);
            properties.insert(name.to_owned(), schema);
            if rng.chance(40) {
                required.push(name);
            }
        }
    }
    let (min, max) = (rng.below(3), 1 + rng.below(3));
    let schema = json!({
        "type": "object", "properties": properties, "patternProperties": patterns, "additionalProperties": false,
        "required": required, "minProperties": min, "maxProperties": max
    });
    let has_required = |s: &Vec<usize>| required.iter().all(|r| s.iter().any(|&i| members[i].0 == *r));
    let all = sequences(&members, min, max, |a, b| a.0 == b.0)?.into_iter().filter(has_required);
    let text = |s: Vec<usize>| {
        let parts: Vec<String> = s.iter().map(|&i| format!("\"{}\":{}", members[i].0, members[i].1)).collect();
        format!("{{{}}}", parts.join(","))
    };
    Some((schema, all.map(text).collect()))
}

fn array(rng: &mut Rng, depth: usize) -> Option<Listed> {
    let (items, texts) = listed(rng, depth + 1)?;
    let (min, max, unique) = (rng.below(4), 1 + rng.below(3), rng.chance(60));
    let schema = json!({"type": "array", "items": items, "minItems": min, "maxItems": max, "uniqueItems": unique});
    let values: Vec<(String, String)> = texts.iter().map(|t| (t.clone(), value(t))).collect();
    let all = sequences(&values, min, max, |a, b| unique && a.1 == b.1)?;
    let text = |s: Vec<usize>| format!("[{}]", s.iter().map(|&i| values[i].0.as_str()).collect::<Vec<_>>().join(","));
    Some((schema, all.into_iter().map(text).collect()))
}

/// A random schema with all that it accepts, unless that is nothing or too much.
fn listed(rng: &mut Rng, depth: usize) -> Option<Listed> {
    let made = match rng.below(if depth < 3 { 4 } else { 1 }) {
        0 if depth > 0 => Some(scalar(rng)),
        0 | 1 => object(rng, depth),
        2 => array(rng, depth),
        _ => {
            let ((a, mut texts), (b, more)) = (listed(rng, depth + 1)?, listed(rng, depth + 1)?);
            texts.extend(more);
            Some((json!({"anyOf": [a, b]}), texts))
        }
    };
    made.filter(|m| !m.1.is_empty() && m.1.len() <= MOST_TEXTS)
}

/// One text for all that are equal values.
fn value(text: &str) -> String {
    fn sorted(v: &Value) -> Value {
        match v {
            Value::Array(all) => all.iter().map(sorted).collect(),
            Value::Object(members) => {
                let mut all: Vec<_> = members.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
                all.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(all.into_iter().collect())
            }
            other => other.clone(),
        }
    }
    sorted(&serde_json::from_str(text).unwrap()).to_string()
}

/// What an open array of unique elements may still have.
struct Left<'a> {
    texts: &'a [(String, String)],
    used: BTreeSet<&'a str>,
    num_values: usize,
}

impl Left<'_> {
    /// The bytes that may follow in the array, which has `open` of an element that it began.
    fn next(&self, open: &str) -> BTreeSet<u8> {
        let left = self.texts.iter().filter(|t| !self.used.contains(t.1.as_str()));
        let mut out = BTreeSet::new();
        for (text, _) in left {
            match text.strip_prefix(open).map(|rest| rest.bytes().next()) {
                Some(Some(b)) => _ = out.insert(b),
                Some(None) => {
                    out.insert(b']');
                    if self.used.len() + 1 < self.num_values {
                        out.insert(b',');
                    }
                }
                None => {}
            }
        }
        if open.is_empty() && self.used.is_empty() {
            out.insert(b']');
        }
        out
    }
}

/// Walks through all values of an item at random, or 24 of them, and compares the bytes that may follow everywhere: how
/// many values came, and at how many bytes there was hardly a choice. `None` where containers would have to be counted.
fn walk(rng: &mut Rng, (items, texts): Listed) -> Option<(usize, usize)> {
    let texts: Vec<(String, String)> = texts.into_iter().map(|t| (t.clone(), value(&t))).collect();
    let num_values = texts.iter().map(|t| &t.1).collect::<BTreeSet<_>>().len();
    let schema = json!({"type": "array", "uniqueItems": true, "items": items});
    let mut guide = guide_of(&schema, PropertyOrder::Any)?;
    guide.advance(u32::from(b'[')).unwrap();
    let mut left = Left { texts: &texts, used: BTreeSet::new(), num_values };
    let mut narrow = 0;
    while left.used.len() < num_values.min(24) {
        let open: Vec<_> = texts.iter().filter(|t| !left.used.contains(t.1.as_str())).collect();
        let (text, value) = rng.pick(&open);
        for (i, b) in text.bytes().enumerate() {
            let mut next = left.next(&text[..i]);
            if i == 0 && !left.used.is_empty() {
                next.remove(&b']');
            }
            let mut plain = allowed(&mut guide);
            plain.remove(&b'\\');
            assert_eq!(plain, next, "{schema} with {:?} after {}", left.used, &text[..i]);
            guide.advance(u32::from(b)).unwrap();
            narrow += usize::from(next.len() < 3);
        }
        let next = left.next(text);
        assert_eq!(allowed(&mut guide), next, "{schema} with {:?} and {text}", left.used);
        left.used.insert(value);
        if left.used.len() < num_values {
            guide.advance(u32::from(b',')).unwrap();
        }
    }
    Some((num_values, narrow))
}

#[test]
fn every_byte_of_unique_arrays_and_objects() {
    let mut rng = Rng(2_411);
    let (mut cases, mut refused, mut full, mut narrow) = (0, 0, 0, 0);
    while cases < 250 {
        let Some(item) = listed(&mut rng, 0) else { continue };
        let Some((num_values, n)) = walk(&mut rng, item) else {
            refused += 1;
            continue;
        };
        cases += 1;
        full += usize::from((2..=24).contains(&num_values));
        narrow += n;
    }
    assert!(full > 50 && narrow > 5_000 && refused < cases, "{full} {narrow} {refused}");
}

#[test]
fn every_byte_of_objects_that_need_most_of_their_keys() {
    let mut rng = Rng(5);
    let keys = ["a", "b", "c", "d", "e"].map(|k| format!("\"{k}\":true"));
    for (min, max) in [(4, 4), (4, 5), (3, 4), (5, 5)] {
        let items = json!({
            "type": "object", "patternProperties": {"^[a-e]$": {"const": true}}, "additionalProperties": false,
            "minProperties": min, "maxProperties": max
        });
        let text = |s: Vec<usize>| format!("{{{}}}", s.iter().map(|&i| keys[i].as_str()).collect::<Vec<_>>().join(","));
        let texts = sequences(&keys, min, max, |a, b| a == b).unwrap().into_iter().map(text).collect();
        assert!(walk(&mut rng, (items, texts)).is_some());
    }
}

#[test]
fn keys_and_strings_that_are_too_many_to_list() {
    let long = json!({"^[a-z]{6}$": {"const": 1}});
    let members = |min: usize, max: usize| {
        json!({"type": "object", "patternProperties": long, "additionalProperties": false,
               "minProperties": min, "maxProperties": max})
    };
    let strings = json!({"type": "array", "items": {"type": "string", "pattern": "^[a-z]{6}$"},
                         "uniqueItems": true, "minItems": 5, "maxItems": 5});
    let keys = |last: &str| format!(r#"{{"aaaaaa":1,"aaaaab":1,"aaaaac":1,"aaaaad":1,"{last}":1}}"#);
    let words = |last: &str| format!(r#"["aaaaaa","aaaaab","aaaaac","aaaaad","{last}"]"#);
    let escaped = json!({
        "type": "object", "additionalProperties": false,
        "patternProperties": {"\\d{3}": {"const": 1}, ".*(.{6}x|.{7}y)": {"const": 2}}
    });
    let one = json!({"type": "array", "items": members(1, 1), "minItems": 1, "maxItems": 1});
    let other = json!({"type": "object", "maxProperties": 1, "additionalProperties": {"const": 1}});
    let cases = [
        (members(0, 9), r#"[{},{"abcdef":1},{"abcdeg":1,"abcdef":1}]"#.to_owned()),
        (members(0, 9), r#"[{},{"abcdef":1},{"\u0061bcdeg":1}]"#.to_owned()),
        (members(5, 5), format!("[{},{}]", keys("aaaaae"), keys("aaaaaf"))),
        (strings, format!("[{},{}]", words("aaaaae"), words("aaaaaf"))),
        (one, r#"[[{"abcdef":1}],[{"abcdeg":1}]]"#.to_owned()),
        (other, r#"[{},{"0":1},{"1":1},{"x":1}]"#.to_owned()),
        (escaped, r#"[{},{"1234":1},{"\u000a1234":1},{"\u000a123":1}]"#.to_owned()),
    ];
    for (items, document) in cases {
        let schema = json!({"type": "array", "items": items, "uniqueItems": true});
        for order in [PropertyOrder::Any, PropertyOrder::Schema] {
            let mut guide = guide_of(&schema, order).unwrap();
            for (i, b) in document.bytes().enumerate() {
                assert!(allowed(&mut guide).contains(&b), "{schema} refuses byte {i} of {document}");
                guide.advance(u32::from(b)).unwrap();
            }
            assert!(guide.is_accepting(), "{schema} {document}");
        }
    }
}
