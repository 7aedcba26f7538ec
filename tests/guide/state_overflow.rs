//! Indexes that may keep hardly any state: guides go on in younger copies of them, and every answer stays what it is.

use crate::support::schemas::{HINTS, SCHEMAS};
use crate::support::vocabulary;
use crate::support::walk::Walker;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::SchemaOptions;
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary};
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};
use std::thread;

/// Patterns with more states than anybody can keep.
const PATTERNS: &[&str] = &[".*a.{14}", ".*[ab].{20}", "(.*a.{12}){3}", "(.*a.{9}b|.*b.{11}c)+", "[a-z]{1,400}é?"];

/// Documents around such patterns: in values, keys, with bounds and beside each other.
const DOCUMENTS: &[&str] = &[
    r#"{"type":"string","pattern":"a.{14}$"}"#,
    r#"{"type":"string","pattern":"^(.*a.{6})?$","minLength":20,"maxLength":60}"#,
    r#"{"type":"array","items":{"type":"string","pattern":"^.*a.{12}$"}}"#,
    r#"{"type":"object","patternProperties":{"a.{8}$":{"type":"integer"},"^b":{"type":"null"}},"additionalProperties":false}"#,
    r#"{"anyOf":[{"type":"string","pattern":"a.{12}$"},{"type":"string","pattern":"b.{11}c$"},{"type":"integer"}]}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^.*a.{7}$"}}"#,
];

fn small() -> Arc<Vocabulary> {
    static SMALL: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    SMALL.get_or_init(vocabulary::small).clone()
}

fn limits(max_state_bytes: usize) -> Limits {
    Limits { max_state_bytes, ..Limits::default() }
}

fn pattern(text: &str, v: &Arc<Vocabulary>, max_state_bytes: usize) -> Index {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(text, v, &options, &limits(max_state_bytes)).unwrap()
}

fn schema(text: &str, v: &Arc<Vocabulary>, max_state_bytes: usize) -> Index {
    Index::from_json_schema(text, v, &SchemaOptions::default(), &limits(max_state_bytes)).unwrap()
}

pub fn start(index: &Index) -> Guide {
    index.guide(&GuideOptions::default()).unwrap()
}

pub fn mask(guide: &mut Guide) -> Vec<u32> {
    let mut row = vec![0; guide.index().vocabulary().words()];
    guide.fill_mask(&mut row);
    row
}

fn same(bounded: &mut Guide, free: &mut Guide) {
    let v = small();
    let at = String::from_utf8_lossy(&v.decode(&free.tokens()).unwrap()).into_owned();
    assert!(mask(bounded) == mask(free), "{at:?}");
    assert_eq!(bounded.state_key(), free.state_key(), "{at:?}");
    assert_eq!(bounded.is_accepting(), free.is_accepting(), "{at:?}");
    assert_eq!(bounded.tokens(), free.tokens());
}

/// Moves two guides alike, one of a bounded index and one of a free one, and compares them all the way.
fn walk(bounded: &Index, free: &Index, seed: u64, rounds: usize) {
    let mut pairs = vec![(start(bounded), start(free))];
    let mut walker = Walker::new(seed, b"").with_hints(HINTS);
    let texts = ["ab", "a", "b", "bca", "aabbc"].map(str::as_bytes);
    let v = small();
    for _ in 0..rounds {
        let n = pairs.len();
        let at = walker.rng().below(n);
        let back = walker.rng().below(pairs[at].0.num_tokens() + 1);
        match walker.rng().below(16) {
            0 => {
                pairs[at].0.rollback(back).unwrap();
                pairs[at].1.rollback(back).unwrap();
            }
            1 => {
                pairs[at].0.rollback(back.min(2)).unwrap();
                pairs[at].1.rollback(back.min(2)).unwrap();
            }
            2 if n < 3 => pairs.push(pairs[at].clone()),
            3 if n > 1 => drop(pairs.swap_remove(at)),
            4 => {
                let (b, f) = &mut pairs[at];
                assert_eq!(b.forced_bytes(), f.forced_bytes());
            }
            5..11 => {
                let text = texts[walker.rng().below(texts.len())];
                let Some(token) = (0..v.len() as u32).find(|&t| v.spelling(t) == Some(text)) else { continue };
                let (b, f) = &mut pairs[at];
                assert_eq!(b.try_advance(token), f.try_advance(token));
            }
            _ => {
                let (b, f) = &mut pairs[at];
                let allowed = f.allowed_token_ids();
                if let Some(id) = walker.next(f, &allowed) {
                    assert!(b.try_advance(id) && f.try_advance(id));
                }
            }
        }
        if walker.rng().chance(40) && at < pairs.len() {
            let (b, f) = &mut pairs[at];
            same(b, f);
        }
    }
    pairs.iter_mut().for_each(|(b, f)| same(b, f));
}

