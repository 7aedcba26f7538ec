use super::*;
use crate::schema::{PropertyOrder, SchemaOptions, Spelling, Whitespace};
use crate::util::rng::Rng;
use crate::vocab::{Vocabulary, VocabularyOptions};
use crate::{GuideOptions, Index, Limits};

/// All bytes, and tokens that open, close and leave much.
fn vocabulary() -> Arc<Vocabulary> {
    vocabulary_of(|_| true)
}

/// The same without bytes that many vocabularies lack: of control characters, and of rare scripts.
fn vocabulary_with_gaps() -> Arc<Vocabulary> {
    vocabulary_of(|b| !matches!(b, 0..=8 | 0x0B..=0x1F | 0x7F | 0xC0 | 0xC1 | 0xD9..=0xDF | 0xEE..=0xFF))
}

fn vocabulary_of(has: impl Fn(u8) -> bool) -> Arc<Vocabulary> {
    let words = [
        "[[",
        "[[[[",
        "[{\"",
        "{\"a\":[{\"",
        "],[",
        "\"},{\"",
        "\"}]}",
        "\":\"",
        "\",\"",
        "{}",
        "[]",
        "]]",
        "}}",
        "null",
        "name",
        "\"name\":",
        "aaaa",
        "12",
        "{\"",
        "\":{\"",
        "\":[",
        "abc\",\"b\":",
        "\u{e4}\"",
        "\\\"",
        "\\u00",
        "  ",
        "\n",
    ];
    let tokens: Vec<Vec<u8>> = (0..=255u8)
        .filter(|b| has(*b))
        .map(|b| vec![b])
        .chain(words.iter().map(|w| w.as_bytes().to_vec()))
        .chain([vec![]])
        .collect();
    let eos = tokens.len() as u32 - 1;
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![eos], ..Default::default() }).unwrap()
}

const BOUNDED: &[&str] = &[
    r#"{"type":"array","items":{"type":"array","items":{"type":"array","minItems":2,"items":{"type":"integer"}}}}"#,
    r#"{"type":"object","properties":{"a":{"type":"string","minLength":9},"b":{"const":"a long constant"},
        "name":{"enum":["x","yy","zzz"]}},"required":["name"],"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","required":["a","b"],
        "properties":{"a":{"type":"integer"},"b":{"type":"boolean"}},"additionalProperties":false},"minItems":1}}}"#,
    r##"{"$defs":{"t":{"type":"object","properties":{"a":{"$ref":"#/$defs/t"},"b":{"type":"array","items":
        {"$ref":"#/$defs/t"}},"name":{"type":"null"}},"required":["name"],"additionalProperties":false}},
        "$ref":"#/$defs/t"}"##,
    r#"{"anyOf":[{"type":"array","items":{"type":"string","minLength":3},"minItems":2},{"type":"array",
        "items":{"type":"string"},"minItems":4},{"type":"object","required":["a"]}]}"#,
    r#"{"type":"object","dependentRequired":{"a":["b","name"]},"properties":{"a":{"const":1},"b":{"const":"long one"},
        "name":{"type":"array","minItems":3,"items":{"type":"null"}}},"additionalProperties":false}"#,
    r#"{"type":"array","items":{"type":"string"},"uniqueItems":true,"minItems":3}"#,
    r#"{"type":"array","items":{"enum":["a","bb","ccc","dddd","a longer one"]},"uniqueItems":true,"minItems":2}"#,
    r#"{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"},"name":{"type":"string"},
        "b":{"enum":["x","yy"]}},"required":["a","name"],"additionalProperties":false},"uniqueItems":true,"minItems":12}"#,
    r#"{"type":"array","items":{"type":"object","properties":{"b":{"enum":["x","yy"]},"a":{"type":"boolean"}},
        "required":["b"],"additionalProperties":false},"uniqueItems":true,"minItems":3}"#,
    r#"{"type":"array","items":{"type":"object"},"uniqueItems":true,"minItems":12}"#,
    r#"{"type":"array","items":{"type":"number"},"uniqueItems":true,"minItems":12}"#,
    r#"{"type":"array","items":{"type":"array","items":{"type":"integer","minimum":3},"minItems":2,"maxItems":2},
        "uniqueItems":true,"minItems":12}"#,
    r#"{"type":"array","items":{"type":"array","items":{"type":"string"},"uniqueItems":true,"minItems":10},"minItems":2}"#,
    r#"{"type":"array","items":{"anyOf":[{"type":"string","pattern":"^[a-c]+$"},{"type":"string","maxLength":3},
        {"type":"boolean"}]},"uniqueItems":true,"minItems":12}"#,
    r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"},"uniqueItems":true,"minItems":10},
        "b":{"type":"array","items":{"type":"string"},"uniqueItems":true,"minItems":2}},"required":["a","b"]}"#,
    r#"{"type":"array","contains":{"const":"abc"},"minContains":3,"items":{"type":"string"}}"#,
    r#"{"type":"object","additionalProperties":{"type":["object","array","string"],"minItems":2,"minProperties":0}}"#,
    r#"{"type":"object","properties":{"a":{"type":"string","pattern":"^(abc|x{3,20})$"},"b":{"type":"number","minimum":-3}}}"#,
    r#"{"type":"object","properties":{"aaaaname":{"type":"object","properties":{"b":{"type":"array","minItems":4},
        "name":{"type":"integer","multipleOf":7}},"required":["b","name"]},"a":{"enum":["x","yy"]},"name":{}},
        "required":["aaaaname","a"]}"#,
    r#"{"type":"object","properties":{"\u00e4\u20ac":{"type":"array","minItems":3},"a\"b":{"const":1},"namename12":
        {"type":"null"}},"required":["\u00e4\u20ac","namename12"],"additionalProperties":false}"#,
    r#"{"anyOf":[{"type":"object","properties":{"name":{"type":"array","minItems":5},"a":{}},"required":["name"]},
        {"type":"object","properties":{"name":{"type":"array","minItems":2},"b":{}},"required":["name","b"]}]}"#,
    r#"{"type":"object","properties":{"a":{"type":"array","minItems":6}},"required":["b"],"if":{"required":["a"]},
        "then":{"required":["name"]}}"#,
    r#"{"type":"array","items":{"anyOf":[{"type":"number","maximum":-0.25},{"type":"integer","minimum":70000},{"enum":
        [1.5,120000,"a",null]}]},"minItems":2}"#,
];

