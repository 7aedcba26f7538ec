//! Unique elements that are containers with few values: every byte, judged by the list of all documents.
//!
//! The twin writes down each document of a small language and asks whether it is valid by the words of the
//! specification: elements by their own list, arrays by comparing elements pairwise. A byte may follow a prefix exactly
//! if some document goes on with it, so whatever the guide refuses too early or too late shows.

mod support;

use interlock::frontend::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::{ErrorKind, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::Value;
use support::check::{Found, Plan, walk};
use support::every_byte::{bytes, compare};
use support::twin::Spellings;
use support::walk::Walker;

/// Elements, and the arrays of them: `"min"` to `"max"` elements that differ.
fn arrays(elements: &[Value], min: usize, max: usize) -> Vec<Value> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..max {
        let end = all.len();
        for i in from..end {
            for e in elements.iter().filter(|e| !all[i].contains(e)).cloned().collect::<Vec<_>>() {
                all.push([all[i].clone(), vec![e]].concat());
            }
        }
        from = end;
    }
    all.into_iter().filter(|a| a.len() >= min).map(Value::Array).collect()
}

fn values(json: &str) -> Vec<Value> {
    serde_json::from_str::<Vec<Value>>(json).unwrap()
}

/// Elements, what the list of their values is, and the bounds of the arrays.
const FEW: &[(&str, &str, usize, usize)] = &[
    (
        r#"{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"null"}},"additionalProperties":false}"#,
        r#"[{},{"a":true},{"a":false},{"b":null},{"a":true,"b":null},{"a":false,"b":null}]"#,
        0,
        3,
    ),
    (
        r#"{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"required":["b"],
            "additionalProperties":false}"#,
        r#"[{"b":true},{"b":false},{"a":true,"b":true},{"a":true,"b":false},{"a":false,"b":true},{"a":false,"b":false}]"#,
        0,
        4,
    ),
    (
        r#"{"type":"object","properties":{"k":{"enum":["x","xy"]}},"required":["k"],"additionalProperties":false}"#,
        r#"[{"k":"x"},{"k":"xy"}]"#,
        0,
        4,
    ),
    (
        r#"{"anyOf":[{"type":"boolean"},{"type":"object","properties":{"a":{"const":[]}},"additionalProperties":false}]}"#,
        r#"[true,false,{},{"a":[]}]"#,
        0,
        5,
    ),
    (
        r#"{"type":"array","items":{"type":"boolean"},"maxItems":2}"#,
        "[[],[true],[false],[true,true],[true,false],[false,true],[false,false]]",
        0,
        3,
    ),
    (
        r#"{"type":"array","prefixItems":[{"type":"null"},{"type":"boolean"}],"items":false,"minItems":1}"#,
        "[[null],[null,true],[null,false]]",
        0,
        4,
    ),
    (
        r#"{"type":"array","items":{"enum":[null,true]},"uniqueItems":true,"minItems":1}"#,
        "[[null],[true],[null,true],[true,null]]",
        0,
        5,
    ),
    (
        r#"{"type":"object","maxProperties":1,"minProperties":1,"properties":{"a":{"type":"null"},"b":{"type":"boolean"}},
            "additionalProperties":false}"#,
        r#"[{"a":null},{"b":true},{"b":false}]"#,
        0,
        4,
    ),
    (
        r#"{"type":"object","patternProperties":{"^[xy]$":{"type":"null"}},"additionalProperties":false}"#,
        r#"[{},{"x":null},{"y":null},{"x":null,"y":null}]"#,
        0,
        5,
    ),
    (
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"null"}},
            "additionalProperties":false},"c":{"type":"null"}},"additionalProperties":false,"dependentRequired":{"c":["a"]}}"#,
        r#"[{},{"a":{}},{"a":{"b":null}},{"a":{},"c":null},{"a":{"b":null},"c":null}]"#,
        0,
        3,
    ),
    (
        r#"{"type":"object","properties":{"l":{"type":"array","uniqueItems":true,"items":{"type":"object",
            "properties":{"t":{"type":"null"}},"additionalProperties":false}}},"required":["l"],
            "additionalProperties":false}"#,
        r#"[{"l":[]},{"l":[{}]},{"l":[{"t":null}]},{"l":[{},{"t":null}]},{"l":[{"t":null},{}]}]"#,
        0,
        4,
    ),
    (
        r#"{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"additionalProperties":false}"#,
        r#"[{},{"a":true},{"a":false},{"b":true},{"b":false},{"a":true,"b":true},{"a":true,"b":false},
            {"a":false,"b":true},{"a":false,"b":false}]"#,
        2,
        3,
    ),
];

