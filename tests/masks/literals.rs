//! Alternatives that constants tell apart: masks equal the slow twin's, and those of the same alternatives where every
//! constant is followed by a lexeme of its own, which is so beside an array whose elements must differ.

use crate::support::check::{Plan, walk};
use crate::support::twin::{Spellings, difference};
use crate::support::vocabulary;
use crate::support::walk::Walker;
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use std::sync::Arc;

/// Objects of several alternatives, and texts that walks follow.
const SCHEMAS: &[(&str, &[&str])] = &[
    // Constants that begin others, each with arguments of its own.
    (
        r#"{"anyOf":[
        {"type":"object","properties":{"name":{"const":"a"},"x":{"type":"integer"}},"required":["name","x"],"additionalProperties":false},
        {"type":"object","properties":{"name":{"const":"ab"},"y":{"type":"boolean"}},"required":["name"],"additionalProperties":false},
        {"type":"object","properties":{"name":{"const":"abc"},"x":{"const":null}},"required":["name","x"],"additionalProperties":false},
        {"type":"object","properties":{"name":{"const":"foo"},"data":{"type":"string"}},"required":["name","data"],"additionalProperties":false},
        {"type":"object","properties":{"name":{"const":""},"ab":{"type":"string"}},"required":["name"],"additionalProperties":false}]}"#,
        &[r#"{"name": "ab", "y": true}"#, r#"{"name":"a","x":12}"#, r#"{"x": null, "name": "abc"}"#, r#"{"name":""}"#],
    ),
    // One constant in several alternatives, and lists that overlap.
    (
        r#"{"oneOf":[
        {"type":"object","properties":{"kind":{"const":"red"},"a":{"type":"integer"}},"required":["kind","a"],"additionalProperties":false},
        {"type":"object","properties":{"kind":{"const":"red"},"b":{"type":"string"}},"required":["kind","b"],"additionalProperties":false},
        {"type":"object","properties":{"kind":{"enum":["red","green"]},"c":{"type":"null"}},"required":["kind","c"],"additionalProperties":false},
        {"type":"object","properties":{"kind":{"enum":["green","blue",3]},"d":{"enum":["x","y"]}},"required":["kind","d"],"additionalProperties":false}]}"#,
        &[
            r#"{"kind": "red", "b": "x"}"#,
            r#"{"kind":"green","d":"y"}"#,
            r#"{"kind": 3, "d": "x"}"#,
            r#"{"c":null,"kind":"red"}"#,
        ],
    ),
    // Escapes, characters of several bytes, and what is no constant beside constants.
    (
        r#"{"anyOf":[
        {"type":"object","properties":{"é":{"const":"a\"b\\c/\n"},"x":{"type":"integer"}},"required":["é"],"additionalProperties":false},
        {"type":"object","properties":{"é":{"const":"日本"},"y":{"type":"integer"}},"required":["é"],"additionalProperties":false},
        {"type":"object","properties":{"é":{"const":"日"},"z":{"type":"integer"}},"required":["é"],"additionalProperties":false},
        {"type":"object","properties":{"é":{"const":"\u0001😀"}},"required":["é"],"additionalProperties":false},
        {"type":"object","properties":{"é":{"type":"string","maxLength":3}},"required":["é"],"additionalProperties":false},
        {"type":"object","properties":{"é":{"type":"string","pattern":"^a+b$"}, "w":true},"required":["é"],"additionalProperties":false},
        {"type":"object","properties":{"é":{"type":"number"}},"required":["é"],"additionalProperties":false}]}"#,
        &[
            r#"{"é": "a\"b\\c\/\n", "x": 1}"#,
            r#"{"é":"日本","y":2}"#,
            r#"{"é":"\u65e5","z":3}"#,
            r#"{"é":"\u0001\ud83d\ude00"}"#,
        ],
    ),
    // Below keys that all alternatives have, in arrays, and with open objects.
    (
        r#"{"type":"object","properties":{"items":{"type":"array","items":{"anyOf":[
        {"type":"object","properties":{"type":{"const":"function"},"id":{"type":"object","properties":{"name":{"const":"get_a"},"x":{"type":"integer"}},"required":["name"]}},"required":["type","id"]},
        {"type":"object","properties":{"type":{"const":"function"},"id":{"type":"object","properties":{"name":{"const":"get_b"},"y":{"type":"integer"}},"required":["name"],"additionalProperties":false}},"required":["type","id"]},
        {"type":"object","properties":{"type":{"const":"function"},"id":{"type":"object","properties":{"name":{"const":"get_"}},"required":["name"],"additionalProperties":false}},"required":["type","id"],"additionalProperties":false},
        {"const":"get_a"}, {"const":"get_b"}, {"enum":["off","on",null]}]}}},"required":["items"],"additionalProperties":false}"#,
        &[
            r#"{"items": [{"type": "function", "id": {"name": "get_a", "x": 1}}, "off"]}"#,
            r#"{"items":["get_b",{"type":"function","id":{"name":"get_"}}]}"#,
        ],
    ),
];

