//! A plain validator of the keywords that are generated, by the letter of the specification (2020-12).

use serde_json::Value;

/// Whether a text matches one of [`PATTERNS`](super::generate::PATTERNS) somewhere.
fn matches(pattern: &str, text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    match pattern {
        "^a" => text.starts_with('a'),
        "b$" => text.ends_with('b'),
        "^[a-c]{2,3}$" => (2..=3).contains(&chars.len()) && chars.iter().all(|c| ('a'..='c').contains(c)),
        // A dot is no line terminator of ECMAScript.
        "a.c" => chars.windows(3).any(|w| w[0] == 'a' && w[2] == 'c' && !"\n\r\u{2028}\u{2029}".contains(w[1])),
        "^(ab|b)*$" => text.replace("ab", "b").chars().all(|c| c == 'b'),
        _ => chars.len() <= 4 && !chars.iter().any(|c| "\n\r\u{2028}\u{2029}".contains(*c)),
    }
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| equal(v, w)))
        }
        _ => a == b,
    }
}

fn is_type(name: &str, v: &Value) -> bool {
    match name {
        "null" => v.is_null(),
        "boolean" => v.is_boolean(),
        "integer" => v.as_f64().is_some_and(|n| n.fract() == 0.0),
        "number" => v.is_number(),
        "string" => v.is_string(),
        "array" => v.is_array(),
        _ => v.is_object(),
    }
}

/// Whether every number is short enough to be compared as a floating-point number.
pub fn is_plain(v: &Value) -> bool {
    match v {
        Value::Number(n) => {
            let text = n.to_string();
            text.len() < 15
                && n.as_f64().is_some_and(|x| x == 0.0 && !text.contains('e') || (1e-9..1e15).contains(&x.abs()))
        }
        Value::Array(a) => a.iter().all(is_plain),
        Value::Object(o) => o.values().all(is_plain),
        _ => true,
    }
}

/// Whether `v` is valid under `schema` of the document `root`.
pub fn valid(root: &Value, schema: &Value, v: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return schema == &Value::Bool(true) };
    keywords.iter().all(|(key, argument)| keyword(root, keywords, key, argument, v))
}

fn keyword(root: &Value, all: &serde_json::Map<String, Value>, key: &str, argument: &Value, v: &Value) -> bool {
    let ok = |s: &Value, v: &Value| valid(root, s, v);
    let list = || argument.as_array().map(Vec::as_slice).unwrap_or_default();
    let n = argument.as_f64().unwrap_or_default();
    let count = argument.as_u64().unwrap_or_default() as usize;
    let number = v.as_f64();
    let (text, array, object) = (v.as_str(), v.as_array(), v.as_object());
    let has = |o: &serde_json::Map<String, Value>, names: &Value| {
        names.as_array().is_none_or(|names| names.iter().all(|k| k.as_str().is_some_and(|k| o.contains_key(k))))
    };
    match key {
        "type" => match argument {
            Value::String(name) => is_type(name, v),
            _ => list().iter().any(|name| name.as_str().is_some_and(|name| is_type(name, v))),
        },
        "enum" => list().iter().any(|e| equal(e, v)),
        "const" => equal(argument, v),
        "minimum" => number.is_none_or(|x| x >= n),
        "exclusiveMaximum" => number.is_none_or(|x| x < n),
        // Quarters and whole numbers of moderate size are exact.
        "multipleOf" => number.is_none_or(|x| x.abs() > 1e15 || (x / n).fract() == 0.0),
        "minLength" => text.is_none_or(|s| s.chars().count() >= count),
        "maxLength" => text.is_none_or(|s| s.chars().count() <= count),
        "pattern" => text.is_none_or(|s| argument.as_str().is_some_and(|p| matches(p, s))),
        "properties" => object.is_none_or(|o| {
            let named = argument.as_object();
            o.iter().all(|(k, v)| named.and_then(|n| n.get(k)).is_none_or(|s| ok(s, v)))
        }),
        "patternProperties" => object.is_none_or(|o| {
            let classes = argument.as_object();
            o.iter().all(|(k, v)| classes.is_none_or(|c| c.iter().all(|(p, s)| !matches(p, k) || ok(s, v))))
        }),
        "additionalProperties" => object.is_none_or(|o| {
            let named = |k: &str| all.get("properties").is_some_and(|p| p.get(k).is_some());
            let classed = |k: &str| {
                let classes = all.get("patternProperties").and_then(Value::as_object);
                classes.is_some_and(|c| c.keys().any(|p| matches(p, k)))
            };
            o.iter().all(|(k, v)| named(k) || classed(k) || ok(argument, v))
        }),
        "required" => object.is_none_or(|o| has(o, argument)),
        "propertyNames" => object.is_none_or(|o| o.keys().all(|k| ok(argument, &Value::String(k.clone())))),
        "minProperties" => object.is_none_or(|o| o.len() >= count),
        "maxProperties" => object.is_none_or(|o| o.len() <= count),
        "dependentRequired" => object.is_none_or(|o| {
            argument.as_object().is_none_or(|d| d.iter().all(|(k, names)| !o.contains_key(k) || has(o, names)))
        }),
        "items" => array.is_none_or(|a| {
            let first = all.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            a.iter().skip(first).all(|v| ok(argument, v))
        }),
        "prefixItems" => array.is_none_or(|a| a.iter().zip(list()).all(|(v, s)| ok(s, v))),
        "contains" => array.is_none_or(|a| a.iter().any(|v| ok(argument, v))),
        "minItems" => array.is_none_or(|a| a.len() >= count),
        "maxItems" => array.is_none_or(|a| a.len() <= count),
        "uniqueItems" => array.is_none_or(|a| (0..a.len()).all(|i| (0..i).all(|j| !equal(&a[i], &a[j])))),
        "allOf" => list().iter().all(|s| ok(s, v)),
        "anyOf" => list().iter().any(|s| ok(s, v)),
        "oneOf" => list().iter().filter(|s| ok(s, v)).count() == 1,
        "not" => !ok(argument, v),
        "if" => all.get(if ok(argument, v) { "then" } else { "else" }).is_none_or(|s| ok(s, v)),
        "$ref" => ok(root, v),
        _ => true,
    }
}
