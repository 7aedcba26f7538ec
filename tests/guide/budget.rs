//! Token budgets: whatever is sampled, the output is complete in time.

use crate::support::schemas::SCHEMAS;
use crate::support::vocabulary;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

fn small() -> Arc<Vocabulary> {
    static SMALL: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    SMALL.get_or_init(vocabulary::small).clone()
}

fn schema(text: &str, order: PropertyOrder) -> Index {
    let options = SchemaOptions { property_order: order, ..SchemaOptions::default() };
    Index::from_json_schema(text, &small(), &options, &Limits::default()).unwrap()
}

fn pattern(text: &str) -> Index {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(text, &small(), &options, &Limits::default()).unwrap()
}

fn budgeted(index: &Index, max_tokens: usize) -> interlock::Result<Guide> {
    index.guide(&GuideOptions { max_tokens: Some(max_tokens), ..GuideOptions::default() })
}

/// The sampler that never wants to end: of a few allowed tokens, the one after which the most is still missing.
fn prolonging(guide: &mut Guide, rng: &mut Rng) -> Option<u32> {
    let vocabulary = guide.index().vocabulary().clone();
    let allowed: Vec<u32> =
        guide.allowed_token_ids().into_iter().filter(|&t| vocabulary.spelling(t).is_some()).collect();
    let mut best = None;
    for _ in 0..3 {
        if allowed.is_empty() {
            break;
        }
        let id = *rng.pick(&allowed);
        assert!(guide.try_advance(id), "token {id} is in the mask and refused");
        let missing = guide.min_tokens_to_finish().unwrap();
        guide.rollback(1).unwrap();
        if best.is_none_or(|(m, _)| missing > m) {
            best = Some((missing, id));
        }
    }
    best.map(|b| b.1)
}

/// Takes up to `most` of such tokens, with a guide without a budget where there is one, and says how many.
fn prolong(guide: &mut Guide, mut free: Option<&mut Guide>, most: usize, rng: &mut Rng) -> usize {
    for taken in 0..most {
        let Some(id) = prolonging(guide, rng) else { return taken };
        guide.advance(id).unwrap();
        if let Some(free) = &mut free {
            free.advance(id).unwrap();
        }
    }
    most
}

/// Every schema, in both orders, with the least number of tokens that complete it.
fn in_both_orders(texts: &[&str], mut each: impl FnMut(&str, &Index, usize)) {
    for text in texts {
        for order in [PropertyOrder::Any, PropertyOrder::Schema] {
            let index = schema(text, order);
            let needed = index.guide(&GuideOptions::default()).unwrap().min_tokens_to_finish().unwrap();
            each(text, &index, needed);
        }
    }
}

fn walk(index: &Index, rng: &mut Rng) {
    let needed = match budgeted(index, 0) {
        Ok(guide) => {
            assert_eq!(guide.num_tokens(), 0);
            0
        }
        Err(e) => {
            assert_eq!(e.kind(), ErrorKind::Budget, "{e}");
            e.limit_values().unwrap().1 as usize
        }
    };
    if needed > 0 {
        assert_eq!(budgeted(index, needed - 1).err().map(|e| e.kind()), Some(ErrorKind::Budget));
    }
    let max_tokens = needed + rng.below(16);
    let mut guide = budgeted(index, max_tokens).unwrap();
    let mut free = index.guide(&GuideOptions::default()).unwrap();
    prolong(&mut guide, Some(&mut free), max_tokens, rng);
    let text = small().decode(&guide.tokens()).unwrap();
    assert!(guide.num_tokens() <= max_tokens);
    assert!(guide.is_accepting() && free.is_accepting(), "{}", String::from_utf8_lossy(&text));
    let stops = guide.allowed_token_ids();
    assert!(stops.iter().all(|t| small().is_eos(*t)) || guide.num_tokens() < max_tokens);
}

#[test]
fn outputs_are_complete_in_time() {
    let mut rng = Rng(7);
    for (i, text) in SCHEMAS.iter().step_by(2).enumerate() {
        let order = if i % 2 == 0 { PropertyOrder::Any } else { PropertyOrder::Schema };
        walk(&schema(text, order), &mut rng);
    }
    for text in
        ["[a-z]{1,50}", "(a|ab)*\\d+", "(?=.*\\d)(?=.*[a-z]).{8,64}", "x{7}", "(yes|no|maybe not)", "(a{3,5}b){2,}"]
    {
        for _ in 0..2 {
            walk(&pattern(text), &mut rng);
        }
    }
}