fn options(order: PropertyOrder, whitespace: Whitespace) -> SchemaOptions {
    SchemaOptions { property_order: order, whitespace, ..SchemaOptions::default() }
}

fn all_options() -> Vec<SchemaOptions> {
    let spaces = || [SchemaOptions::default().whitespace, Whitespace::Compact];
    let orders = [PropertyOrder::Any, PropertyOrder::Schema];
    orders.into_iter().flat_map(|order| spaces().map(|s| options(order, s))).collect()
}

fn index(schema: &str, v: &Arc<Vocabulary>, options: &SchemaOptions) -> Index {
    Index::from_json_schema(schema, v, options, &Limits::default()).unwrap_or_else(|e| panic!("{schema}: {e}"))
}

/// The same objects, and arrays whose elements must differ.
fn by_lexemes(schema: &str, v: &Arc<Vocabulary>, options: &SchemaOptions) -> Index {
    let array = r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true}"#;
    index(&format!(r#"{{"anyOf":[{schema},{array}]}}"#), v, options)
}

fn start(index: &Index) -> Guide {
    index.guide(&GuideOptions::default()).unwrap()
}

/// Walks both at once, with forks and going back; returns how many masks were compared.
fn side_by_side(one: &Index, other: &Index, walker: &mut Walker, name: &str) -> usize {
    let v = one.vocabulary().clone();
    let (mut a, mut b) = (start(one), start(other));
    // Past the first byte the two are the same.
    let open = a.allowed_token_ids().into_iter().find(|&id| v.spelling(id) == Some(b"{")).expect("an object");
    a.advance(open).unwrap();
    b.advance(open).unwrap();
    let (mut row, mut expected) = (vec![0; v.words()], vec![0; v.words()]);
    let mut compared = 0;
    for step in 0..60 {
        a.fill_mask(&mut row);
        b.fill_mask(&mut expected);
        let at = String::from_utf8_lossy(&v.decode(&a.tokens()).unwrap()).into_owned();
        if let Some(d) = difference(&v, &row, &expected) {
            panic!("{name} after {at:?}: {d}");
        }
        assert_eq!(a.is_accepting(), b.is_accepting(), "{name} after {at:?}");
        assert_eq!(a.forced_bytes(), b.forced_bytes(), "{name} after {at:?}");
        compared += 1;
        if step % 9 == 8 && a.num_tokens() > 4 {
            let back = 1 + walker.rng().below(3);
            a.rollback(back).unwrap();
            b.rollback(back).unwrap();
            continue;
        }
        if step % 7 == 3 {
            // The fork goes on; what it leaves behind must not matter to it, nor the other way round.
            let mut fork = a.clone();
            let allowed = a.allowed_token_ids();
            if let Some(id) = walker.next(&a, &allowed) {
                a.advance(id).unwrap();
                a.fill_mask(&mut row);
            }
            std::mem::swap(&mut a, &mut fork);
        }
        let allowed = a.allowed_token_ids();
        let Some(id) = walker.next(&a, &allowed) else { break };
        assert!(a.try_advance(id) && b.try_advance(id), "{name} after {at:?}: token {id}");
    }
    compared
}

fn texts(schema: usize) -> impl Iterator<Item = &'static str> {
    SCHEMAS[schema].1.iter().copied().chain(["", ""])
}