#[test]
fn a_full_index_answers_like_one_with_room() {
    let v = small();
    for (source, seed) in PATTERNS.iter().zip(1..) {
        for bytes in [0, 200_000] {
            walk(&pattern(source, &v, bytes), &pattern(source, &v, usize::MAX / 4), seed, 60);
        }
    }
    for (source, seed) in DOCUMENTS.iter().chain(SCHEMAS.iter().step_by(4)).zip(1..) {
        for bytes in [0, 200_000] {
            walk(&schema(source, &v, bytes), &schema(source, &v, usize::MAX / 4), seed, 60);
        }
    }
}

#[test]
fn a_long_text_takes_no_more_memory_than_the_limit_says() {
    const LIMIT: usize = 1 << 20;
    // Its own vocabulary, so that nothing was found before.
    let v = vocabulary::small();
    let index = pattern(".*a.{20}", &v, LIMIT);
    let token = |s: &str| (0..v.len() as u32).find(|&t| v.spelling(t) == Some(s.as_bytes())).unwrap();
    let ids = [token("a"), token("b")];
    let mut guide = start(&index);
    let mut rng = Rng(7);
    let mut text = Vec::new();
    let mut most = 0;
    for i in 0..25_000 {
        let c = rng.below(2);
        text.push(c);
        assert!(guide.try_advance(ids[c]));
        if i % 97 == 0 {
            assert_eq!(guide.is_accepting(), text.len() > 20 && text[text.len() - 21] == 0);
            most = most.max(index.memory_bytes());
        }
        if i % 5_003 == 0 {
            mask(&mut guide);
        }
    }
    assert!(most < 4 * LIMIT, "{most} bytes");
    // Far back, where the index of that position is gone.
    for back in [1, 30, 4_000, 15_000] {
        guide.rollback(back).unwrap();
        text.truncate(text.len() - back);
        assert_eq!(guide.is_accepting(), text[text.len() - 21] == 0);
        let mut fresh = start(&index);
        assert_eq!(fresh.advance_many(&guide.tokens()), text.len());
        assert_eq!(fresh.state_key(), guide.state_key());
    }
    guide.reset();
    assert_eq!(guide.state_key(), start(&index).state_key());
}

#[test]
fn masks_beyond_what_is_kept_are_the_same() {
    // Every count has a mask of its own, and there are more masks than a lexeme keeps.
    let v = small();
    let (bounded, free) = (pattern("(a|bb|[c-f]{2}){0,900}", &v, 0), pattern("(a|bb|[c-f]{2}){0,900}", &v, 1 << 30));
    walk(&bounded, &free, 5, 80);
}

#[test]
fn threads_share_a_full_index() {
    let sources: Vec<(bool, &str)> =
        PATTERNS[..3].iter().map(|p| (true, *p)).chain(DOCUMENTS.iter().map(|d| (false, *d))).collect();
    for (is_pattern, source) in sources {
        let v = vocabulary::small();
        let make = |bytes| if is_pattern { pattern(source, &v, bytes) } else { schema(source, &v, bytes) };
        let hash = |index: &Index, seed: u64| {
            let mut guide = start(index);
            let mut walker = Walker::new(seed, b"").with_hints(HINTS);
            let mut hash = std::hash::DefaultHasher::new();
            for _ in 0..15 {
                mask(&mut guide).into_iter().for_each(|w| hash.write_u32(w));
                hash.write(&guide.state_key());
                let allowed = guide.allowed_token_ids();
                let Some(id) = walker.next(&guide, &allowed) else { break };
                guide.advance(id).unwrap();
            }
            guide.rollback(guide.num_tokens() / 2).unwrap();
            mask(&mut guide).into_iter().for_each(|w| hash.write_u32(w));
            hash.finish()
        };
        let free = make(1 << 30);
        let expected: Vec<u64> = (0..16).map(|seed| hash(&free, seed)).collect();
        let shared = make(20_000);
        let together: Vec<u64> = thread::scope(|scope| {
            let workers: Vec<_> = (0..4u64)
                .map(|t| {
                    let (shared, hash) = (&shared, &hash);
                    scope.spawn(move || (0..4).map(|i| hash(shared, t * 4 + i)).collect::<Vec<u64>>())
                })
                .collect();
            workers.into_iter().flat_map(|w| w.join().unwrap()).collect()
        });
        assert!(expected == together, "{source}");
    }
}
