//! Masks of objects that have keys already: in any order, whatever was remembered of other objects of the same shape.
//!
//! Documents are made of members in random order, with nested objects of the same shape, and cut into random tokens.
//! All documents of a schema share an index, so most masks are looked up that were made when other keys were there.
//! Names begin with each other, some have to be escaped and all may be; tokens end a key, begin the next one, spell
//! whole members, and two keys at once.

use crate::support::walk::follow_compared;
use interlock::schema::{PropertyOrder, SchemaOptions, Spelling};
use interlock::util::rng::Rng;
use interlock::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use std::sync::Arc;

/// Tokens that stay in a key or end it, separated by spaces; "_" is a space.
const PIECES: &str = r#"a" ab ab" bc" na nam ame" me" name" "a "a" "ab "ab" "n "na "name" _"a _"a" _"name" "a": "ab":1 a":1
    a":1, ab":null} "b":{ b":{ b":{" ": ":1 ":1, ":{" ":{ "} "}} }} },{ {" {"a {"a": :1 1, 1} 1}} }, ,_ ," ,_" null, null}
    "x" "xy x": xy" "" "": \u0061 \u0061" \u0061b" "\u0061" \u006e \u \u00 \n \nb" a\nb a\n" "\ é" "é" [1, 1] [{ [{" }]"#;
/// Tokens that begin a key behind a comma, or spell it.
const COMMAS: &str =
    r#","a ,"a" ,"ab": 1,"b 1,_"na },"a },"name": ","a ","x" ,"\ ,"\u0 ,"\u0061" ,"" ,"é ,"a\n null,"name ]," }],"ab"#;
/// Tokens that end a key and spell another one of the same object.
const TWO: &str = r#"":1,"a" ":1,"a":1 a":1,"ab":1 a":1,"a x":1,"x" x":1,"x y":null,"xy": ":{},"name" ":1,"\u0061""#;

fn tokens(pieces: &[&str]) -> Vec<Vec<u8>> {
    pieces.iter().flat_map(|p| p.split_whitespace()).map(|p| p.replace('_', " ").into_bytes()).collect()
}

fn vocabulary(bytes: impl Iterator<Item = u8>, pieces: &[&str]) -> Arc<Vocabulary> {
    let mut all: Vec<Vec<u8>> = bytes.map(|b| vec![b]).collect();
    all.extend(tokens(pieces));
    all.sort_unstable();
    all.dedup();
    let end = all.len() as u32;
    all.push(Vec::new());
    let options = VocabularyOptions { eos_token_ids: vec![end], ..VocabularyOptions::default() };
    Vocabulary::new(&all, options).unwrap()
}

/// A schema, the keys of its objects, and values for them; `@` is another object.
type Source = (&'static str, &'static [&'static str], &'static [&'static str]);

const SOURCES: &[Source] = &[
    (
        r##"{"patternProperties":{"^(n.*|ab|xy?)$":{}},"additionalProperties":false}"##,
        &["ab", "x", "xy", "na", "name", "n"],
        &["1", "null", "@"],
    ),
    (
        r##"{"propertyNames":{"maxLength":4},"required":["a"]}"##,
        &["a", "ab", "name", "b", "x", "xy"],
        &["1", "null", "@"],
    ),
    (
        r##"{"properties":{"a":{"type":"integer"},"ab":{},"b":{"$ref":"#"},"name":{"type":["integer","null"]}}}"##,
        &["a", "ab", "b", "name", "x", "xy", "na", ""],
        &["1", "null", "@", "\"x\""],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"ab":{},"b":{"$ref":"#"},"name":{}},"required":["name","ab"],"additionalProperties":false}"##,
        &["a", "ab", "b", "name"],
        &["1", "null", "@", "[1,@]"],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"b":{"$ref":"#"}},"required":["a","x"],"additionalProperties":{"type":["integer","object","string"]}}"##,
        &["a", "b", "x", "xy", "ab", "é", "a\nb"],
        &["1", "@", "\"b\""],
    ),
    (
        r##"{"type":"object","additionalProperties":{"anyOf":[{"type":["integer","null"]},{"$ref":"#"}]}}"##,
        &["a", "ab", "x", "xy", "é", "", "name"],
        &["1", "null", "@"],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"":{},"a\nb":{},"é":{}},"additionalProperties":false,"minProperties":2}"##,
        &["a", "", "a\nb", "é"],
        &["1", "null", "@", "[1,@]"],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"ab":{}},"patternProperties":{"^n":{"type":"integer"},"^x(y?)$":{}},"additionalProperties":false}"##,
        &["a", "ab", "na", "name", "x", "xy", "nam"],
        &["1", "@", "1"],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"ab":{"$ref":"#"},"name":{}},"maxProperties":3,"minProperties":1,"required":["name"]}"##,
        &["a", "ab", "name", "x", "b"],
        &["1", "@"],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"ab":{},"b":{},"name":{}},"dependentRequired":{"a":["b"],"ab":["name"]},"additionalProperties":false}"##,
        &["a", "ab", "b", "name"],
        &["1", "null", "@"],
    ),
    (
        r##"{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"},"ab":{}},"required":["a"],"additionalProperties":false},{"type":"object","properties":{"a":{},"name":{"type":"null"}},"required":["name"]},{"type":"object","properties":{"x":{"$ref":"#"},"a":false}}]}"##,
        &["a", "ab", "name", "x", "xy"],
        &["1", "null", "@"],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"name":false},"propertyNames":{"enum":["a","ab","x","name"]},"minProperties":2}"##,
        &["a", "ab", "x"],
        &["1", "null", "@"],
    ),
    (
        r##"{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}},"b":{"$ref":"#"},"name":{}},"required":["b"]}"##,
        &["a", "ab", "b", "name", "x"],
        &["1", "@", "[@,@]", "\"na\""],
    ),
    (
        r##"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{},"ab":{},"b":{}}}}"##,
        &["a", "ab", "b", "x"],
        &["1", "null", "@"],
    ),
    // Classes of many keys, of which only those that begin alike run out.
    (
        r##"{"type":"object","propertyNames":{"maxLength":2},"additionalProperties":{"type":["integer","object"]}}"##,
        &["a", "ab", "x", "xy", "é", "na", "", "\n"],
        &["1", "@"],
    ),
    (
        r##"{"type":"object","properties":{"name":{}},"patternProperties":{"^[a-y]{1,3}$":{"type":"integer"}},"additionalProperties":false,"required":["ab"]}"##,
        &["a", "ab", "x", "xy", "nam", "na", "name", "abc"],
        &["1"],
    ),
    (
        r##"{"type":"object","properties":{"a":{},"ab":{"type":"null"}},"patternProperties":{"^[a-z]{3}$":{"$ref":"#"},"^\\w{2}$":{"type":"integer"}},"additionalProperties":{"type":"null"},"minProperties":2}"##,
        &["a", "ab", "bc", "na", "nam", "ame", "xy"],
        &["1", "@", "null"],
    ),
    (
        r##"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{}},"propertyNames":{"maxLength":2}}}"##,
        &["a", "ab", "x", "xy"],
        &["1", "@"],
    ),
];

