//! Arrays that use up most of the values that their unique elements may have, and objects that use up their keys.
//!
//! What is left is easy to write down here, by a list of the values that were not written: a byte may follow exactly if
//! one of them goes on with it. There are more than the few that are compared one by one, and the guides go back and
//! fork, so that the tables of elements and keys are made again.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::support::every_byte::bytes;
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::{Value, json};

/// A guide of a schema over single bytes, without blanks.
fn guide_of(schema: &Value) -> Guide {
    guide_over(schema, &bytes())
}

fn guide_over(schema: &Value, vocabulary: &Arc<Vocabulary>) -> Guide {
    let property_order = PropertyOrder::Any;
    let options = SchemaOptions { whitespace: Whitespace::Compact, property_order, ..Default::default() };
    let index = Index::from_json_schema(&schema.to_string(), vocabulary, &options, &Limits::default()).unwrap();
    index.guide(&GuideOptions::default()).unwrap()
}

/// The bytes that may follow, but for those that begin another spelling.
fn allowed(guide: &mut Guide) -> BTreeSet<u8> {
    guide.allowed_token_ids().into_iter().filter(|&id| id < 256).map(|id| id as u8).filter(|b| *b != b'\\').collect()
}

/// Words of two letters, many of which begin others.
fn words(rng: &mut Rng, n: usize) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    while words.len() < n {
        words.insert((0..1 + rng.below(7)).map(|_| if rng.chance(50) { 'a' } else { 'b' }).collect());
    }
    words
}

/// The elements or members of a text that is an array or object without its end, the last one perhaps not whole.
fn elements(read: &[u8]) -> Vec<String> {
    let text = String::from_utf8(read.to_vec()).unwrap();
    text.get(1..).map_or(Vec::new(), |t| t.split(',').map(str::to_owned).collect())
}

/// The bytes that may follow `read` between `brackets`: one of `values`, none twice, and at least `min` of them.
fn expected(values: &BTreeSet<String>, min: usize, brackets: [u8; 2], read: &[u8]) -> BTreeSet<u8> {
    if read.is_empty() {
        return BTreeSet::from([brackets[0]]);
    }
    let mut used = elements(read);
    let open = used.pop().unwrap();
    let left = || values.iter().filter(|v| !used.contains(v));
    let mut out: BTreeSet<u8> = left().filter_map(|v| v.strip_prefix(&open)?.bytes().next()).collect();
    let ended = left().any(|v| *v == open);
    if ended && used.len() + 1 < values.len() {
        out.insert(b',');
    }
    if ended && used.len() + 1 >= min || read.len() == 1 && min == 0 {
        out.insert(brackets[1]);
    }
    out
}

/// Walks at random, until all of `values` were used three times, and compares the bytes that may follow everywhere.
fn walk(rng: &mut Rng, schema: &Value, values: &BTreeSet<String>, min: usize, brackets: [u8; 2]) {
    let mut guide = guide_of(schema);
    let mut read: Vec<u8> = Vec::new();
    let (mut full, mut steps) = (0, 0);
    while full < 3 {
        let next = expected(values, min, brackets, &read);
        assert_eq!(allowed(&mut guide), next, "{schema} after {}", String::from_utf8_lossy(&read));
        steps += 1;
        let open: Vec<u8> = next.iter().copied().filter(|b| *b != brackets[1]).collect();
        // Back by some elements, now and then, in this guide or in a fork of it.
        if open.is_empty() || rng.below(400) == 0 {
            if open.is_empty() {
                full += 1;
                assert_eq!(elements(&read).len(), values.len());
            }
            if rng.chance(50) {
                guide = guide.clone();
            }
            let n = rng.below(read.len() / 2 + 1);
            guide.rollback(n).unwrap();
            read.truncate(read.len() - n);
            continue;
        }
        let byte = open[rng.below(open.len())];
        guide.advance(u32::from(byte)).unwrap();
        read.push(byte);
    }
    assert!(steps > 600, "{steps}");
}

#[test]
fn every_byte_of_strings_while_the_values_run_out() {
    let mut rng = Rng(21);
    for min in [0, 30, 60] {
        let plain = words(&mut rng, 60);
        let schema = json!({"type": "array", "items": {"enum": plain}, "uniqueItems": true, "minItems": min});
        let values = plain.iter().map(|w| format!("\"{w}\"")).collect();
        walk(&mut rng, &schema, &values, min, *b"[]");
    }
}

#[test]
fn every_byte_of_keys_while_they_run_out() {
    let mut rng = Rng(24);
    for min in [0, 30, 60] {
        let keys = words(&mut rng, 60);
        let member = json!({"const": true});
        let among = json!({
            "type": "object", "propertyNames": {"enum": keys}, "additionalProperties": member, "minProperties": min
        });
        let values = keys.iter().map(|k| format!("\"{k}\":true")).collect();
        walk(&mut rng, &among, &values, min, *b"{}");
        // Two classes of keys, and a name beside them.
        let texts =
            (1..=5).flat_map(|n| (0..1 << n).map(move |i| format!("{i:0n$b}").replace('0', "a").replace('1', "b")));
        let values = texts.map(|k| format!("\"{k}\":true")).collect();
        let classes = json!({
            "type": "object", "properties": {"abb": member}, "additionalProperties": false, "minProperties": min,
            "patternProperties": {"^a[ab]{0,4}$": member, "^b[ab]{0,4}$": member}
        });
        walk(&mut rng, &classes, &values, min, *b"{}");
    }
}

