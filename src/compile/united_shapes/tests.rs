use std::cell::Cell;
use std::sync::Arc;

use crate::schema::{PropertyOrder, SchemaOptions};
use crate::util::rng::Rng;
use crate::{Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

thread_local! {
    /// How many alternatives are united on this thread.
    pub(super) static LEAST_HERE: Cell<Option<usize>> = const { Cell::new(None) };
}

const EOS: u32 = 256;
/// Tokens beside all bytes.
const PIECES: &[&str] = &[
    "\"a\"",
    "\"a\":",
    "\":1",
    "\": 1,",
    "1}",
    ",\"",
    ", \"",
    "\"b\": ",
    "a1",
    "\"a1\":1,\"b1\":",
    "\"}",
    "{\"",
    "{}",
    "\"x\":",
    "\"x\": \"",
    "1,\"",
    "c0\"",
    "\\u0061",
    "b1\":\"",
    "\":{",
    "true",
    "]}",
    "\"kind\":\"k",
    "key\": ",
    "\"p1\"",
];

const SCHEMAS: &[&str] = &[
    r#"{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]},{"properties":{"x":{"type":"integer"}},"required":["x"]}]}"#,
    r#"{"type":"object","dependentSchemas":{"a":{"properties":{"x":{"type":"integer"}}},"b":{"properties":{"x":{"maximum":4}},"required":["c0"]}}}"#,
    r#"{"type":"object","allOf":[{"anyOf":[{"required":["a1"]},{"required":["b1"]}]},{"anyOf":[{"required":["a"]},{"required":["b"]}]},
        {"oneOf":[{"required":["x"]},{"required":["c0"]}]}]}"#,
    r#"{"type":"object","patternProperties":{"^p":{"type":"integer"}},"anyOf":[{"required":["p1"]},{"properties":{"a":{"type":"string"}},
        "additionalProperties":{"type":["integer","string"]}},{"required":["b"]}]}"#,
    r#"{"type":"object","properties":{"a":true,"b":true,"x":true,"a1":{"type":"string"}},"additionalProperties":false,
        "anyOf":[{"required":["a"]},{"required":["b"],"properties":{"x":{"type":"string"}}},{"maxProperties":1}]}"#,
    r#"{"type":"array","items":{"type":"object","oneOf":[{"properties":{"kind":{"const":"k1"},"a":{"type":"integer"}},"required":["kind"]},
        {"properties":{"kind":{"const":"k2"},"a":{"type":"string"},"b":{"type":"object"}},"required":["kind","a"]},
        {"properties":{"kind":{"enum":["k3","k4"]}},"required":["kind"],"additionalProperties":{"type":"boolean"}}]}}"#,
    r#"{"type":"object","maxProperties":3,"allOf":[{"anyOf":[{"required":["a"]},{"required":["b"]}]},{"anyOf":[{"required":["a1"]},
        {"required":["x","c0"]}]},{"anyOf":[{"properties":{"a":{"type":"integer"},"b":false}},{"properties":{"b":{"type":"string"}}}]}]}"#,
    r#"{"type":"array","items":{"type":"object","maxProperties":2,"minProperties":1,"dependentSchemas":{"a":{"properties":{"b":{"type":"integer"}}},
        "b":{"required":["x"]}},"properties":{"a1":{"type":"object","maxProperties":1,"anyOf":[{"required":["a"]},{"required":["b"]}]}}}}"#,
    r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","minProperties":2,"dependentSchemas":{"a":{"properties":{"b":{"type":"integer"}}}},
        "if":{"properties":{"x":{"const":1}}},"then":{"required":["b"]},"else":{"properties":{"a1":{"$ref":"#/$defs/n"}}},
        "properties":{"key":{"$ref":"#/$defs/n"}}}}}"##,
    r#"{"type":["object","array","string"],"not":{"required":["a","b"],"properties":{"a":{"type":"integer"}}}}"#,
    r#"{"type":"object","properties":{"":{"type":"integer"}},"anyOf":[{"required":[""]},{"required":["a"]}],"unevaluatedProperties":{"type":"string"}}"#,
    r#"{"anyOf":[{"type":"object","properties":{"a":{"anyOf":[{"required":["x"]},{"required":["b"]}],"type":"object"}}},
        {"type":"object","properties":{"a":{"type":"integer"}},"required":["b"]},{"type":"object","propertyNames":{"enum":["a","b","x"]}}]}"#,
];

fn vocabulary() -> Arc<Vocabulary> {
    let bytes = (0..=255u8).map(|b| vec![b]).chain([vec![]]);
    let tokens: Vec<Vec<u8>> = bytes.chain(PIECES.iter().map(|piece| piece.as_bytes().to_vec())).collect();
    Vocabulary::new(tokens, VocabularyOptions { eos_token_ids: vec![EOS], ..Default::default() }).expect("a vocabulary")
}

fn index(source: &str, vocabulary: &Arc<Vocabulary>, least: usize) -> Index {
    LEAST_HERE.set(Some(least));
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..Default::default() };
    let index = Index::from_json_schema(source, vocabulary, &options, &Limits::default()).expect(source);
    LEAST_HERE.set(None);
    index
}

