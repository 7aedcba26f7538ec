//! Schemas out of bytes: each byte is a choice, so that what a fuzzer changes is the schema's shape and not its
//! spelling.

use serde_json::{Map, Value, json};

/// The input, read choice by choice; zeros when it ends.
pub struct Bytes<'a> {
    rest: &'a [u8],
    /// Choices after the end still differ, so that walks do.
    seed: u64,
}

impl<'a> Bytes<'a> {
    /// All of `input`.
    pub fn new(input: &'a [u8]) -> Self {
        let seed = input.iter().fold(7, |s: u64, &b| s.wrapping_mul(31).wrapping_add(u64::from(b)));
        Bytes { rest: input, seed }
    }

    /// A choice out of `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let byte = match self.rest.split_first() {
            Some((&b, rest)) => {
                self.rest = rest;
                usize::from(b)
            }
            None => {
                self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.seed >> 33) as usize
            }
        };
        byte % n.max(1)
    }

    /// What was not read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn is_over(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Patterns that [`validate`](super::validate) knows.
pub const PATTERNS: [&str; 6] = ["^a", "b$", "^[a-c]{2,3}$", "a.c", "^(ab|b)*$", "^.{0,4}$"];
const NAMES: [&str; 5] = ["a", "b", "ab", "c\"", ""];

fn value(b: &mut Bytes<'_>, depth: usize) -> Value {
    match b.below(if depth == 0 { 9 } else { 11 }) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(false),
        3 => json!(0),
        4 => json!(b.below(30) as i64 - 10),
        5 => json!(1.5),
        6 => json!(""),
        7 => json!(NAMES[b.below(5)]),
        8 => json!("é\n\\"),
        9 => Value::Array((0..b.below(3)).map(|_| value(b, depth - 1)).collect()),
        _ => Value::Object((0..b.below(3)).map(|_| (NAMES[b.below(5)].to_owned(), value(b, depth - 1))).collect()),
    }
}

fn schemas(b: &mut Bytes<'_>, depth: usize) -> Value {
    Value::Array((0..1 + b.below(3)).map(|_| schema(b, depth)).collect())
}

fn named(b: &mut Bytes<'_>, names: &[&str], depth: usize) -> Value {
    Value::Object((0..1 + b.below(3)).map(|_| (names[b.below(names.len())].to_owned(), schema(b, depth))).collect())
}

fn names(b: &mut Bytes<'_>) -> Value {
    let mut names: Vec<&str> = (0..1 + b.below(2)).map(|_| NAMES[b.below(5)]).collect();
    names.sort_unstable();
    names.dedup();
    json!(names)
}

/// A schema of at most `depth` further levels.
pub fn schema(b: &mut Bytes<'_>, depth: usize) -> Value {
    if depth == 0 || b.is_over() {
        return [json!(true), json!({"type": "integer"}), json!({"type": "string"}), json!(false)][b.below(4)].clone();
    }
    let mut out = Map::new();
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    for _ in 0..1 + b.below(4) {
        let d = depth - 1;
        let (key, value) = match b.below(36) {
            0..4 => ("type", json!(types[b.below(7)])),
            4 => ("type", json!([types[b.below(3)], types[4 + b.below(3)]])),
            5 => ("enum", Value::Array((0..1 + b.below(5)).map(|_| value(b, 2)).collect())),
            6 => ("const", value(b, 2)),
            7 => ("minimum", json!(b.below(20) as i64 - 10)),
            8 => ("exclusiveMaximum", json!(b.below(200) as f64 / 4.0)),
            9 => ("multipleOf", json!([1.0, 0.5, 3.0, 0.25, 7.0][b.below(5)])),
            10 => ("minLength", json!(b.below(6))),
            11 => ("maxLength", json!(b.below(9))),
            12 => ("pattern", json!(PATTERNS[b.below(6)])),
            13 | 14 => ("properties", named(b, &NAMES, d)),
            15 => ("patternProperties", named(b, &PATTERNS, d)),
            16 | 17 => ("additionalProperties", schema(b, d)),
            18 => ("required", names(b)),
            19 => ("propertyNames", schema(b, d)),
            20 => ("minProperties", json!(b.below(4))),
            21 => ("maxProperties", json!(b.below(5))),
            22 => ("dependentRequired", json!({NAMES[b.below(5)]: names(b), NAMES[b.below(5)]: names(b)})),
            23 | 24 => ("items", schema(b, d)),
            25 => ("prefixItems", schemas(b, d)),
            26 => ("contains", schema(b, d)),
            27 => ("minItems", json!(b.below(4))),
            28 => ("maxItems", json!(b.below(5))),
            29 => ("uniqueItems", json!(true)),
            30 => ("allOf", schemas(b, d)),
            31 => ("anyOf", schemas(b, d)),
            32 => ("oneOf", schemas(b, d)),
            33 => ("not", schema(b, d)),
            34 => {
                out.insert("if".to_owned(), schema(b, d));
                out.insert("else".to_owned(), schema(b, d));
                ("then", schema(b, d))
            }
            // Recursion through a part of the value, so that a plain validator ends.
            _ => (["items", "additionalProperties", "contains"][b.below(3)], json!({"$ref": "#"})),
        };
        out.insert(key.to_owned(), value);
    }
    Value::Object(out)
}
