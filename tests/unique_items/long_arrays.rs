//! Arrays of unique elements that are long, or nest deep, beside what is plainly right; and that a byte takes no longer
//! for it: where each took as long as what was read or is left, these tests would take hours.

use std::collections::BTreeSet;

use crate::support::every_byte::bytes;
use crate::support::twin::{difference, tried_row};
use crate::support::vocabulary;
use interlock::schema::{PropertyOrder, SchemaOptions, Spelling, Whitespace};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits};
use serde_json::{Value, json};

fn options(spelling: Spelling) -> SchemaOptions {
    let (whitespace, property_order) = (Whitespace::Compact, PropertyOrder::Any);
    SchemaOptions { whitespace, property_order, spelling: Some(spelling), ..Default::default() }
}

fn index_of(schema: &Value, spelling: Spelling) -> Index {
    Index::from_json_schema(&schema.to_string(), &bytes(), &options(spelling), &Limits::default()).unwrap()
}

fn guide_of(schema: &Value) -> Guide {
    index_of(schema, Spelling::Any).guide(&GuideOptions::default()).unwrap()
}

fn unique(items: Value) -> Value {
    json!({"type": "array", "items": items, "uniqueItems": true})
}

/// Takes a text byte by byte; answers how far it came.
fn take(guide: &mut Guide, text: &str) -> usize {
    text.bytes().take_while(|&b| guide.try_advance(b.into())).count()
}

fn allowed(guide: &mut Guide) -> BTreeSet<u8> {
    guide.allowed_token_ids().into_iter().filter(|&id| id < 256).map(|id| id as u8).collect()
}

/// Every way to write a character in a string, but for the case of digits.
fn spellings(c: char) -> Vec<Vec<u8>> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    if c >= ' ' && c != '"' && c != '\\' {
        out.push(c.to_string().into_bytes());
    }
    let short = "\"\"\\\\//\u{8}b\u{c}f\nn\rr\tt".as_bytes().chunks(2).find(|pair| char::from(pair[0]) == c);
    out.extend(short.map(|pair| vec![b'\\', pair[1]]));
    let mut units = [0; 2];
    out.push(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>().into_bytes());
    out
}

/// The bytes that may follow `open`, a string that was begun, on the way to `text` in any spelling, with its quotes.
fn next_bytes(open: &[u8], text: &str) -> BTreeSet<u8> {
    let mut parts: Vec<Vec<Vec<u8>>> = vec![vec![b"\"".to_vec()]];
    parts.extend(text.chars().map(spellings));
    parts.push(vec![b"\"".to_vec()]);
    let mut out = BTreeSet::new();
    let mut ways = vec![open];
    for part in parts {
        let mut further: Vec<&[u8]> = Vec::new();
        for (left, way) in ways.iter().flat_map(|left| part.iter().map(move |way| (*left, way))) {
            let same = left.iter().zip(way).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
            // The case of digits does not matter, that of letters does.
            let same =
                if way.starts_with(b"\\u") { same } else { left.iter().zip(way).take_while(|(a, b)| a == b).count() };
            match way.get(same) {
                None => further.push(&left[same..]),
                Some(&b) if same == left.len() => {
                    out.insert(b);
                    if way.starts_with(b"\\u") && b != b'u' {
                        out.insert(b.to_ascii_uppercase());
                    }
                }
                Some(_) => {}
            }
        }
        further.sort_unstable();
        further.dedup();
        ways = further;
    }
    out
}