#[test]
fn few_values() {
    let mut prefixes = 0;
    for (element, list, min, max) in FEW {
        let schema =
            format!(r#"{{"type":"array","uniqueItems":true,"items":{element},"minItems":{min},"maxItems":{max}}}"#);
        prefixes += compare(&schema, &arrays(&values(list), *min, *max));
    }
    println!("{prefixes} prefixes");
    assert!(prefixes > 10_000);
}

#[test]
fn beside_other_arrays() {
    // An array that may repeat its elements beside one that may not.
    let booleans = r#"{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}"#;
    let schema = format!(
        r#"{{"anyOf":[{{"type":"array","uniqueItems":true,"items":{booleans},"maxItems":3}},
            {{"type":"array","items":{{"type":"object","maxProperties":0}},"minItems":2,"maxItems":3}}]}}"#
    );
    let mut all = arrays(&values(r#"[{},{"a":null}]"#), 0, 3);
    all.extend(values("[[{},{}],[{},{},{}]]"));
    compare(&schema, &all);
    // One array in the other, both of unique elements.
    let schema = format!(
        r#"{{"type":"array","uniqueItems":true,"maxItems":3,"items":{{"type":"array","uniqueItems":true,"items":{booleans}}}}}"#
    );
    let inner = arrays(&values(r#"[{},{"a":null}]"#), 0, 3);
    compare(&schema, &arrays(&inner, 0, 3));
}

/// Elements that can always differ somewhere, and some that cannot from some place on.
const MANY: &[&str] = &[
    r#"{"type":"object","properties":{"id":{"type":"string"},"on":{"type":"boolean"}},"required":["id"],"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"on":{"type":"boolean"},"id":{"type":"string","maxLength":2}},"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":12},"a":{"enum":["a","ab"]}},"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"p":{"type":"string","pattern":"^[ab]{1,2}$"}},"minProperties":1,"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"boolean"}},"b":{"type":"boolean"}},"required":["b"],"additionalProperties":false}"#,
    r#"{"type":"array","prefixItems":[{"type":"number"},{"type":"boolean"}],"items":false}"#,
    r#"{"type":"array","items":{"type":"integer","minimum":1,"maximum":2},"maxItems":2}"#,
    r##"{"type":"object","properties":{"next":{"$ref":"#/items"},"v":{"type":"boolean"}},"additionalProperties":false}"##,
    r#"{"oneOf":[{"type":"object","properties":{"a":{"const":1}},"required":["a"],"additionalProperties":false},{"type":"object","properties":{"a":{"const":2},"b":{"type":"string"}},"required":["a"],"additionalProperties":false}]}"#,
    r#"{"type":"object","patternProperties":{"^x":{"type":"null"},"^[ab]$":{"type":"boolean"}},"maxProperties":2,"additionalProperties":false}"#,
    r#"{"type":"object","additionalProperties":{"type":"null"},"maxProperties":1}"#,
    r#"{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"boolean"}}"#,
    r#"{"type":"object","maxProperties":1,"propertyNames":{"pattern":"^[ab]+$"},"additionalProperties":{"type":"null"},"not":{"propertyNames":{"not":{"pattern":"ab"}}}}"#,
    r#"{"type":"object","maxProperties":2,"propertyNames":{"pattern":"^[ab]{1,3}$"},"additionalProperties":{"type":"null"},"not":{"propertyNames":{"not":{"pattern":"ab"}}}}"#,
    r#"{"type":"object","properties":{"e":{"type":"array","uniqueItems":true,"items":{"enum":["a","b","ab"]}}},"additionalProperties":false}"#,
];

/// What a walk tries now and then, so that its arrays become long.
const HINTS: &[&str] = &[
    "},{",
    ",{\"a\":",
    ",{\"",
    "],[",
    ",[",
    "true,",
    "\"on\":true}",
    "\"b\":false},{",
    "\"id\":\"a\"},{",
    "1},{",
    "1],[",
];

/// What was wrong on a walk; an array that it wrote may not repeat an element.
fn judged(schema: &str, found: Found) -> impl Iterator<Item = String> {
    if let Some(Ok(Value::Array(a))) = found.ended.map(|t| serde_json::from_slice(&t)) {
        let repeats = (0..a.len()).any(|i| a[..i].contains(&a[i]));
        assert!(!repeats, "{schema}: {a:?}");
    }
    found.wrong.into_iter().map(move |w| format!("{schema}: {w}"))
}

#[test]
fn masks_and_dead_ends() {
    let v = support::vocabulary::small();
    let tokens = Spellings::of(&v);
    let (mut states, mut wrong) = (0, Vec::new());
    for (element, seed) in MANY.iter().zip(0..) {
        let schema = format!(r#"{{"type":"array","uniqueItems":true,"items":{element}}}"#);
        for walks in 0..5 {
            let order = if walks % 2 == 0 { PropertyOrder::Any } else { PropertyOrder::Schema };
            let options = SchemaOptions { property_order: order, ..Default::default() };
            let index = Index::from_json_schema(&schema, &v, &options, &Limits::default()).unwrap();
            let guide = index.guide(&GuideOptions::default()).unwrap();
            let plan = Plan { tokens: 60, every: 3, probes: 4 };
            let found = walk(guide, None, &tokens, Walker::new(seed * 100 + walks, b"[").with_hints(HINTS), plan);
            states += found.states;
            wrong.extend(judged(&schema, found));
        }
    }
    println!("{states} masks");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(states > 350);
}

/// Elements of every kind: many values and few, strings and what stands around strings.
const KINDS: &[&str] = &[
    r#"{"type":"string"}"#,
    r#"{"enum":["a","ab","b","é","\n","\u0001"]}"#,
    r#"{"enum":["a","b",1,10,1.5,true,null,"1"]}"#,
    r#"{"type":"string","pattern":"^(a|b|é){1,2}$"}"#,
    r#"{"type":"string","maxLength":2,"minLength":1}"#,
    r#"{"type":["string","number","boolean","null"]}"#,
    r#"{"type":"integer","minimum":0}"#,
    r#"{"type":"integer","minimum":1,"maximum":120}"#,
    r#"{"type":"integer","minimum":-9,"maximum":12}"#,
    r#"{"type":"number","minimum":0,"maximum":15,"multipleOf":0.5}"#,
    r#"{"type":"number","minimum":0.5,"maximum":1.5}"#,
    r#"{"type":"array","uniqueItems":true,"maxItems":2,"items":{"type":"integer","minimum":1,"maximum":30}}"#,
    r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}}"#,
    r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":["x","xy"]}},"required":["a"],"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"a":{"enum":["x","xy","é"]},"b":{"type":"boolean"}},"additionalProperties":false}"#,
    r#"{"type":"array","items":{"type":"string"}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"enum":["a","b"]}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"type":"string"}}}}"#,
    r#"{"anyOf":[{"enum":["a","b"]},{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}]}"#,
    r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"integer"}},"a":{}}}}}"#,
];