/// Schemas of which one alternative may end anywhere but leaves what `contains`, or a key that must exist, asks for.
const CHOICES: &[&str] = &[
    r#"{"type":"array","items":{"items":{"multipleOf":11,"minimum":100},"type":"array"},
        "contains":{"type":"array","contains":{"type":"number","multipleOf":3}}}"#,
    r##"{"type":"array","oneOf":[{"anyOf":[{"items":{"$ref":"#/$defs/a"}},{"contains":{"$ref":"#/$defs/b"}}]},
        {"anyOf":[{"items":{"$ref":"#/$defs/b"}},{"contains":{"$ref":"#/$defs/a"}}]}],"$defs":{
        "a":{"type":"array","contains":{"type":"number","multipleOf":11,"minimum":100}},
        "b":{"type":"array","items":{"type":"number","multipleOf":4}}}}"##,
    r#"{"oneOf":[{"items":{"multipleOf":10,"maximum":20}},{"items":{"multipleOf":5,"maximum":80}},
        {"items":{"multipleOf":5,"maximum":60}}]}"#,
    r##"{"type":"object","maxProperties":1,"propertyNames":{"pattern":"^(\\w\\d)+$"},"$ref":"#/$defs/b",
        "$defs":{"b":{"not":{"propertyNames":{"not":{"pattern":"a5b"}}},"patternProperties":{"7":{"$ref":"#/$defs/n"}}},
        "n":{"type":"object","maxProperties":1,"$ref":"#/$defs/b","not":{"propertyNames":{"not":{"pattern":"7|9"}}},
        "patternProperties":{"9":{"const":{}}}}}}"##,
];

#[test]
fn alternatives_that_leave_much_are_not_ended() {
    let mut rng = Rng(11);
    in_both_orders(CHOICES, |text, index, needed| {
        assert!(needed < 60, "{needed} tokens for {text}");
        (0..3).for_each(|_| walk(index, &mut rng));
    });
}

#[test]
fn a_budget_is_a_subset_that_keeps_what_fits() {
    let index = schema(r#"{"type":"array","items":{"type":"integer"},"maxItems":9}"#, PropertyOrder::Schema);
    let mut guide = budgeted(&index, 2).unwrap();
    let mut free = index.guide(&GuideOptions::default()).unwrap();
    let (mine, all) = (guide.allowed_token_ids(), free.allowed_token_ids());
    assert!(mine.iter().all(|t| all.contains(t)));
    // Brute force: a token may stay exactly if it ends the output or one more token does.
    for &t in &all {
        assert!(free.try_advance(t));
        let in_time = free.is_accepting() || {
            let next = free.allowed_token_ids();
            next.into_iter().any(|u| {
                let ends = free.try_advance(u) && free.is_accepting();
                if free.num_tokens() == 2 {
                    free.rollback(1).unwrap();
                }
                ends
            })
        };
        free.rollback(1).unwrap();
        assert_eq!(mine.contains(&t), in_time, "{:?}", small().token_bytes(t));
    }
}

/// Schemas of objects that need members without a name, which must differ from the key that a token begins.
const KEYS: &[&str] = &[
    r#"{"type":"object","minProperties":2,"additionalProperties":{"type":"integer"}}"#,
    r#"{"type":"object","minProperties":3,"patternProperties":{"^x-":{"type":"null"}},"additionalProperties":false}"#,
    r#"{"type":"object","minProperties":2,"maxProperties":3,"properties":{"id":{"type":"integer"}},"required":["id"],
        "patternProperties":{"^[ab]{1,2}$":{"enum":[1,22]}},"additionalProperties":false}"#,
    r#"{"type":"object","patternProperties":{"a":{"type":"number"}},"not":{"patternProperties":{"a":{"maximum":9}}}}"#,
    r#"{"type":"object","anyOf":[{"minProperties":2},{"required":["key"]}],"additionalProperties":{"const":true}}"#,
    r#"{"type":"array","minItems":2,"items":{"type":"object","minProperties":1,"additionalProperties":{"type":"string"}}}"#,
];

