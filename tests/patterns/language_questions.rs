//! Questions about languages, against enumeration by brute force and against guides.

use crate::support::patterns;
use crate::support::vocabulary::small;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions, Spelling, Whitespace};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, GuideOptions, Index, Limits};

const MOST_STATES: usize = 20_000;

fn pattern(p: &str) -> Option<Index> {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(p, &small(), &options, &Limits::default()).ok()
}

fn schema(text: &str, order: PropertyOrder) -> Index {
    let spelling = Some(Spelling::Any);
    let options =
        SchemaOptions { property_order: order, whitespace: Whitespace::Compact, spelling, ..Default::default() };
    Index::from_json_schema(text, &small(), &options, &Limits::default()).unwrap()
}

/// Whether a guide takes `text`, byte by byte, to an end.
fn accepts(index: &Index, text: &[u8]) -> bool {
    let v = index.vocabulary().clone();
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let byte = |b: u8| v.trie().tokens(v.trie().child(0, b).unwrap())[0];
    text.iter().all(|&b| guide.try_advance(byte(b))) && guide.is_accepting()
}

/// How many members there are, by trying every byte everywhere; `None` beyond `most`.
fn enumerated(index: &Index, most: usize) -> Option<usize> {
    let v = index.vocabulary().clone();
    let byte = |b: u8| v.trie().tokens(v.trie().child(0, b).unwrap())[0];
    let mut open = vec![index.guide(&GuideOptions::default()).unwrap()];
    let (mut found, mut steps) = (0, 0);
    while let Some(mut guide) = open.pop() {
        found += usize::from(guide.is_accepting());
        steps += 1;
        if steps > most {
            return None;
        }
        for b in 0..=255u8 {
            if guide.try_advance(byte(b)) {
                open.push(guide.clone());
                guide.rollback(1).unwrap();
            }
        }
    }
    Some(found)
}

fn size(index: &Index) -> Option<u128> {
    let mut bytes = index.language_size(MOST_STATES).unwrap()?.to_le_bytes();
    bytes.resize(16, 0);
    Some(u128::from_le_bytes(bytes.try_into().unwrap()))
}

#[test]
fn sizes() {
    for (p, expected) in [
        ("abc", Some(1)),
        ("a{0,9}", Some(10)),
        ("[ab]{100}", Some(1 << 100)),
        ("(a|ab)(c|bcd)(d*)", None),
        ("é|e|日本", Some(3)),
        ("(?!abc)[a-c]{3}", Some(26)),
    ] {
        assert_eq!(size(&pattern(p).unwrap()), expected, "{p}");
    }
    let text = r#"{"properties":{"a":{"enum":[1,2]},"b":{"type":"boolean"},"c":{"const":null}},"required":["a"],
                   "additionalProperties":false,"type":"object"}"#;
    for order in [PropertyOrder::Schema, PropertyOrder::Any] {
        let index = schema(text, order);

        // Keys may be spelled with escapes, so only documents of digits and brackets can be counted by hand.
        assert!(size(&index).unwrap() > 12);
    }
    let arrays = schema(r#"{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":3}"#, PropertyOrder::Any);
    assert_eq!(size(&arrays), Some(14));
    assert_eq!(enumerated(&arrays, 10_000), Some(14));
}

#[test]
fn sizes_by_enumeration() {
    let mut rng = Rng(5);
    let mut compared = 0;
    for _ in 0..100 {
        let p = patterns::random(&mut rng, 4);
        let Some(index) = pattern(&p) else { continue };
        if let Some(n) = enumerated(&index, 300) {
            assert_eq!(size(&index), Some(n as u128), "{p}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn flat_automata_accept_what_guides_accept() {
    let mut rng = Rng(3);
    let mut indexes: Vec<Index> = (0..60).filter_map(|_| pattern(&patterns::random(&mut rng, 5))).collect();
    for order in [PropertyOrder::Schema, PropertyOrder::Any] {
        let texts = crate::support::schemas::SCHEMAS.iter().copied();
        indexes.extend(texts.map(|s| schema(s, order)));
    }
    let mut flat_ones = 0;
    for index in &indexes {
        let Ok(flat) = index.flat(1_500) else { continue };
        flat_ones += 1;
        for seed in 0..4 {
            let member = index.random_member(seed, 120, MOST_STATES);
            let Ok(mut text) = member else { continue };
            assert!(accepts(index, &text), "{:?}", String::from_utf8_lossy(&text));
            for _ in 0..4 {
                let runs = text.iter().fold(0, |s, &b| if s == u32::MAX { s } else { flat.step(s, b) });
                let ends = runs != u32::MAX && flat.accepting[runs as usize];
                assert_eq!(ends, accepts(index, &text), "{:?}", String::from_utf8_lossy(&text));
                if text.is_empty() {
                    break;
                }
                let at = rng.below(text.len());
                if rng.chance(50) {
                    text.remove(at);
                } else {
                    text[at] = *rng.pick(b"ab1\"{}[],:0\\ ");
                }
            }
        }
    }
    assert!(flat_ones > 60, "{flat_ones}");
}

#[test]
fn witnesses() {
    let rows = [
        ("a{2,5}", "a{3,9}", Some("aa"), Some("aaa")),
        ("[a-c]+", "[a-z]+", None, Some("a")),
        ("(ab)*", "a(ba)*", Some(""), None),
        ("(a|b)*abb", "(a|b)*b", None, Some("abb")),
    ];
    for (p, q, only, both) in rows {
        let (a, b) = (pattern(p).unwrap(), pattern(q).unwrap());
        let text = |w: Option<Vec<u8>>| w.map(|w| String::from_utf8(w).unwrap());
        assert_eq!(text(a.witness_not_in(&b, MOST_STATES).unwrap()).as_deref(), only, "{p} {q}");
        assert_eq!(text(a.witness_in_both(&b, MOST_STATES).unwrap()).as_deref(), both, "{p} {q}");
    }
    let a = schema(r#"{"type":"object"}"#, PropertyOrder::Any);
    let b = schema(r#"{"type":"object","required":["k"]}"#, PropertyOrder::Any);
    let w = a.witness_not_in(&b, MOST_STATES).unwrap().unwrap();
    assert!(accepts(&a, &w) && !accepts(&b, &w));
    let w = a.witness_in_both(&b, 2_000).unwrap_err();
    assert_eq!(w.kind(), ErrorKind::Limit, "every shorter key is another configuration");
    assert_eq!(b.witness_not_in(&a, 2_000).unwrap_err().kind(), ErrorKind::Limit, "keys without end");
    assert_eq!(b.language_size(2_000).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(a.shortest_member(MOST_STATES).unwrap(), b"{}");
}
