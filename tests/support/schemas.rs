//! JSON Schemas to test with: some chosen for a part of the engine, and a generator.

use interlock::util::rng::Rng;
use serde_json::{Value, json};

/// Chosen schemas.
pub const SCHEMAS: &[&str] = &[
    "true",
    "{}",
    r#"{"type":"string"}"#,
    r#"{"type":"string","maxLength":3}"#,
    r#"{"type":"string","minLength":2,"maxLength":9}"#,
    r#"{"type":"string","minLength":40,"maxLength":45}"#,
    r#"{"type":"string","minLength":3}"#,
    r#"{"type":"string","pattern":"^[a-z]+$","maxLength":7}"#,
    r#"{"type":"string","pattern":"^(ab|abc)*$","minLength":5,"maxLength":8}"#,
    r#"{"type":"string","pattern":"\"|\\\\"}"#,
    r#"{"type":"string","pattern":"^é?日{2,3}😀$"}"#,
    r#"{"type":"string","format":"date"}"#,
    r#"{"type":"string","format":"uuid"}"#,
    r#"{"anyOf":[{"type":"string","maxLength":2},{"type":"string","pattern":"^a+$","maxLength":12}]}"#,
    r#"{"enum":["a","ab","abc","a\"b","é","\n",1,12,123,null,true,[1,2],{"a":1}]}"#,
    r#"{"const":{"a":[1,{"b":"x"}],"c":null}}"#,
    r#"{"type":["string","number","null"]}"#,
    r#"{"type":"integer"}"#,
    r#"{"type":"number"}"#,
    r#"{"type":"integer","minimum":-5,"maximum":120}"#,
    r#"{"type":"number","minimum":0.5,"exclusiveMaximum":10}"#,
    r#"{"type":"integer","multipleOf":7}"#,
    r#"{"type":"number","multipleOf":0.25,"maximum":4}"#,
    r#"{"type":"boolean"}"#,
    r#"{"type":"array"}"#,
    r#"{"type":"array","items":{"type":"integer"}}"#,
    r#"{"type":"array","items":{"type":"string","maxLength":2},"minItems":2,"maxItems":4}"#,
    r#"{"type":"array","items":{"type":"boolean"},"maxItems":0}"#,
    r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#,
    r#"{"type":"array","prefixItems":[{"const":1},{"const":2}],"items":{"type":"null"},"minItems":3}"#,
    r#"{"type":"array","contains":{"type":"integer"},"maxItems":3}"#,
    r#"{"type":"array","items":{"type":["integer","null"]},"contains":{"type":"integer"},"minContains":2,"maxContains":3}"#,
    r#"{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}}"#,
    r#"{"type":"object"}"#,
    r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
    r#"{"type":"object","additionalProperties":{"type":"boolean"},"maxProperties":3,"minProperties":2}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"ab":{"type":"string"},"name":{"type":"null"}}}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"ab":{"type":"string"},"name":{"type":"null"}},"required":["ab"]}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"ab":{"type":"string"}},"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":true},"required":["a","c"],"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"}},"maxProperties":2,"required":["b"],"additionalProperties":{"type":"null"}}"#,
    r#"{"type":"object","properties":{"a":{"const":1}},"additionalProperties":{"const":2},"required":["a","zz"]}"#,
    r#"{"type":"object","properties":{"\"":{"const":1},"\\":{"const":2},"é":{"const":3},"a\nb":{"const":4},"":{"const":5}},"additionalProperties":{"const":0}}"#,
    r#"{"type":"object","patternProperties":{"^a":{"type":"integer"},"b$":{"type":"string"}},"additionalProperties":{"type":"null"}}"#,
    r#"{"type":"object","patternProperties":{"^[a-z]{1,3}$":{"type":"integer"}},"additionalProperties":false}"#,
    r#"{"type":"object","patternProperties":{"^(a|b|ab)$":{"type":"integer"}},"additionalProperties":false,"minProperties":2}"#,
    r#"{"type":"object","properties":{"ax":{"type":"string"}},"patternProperties":{"^a":{"maxLength":2}},"additionalProperties":{"type":"array"}}"#,
    r#"{"type":"object","propertyNames":{"maxLength":3},"additionalProperties":{"type":"integer"}}"#,
    r#"{"type":"object","propertyNames":{"enum":["a","b","id"]},"additionalProperties":{"type":"integer"}}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependentRequired":{"a":["b"]},"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"id":{"type":"integer"},"tag":{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":{"type":"object","additionalProperties":{"type":"integer"}}}}}"#,
    r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false},{"type":"object","properties":{"a":{"type":"number"},"c":{"type":"null"}},"required":["c"],"additionalProperties":false}]}"#,
    r#"{"anyOf":[{"type":"object","properties":{"type":{"const":"a"},"value":{"type":"integer"}},"required":["type","value"]},{"type":"object","properties":{"type":{"const":"ab"},"value":{"type":"string"}},"required":["type","value"]}]}"#,
    r#"{"anyOf":[{"type":"object","additionalProperties":{"type":"integer"}},{"type":"object","additionalProperties":{"type":"string"}}]}"#,
    r#"{"anyOf":[{"type":"array","items":{"type":"integer"},"maxItems":2},{"type":"array","items":{"type":"number"},"minItems":3},{"type":"array","items":{"enum":[1,"a"]}}]}"#,
    r#"{"type":"array","items":{"enum":["a","ab","b",1,12]},"uniqueItems":true,"minItems":3}"#,
    r#"{"type":"array","items":{"type":["integer","string"],"maxLength":4},"uniqueItems":true,"maxItems":5}"#,
    r#"{"type":"array","items":{"type":"boolean"},"uniqueItems":true}"#,
    r#"{"oneOf":[{"type":"integer","multipleOf":2},{"type":"integer","multipleOf":3}]}"#,
    r#"{"not":{"type":["object","array"]}}"#,
    r##"{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["value"],"additionalProperties":false}}}"##,
    r##"{"$defs":{"t":{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#/$defs/t"},"maxItems":3},{"type":"object","additionalProperties":{"$ref":"#/$defs/t"}}]}},"$ref":"#/$defs/t"}"##,
    r##"{"type":"object","properties":{"name":{"type":"string"},"items":{"type":"array","items":{"$ref":"#"}}},"required":["name"]}"##,
    r#"{"type":"object","properties":{"kind":{"enum":["a","b"]}},"required":["kind"],"if":{"properties":{"kind":{"const":"a"}}},"then":{"properties":{"x":{"type":"integer"}},"required":["x"]},"else":{"properties":{"y":{"type":"string"}},"required":["y"]}}"#,
    r#"{"type":"object","properties":{"a":{"type":"object","properties":{"a":{"type":"object","properties":{"a":{"type":"string","maxLength":4}}}}}}}"#,
    r#"{"allOf":[{"properties":{"a":{"minimum":3}}},{"properties":{"a":{"type":"integer","maximum":12}},"required":["a"]}],"type":"object"}"#,
    r#"{"type":"object","properties":{"foo":{"type":"string","maxLength":5},"foobar":{"type":"integer"},"baz":{"type":"array","items":{"type":"string","pattern":"^x"}}},"minProperties":1}"#,
];

