//! Masks of objects that allow any key, and of what stands in them: of different shapes, in both orders of keys,
//! whatever was remembered of other objects. All that no token tells apart shares a mask, so documents of many such
//! objects, cut into tokens that spell some of the names, are compared with the twin that steps every token.

use crate::support::walk::follow_compared;
use interlock::schema::{PropertyOrder, SchemaOptions, Spelling};
use interlock::util::rng::Rng;
use interlock::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use std::sync::Arc;

const SPELLINGS: [Spelling; 4] = [Spelling::Constants, Spelling::Plain, Spelling::PlainValues, Spelling::PlainPatterns];

/// Names; tokens spell some of them.
const NAMES: &[&str] = &["a", "ab", "abc", "b", "long name", "longer name", "", "é"];
const VALUES: &[(&str, &str)] = &[
    (r#"{"type":"integer"}"#, "1"),
    (r#"{"type":"string"}"#, r#""""#),
    (r#"{"const":true}"#, "true"),
    (r#"{"type":"object"}"#, r#"{"a":1}"#),
    (r#"{"type":"array","items":{"type":"string"}}"#, "[\"\"]"),
];
/// Tokens beside all bytes, separated by spaces; "_" is a space.
const PIECES: &str = r#"," ,_" "," 1," 1} 1}," {} {}," {}} [] [""] [""]," ": ":1 ":1," ":"" ":""," ":{" ":{"a a": a":1 a" b": b":1
    "a "l "long _"a _"b bc" name": name" ong_name" "a": "a" "b":1 "long_name": {" {"a": {"b":1 }} }}," ]} :_ __ "" e," true," true} u0061" \u0061":"#;
/// Tokens that begin keys behind a comma, or spell them.
const COMMAS: &str = r#","a ,"l ,"a" ,"b": 1,"b" },"a": ","b" true,"a ,"" ,"": ,"x": ]," ],"a" ,"\ ,"\u0061""#;
/// Tokens that end a key and its object.
const ENDS: &str = r#"":1} ":{}} a":1}} ":"","x":{}} name":[]}"#;
/// Tokens that spell two keys of one object.
const CHAINS: &str = r#","a":1} 1,"b":1} ,"a":1," ,"b":1,"a" 1,"a":1,"b": a":1,"b":"#;

fn vocabulary(pieces: &[&str]) -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new()];
    tokens.extend((0..=255u8).map(|b| vec![b]));
    let more = pieces.iter().flat_map(|p| p.split_whitespace());
    tokens.extend(more.map(|p| p.replace('_', " ").into_bytes()));
    let options = VocabularyOptions { eos_token_ids: vec![0], ..VocabularyOptions::default() };
    Vocabulary::new(tokens, options).unwrap()
}

/// A schema of objects, and what its documents are made of.
struct Shape {
    source: String,
    /// Names and values that may stand there.
    members: Vec<(String, Vec<String>)>,
    /// Of other keys.
    other: &'static str,
}

/// An object of some names, of which one may be needed. One in six does not allow any key.
fn shape(rng: &mut Rng, depth: usize) -> Shape {
    let mut names: Vec<&str> = NAMES.to_vec();
    for i in (1..names.len()).rev() {
        names.swap(i, rng.below(i + 1));
    }
    names.truncate(rng.below(5));
    let mut members = Vec::new();
    let mut properties = Vec::new();
    for name in &names {
        let (rule, values) = match rng.chance(40) && depth > 0 {
            true => {
                let inner = shape(rng, depth - 1);
                let mut one = || document(rng, &inner);
                let values: Vec<String> = (0..3).map(|_| one()).collect();
                let several: Vec<String> = (0..2).map(|_| format!("[{},{}]", one(), one())).collect();
                match rng.chance(30) {
                    true => (format!(r#"{{"type":"array","uniqueItems":true,"items":{}}}"#, inner.source), several),
                    false => (inner.source, values),
                }
            }
            false => {
                let (rule, value) = VALUES[rng.below(VALUES.len())];
                (rule.to_owned(), vec![value.to_owned()])
            }
        };
        properties.push(format!("{name:?}:{rule}"));
        members.push((name.to_string(), values));
    }
    let required: Vec<String> = names.iter().filter(|_| rng.chance(15)).map(|n| format!("{n:?}")).collect();
    let (others, other) = match rng.below(6) {
        0 => (r#","additionalProperties":{"type":"string"}"#, r#""""#),
        1 => (r#","additionalProperties":{"type":"integer"}"#, "1"),
        2 => (r#","additionalProperties":false"#, "1"),
        _ => ("", "{\"a\":[]}"),
    };
    let (properties, required) = (properties.join(","), required.join(","));
    let source = format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]{others}}}"#);
    Shape { source, members, other }
}

/// A document that is mostly a member, in declared order.
fn document(rng: &mut Rng, shape: &Shape) -> String {
    let mut members = Vec::new();
    for (name, values) in &shape.members {
        if !rng.chance(30) {
            members.push(format!("{name:?}:{}", values[rng.below(values.len())]));
        }
    }
    for other in ["x", "a", "b", "a b"] {
        if rng.chance(20) {
            members.push(format!("{other:?}:{}", shape.other));
        }
    }
    format!("{{{}}}", members.join(","))
}

#[test]
fn objects_that_no_token_tells_apart_have_one_mask() {
    let mut rng = Rng(7);
    let mut compared = 0;
    for case in 0..120 {
        let pieces: [&[&str]; 5] =
            [&[PIECES], &[PIECES, COMMAS], &[PIECES, ENDS], &[PIECES, COMMAS, CHAINS], &[PIECES, COMMAS, CHAINS, ENDS]];
        let v = vocabulary(pieces[case % pieces.len()]);
        let property_order = if rng.chance(50) { PropertyOrder::Schema } else { PropertyOrder::Any };
        let spelling = rng.chance(50).then(|| *rng.pick(&SPELLINGS));
        let options = SchemaOptions { property_order, spelling, ..SchemaOptions::default() };
        let whole = shape(&mut rng, 2);
        let index = Index::from_json_schema(&whole.source, &v, &options, &Limits::default()).unwrap();
        for _ in 0..20 {
            let text = document(&mut rng, &whole);
            let guide = index.guide(&GuideOptions::default()).unwrap();
            compared += follow_compared(guide, &text, &mut rng, &whole.source);
        }
    }
    assert!(compared > 15_000, "only {compared} masks");
}