/// Writes elements at random, in any spelling, until `texts` are used up, and compares the bytes that may follow.
fn walk(rng: &mut Rng, schema: &Value, texts: &BTreeSet<String>, rounds: usize) {
    let mut guide = guide_of(schema);
    for _ in 0..rounds {
        assert_eq!(take(&mut guide, "["), 1);
        let mut left: Vec<&String> = texts.iter().collect();
        while !left.is_empty() {
            let mut open: Vec<u8> = Vec::new();
            let ended = loop {
                let next: BTreeSet<u8> = left.iter().flat_map(|text| next_bytes(&open, text)).collect();
                if next.is_empty() {
                    break String::from_utf8(open).unwrap();
                }
                let mut found = allowed(&mut guide);
                if open.is_empty() {
                    found.remove(&b']');
                }
                let shown = String::from_utf8_lossy(&open).into_owned();
                assert_eq!(found, next, "{schema} with {} left, after {shown}", left.len());
                // Escapes are taken now and then, and left again.
                if rng.chance(2) && !open.is_empty() {
                    let n = 1 + rng.below(open.len());
                    guide.rollback(n).unwrap();
                    open.truncate(open.len() - n);
                    continue;
                }
                let plain: Vec<u8> = next.iter().copied().filter(|b| *b != b'\\').collect();
                let byte = if plain.is_empty() || rng.chance(8) {
                    *next.iter().nth(rng.below(next.len())).unwrap()
                } else {
                    plain[rng.below(plain.len())]
                };
                open.push(byte);
                guide.advance(byte.into()).unwrap();
            };
            let text: String = serde_json::from_str(&ended).unwrap();
            left.retain(|t| **t != text);
            let comma = if left.is_empty() { BTreeSet::new() } else { BTreeSet::from([b',']) };
            assert_eq!(allowed(&mut guide), &comma | &BTreeSet::from([b']']), "{schema} with {} left", left.len());
            if !left.is_empty() {
                guide.advance(b','.into()).unwrap();
            }
        }
        guide.reset();
    }
}

#[test]
fn every_byte_of_every_spelling_while_texts_run_out() {
    let mut rng = Rng(77);
    let letters = ['a', 'b', 'é', '"', '\n', '/', '\u{1F600}', '日'];
    for _ in 0..12 {
        let common = "ab".repeat(rng.below(20));
        let word = |rng: &mut Rng| -> String { (0..rng.below(4)).map(|_| letters[rng.below(letters.len())]).collect() };
        let texts: BTreeSet<String> = (0..20)
            .map(|_| if rng.chance(50) { format!("{common}{}{common}", word(&mut rng)) } else { word(&mut rng) })
            .collect();
        walk(&mut rng, &unique(json!({"enum": texts})), &texts, 2);
    }
    // Patterns, with bounds that matter.
    let of = |most: usize| -> BTreeSet<String> {
        let words = (1..=most).flat_map(|len| (0..1 << len).map(move |i| format!("{i:0len$b}")));
        words.map(|text| text.replace('0', "é").replace('1', "b")).collect()
    };
    let bounded = json!({"type": "string", "pattern": "^[bé]+$", "minLength": 1, "maxLength": 4});
    walk(&mut rng, &unique(bounded), &of(4), 2);
    walk(&mut rng, &unique(json!({"type": "string", "pattern": "^[bé]{1,3}$"})), &of(3), 2);
}