/// Unique elements out of strings that run out within one token.
pub const UNIQUE_STRINGS: &[&str] = &[
    r#"{"type":"array","items":{"type":"string","maxLength":1},"uniqueItems":true}"#,
    r#"{"type":"array","items":{"type":["string","integer"],"maxLength":2},"uniqueItems":true}"#,
    r#"{"type":"array","items":{"type":"string","pattern":"^[a-c]{1,2}$"},"uniqueItems":true}"#,
];

/// Names of keys that the generator draws from.
pub const NAMES: &[&str] = &["a", "ab", "b", "name", "id", "", "é", "\"", "a\nb", "type", "foo", "foobar"];

/// What a walk may try inside an object: keys in several spellings, with what comes before and after.
pub const HINTS: &[&str] = &[
    r#"a":"#,
    r#"ab":"#,
    r#""a":"#,
    r#""ab": "#,
    r#"b":"#,
    r#"\u0061":"#,
    r#"\u0061b":"#,
    r#"a\u0062":"#,
    r#"name":"#,
    r#"nam":"#,
    r#"names":"#,
    r#"":"#,
    r#"é":"#,
    r#"\u00e9":"#,
    r#"\"":"#,
    r#"a\nb":"#,
    r#"a\u000ab":"#,
    r#"foo":"#,
    r#"foobar":"#,
    r#""id":"#,
    r#","a":"#,
    r#","id":"#,
    r#", "name":"#,
    r#"{"a":"#,
    r#"{"ab":"#,
    r#"1,"a":"#,
    r#"","b":"#,
    r#""a""#,
    r#"aa"]"#,
    r#"type":"a"#,
    r#"}"#,
    r#"]"#,
    r#"1}"#,
    r#"1]"#,
];