fn united_shapes(index: &Index) -> usize {
    match &index.engine().expect("compiled").engine {
        crate::index::IndexEngine::Document { program, .. } => {
            program.objects.iter().filter(|shape| shape.union.is_some()).count()
        }
        _ => 0,
    }
}

fn mask(guide: &mut Guide) -> Vec<u32> {
    let mut row = vec![0; guide.index().vocabulary().words()];
    guide.fill_mask(&mut row);
    row
}

/// A token of the mask: mostly structure, sometimes anything.
fn pick(rng: &mut Rng, row: &[u32], vocabulary: &Vocabulary) -> Option<u32> {
    let allowed: Vec<u32> =
        (0..vocabulary.size() as u32).filter(|&id| id != EOS && row[id as usize >> 5] >> (id & 31) & 1 == 1).collect();
    let close = |id: &u32| vocabulary.spelling(*id).is_some_and(|text| text.iter().any(|b| b"\"}]:,".contains(b)));
    let plain = |id: &u32| {
        vocabulary.spelling(*id).is_some_and(|text| text.is_ascii() && text.iter().all(|b| b"abx1kp0c2".contains(b)))
    };
    let some: Vec<u32> = match rng.below(10) {
        0..5 => allowed.iter().copied().filter(close).collect(),
        5..8 => allowed.iter().copied().filter(plain).collect(),
        8 => allowed.iter().copied().filter(|id| *id > EOS).collect(),
        _ => allowed.clone(),
    };
    let from = if some.is_empty() { &allowed } else { &some };
    (!from.is_empty()).then(|| from[rng.below(from.len())])
}

#[test]
fn masks_are_those_of_the_alternatives_side_by_side() {
    let vocabulary = vocabulary();
    let mut united = 0;
    for (source, seed) in SCHEMAS.iter().zip(1..) {
        let (one, each) = (index(source, &vocabulary, 2), index(source, &vocabulary, usize::MAX));
        united += united_shapes(&one);
        assert_eq!(united_shapes(&each), 0);
        let mut rng = Rng(seed);
        for _ in 0..60 {
            let mut guides = [&one, &each].map(|index| index.guide(&GuideOptions::default()).expect("a guide"));
            for _ in 0..60 {
                let rows = guides.each_mut().map(mask);
                let text = vocabulary.decode(&guides[0].tokens()).expect("text");
                assert!(rows[0] == rows[1], "{source}\nafter {:?}", String::from_utf8_lossy(&text));
                assert_eq!(guides[0].is_accepting(), guides[1].is_accepting());
                let Some(token) = pick(&mut rng, &rows[0], &vocabulary) else { break };
                guides.iter_mut().for_each(|guide| assert!(guide.try_advance(token)));
                let random = rng.below(vocabulary.size()) as u32;
                let taken = guides.each_mut().map(|guide| guide.validate(&[random]));
                assert_eq!(taken[0], taken[1], "token {random}");
            }
        }
    }
    assert!(united > 10, "{united} shapes are united");
}

#[test]
fn both_find_the_same_end() {
    let vocabulary = vocabulary();
    for (source, seed) in SCHEMAS.iter().zip(50..) {
        let mut rng = Rng(seed);
        let index = index(source, &vocabulary, 2);
        for max_tokens in [40, 60] {
            let options = GuideOptions { max_tokens: Some(max_tokens), ..Default::default() };
            let mut guide = index.guide(&options).expect("a budget that suffices");
            while !guide.is_terminated() {
                let row = mask(&mut guide);
                let ends = row[EOS as usize >> 5] >> (EOS & 31) & 1 == 1;
                match pick(&mut rng, &row, &vocabulary) {
                    Some(token) => assert!(guide.try_advance(token)),
                    None => assert!(ends && guide.try_advance(EOS), "no way to the end"),
                }
            }
        }
    }
}

#[test]
fn a_product_of_conditions_is_one_item() {
    let vocabulary = vocabulary();
    let pairs: Vec<String> =
        (0..12).map(|i| format!(r#"{{"anyOf":[{{"required":["a{i}"]}},{{"required":["b{i}"]}}]}}"#)).collect();
    let source = format!(r#"{{"type":"object","allOf":[{}]}}"#, pairs.join(","));
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..Default::default() };
    let index = Index::from_json_schema(&source, &vocabulary, &options, &Limits::default()).expect("compiles");
    assert_eq!(united_shapes(&index), 1);
    let mut guide = index.guide(&GuideOptions::default()).expect("a guide");
    let text =
        (0..12).map(|i| format!("\"{}{i}\":0", if i % 2 == 0 { 'a' } else { 'b' })).collect::<Vec<_>>().join(",");
    for (i, byte) in format!("{{{text}").bytes().enumerate() {
        // Inside a key a brace is text.
        if byte == b',' {
            assert_eq!(guide.validate(&[u32::from(b'}')]), 0, "nothing may end before all are there");
        }
        assert!(guide.try_advance(u32::from(byte)), "byte {i}");
    }
    assert_eq!(guide.validate(&[u32::from(b'}'), EOS]), 2);
    assert!(guide.memory_bytes() < 1 << 20);
}