/// Elements again and again, in other spellings and with their members in another order.
const AGAIN: &[&str] = &[
    r#""a","a""#,
    r#""a","ab","b","#,
    r#"a","b""#,
    r#""\u0061""#,
    r#""\u0061b""#,
    r#"\u0062""#,
    r#""é","#,
    r#""\u00e9","#,
    r#""\u00E9","#,
    r#""\n","\u000a""#,
    r#""\u0001","#,
    r#""1",1,"#,
    "1,1.0",
    "1,10,12,",
    ",1,11,",
    "0,0.5,",
    "-1,",
    "],[1,",
    "1.0,",
    "10,1e1,",
    ",10",
    "1.50",
    "true,",
    "null,true",
    r#"{"a":"x","b":"xy"},"#,
    r#"{"b":"xy","a":"x"}"#,
    r#"{"a":"\u0078","#,
    r#"{"a":"x"},{"a":"x"}"#,
    r#"{"\u0061":"x""#,
    r#"{"a":"é"},"#,
    r#"{"a":"x","b":1},{"b":1.0,"a":"x""#,
    r#"{"b":true},{"b":true"#,
    r#"{"a":{"b":[1,2],"a":"é"}},"#,
    r#"{"a":{"a":"\u00e9","b":[1.0,2"#,
    r#"["a"],["a""#,
    r#"["a","b"],["b","a"],"#,
    r#"[{"a":"x"}],"#,
    r#"[{},{"a":"b"}],[{},{"a":"b""#,
    "},{",
    "],[",
    ",\"",
];