/// A random schema, at most `depth` deep; `$ref`s lead to `#/$defs/r`, which [`random`] adds.
fn part(rng: &mut Rng, depth: usize) -> Value {
    if depth == 0 || rng.chance(25) {
        return leaf(rng);
    }
    let d = depth - 1;
    match rng.below(12) {
        0..5 => object(rng, d),
        5..7 => array(rng, d),
        7 => json!({"anyOf": [part(rng, d), part(rng, d)]}),
        8 => json!({"anyOf": [object(rng, d), object(rng, d)]}),
        9 => json!({"allOf": [object(rng, 0), object(rng, 0)]}),
        10 => json!({"$ref": "#/$defs/r"}),
        _ => json!({"oneOf": [leaf(rng), object(rng, d)]}),
    }
}

fn leaf(rng: &mut Rng) -> Value {
    let n = rng.below(5);
    match rng.below(16) {
        0 => json!(true),
        1 => json!({"type": "string"}),
        2 => json!({"type": "string", "maxLength": n}),
        3 => json!({"type": "string", "minLength": n, "maxLength": n + rng.below(20)}),
        4 => json!({"type": "string", "pattern": rng.pick(&["^a", "b$", "^[a-z]+$", "^(ab|é)*$", "\\d", "^.?$"])}),
        5 => json!({"type": "string", "pattern": "^[a-z ]*$", "maxLength": n + 3}),
        6 => json!({"type": "integer"}),
        7 => json!({"type": "number", "minimum": n, "maximum": n + rng.below(300)}),
        8 => json!({"type": "integer", "multipleOf": n + 1}),
        9 => json!({"enum": ["a", "ab", 1, 12, null, {"a": 1}, ["a"]]}),
        10 => json!({"const": rng.pick(&["a", "name", "", "\\", "é", "😀"])}),
        11 => json!({"type": ["boolean", "null"]}),
        12 => json!({"type": ["string", "integer"], "maxLength": 2}),
        13 => json!({"not": {"type": ["string", "object"]}}),
        14 => json!({"type": "string", "format": rng.pick(&["date", "email", "ipv4"])}),
        _ => json!({"type": "number"}),
    }
}

fn object(rng: &mut Rng, depth: usize) -> Value {
    let mut o = json!({"type": "object"});
    if rng.chance(85) {
        let mut properties = serde_json::Map::new();
        for _ in 0..1 + rng.below(4) {
            properties.insert(rng.pick(NAMES).to_string(), part(rng, depth));
        }
        if rng.chance(60) {
            let names: Vec<&String> = properties.keys().filter(|_| rng.chance(50)).collect();
            o["required"] = json!(names);
        }
        if rng.chance(10) {
            o["dependentRequired"] = json!({ "a": ["b"], "name": ["id"] });
        }
        o["properties"] = Value::Object(properties);
    }
    match rng.below(4) {
        0 => o["additionalProperties"] = json!(false),
        1 | 2 => o["additionalProperties"] = part(rng, depth),
        _ => {}
    }
    if rng.chance(30) {
        let key = *rng.pick(&["^a", "b", "^[a-z]{1,3}$", "^(a|b|é)$", "^x-", "o+"]);
        o["patternProperties"] = json!({ key: part(rng, depth) });
    }
    if rng.chance(10) {
        o["propertyNames"] =
            rng.pick(&[json!({"maxLength": 3}), json!({"pattern": "^[a-f]*$"}), json!({"enum": NAMES})]).clone();
    }
    if rng.chance(15) {
        o["minProperties"] = json!(rng.below(4));
    }
    if rng.chance(20) {
        o["maxProperties"] = json!(1 + rng.below(4));
    }
    o
}

fn array(rng: &mut Rng, depth: usize) -> Value {
    let mut a = json!({"type": "array"});
    if rng.chance(80) {
        a["items"] = part(rng, depth);
    }
    if rng.chance(25) {
        a["prefixItems"] = json!([part(rng, depth), part(rng, depth)]);
    }
    if rng.chance(30) {
        a["minItems"] = json!(rng.below(4));
    }
    if rng.chance(30) {
        a["maxItems"] = json!(1 + rng.below(4));
    }
    if rng.chance(20) {
        a["uniqueItems"] = json!(true);
    }
    if rng.chance(15) {
        a["contains"] = leaf(rng);
        if rng.chance(30) {
            a["minContains"] = json!(rng.below(4));
        }
        if rng.chance(30) {
            a["maxContains"] = json!(1 + rng.below(4));
        }
    }
    a
}

/// A random schema.
pub fn random(rng: &mut Rng) -> String {
    let root = part(rng, 3);
    json!({"allOf": [root], "$defs": {"r": object(rng, 1)}}).to_string()
}
