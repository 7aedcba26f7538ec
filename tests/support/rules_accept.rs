//! The slow twin of everything that runs rules: does a parsed JSON value satisfy them?
//!
//! Follows the documentation of `json::rules` word by word, on parsed values, with memory for nothing. It knows nothing
//! of key order, whitespace or escapes, which are the automaton's.

use interlock::expr::{Exprs, INF};
use interlock::json::rules::{ArrayShape, Element, ObjectShape, RuleId, Rules, StringSet};
use serde_json::Value;

/// Whether `v` satisfies the root.
pub fn rules_accept(rules: &mut Rules, v: &Value) -> bool {
    let root = rules.root;
    accepts(rules, root, v)
}

fn accepts(rules: &mut Rules, r: RuleId, v: &Value) -> bool {
    let rule = rules.rules[r.0 as usize].clone();
    match v {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            rule.literals.is_some_and(|e| rules.exprs.accepts(e, v.to_string().as_bytes()))
        }
        Value::String(s) => rule.strings.iter().any(|set| in_set(&mut rules.exprs, set, s)),
        Value::Array(items) => rule.arrays.iter().any(|a| array(rules, a, items)),
        Value::Object(members) => rule.objects.iter().any(|o| object(rules, o, members)),
    }
}

fn in_set(x: &mut Exprs, set: &StringSet, s: &str) -> bool {
    let n = s.chars().count() as u32;
    n >= set.min && (set.max == INF || n <= set.max) && x.accepts(set.text, s.as_bytes())
}

fn array(rules: &mut Rules, a: &ArrayShape, items: &[Value]) -> bool {
    let n = items.len() as u64;
    if n < a.min || a.max.is_some_and(|m| n > m) {
        return false;
    }
    if a.unique && (0..items.len()).any(|i| (0..i).any(|j| equal(&items[i], &items[j]))) {
        return false;
    }
    // Vectors of counts that some choice of ways reaches.
    let mut reached = vec![vec![0u64; a.contains.len()]];
    for (i, item) in items.iter().enumerate() {
        let ways: &[Element] = a.prefix.get(i).unwrap_or(&a.rest);
        let bits: Vec<u32> = ways.iter().filter(|e| accepts(rules, e.rule, item)).map(|e| e.matches).collect();
        let mut next = Vec::new();
        for v in &reached {
            for b in &bits {
                let v: Vec<u64> = v.iter().enumerate().map(|(k, n)| n + u64::from(b >> k & 1)).collect();
                if !next.contains(&v) {
                    next.push(v);
                }
            }
        }
        reached = next;
    }
    reached.iter().any(|v| v.iter().zip(&a.contains).all(|(&k, c)| k >= c.min && c.max.is_none_or(|m| k <= m)))
}

fn object(rules: &mut Rules, o: &ObjectShape, members: &serde_json::Map<String, Value>) -> bool {
    let n = members.len() as u64;
    if n < o.min || o.max.is_some_and(|m| n > m) {
        return false;
    }
    if o.properties.iter().any(|p| p.required && !members.contains_key(&*p.name)) {
        return false;
    }
    let has = |i: u32| members.contains_key(&*o.properties[i as usize].name);
    if o.dependent_required.iter().any(|&(a, b)| has(a) && !has(b)) {
        return false;
    }
    // Sets of witnesses that some choice of classes finds.
    let mut reached = vec![0u32];
    for (k, v) in members {
        if let Some(p) = o.properties.iter().find(|p| *p.name == **k) {
            if !p.rule.is_some_and(|r| accepts(rules, r, v)) {
                return false;
            }
            continue;
        }
        let mut next = Vec::new();
        for c in &o.others {
            if rules.exprs.accepts(c.keys, k.as_bytes()) && accepts(rules, c.rule, v) {
                next.extend(reached.iter().map(|r| r | c.matches));
            }
        }
        next.sort_unstable();
        next.dedup();
        reached = next;
    }
    reached.iter().any(|r| o.witnesses & !r == 0)
}

/// Equality of JSON values: numbers by value.
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