/// Wherever a random walk leads: plans are no longer than the bound says, and neither is any plan after one more token
/// than the bound and its growth.
#[test]
fn bounds_hold_after_every_token() {
    bounds_hold(vocabulary(), None);
}

/// Of a vocabulary that lacks bytes which no completion needs, bounds are known too.
#[test]
fn bounds_hold_where_bytes_are_missing() {
    for spelling in [Spelling::Plain, Spelling::Any] {
        bounds_hold(vocabulary_with_gaps(), Some(spelling));
    }
}

fn bounds_hold(vocabulary: Arc<Vocabulary>, spelling: Option<Spelling>) {
    let mut rng = Rng(5);
    let mut known = 0;
    for (text, order) in BOUNDED.iter().flat_map(|text| [(text, PropertyOrder::Any), (text, PropertyOrder::Schema)]) {
        let options = SchemaOptions { property_order: order, spelling, ..SchemaOptions::default() };
        let index = Index::from_json_schema(text, &vocabulary, &options, &Limits::default()).unwrap();
        for _ in 0..3 {
            let options = GuideOptions { max_tokens: Some(1_000_000), ..GuideOptions::default() };
            let mut guide = index.guide(&options).unwrap();
            for _ in 0..25 {
                let bound = guide.bound_here();
                let said = || String::from_utf8_lossy(&vocabulary.decode(&guide.tokens()).unwrap()).into_owned();
                let is_bounded = bound.leaves_room(1_000_000);
                let (context, mut here) = (said(), guide.clone());
                if is_bounded {
                    known += 1;
                    let plan = here.plan_here().expect("what has a bound has a plan");
                    assert!(plan.len() as u32 <= bound.cost, "{text} {context:?}: {} {bound:?}", plan.len());
                }
                let allowed: Vec<u32> = guide.allowed_token_ids();
                let allowed: Vec<u32> = allowed.into_iter().filter(|&t| !vocabulary.is_eos(t)).collect();
                for &t in allowed.iter().filter(|_| is_bounded) {
                    let mut after = guide.clone();
                    assert!(after.try_advance(t), "{text} {context:?} {t}");
                    let most = bound.cost + bound.growth;
                    let (cost, plan) = (after.bound_here().cost, after.plan_here().map(|p| p.len() as u32));
                    let token = vocabulary.token_bytes(t);
                    assert!(cost <= most, "{text} {context:?} {token:?}: {cost} behind {bound:?}");
                    assert!(plan.is_some_and(|p| p <= most), "{text} {context:?} {token:?}: {plan:?} behind {bound:?}");
                }
                if allowed.is_empty() {
                    break;
                }
                guide.advance(*rng.pick(&allowed)).unwrap();
            }
        }
    }
    assert!(known > 500, "{known}");
}