#[test]
fn names_that_are_used_up_are_not_begun_by_escapes() {
    let items = json!({"type": "object", "additionalProperties": false, "maxProperties": 1,
        "properties": {"a": {"type": "string"}, "ab": {"const": 1}, "aé": {"const": 1}, "": {"enum": [1, 2]}}});
    let mut guide = guide_of(&unique(items));
    assert_eq!(take(&mut guide, r#"[{"ab":1},{"a"#), 13);
    assert_eq!(allowed(&mut guide), BTreeSet::from([b'"', b'\\', "é".as_bytes()[0]]));
    assert_eq!(take(&mut guide, "\\u00"), 4);
    assert_eq!(allowed(&mut guide), BTreeSet::from([b'e', b'E']));
    guide.rollback(4).unwrap();
    assert_eq!(take(&mut guide, r#"é":1},{"a"#), 10);
    assert_eq!(allowed(&mut guide), BTreeSet::from([b'"']));
}

#[test]
fn masks_do_not_depend_on_what_was_looked_at_before() {
    let v = vocabulary::small();
    let own = json!({"$ref": "#"});
    let same = "same ".repeat(10);
    let schemas = [
        unique(own.clone()),
        unique(json!({"anyOf": [own, {"enum": ["a", "ab", "b", 1, 12]}, {"type": "boolean"}]})),
        unique(unique(unique(json!({"enum": [1, 2, 3, true]})))),
        unique(json!({"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
            "a": {"const": same}, "b": {"enum": [same, same.clone() + "b"]}, "c": {"type": "boolean"}}})),
        json!({"type": "object", "additionalProperties": false, "properties": {
            "a": unique(json!({"$ref": "#"})), "b": {"enum": ["x", "xy"]}}}),
    ];
    let mut rng = Rng(5);
    for schema in schemas {
        let index = Index::from_json_schema(&schema.to_string(), &v, &options(Spelling::Constants), &Limits::default())
            .unwrap();
        let start = || index.guide(&GuideOptions::default()).unwrap();
        for _ in 0..6 {
            let mut guide = start();
            let mut row = vec![0; v.words()];
            for step in 0..120 {
                guide.fill_mask(&mut row);
                if step % 5 == 0 {
                    let mut fresh = start();
                    guide.tokens().into_iter().for_each(|t| fresh.advance(t).unwrap());
                    assert_eq!(difference(&v, &row, &tried_row(&fresh)), None, "{schema} {:?}", guide.tokens());
                }
                let all = guide.allowed_token_ids();
                assert!(!all.is_empty(), "{schema}");
                // Drafts, other ways, and back again.
                let draft: Vec<u32> = (0..rng.below(5)).map(|_| all[rng.below(all.len())]).collect();
                let mut fresh = guide.clone();
                assert_eq!(guide.validate(&draft), fresh.advance_many(&draft));
                if rng.chance(15) {
                    guide.rollback(rng.below(guide.num_tokens() + 1).min(12)).unwrap();
                    continue;
                }
                // Ends come seldom.
                let opens = |t: &&u32| !v.spelling(**t).is_some_and(|text| text.is_empty() || text.ends_with(b"]"));
                let open: Vec<u32> = all.iter().filter(opens).copied().collect();
                let from = if open.is_empty() || rng.chance(5) { &all } else { &open };
                if !guide.try_advance(from[rng.below(from.len())]) || guide.is_terminated() {
                    break;
                }
            }
        }
    }
}

#[test]
fn long_constants_take_no_longer_than_short_ones() {
    let texts = ["a", "b", "c"].map(|c| c.repeat(100_000));
    let text = format!("[{}]", texts.iter().map(|t| json!(t).to_string()).collect::<Vec<_>>().join(","));
    let memory = |schema: &Value| {
        let index = index_of(schema, Spelling::Any);
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        assert_eq!(take(&mut guide, &text), text.len());
        assert!(guide.is_accepting());
        index.memory_bytes()
    };
    let plain = memory(&json!({"type": "array", "items": {"enum": texts}}));
    let differing = memory(&unique(json!({"enum": texts})));
    // What is left is counted: listing it found the states of every escape.
    assert!(differing * 4 < plain * 5, "{differing} and {plain} bytes");
    // Behind an escape, and where something else is decided behind them.
    let mut guide = guide_of(&unique(json!({"enum": texts})));
    let escaped = text.replace("\"b", "\"\\u0062").replace("\"c", "\"\\u0063");
    assert_eq!(take(&mut guide, &escaped), escaped.len());
    let item = |i: u32| json!({"a": texts[0], "b": i});
    let items = json!({"type": "object", "additionalProperties": false, "required": ["a", "b"],
        "properties": {"a": {"const": texts[0]}, "b": {"enum": [1, 2]}}});
    let mut guide = guide_of(&unique(items));
    let objects = format!("[{},{}]", item(1), item(2));
    assert_eq!(take(&mut guide, &objects), objects.len());
}

#[test]
fn long_constants_are_used_up_at_their_first_byte() {
    // As long as the states that are counted at once, and longer.
    for len in [10, 10_000, 25_000] {
        let texts = ["a", "b"].map(|c| c.repeat(len));
        let mut guide = guide_of(&unique(json!({"enum": texts})));
        assert_eq!(take(&mut guide, &format!("[{:?},\"", texts[0])), len + 5);
        assert_eq!(allowed(&mut guide), BTreeSet::from([b'b', b'\\']));
        assert_eq!(take(&mut guide, &format!("{}\"", texts[1])), len + 1);
        assert_eq!(allowed(&mut guide), BTreeSet::from([b']']));
    }
}

#[test]
fn long_texts_take_no_longer_than_short_ones() {
    let text = format!("[\"a\",\"{}\"]", "x".repeat(1_000_000));
    for items in [json!({"type": "string"}), json!({"type": "string", "minLength": 3}), json!({})] {
        let mut guide = guide_of(&json!({"type": "array", "items": items, "uniqueItems": true}));
        let text = if items.get("minLength").is_some() { text.replacen("\"a\"", "\"aaa\"", 1) } else { text.clone() };
        assert_eq!(take(&mut guide, &text), text.len(), "{items}");
    }
}

#[test]
fn many_strings_take_no_longer_than_few() {
    let words: Vec<String> = (0..20_000u32).map(|i| format!("{:08x}", i.wrapping_mul(2_654_435_761))).collect();
    let text: Vec<String> = words.iter().map(|w| format!("{w:?}")).collect();
    let text = format!("[{}", text.join(","));
    let mut guide = guide_of(&unique(json!({"enum": words})));
    assert_eq!(take(&mut guide, &text), text.len());
    assert_eq!(allowed(&mut guide), BTreeSet::from([b']']));
    // Only the last one may come where it came.
    guide.rollback(11).unwrap();
    assert_eq!(take(&mut guide, ",\""), 2);
    let last = words.last().unwrap().as_bytes()[0];
    assert_eq!(allowed(&mut guide), BTreeSet::from([last, b'\\']));
}

#[test]
fn deep_arrays_take_no_longer_than_flat_ones() {
    let depth = 1_200;
    let own = json!({"$ref": "#"});
    let cases = [
        (unique(own.clone()), "[[],", "[[]]"),
        (unique(json!({"anyOf": [own, {"enum": [1, 12, 123]}]})), "[[],1,12,", "123"),
    ];
    for (schema, open, inner) in cases {
        let text = format!("{}{inner}{}", open.repeat(depth), "]".repeat(depth));
        let mut guide = guide_of(&schema);
        assert_eq!(take(&mut guide, &text), text.len());
        guide.reset();
        let mut row = vec![0; 9];
        for (i, byte) in text.bytes().enumerate() {
            if i % 50 == 0 {
                guide.fill_mask(&mut row);
            }
            // A draft is looked at and left before every byte.
            let draft: Vec<u32> = text.bytes().skip(i).take(3).map(u32::from).collect();
            assert_eq!(guide.validate(&draft), draft.len());
            guide.advance(byte.into()).unwrap();
        }
    }
}

#[test]
fn texts_of_one_length_are_used_up_however_long_they_are() {
    let text = |pattern: &str, min: usize, max: usize| {
        unique(json!({"type": "string", "pattern": pattern, "minLength": min, "maxLength": max}))
    };
    let letters = || b'b'..=b'z';
    // One text begins with "a": each state of it may go on for ever, or is far from its end.
    let mut cases: Vec<(Value, usize, BTreeSet<u8>)> = vec![
        (text("^(a{300}|b[a-z]{3})$", 0, 301), 300, [b'b'].into()),
        (text("^(a{600}|b[a-z]{3})$", 4, 600), 600, [b'b'].into()),
        (text("^(a{300}|b[a-z]*)$", 0, 400), 300, [b'b'].into()),
    ];
    for len in [3, 5, 20, 47, 48, 49, 60, 200, 300] {
        cases.push((text("^(a*|[b-z]+)$", len, len), len, letters().collect()));
        cases.push((text("^(a*|b*)$", len, len), len, [b'b'].into()));
        cases.push((text("^(a|aa)*$|^[b-z]*$", len, len), len, letters().collect()));
    }
    for (schema, len, expected) in cases {
        let mut guide = guide_of(&schema);
        let text = format!("[\"{}\",\"", "a".repeat(len));
        assert_eq!(take(&mut guide, &text), text.len(), "{schema}");
        assert_eq!(allowed(&mut guide), &expected | &BTreeSet::from([b'\\']), "{schema}");
        assert!(!guide.try_advance(b'a'.into()), "{schema}");
        // Behind an escape as well.
        assert_eq!(take(&mut guide, "\\u006"), 5, "{schema}");
        assert!(!allowed(&mut guide).contains(&b'1'), "{schema}");
        guide.rollback(5).unwrap();
        let other = char::from(*expected.iter().next().unwrap());
        assert!(guide.try_advance(other.into()), "{schema}");
    }
}

#[test]
fn texts_with_one_of_each_length_are_used_up() {
    // More than look few at their beginning.
    for most in [60, 100, 300] {
        let schema = unique(json!({"type": "string", "pattern": "^a*$", "maxLength": most}));
        let mut guide = guide_of(&schema);
        let texts: Vec<String> = (0..=most).rev().map(|len| format!("{:?}", "a".repeat(len))).collect();
        let text = format!("[{}", texts.join(","));
        assert_eq!(take(&mut guide, &text), text.len());
        assert_eq!(allowed(&mut guide), BTreeSet::from([b']']), "up to {most}");
        // Only the last one may come where it came.
        guide.rollback(texts[most].len() + 1).unwrap();
        assert_eq!(take(&mut guide, ",\""), 2);
        assert_eq!(allowed(&mut guide), BTreeSet::from([b'"']), "up to {most}");
    }
}
