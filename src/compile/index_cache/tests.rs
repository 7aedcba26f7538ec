use std::sync::Arc;

use super::*;
use crate::guide::GuideOptions;
use crate::regex::{Dialect, RegexOptions};
use crate::schema::{PropertyOrder, SchemaOptions};
use crate::vocab::{Vocabulary, VocabularyOptions};

fn bytes() -> Arc<Vocabulary> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() }).unwrap()
}

fn pattern(text: &str) -> Source {
    Source::Pattern { text: text.to_owned(), options: RegexOptions { dialect: Dialect::Python, flags: String::new() } }
}

/// Compiles a source that came before.
fn kept(cache: &CompileCache, vocabulary: &Arc<Vocabulary>, source: Source, limits: Limits) -> Index {
    let index = source.compile(vocabulary, &limits).unwrap();
    cache.put(source.clone(), limits, &index);
    cache.put(source, limits, &index);
    index
}

/// What `stats` says is what is there, counted anew.
fn check(cache: &CompileCache) {
    let kept = cache.lock();
    assert_eq!(kept.bytes, kept.entries.values().map(|entry| entry.bytes).sum::<usize>());
    assert_eq!(kept.order.len(), kept.entries.len());
    for (used, hash) in &kept.order {
        assert_eq!(kept.entries[hash].used, *used);
    }
}

#[test]
fn only_the_same_source_under_the_same_options_and_limits_is_found() {
    let (cache, vocabulary, limits) = (CompileCache::default(), bytes(), Limits::default());
    let of = |text: &str, options: &SchemaOptions| Source::Schema { text: text.to_owned(), options: options.clone() };
    let (declared, number) = (SchemaOptions::default(), r#"{"type":"integer"}"#);
    kept(&cache, &vocabulary, of(number, &declared), limits);
    assert!(cache.get(&of(number, &declared), &limits).is_some());

    let any = SchemaOptions { property_order: PropertyOrder::Any, ..declared.clone() };
    let documents = SchemaOptions { documents: vec![("a:b".into(), "{}".into())], ..declared.clone() };
    let narrow = Limits { max_depth: 7, ..limits };
    assert!(cache.get(&of(number, &any), &limits).is_none());
    assert!(cache.get(&of(number, &documents), &limits).is_none());
    assert!(cache.get(&of(number, &declared), &narrow).is_none());
    assert!(cache.get(&of(r#"{"type": "integer"}"#, &declared), &limits).is_none());
    assert!(cache.get(&pattern(number), &limits).is_none());
    assert!(cache.get(&Source::Choices(vec![number.to_owned()]), &limits).is_none());
    assert_eq!((cache.stats().hits, cache.stats().indexes), (1, 1));
    check(&cache);
}

#[test]
fn what_came_once_is_found_while_somebody_holds_it_and_what_came_twice_always() {
    let (cache, vocabulary, limits) = (CompileCache::default(), bytes(), Limits::default());
    let (once, twice, again) = (pattern("once"), pattern("twice"), pattern("ag(ain)+"));
    let compiled = |source: &Source| {
        let index = source.compile(&vocabulary, &limits).unwrap();
        cache.put(source.clone(), limits, &index);
        check(&cache);
        index
    };
    drop(compiled(&once));
    assert!(cache.get(&once, &limits).is_none());
    assert_eq!(cache.stats().indexes, 0);

    drop(compiled(&twice));
    drop(compiled(&twice));
    assert!(cache.get(&twice, &limits).is_some());

    let held = compiled(&again);
    assert_eq!(cache.stats().indexes, 1);
    assert_eq!(cache.get(&again, &limits).unwrap().num_states(), held.num_states());
    drop(held);
    assert!(cache.get(&again, &limits).is_some());
    assert_eq!((cache.stats().indexes, cache.stats().hits), (2, 3));
    check(&cache);
}

#[test]
fn what_is_found_is_the_index_that_was_kept_with_what_was_made_in_it() {
    let (cache, vocabulary, limits) = (CompileCache::default(), bytes(), Limits::default());
    let long = || pattern("[a-c]{1,99}x");
    let index = kept(&cache, &vocabulary, long(), limits);
    let states = index.num_states();
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    b"abc".repeat(30).iter().for_each(|&byte| guide.advance(byte.into()).unwrap());
    assert!(index.num_states() > states, "guides find states");
    let found = cache.get(&long(), &limits).unwrap();
    assert_eq!(found.num_states(), index.num_states());
}

#[test]
fn who_was_not_asked_for_the_longest_leaves_first_and_sizes_are_followed() {
    let (vocabulary, limits) = (bytes(), Limits::default());
    let text = |i: usize| format!("n{i}[a-z]{{3}}");
    let one = {
        let cache = CompileCache::default();
        kept(&cache, &vocabulary, pattern(&text(0)), limits);
        cache.stats().bytes as usize
    };
    let cache = CompileCache::new(one * 4 + one / 2);
    for i in 0..4 {
        kept(&cache, &vocabulary, pattern(&text(i)), limits);
        check(&cache);
    }
    assert!(cache.get(&pattern(&text(0)), &limits).is_some());
    kept(&cache, &vocabulary, pattern(&text(4)), limits);
    let of = |i: usize| {
        let kept = cache.lock();
        let mut kept = kept.entries.values().filter_map(|entry| match &entry.held {
            Held::Kept(index, source, _) if *source == pattern(&text(i)) => Some(index.clone()),
            _ => None,
        });
        kept.next()
    };
    let there = |i: usize| of(i).is_some();
    assert_eq!([0, 1, 2, 3, 4].map(there), [true, false, true, true, true]);

    // One grows in use, and is measured although nobody asks for it.
    let grown = of(2).unwrap();
    let before = grown.memory_bytes();
    let mut row = vec![0; vocabulary.words()];
    let mut guide = grown.guide(&GuideOptions::default()).unwrap();
    for byte in b"n2abc" {
        guide.fill_mask(&mut row);
        guide.advance(u32::from(*byte)).unwrap();
    }
    assert!(grown.memory_bytes() > before);
    for i in 5..12 {
        kept(&cache, &vocabulary, pattern(&text(i)), limits);
        check(&cache);
        assert!(cache.stats().bytes as usize <= one * 4 + one / 2);
    }
    assert!(!there(2));
}

#[test]
fn what_fits_nowhere_is_not_kept_and_clearing_forgets() {
    let (vocabulary, limits) = (bytes(), Limits::default());
    let small = CompileCache::new(100);
    kept(&small, &vocabulary, pattern("ab"), limits);
    assert_eq!(small.stats(), CacheStats::default());

    let cache = CompileCache::default();
    let index = kept(&cache, &vocabulary, pattern("ab"), limits);
    assert!(cache.get(&pattern("ab"), &limits).is_some());
    cache.clear();
    assert_eq!(cache.stats(), CacheStats { hits: 1, ..CacheStats::default() });
    assert!(cache.get(&pattern("ab"), &limits).is_none());
    assert!(index.guide(&GuideOptions::default()).unwrap().try_advance(u32::from(b'a')));
}