/// A budget in which everything fits forbids nothing, also where the vocabulary lacks bytes.
#[test]
fn much_room_forbids_nothing() {
    let strings = [
        r#"{"type":"string","maxLength":30}"#,
        r#"{"type":"string","minLength":2,"maxLength":500}"#,
        r#"{"type":"string","pattern":"^.{0,30}$"}"#,
        r#"{"type":"object","properties":{"name":{"type":"string","maxLength":30},"age":{"type":"integer","minimum":0,
            "maximum":120}},"required":["name","age"],"additionalProperties":false}"#,
        r#"{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},
            "required":["name","age"],"additionalProperties":false},"uniqueItems":true,"minItems":30}"#,
        r#"{"type":"array","items":{"type":"string","maxLength":30},"uniqueItems":true,"minItems":30}"#,
        r#"{"type":"array","items":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},
            "uniqueItems":true}"#,
    ];
    for (vocabulary, text) in [vocabulary(), vocabulary_with_gaps()].iter().flat_map(|v| strings.map(|s| (v, s))) {
        for spelling in [Spelling::Plain, Spelling::Constants, Spelling::Any] {
            let options =
                SchemaOptions { spelling: Some(spelling), whitespace: Whitespace::Spaced, ..SchemaOptions::default() };
            // Where elements must differ, some spellings need bytes that one vocabulary lacks.
            let index = match Index::from_json_schema(text, vocabulary, &options, &Limits::default()) {
                Err(error) if error.kind() == ErrorKind::Unsatisfiable && text.contains("uniqueItems") => continue,
                index => index.unwrap(),
            };
            let mut free = index.guide(&GuideOptions::default()).unwrap();
            let budget = GuideOptions { max_tokens: Some(5_000), ..GuideOptions::default() };
            let mut guide = index.guide(&budget).unwrap();
            let mut rng = Rng(7);
            for _ in 0..40 {
                let (all, kept) = (free.allowed_token_ids(), guide.allowed_token_ids());
                assert_eq!(all, kept, "{text} {spelling:?} behind {:?}", vocabulary.decode(&guide.tokens()));
                let token = *rng.pick(&all);
                if vocabulary.is_eos(token) {
                    break;
                }
                free.advance(token).unwrap();
                guide.advance(token).unwrap();
            }
        }
    }
}

