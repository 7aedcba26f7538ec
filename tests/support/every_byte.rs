//! Every byte of every document of a small language, judged by the list of all documents.
//!
//! A byte may follow a prefix exactly if some document goes on with it, so whatever a guide refuses too early or too
//! late shows.

use std::collections::BTreeSet;
use std::sync::Arc;

use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::Value;

/// The vocabulary of all bytes, and an end.
pub fn bytes() -> Arc<Vocabulary> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([Vec::new()]).collect();
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() }).unwrap()
}

/// All spellings of a value without blanks and escapes, with its keys in any order or in the order of `declared`.
fn spellings(v: &Value, any_order: bool) -> Vec<String> {
    let joined = |parts: Vec<Vec<String>>| {
        parts.into_iter().fold(vec![String::new()], |all, part| {
            let comma = |a: &str| if a.is_empty() { "" } else { "," };
            all.iter().flat_map(|a| part.iter().map(move |p| format!("{a}{}{p}", comma(a)))).collect()
        })
    };
    match v {
        Value::Array(a) => {
            let all = joined(a.iter().map(|v| spellings(v, any_order)).collect());
            all.iter().map(|s| format!("[{s}]")).collect()
        }
        Value::Object(o) => {
            let members: Vec<Vec<String>> =
                o.iter().map(|(k, v)| spellings(v, any_order).iter().map(|s| format!("{k:?}:{s}")).collect()).collect();
            let orders = if any_order { orders(members) } else { vec![members] };
            let mut out: Vec<String> = orders.into_iter().flat_map(joined).map(|s| format!("{{{s}}}")).collect();
            out.sort();
            out.dedup();
            out
        }
        scalar => vec![scalar.to_string()],
    }
}

fn orders<T: Clone>(items: Vec<T>) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut out = Vec::new();
    for i in 0..items.len() {
        let mut rest = items.clone();
        let first = rest.remove(i);
        out.extend(orders(rest).into_iter().map(|r| [vec![first.clone()], r].concat()));
    }
    out
}

/// Compares every byte after every prefix of a document, written without blanks. How many prefixes there are.
pub fn compare(schema: &str, documents: &[Value]) -> usize {
    // Keys without a name come in any order anyhow.
    let orders: &[bool] = if schema.contains("patternProperties") { &[true] } else { &[true, false] };
    let v = bytes();
    let mut prefixes = 0;
    for &any_order in orders {
        let order = if any_order { PropertyOrder::Any } else { PropertyOrder::Schema };
        let options = SchemaOptions { whitespace: Whitespace::Compact, property_order: order, ..Default::default() };
        let index = Index::from_json_schema(schema, &v, &options, &Limits::default()).unwrap();
        let texts: BTreeSet<Vec<u8>> =
            documents.iter().flat_map(|d| spellings(d, any_order)).map(String::into_bytes).collect();
        let texts: Vec<&Vec<u8>> = texts.iter().collect();
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        let mut row = vec![0; v.words()];
        // Depth first over the sorted texts: `lo..hi` are those that begin with what the guide has read.
        let mut stack = vec![(0, texts.len(), 0)];
        let mut read: Vec<u8> = Vec::new();
        while let Some((lo, hi, depth)) = stack.pop() {
            if depth > 0 {
                let text = texts[lo];
                guide.rollback(read.len() - (depth - 1)).unwrap();
                read.truncate(depth - 1);
                read.push(text[depth - 1]);
                assert!(guide.try_advance(u32::from(text[depth - 1])), "{schema} refuses {:?}", show(&read));
            }
            prefixes += 1;
            let mut expected: BTreeSet<u8> = BTreeSet::new();
            let mut at = lo;
            while at < hi {
                let Some(&b) = texts[at].get(depth) else {
                    at += 1;
                    continue;
                };
                let end = at + texts[at..hi].partition_point(|t| t[depth] <= b);
                expected.insert(b);
                stack.push((at, end, depth + 1));
                at = end;
            }
            guide.fill_mask(&mut row);
            let mut allowed: BTreeSet<u8> =
                (0..=255u8).filter(|&b| row[b as usize / 32] >> (b % 32) & 1 == 1).collect();
            // Other spellings of keys and strings.
            allowed.remove(&b'\\');
            assert_eq!(allowed, expected, "{schema}, any order {any_order}, after {:?}", show(&read));
            assert_eq!(guide.is_accepting(), texts[lo].len() == depth, "{schema} after {:?}", show(&read));
        }
    }
    prefixes
}

fn show(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
