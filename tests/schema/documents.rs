//! The language of documents: what a guide accepts, and where it lets an output end, is what the slow twin of the rules
//! says about the parsed value. Outputs of random walks and damaged copies of them, in any order of keys.

use crate::support::rules_accept::rules_accept;
use crate::support::vocabulary;
use crate::support::walk::Walker;
use interlock::json::rules::Rules;
use interlock::schema::{PropertyOrder, SchemaOptions, lower, parse_schema};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits};
use serde_json::Value;

/// One vocabulary for all tests: masks are made once.
fn small() -> std::sync::Arc<interlock::Vocabulary> {
    static SMALL: std::sync::OnceLock<std::sync::Arc<interlock::Vocabulary>> = std::sync::OnceLock::new();
    SMALL.get_or_init(vocabulary::small).clone()
}

const BLANKS: &[u8] = b" \t\n\r";

/// Whether `text` is a document that the rules accept, with no key repeated, nothing around it, and no long gaps.
fn judge(rules: &mut Rules, text: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return false };
    let bare = text.first().is_some_and(|b| !BLANKS.contains(b)) && text.last().is_some_and(|b| !BLANKS.contains(b));
    bare && colons(text) == members(&value) && rules_accept(rules, &value)
}

/// Colons outside strings: one for each member that was written, also where a key is repeated.
fn colons(text: &[u8]) -> usize {
    let (mut inside, mut escape, mut n) = (false, false, 0);
    for &b in text {
        match (inside, escape, b) {
            (true, true, _) => escape = false,
            (true, _, b'\\') => escape = true,
            (_, _, b'"') => inside = !inside,
            (false, _, b':') => n += 1,
            _ => {}
        }
    }
    n
}

fn members(v: &Value) -> usize {
    match v {
        Value::Array(a) => a.iter().map(members).sum(),
        Value::Object(o) => o.len() + o.values().map(members).sum::<usize>(),
        _ => 0,
    }
}

/// Whether the guide, at its start, takes `text` and may end there.
fn takes(start: &Guide, text: &[u8]) -> bool {
    let mut guide = start.clone();
    let v = guide.index().vocabulary().clone();
    let byte = |b: u8| v.trie().child(0, b).and_then(|n| v.trie().tokens(n).first().copied());
    text.iter().all(|&b| byte(b).is_some_and(|id| guide.try_advance(id))) && guide.is_accepting()
}

/// Damages a text in one or two places.
fn damage(rng: &mut Rng, text: &[u8]) -> Vec<u8> {
    const PARTS: &[&str] = &[
        "\"", "\\", ",", ":", "{", "}", "[", "]", "1", "0", "-", ".", "e", "a", "b", " ", "\n", "null", "true",
        "\"a\":1,", "\"b\":", "\\u0061", "é", "😀", ",1", ",\"a\"", "{}", "[]",
    ];
    let mut out = text.to_vec();
    for _ in 0..1 + rng.below(2) {
        let at = rng.below(out.len() + 1);
        let gone = rng.below(4).min(out.len() - at);
        let new: &[u8] = match rng.below(3) {
            0 => b"",
            1 => rng.pick(PARTS).as_bytes(),
            _ => {
                let from = rng.below(text.len());
                &text[from..(from + 1 + rng.below(12)).min(text.len())]
            }
        };
        out.splice(at..at + gone, new.iter().copied());
    }
    out
}

fn check(source: &str, seed: u64, wrong: &mut Vec<String>) -> (usize, usize) {
    let v = small();
    let options = SchemaOptions { property_order: PropertyOrder::Any, ..SchemaOptions::default() };
    let limits = Limits::default();
    let Ok(index) = Index::from_json_schema(source, &v, &options, &limits) else { return (0, 0) };
    let (model, mut report) = parse_schema(source, &options, &limits).unwrap();
    let mut rules = lower(&model, &options, &limits, &mut report).unwrap();
    let start = index.guide(&GuideOptions::default()).unwrap();
    let mut rng = Rng(seed);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..4 {
        let mut guide = start.clone();
        let mut walker = Walker::new(rng.bits(), b"").with_hints(crate::support::schemas::HINTS);
        let mut texts = Vec::new();
        for _ in 0..50 {
            let text = v.decode(&guide.tokens()).unwrap();
            let accepting = guide.is_accepting();
            if accepting != judge(&mut rules, &text) {
                wrong.push(format!("{source}: accepting is {accepting} after {:?}", String::from_utf8_lossy(&text)));
            }
            if accepting {
                texts.push(text);
            }
            let allowed = guide.allowed_token_ids();
            let Some(id) = walker.next(&guide, &allowed) else { break };
            guide.advance(id).unwrap();
        }
        for text in texts.iter().rev().take(3).filter(|t| !t.is_empty()) {
            for _ in 0..12 {
                let bad = damage(&mut rng, text);
                if bad.windows(60).any(|w| w.iter().all(|b| BLANKS.contains(b))) {
                    continue;
                }
                let expected = judge(&mut rules, &bad);
                *if expected { &mut accepted } else { &mut refused } += 1;
                if takes(&start, &bad) != expected {
                    wrong.push(format!("{source}: the rules say {expected} of {:?}", String::from_utf8_lossy(&bad)));
                }
            }
        }
    }
    (accepted, refused)
}

fn all<'a>(sources: impl Iterator<Item = std::borrow::Cow<'a, str>>, least: usize) {
    let (mut accepted, mut refused, mut wrong) = (0, 0, Vec::new());
    for (source, seed) in sources.zip(0..) {
        let (a, r) = check(&source, seed, &mut wrong);
        accepted += a;
        refused += r;
    }
    println!("{accepted} damaged texts accepted, {refused} refused");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(25)].join("\n"));
    assert!(accepted >= least && refused >= least, "too little was tested");
}

#[test]
fn chosen_schemas() {
    all(crate::support::schemas::SCHEMAS.iter().map(|s| (*s).into()), 200);
}

#[test]
fn random_schemas() {
    let n = std::env::var("INTERLOCK_RANDOM_SCHEMAS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    all((0..n).map(|seed: u64| crate::support::schemas::random(&mut Rng(seed)).into()), 200);
}