fn quoted(rng: &mut Rng, key: &str) -> String {
    let mut out = String::from("\"");
    for c in key.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            c if rng.chance(4) => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn object(rng: &mut Rng, source: &Source, depth: usize, out: &mut String) {
    let mut keys = source.1.to_vec();
    let most = rng.below(keys.len() + 1).min(if depth == 0 { 9 } else { 3 });
    let mut separator = "";
    out.push('{');
    for _ in 0..most {
        let key = keys.swap_remove(rng.below(keys.len()));
        out.push_str(separator);
        out.push_str(&quoted(rng, key));
        out.push_str(if rng.chance(15) { ": " } else { ":" });
        for c in source.2[rng.below(source.2.len())].chars() {
            match c {
                '@' if depth < 3 => object(rng, source, depth + 1, out),
                '@' => out.push_str("{}"),
                c => out.push(c),
            }
        }
        separator = if rng.chance(15) { ", " } else { "," };
    }
    out.push('}');
}

/// Follows documents as long as they are allowed, and compares every mask on the way; how many there were.
fn follow(v: &Arc<Vocabulary>, source: &Source, options: &SchemaOptions, seed: u64) -> usize {
    let index = match Index::from_json_schema(source.0, v, options, &Limits::default()) {
        Ok(index) => index,
        // Some vocabularies spell no document of some schemas.
        Err(_) => return 0,
    };
    let mut rng = Rng(seed);
    let mut compared = 0;
    for _ in 0..16 {
        let mut text = String::new();
        if source.0.starts_with(r##"{"type":"array""##) {
            text.push('[');
            object(&mut rng, source, 2, &mut text);
            text.push(',');
        }
        object(&mut rng, source, 0, &mut text);
        let guide = index.guide(&GuideOptions::default()).unwrap();
        compared += follow_compared(guide, &text, &mut rng, source.0);
    }
    compared
}

fn follow_all(v: &Arc<Vocabulary>, least: usize) {
    let mut compared = 0;
    for (i, source) in SOURCES.iter().enumerate() {
        for (order, spelling) in [
            (PropertyOrder::Any, Spelling::Any),
            (PropertyOrder::Any, Spelling::Constants),
            (PropertyOrder::Schema, Spelling::Constants),
            (PropertyOrder::Any, Spelling::Plain),
            (PropertyOrder::Schema, Spelling::Plain),
            (PropertyOrder::Any, Spelling::PlainValues),
            (PropertyOrder::Schema, Spelling::PlainPatterns),
        ] {
            let options = SchemaOptions { property_order: order, spelling: Some(spelling), ..SchemaOptions::default() };
            compared += follow(v, source, &options, 7 + i as u64);
        }
    }
    println!("{compared} masks");
    assert!(compared > least, "only {compared} masks");
}

#[test]
fn behind_keys_in_any_order() {
    follow_all(&vocabulary(0..=255, &[PIECES]), 4_000);
}

#[test]
fn where_tokens_begin_the_next_key() {
    follow_all(&vocabulary(0..=255, &[PIECES, COMMAS]), 4_000);
}

#[test]
fn where_tokens_spell_two_keys() {
    follow_all(&vocabulary(0..=255, &[PIECES, COMMAS, TWO]), 4_000);
}

#[test]
fn where_single_bytes_are_missing() {
    let bytes = (0..=255u8).filter(|b| !b"abemn1".contains(b));
    follow_all(&vocabulary(bytes, &[PIECES, COMMAS, TWO]), 1_000);
    follow_all(&vocabulary(b"{}:,\"ab xyn1".iter().copied(), &[PIECES, COMMAS]), 1_000);
}