#[test]
fn masks_are_the_twins() {
    let v = vocabulary::small();
    let tokens = Spellings::from_vocabulary(&v);
    let (mut states, mut wrong) = (0, Vec::new());
    for (n, (schema, _)) in SCHEMAS.iter().enumerate() {
        for (o, options) in all_options().iter().enumerate() {
            let index = index(schema, &v, options);
            for (text, seed) in texts(n).zip(0..) {
                let walker = Walker::new(seed * 71 + (n * 4 + o) as u64, text.as_bytes());
                let found = walk(start(&index), None, &tokens, walker, Plan { tokens: 30, every: 3, probes: 3 });
                states += found.states;
                wrong.extend(found.wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(states > 400, "{states}");
}

#[test]
fn masks_are_those_of_single_lexemes() {
    let v = vocabulary::small();
    let mut compared = 0;
    for (n, (schema, _)) in SCHEMAS.iter().enumerate() {
        for (o, options) in all_options().iter().enumerate() {
            let (one, other) = (index(schema, &v, options), by_lexemes(schema, &v, options));
            for round in 0..3 {
                for (text, seed) in texts(n).zip(0..) {
                    let seed = round * 1_000 + seed * 71 + (n * 4 + o) as u64;
                    let mut walker = Walker::new(seed, text.as_bytes().get(1..).unwrap_or_default());
                    compared += side_by_side(&one, &other, &mut walker, &format!("{schema} {options:?}"));
                }
            }
        }
    }
    assert!(compared > 4_000, "{compared}");
}

#[test]
fn a_vocabulary_without_all_bytes() {
    let words = "{\" \": \",\" \"} name ab abc abc\" b\", ab\",\" foo \"foo kind red green\" re gre en \
                 null \"a \"ab\" \\u \\u00 get_ a\"}";
    for missing in ["~\\", "~"] {
        let single = (b' '..=b'~').filter(|b| !missing.as_bytes().contains(b)).map(|b| vec![b]);
        let words = words.split_ascii_whitespace().filter(|w| !w.contains('\\') || !missing.contains('\\'));
        let tokens: Vec<Vec<u8>> = single.chain(words.map(|w| w.as_bytes().to_vec())).chain([Vec::new()]).collect();
        let eos_token_ids = vec![tokens.len() as u32 - 1];
        let v = Vocabulary::new(tokens, VocabularyOptions { eos_token_ids, ..Default::default() }).unwrap();
        lacking(&v);
    }
}

fn lacking(v: &Arc<Vocabulary>) {
    let spelled = Spellings::from_vocabulary(v);
    let mut compared = 0;
    for (schema, texts) in [SCHEMAS[0], SCHEMAS[1], SCHEMAS[3]] {
        for options in &all_options() {
            let (one, other) = (index(schema, v, options), by_lexemes(schema, v, options));
            for seed in 0..6 {
                let text = texts.get(seed as usize).map_or(&b""[..], |text| &text.as_bytes()[1..]);
                compared += side_by_side(&one, &other, &mut Walker::new(seed, text), schema);
                let found =
                    walk(start(&one), None, &spelled, Walker::new(seed, b""), Plan { tokens: 20, every: 2, probes: 2 });
                assert!(found.wrong.is_empty(), "{:?}", found.wrong);
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn outputs_end_within_their_budget() {
    let v = vocabulary::small();
    let mut rng = Rng(5);
    for (schema, _) in SCHEMAS {
        for options in &all_options() {
            let index = index(schema, &v, options);
            let needed = start(&index).min_tokens_to_finish().unwrap();
            for more in [0, 1, 4, 9] {
                let budget = GuideOptions { max_tokens: Some(needed + more), ..GuideOptions::default() };
                let mut guide = index.guide(&budget).unwrap();
                let mut free = start(&index);
                for _ in 0..needed + more {
                    let spelled = |id: &u32| v.spelling(*id).is_some();
                    let allowed: Vec<u32> = guide.allowed_token_ids().into_iter().filter(spelled).collect();
                    if allowed.is_empty() {
                        break;
                    }
                    let id = *rng.pick(&allowed);
                    guide.advance(id).unwrap();
                    free.advance(id).unwrap();
                }
                let text = v.decode(&guide.tokens()).unwrap();
                assert!(free.is_accepting(), "{schema}: {}", String::from_utf8_lossy(&text));
            }
        }
    }
}

#[test]
fn built_indexes_say_what_lazy_ones_say() {
    let v = vocabulary::small();
    for (n, (schema, _)) in SCHEMAS[..2].iter().enumerate() {
        let options = options(PropertyOrder::Schema, Whitespace::Compact);
        let (built, other) = (index(schema, &v, &options), by_lexemes(schema, &v, &options));
        built.build(Some(2), 200_000, |_, _| Ok(())).unwrap();
        for (text, seed) in texts(n).zip(0..) {
            let mut walker = Walker::new(seed, text.as_bytes().get(1..).unwrap_or_default());
            side_by_side(&built, &other, &mut walker, schema);
        }
    }
}