/// The digits of a multiple are completed by arithmetic: whatever a mask allows is taken, and some token always is.
#[test]
fn multiples_of_large_numbers_are_completed_in_time() {
    let all_bytes: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([vec![]]).collect();
    let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    let bytes_only = Vocabulary::new(&all_bytes, options).unwrap();
    let numbers = [
        r#""type":"integer","multipleOf":86400"#,
        r#""type":"integer","multipleOf":1000003"#,
        r#""type":"integer","multipleOf":1000000,"minimum":5,"maximum":123456789012"#,
        r#""type":"integer","multipleOf":982451653,"not":{"multipleOf":5}"#,
        r#""multipleOf":0.0625"#,
        r#""multipleOf":12.37,"not":{"multipleOf":0.4}"#,
    ];
    let around = [
        ("{", "}"),
        (r#"{"type":"array","items":{"#, "}}"),
        (
            r#"{"type":"object","properties":{"name":{"type":"string"},"b":{"#,
            r#"}},"required":["name","b"],"additionalProperties":false}"#,
        ),
    ];
    let mut rng = Rng(11);
    let mut stepped = 0;
    for (number, (before, behind)) in numbers.iter().flat_map(|n| around.map(|a| (n, a))) {
        let text = format!("{before}{number}{behind}");
        for vocabulary in [&vocabulary(), &bytes_only] {
            let options = SchemaOptions { whitespace: Whitespace::Compact, ..SchemaOptions::default() };
            let index = Index::from_json_schema(&text, vocabulary, &options, &Limits::default()).unwrap();
            for max_tokens in [20, 30, 45, 70] {
                let options = GuideOptions { max_tokens: Some(max_tokens), ..GuideOptions::default() };
                let Ok(mut guide) = index.guide(&options) else { continue };
                while !guide.is_terminated() {
                    let allowed = guide.allowed_token_ids();
                    let said = || String::from_utf8_lossy(&vocabulary.decode(&guide.tokens()).unwrap()).into_owned();
                    assert!(!allowed.is_empty(), "{text} {max_tokens}: nothing follows {:?}", said());
                    for &token in &allowed {
                        assert!(guide.clone().try_advance(token), "{text} {max_tokens}: {token} behind {:?}", said());
                        stepped += 1;
                    }
                    let is_likely = |&t: &u32| {
                        vocabulary.token_bytes(t).is_some_and(|b| b.iter().all(|b| b"0123456789\",".contains(b)))
                    };
                    let likely: Vec<u32> = allowed.iter().copied().filter(is_likely).collect();
                    guide.advance(*rng.pick(if likely.is_empty() { &allowed } else { &likely })).unwrap();
                }
            }
        }
    }
    assert!(stepped > 20_000, "{stepped}");
}

/// The elements that completions write into an array, and bounds count, are valid, and no two of them are equal.
#[test]
fn missing_elements_are_valid_and_different() {
    let vocabulary = vocabulary();
    let mut arrays = 0;
    for text in BOUNDED.iter().filter(|text| text.starts_with(r#"{"type":"array""#)) {
        for least in [1, 9, 70, 700] {
            let mut schema: serde_json::Value = serde_json::from_str(text).unwrap();
            schema["minItems"] = least.into();
            let options = SchemaOptions::default();
            let Ok(index) = Index::from_json_schema(&schema.to_string(), &vocabulary, &options, &Limits::default())
            else {
                continue;
            };
            let IndexEngine::Document { program, .. } = &index.0.engine else { panic!("{text}") };
            let costs = MinCosts::compute(program);
            let shape = program.rules[program.root.0 as usize].arrays[0] as usize;
            let Some(distinct) = costs.distinct_elements(program, shape) else { continue };
            assert_eq!(distinct.elements.len(), least);
            assert!(distinct.elements.iter().all(|e| e.text.starts_with(distinct.beginning())));
            let elements: Vec<&[u8]> = distinct.elements.iter().map(|element| &*element.text).collect();
            let whole = [b"[", &elements.join(&distinct.separator[..])[..], b"]"].concat();
            let mut guide = index.guide(&GuideOptions::default()).unwrap();
            let tokens: Vec<u32> = whole.iter().map(|&byte| byte.into()).collect();
            let said = String::from_utf8_lossy(&whole);
            assert_eq!(guide.advance_many(&tokens), tokens.len(), "{schema} {said}");
            assert!(guide.is_accepting(), "{schema} {said}");
            arrays += 1;
        }
    }
    assert!(arrays > 20, "{arrays}");
}

/// With hardly any room too each token of a mask is taken, and what follows is completed in time.
#[test]
fn unique_elements_are_completed_in_time() {
    let vocabulary = vocabulary();
    let mut rng = Rng(3);
    let mut stepped = 0;
    for text in BOUNDED.iter().filter(|text| text.contains("uniqueItems")) {
        let index = Index::from_json_schema(text, &vocabulary, &SchemaOptions::default(), &Limits::default()).unwrap();
        let fewest = index.guide(&GuideOptions::default()).unwrap().min_tokens_to_finish().unwrap();
        for room in [0, 1, 4, 15, 40] {
            let options = GuideOptions { max_tokens: Some(fewest + room), ..GuideOptions::default() };
            let mut guide = index.guide(&options).unwrap();
            while !guide.is_terminated() {
                let allowed = guide.allowed_token_ids();
                let said = || String::from_utf8_lossy(&vocabulary.decode(&guide.tokens()).unwrap()).into_owned();
                assert!(!allowed.is_empty(), "{text} {room}: nothing follows {:?}", said());
                for &token in &allowed {
                    assert!(guide.clone().try_advance(token), "{text} {room}: {token} behind {:?}", said());
                    stepped += 1;
                }
                guide.advance(*rng.pick(&allowed)).unwrap();
            }
            assert!(guide.tokens().len() <= fewest + room + 1);
        }
    }
    assert!(stepped > 10_000, "{stepped}");
}