#[test]
fn numbers_end_where_their_value_is_left() {
    let mut rng = Rng(22);
    let values: BTreeSet<String> = (0..80).map(|i| i.to_string()).collect();
    let schema = json!({
        "type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 79}, "uniqueItems": true, "minItems": 80
    });
    let mut guide = guide_of(&schema);
    let mut read: Vec<u8> = Vec::new();
    let mut full = 0;
    while full < 2 {
        // Other spellings of numbers may go on differently: what ends one is compared, and whether digits may follow.
        let next = expected(&values, 80, *b"[]", &read);
        let found = allowed(&mut guide);
        let text = String::from_utf8_lossy(&read).into_owned();
        for end in [b',', b']'] {
            assert_eq!(found.contains(&end), next.contains(&end), "{} after {text}", end as char);
        }
        assert!(found.is_superset(&next), "{found:?} after {text}");
        if next == BTreeSet::from([b']']) {
            full += 1;
            let n = rng.below(read.len());
            guide.rollback(n).unwrap();
            read.truncate(read.len() - n);
            continue;
        }
        let open: Vec<u8> = next.into_iter().collect();
        let byte = open[rng.below(open.len())];
        guide.advance(u32::from(byte)).unwrap();
        read.push(byte);
    }
}

#[test]
fn tokens_are_allowed_as_their_bytes_are() {
    let n = 40;
    let number = json!({"enum": (0..n).collect::<Vec<u32>>()});
    let cases = [
        (json!({"type": "array", "items": number, "minItems": 1, "maxItems": 1}), ("[", "]")),
        (
            json!({"type": "object", "properties": {"a": number}, "required": ["a"], "additionalProperties": false}),
            ("{\"a\":", "}"),
        ),
        (number, ("", "")),
    ];
    let mut rng = Rng(23);
    for (items, (open, close)) in cases {
        let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([Vec::new()]).collect();
        for i in 0..100 {
            let between = format!("{close},{open}");
            for text in [format!("{i}"), format!("{i:02}"), format!("{i}{between}"), format!("{between}{i}")] {
                tokens.push(text.clone().into_bytes());
                tokens.push(format!("{text}{close}").into_bytes());
            }
        }
        let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
        let vocabulary = Vocabulary::new(&tokens, options).unwrap();
        let schema = json!({"type": "array", "items": items, "uniqueItems": true, "minItems": n});
        let mut guide = guide_over(&schema, &vocabulary);
        let mut twin = guide_of(&schema);
        for _ in 0..4 {
            // The values in some order, up to somewhere near the end.
            let mut values: Vec<u32> = (0..n).collect();
            (1..values.len()).rev().for_each(|i| values.swap(i, rng.below(i + 1)));
            let text: Vec<String> = values.iter().map(|v| format!("{open}{v}{close}")).collect();
            let text = format!("[{}", text.join(",")).into_bytes();
            for (at, &byte) in text.iter().enumerate() {
                if at * 3 > text.len() && rng.chance(20) {
                    let found: BTreeSet<u32> = guide.allowed_token_ids().into_iter().collect();
                    for (id, bytes) in tokens.iter().enumerate().filter(|t| !t.1.is_empty()) {
                        let taken = twin.validate(&bytes.iter().map(|&b| b.into()).collect::<Vec<_>>());
                        let (read, token) = (&text[..at], String::from_utf8_lossy(bytes));
                        let allowed = found.contains(&(id as u32));
                        assert_eq!(allowed, taken == bytes.len(), "{token} after {}", String::from_utf8_lossy(read));
                    }
                }
                guide.advance(byte.into()).unwrap();
                twin.advance(byte.into()).unwrap();
            }
            guide.reset();
            twin.reset();
        }
    }
}

#[test]
fn completions_use_up_all_values() {
    let n = 1200;
    let words: Vec<String> = (0..n).map(|i| format!("v{i}")).collect();
    let numbers: Vec<u32> = (0..n).collect();
    for (values, quotes) in [(json!(words), 2), (json!(numbers), 0)] {
        let schema = json!({"type": "array", "items": {"enum": values}, "uniqueItems": true, "minItems": n});
        let mut guide = guide_of(&schema);
        let letters = usize::from(quotes > 0);
        let elements: usize = (0..n).map(|i| i.to_string().len() + letters + quotes).sum();
        // With brackets and commas; the stop token is not counted.
        let least = elements + 2 + (n as usize - 1);
        let found = guide.min_tokens_to_finish().unwrap();
        // Numbers have shorter spellings, such as 1e3.
        assert!(found <= least && found * 20 > least * 19, "{found} of {least}");
        assert!(quotes == 0 || found == least, "{found} of {least}");
    }
}