#[test]
fn every_kind_of_element() {
    let v = support::vocabulary::small();
    let tokens = Spellings::of(&v);
    let (mut states, mut wrong) = (0, Vec::new());
    for (element, seed) in KINDS.iter().zip(0..) {
        let schema = format!(r#"{{"type":"array","uniqueItems":true,"items":{element}}}"#);
        // Walks share an index, so that what it remembers of one serves the others.
        let indexes: Vec<Index> = (0..4)
            .map(|i| {
                let order = if i % 2 == 0 { PropertyOrder::Any } else { PropertyOrder::Schema };
                let whitespace = if i < 2 { Whitespace::Flexible } else { Whitespace::Compact };
                let options = SchemaOptions { property_order: order, whitespace, ..Default::default() };
                Index::from_json_schema(&schema, &v, &options, &Limits::default()).unwrap()
            })
            .collect();
        for walks in 0..8 {
            let index = &indexes[walks as usize % 4];
            let guide = index.guide(&GuideOptions::default()).unwrap();
            let plan = Plan { tokens: 48, every: 2, probes: 4 };
            let found = walk(guide, None, &tokens, Walker::new(seed * 100 + walks, b"[").with_hints(AGAIN), plan);
            states += found.states;
            wrong.extend(judged(&schema, found));
        }
    }
    println!("{states} masks");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(states > 1_000);
}

#[test]
fn built_tables_hold_exact_masks() {
    let v = support::vocabulary::small();
    let tokens = Spellings::of(&v);
    for element in [
        r#"{"enum":["a","ab","b"]}"#,
        r#"{"enum":["a","ab","b","c","bc","ca"]}"#,
        r#"{"type":"object","properties":{"a":{"enum":["x","xy"]}},"additionalProperties":false}"#,
    ] {
        let schema = format!(r#"{{"type":"array","uniqueItems":true,"maxItems":3,"items":{element}}}"#);
        let options = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
        let index = Index::from_json_schema(&schema, &v, &options, &Limits::default()).unwrap();
        index.build(Some(1), 200_000, |_, _| Ok(())).unwrap();
        assert!(index.built().is_some(), "{schema}");
        for threads in [2, 2, 8] {
            let other = Index::from_json_schema(&schema, &v, &options, &Limits::default()).unwrap();
            other.build(Some(threads), 200_000, |_, _| Ok(())).unwrap();
            assert_eq!(index.built(), other.built(), "{schema} with {threads} threads");
        }
        for seed in 0..20 {
            let guide = index.guide(&GuideOptions::default()).unwrap();
            let plan = Plan { tokens: 24, every: 1, probes: 2 };
            let found = walk(guide, None, &tokens, Walker::new(seed, b"[").with_hints(AGAIN), plan);
            assert!(found.wrong.is_empty(), "{schema}: {:?}", found.wrong);
        }
    }
}

#[test]
fn strings_of_a_list_may_be_escaped() {
    let v = bytes();
    let schema = r#"{"type":"array","uniqueItems":true,"items":{"enum":["é","b/","\u0001"]}}"#;
    let takes = |options: &SchemaOptions, text: &str| {
        let index = Index::from_json_schema(schema, &v, options, &Limits::default()).unwrap();
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        text.bytes().all(|b| guide.try_advance(b.into()))
    };
    let any = SchemaOptions::default();
    let plain = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    for text in [r#"["\u00e9","#, r#"["é","b/","\u0001"]"#] {
        assert!(takes(&any, text) && takes(&plain, text), "{text}");
    }
    for text in [r#"["\u00E9","b\/","#, r#"["\u0062/"]"#] {
        assert!(takes(&any, text) && !takes(&plain, text), "{text}");
    }
    for text in [r#"["é","\u00e9""#, r#"["b/","b\/""#, r#"["b/","\u0001","\u00e9","#] {
        assert!(!takes(&any, text) && !takes(&plain, text), "{text}");
    }
}

#[test]
fn refused_by_name() {
    let v = bytes();
    let few = r#"{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}"#;
    for schema in [
        format!(r#"{{"type":"array","uniqueItems":true,"minItems":3,"items":{few}}}"#),
        format!(r#"{{"type":"array","uniqueItems":true,"contains":{{"required":["a"]}},"items":{few}}}"#),
    ] {
        let e = Index::from_json_schema(&schema, &v, &SchemaOptions::default(), &Limits::default()).err();
        assert!(e.is_some_and(|e| e.kind() == ErrorKind::Unsupported), "{schema}");
    }
}

/// Where names, few keys and any other key are walked one after the other, none takes back what another allows.
#[test]
fn keys_of_every_kind_beside_each_other() {
    let escapes = [r"\u0022", r"\u005c", r"\u00e9", r"\u0041", r"\u006", r"\u0061", r"\u006e", r"\n", r"\ud83d", "ab"];
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.extend(escapes.iter().map(|e| e.as_bytes().to_vec()));
    tokens.push(Vec::new());
    let stop = tokens.len() as u32 - 1;
    let options = VocabularyOptions { eos_token_ids: vec![stop], ..Default::default() };
    let vocabulary = Vocabulary::new(&tokens, options).unwrap();
    for (other, few) in
        [(r#"{"const":"\\"}"#, "^(a|b|é)$"), ("true", "^a$"), ("true", "^a"), (r#"{"type":"null"}"#, "^n$")]
    {
        let schema = format!(
            r#"{{"type":"array","uniqueItems":true,"items":{{"type":"object","properties":{{"foo":{{"type":"string"}}}},
                "patternProperties":{{"{few}":{{"type":"number"}}}},"additionalProperties":{other}}}}}"#
        );
        let order = SchemaOptions { property_order: PropertyOrder::Any, ..Default::default() };
        let index = Index::from_json_schema(&schema, &vocabulary, &order, &Limits::default()).unwrap();
        for before in [r#"[{},{""#, r#"[{"foo":"x"},{""#, r#"[{"foo":"x"},{"foo":"x",""#] {
            let mut guide = index.guide(&GuideOptions::default()).unwrap();
            assert_eq!(guide.advance_many(&before.bytes().map(u32::from).collect::<Vec<_>>()), before.len());
            let allowed = guide.allowed_token_ids();
            for id in 256..stop {
                let spelled: Vec<u32> = tokens[id as usize].iter().map(|&b| u32::from(b)).collect();
                let steps = guide.validate(&spelled) == spelled.len();
                assert_eq!(allowed.contains(&id), steps, "{schema} {before} {:?}", escapes[id as usize - 256]);
            }
        }
    }
}