#[test]
fn masks_are_what_advancing_takes() {
    let mut rng = Rng(23);
    in_both_orders(KEYS, |text, index, needed| {
        for more in [1, 4] {
            let mut guide = budgeted(index, needed + more).unwrap();
            let mut free = index.guide(&GuideOptions::default()).unwrap();
            loop {
                let allowed = guide.allowed_token_ids();
                for t in free.allowed_token_ids().into_iter().filter(|&t| !small().is_eos(t)) {
                    let mut fork = guide.clone();
                    let said = String::from_utf8_lossy(&small().decode(&guide.tokens()).unwrap()).into_owned();
                    let token = String::from_utf8_lossy(small().token_bytes(t).unwrap()).into_owned();
                    assert_eq!(allowed.binary_search(&t).is_ok(), fork.try_advance(t), "{text} {said:?} {token:?}");
                }
                if prolong(&mut guide, Some(&mut free), 1, &mut rng) == 0 {
                    break;
                }
            }
            assert!(guide.is_accepting());
        }
    });
}

#[test]
fn going_back_gives_the_budget_back() {
    let index = schema(r#"{"type":"string","minLength":3}"#, PropertyOrder::Schema);
    let needed = index.guide(&GuideOptions::default()).unwrap().min_tokens_to_finish().unwrap();
    let mut guide = budgeted(&index, needed + 2).unwrap();
    let mut rng = Rng(3);
    let start = guide.allowed_token_ids();
    for _ in 0..50 {
        let taken = rng.below(needed + 3);
        let n = prolong(&mut guide, None, taken, &mut rng);
        let fork = guide.clone().allowed_token_ids();
        assert_eq!(fork, guide.allowed_token_ids());
        guide.rollback(n).unwrap();
        assert_eq!(guide.allowed_token_ids(), start);
    }
    guide.reset();
    assert_eq!(guide.allowed_token_ids(), start);
}

/// A vocabulary of all bytes and these words.
fn with_words(words: &[&str]) -> Arc<Vocabulary> {
    let bytes = (0..=255u8).map(|b| vec![b]);
    let tokens: Vec<Vec<u8>> = bytes.chain(words.iter().map(|w| w.as_bytes().to_vec())).chain([vec![]]).collect();
    let eos = tokens.len() as u32 - 1;
    Vocabulary::new(tokens, VocabularyOptions { eos_token_ids: vec![eos], ..Default::default() }).unwrap()
}

/// The fewest tokens that complete an output from where a guide is, by trying all; at most `most`.
fn fewest(guide: &Guide, most: usize) -> Option<usize> {
    let mut front = vec![guide.clone()];
    let mut seen = HashSet::from([guide.state_key()]);
    for depth in 0..=most {
        if front.iter_mut().any(|g| g.is_accepting()) {
            return Some(depth);
        }
        let mut next = Vec::new();
        for mut g in front {
            for id in g.allowed_token_ids() {
                let mut after = g.clone();
                if after.try_advance(id) && seen.insert(after.state_key()) {
                    next.push(after);
                }
            }
        }
        front = next;
    }
    None
}

/// Whatever is taken that a mask allows, the output is complete in time; masks are what advancing takes.
fn every_way(mut guide: Guide, seen: &mut HashSet<(Vec<u8>, usize)>) {
    if !seen.insert((guide.state_key(), guide.num_tokens())) || guide.is_terminated() {
        return;
    }
    let allowed = guide.allowed_token_ids();
    assert!(!allowed.is_empty(), "a dead end after {:?}", guide.tokens());
    for id in 0..guide.index().vocabulary().size() as u32 {
        let mut after = guide.clone();
        assert_eq!(after.try_advance(id), allowed.contains(&id), "{id} after {:?}", guide.tokens());
        if allowed.contains(&id) {
            assert!(after.is_terminated() || Some(after.num_tokens()) <= after.max_tokens());
            every_way(after, seen);
        }
    }
}

/// The shortest bytes are not always spelled by the fewest tokens. Nothing that fits is refused, and an error names the
/// least number.
#[test]
fn budgets_that_some_output_fits_are_not_refused() {
    let words = [
        "function", "func", "hello", "ab", "\"long", "name", "\":", "{\"", "\"}", "green", "1e", "[\"", "\"]", "\",\"",
    ];
    let vocabulary = with_words(&words);
    let regex = |p: &str| {
        let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
        Index::from_regex(p, &vocabulary, &options, &Limits::default()).unwrap()
    };
    let json = |s: &str| {
        let options = SchemaOptions { whitespace: Whitespace::Compact, ..SchemaOptions::default() };
        Index::from_json_schema(s, &vocabulary, &options, &Limits::default()).unwrap()
    };
    for (index, expected) in [
        (regex("(?:function|zq9k)"), 1),
        (regex("hello|xqzw"), 1),
        (regex("[ab]{2,9}"), 1),
        (regex("(function|x[yz]w)(hello|qrs)(ab|c)?"), 2),
        (regex("(x{4}|(ab){3})(x{2}|hello)"), 4),
        (json(r#"{"enum":["name","xy","long name"]}"#), 3),
        (
            json(
                r#"{"type":"object","properties":{"name":{"enum":["green","xy"]}},"required":["name"],"additionalProperties":false}"#,
            ),
            6,
        ),
        (json(r#"{"type":"array","prefixItems":[{"enum":["xyz","hello"]}],"minItems":1,"items":false}"#), 3),
        (json(r#"{"type":"array","items":{"enum":["xyz","hello"]},"minItems":3,"maxItems":3}"#), 7),
    ] {
        let start = index.guide(&GuideOptions::default()).unwrap();
        assert_eq!(fewest(&start, 8), Some(expected));
        for few in 0..expected {
            let e = budgeted(&index, few).err().unwrap();
            assert_eq!((e.kind(), e.limit_values()), (ErrorKind::Budget, Some((few as u64, expected as u64))), "{e}");
            assert!(e.message().contains("needs"), "{e}");
        }
        for more in 0..4 {
            let guide = budgeted(&index, expected + more).unwrap();
            every_way(guide, &mut HashSet::new());
        }
        // Going back keeps what was found.
        let mut guide = budgeted(&index, expected).unwrap();
        let start = guide.allowed_token_ids();
        guide.try_advance(start[0]);
        guide.reset();
        assert_eq!(guide.allowed_token_ids(), start);
        // Tables say the same.
        index.build(Some(1), 4_096, |_, _| Ok(())).unwrap();
        assert!(budgeted(&index, expected).is_ok() && budgeted(&index, expected - 1).is_err());
    }
}

/// Where a search would take long, the error claims no more than is known.
#[test]
fn budgets_that_cannot_be_searched_are_refused_truthfully() {
    let text = r#"{"type":"object","properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},
        "one":{"type":"string"},"more":{"type":"object"},"other":{"type":"number"}},
        "required":["name","tags","one","more","other"],"additionalProperties":{"type":"string"}}"#;
    let index = schema(text, PropertyOrder::Any);
    let known = index.guide(&GuideOptions::default()).unwrap().min_tokens_to_finish().unwrap();
    let e = budgeted(&index, known - 1).err().unwrap();
    assert_eq!((e.kind(), e.limit_values()), (ErrorKind::Budget, Some((known as u64 - 1, known as u64))));
    assert!(e.message().contains(&format!("the shortest output that was found needs {known} tokens")), "{e}");
    budgeted(&index, known).unwrap();
}

/// Where no tokens spell the shortest bytes.
#[test]
fn ends_are_found_that_tokens_spell() {
    let options = VocabularyOptions { eos_token_ids: vec![4], ..Default::default() };
    let tokens = ["ab", "abc", "d", "ef", ""].map(|t| t.as_bytes().to_vec());
    let vocabulary = Vocabulary::new(tokens, options).unwrap();
    let regex = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    for (pattern, least) in [("x|ab(cd|ef)", 2), ("(xy?|abab(cd)?ef)d", 4), ("(xy?|(abc?)+d?(x|ef)+)d", 3)] {
        let index = Index::from_regex(pattern, &vocabulary, &regex, &Limits::default()).unwrap();
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        assert_eq!(guide.min_tokens_to_finish().unwrap(), least, "{pattern}");
        for more in 0..4 {
            // A vocabulary of few tokens is searched to the end, so of all ways those are left that fit.
            let fits = |g: &Guide| g.num_tokens() + fewest(g, 9).unwrap_or(99) <= least + more;
            let mut seen = HashSet::new();
            let mut open =
                vec![(budgeted(&index, least + more).unwrap(), index.guide(&GuideOptions::default()).unwrap())];
            while let Some((guide, free)) = open.pop() {
                for id in 0..4 {
                    let (mut guide, mut free) = (guide.clone(), free.clone());
                    let fits = free.try_advance(id) && fits(&free);
                    assert_eq!(guide.try_advance(id), fits, "{pattern}, {id} after {:?}", guide.tokens());
                    if fits && seen.insert(guide.tokens()) {
                        open.push((guide, free));
                    }
                }
            }
            every_way(budgeted(&index, least + more).unwrap(), &mut HashSet::new());
        }
        assert_eq!(budgeted(&index, least - 1).err().unwrap().limit_values(), Some((least as u64 - 1, least as u64)));
    }
}
