//! Indexes that were built ahead of time say what lazy ones say, whatever the number of threads.

use std::hash::Hasher;
use std::sync::Arc;

use crate::support::patterns::PATTERNS;
use crate::support::schemas::{HINTS, SCHEMAS};
use crate::support::vocabulary;
use crate::support::walk::Walker;
use interlock::artifact::index::IndexPack;
use interlock::artifact::{Pack, PackKind};
use interlock::error::{Error, ErrorKind};
use interlock::index::from_artifact::StoredIndex;
use interlock::index::report;
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::SchemaOptions;
use interlock::util::cancel::{Watch, poll, watched};
use interlock::{GuideOptions, Index, Limits, Vocabulary};

fn pattern(source: &str, v: &Arc<Vocabulary>) -> Option<Index> {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(source, v, &options, &Limits::default()).ok()
}

fn schema(source: &str, v: &Arc<Vocabulary>) -> Option<Index> {
    Index::from_json_schema(source, v, &SchemaOptions::default(), &Limits::default()).ok()
}

/// The index in a pack that was made of `index`.
fn open(bytes: &[u8], index: &Index, make: fn(&str, &Arc<Vocabulary>) -> Option<Index>) -> Index {
    let v = index.vocabulary().clone();
    let pack = Pack::from_bytes(bytes, PackKind::Index).unwrap();
    let IndexPack { index: fingerprint, recipe, built, .. } = IndexPack::unpack(&pack).unwrap();
    let (tables, text) = built.expect("a built index has tables");
    Index::stored(StoredIndex {
        vocabulary: v.clone(),
        fingerprint,
        tables,
        read_report: Box::new(move || report::read(&text)),
        remake: Box::new(move || make(&recipe, &v).ok_or_else(|| Error::new(ErrorKind::Internal, "it compiled"))),
    })
}

/// A hash over every mask of one walk, which also goes back now and then.
fn walk(index: &Index, seed: u64) -> u64 {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let mut walker = Walker::new(seed, b"").with_hints(HINTS);
    let mut hash = std::hash::DefaultHasher::new();
    let mut row = vec![0; index.vocabulary().words()];
    for i in 0..25 {
        guide.fill_mask(&mut row);
        row.iter().for_each(|w| hash.write_u32(*w));
        hash.write_u8(guide.is_accepting().into());
        if i % 5 == seed % 5 {
            hash.write(&guide.forced_bytes());
            hash.write_u8(guide.must_stop().into());
        }
        if i == 11 {
            // What tables cannot answer.
            hash.write(guide.explain(40).as_bytes());
        }
        if i % 7 == 6 {
            guide.rollback(guide.num_tokens().min(2)).unwrap();
            continue;
        }
        let allowed = guide.allowed_token_ids();
        let Some(id) = walker.next(&guide, &allowed) else { break };
        guide.advance(id).unwrap();
    }
    hash.finish()
}

#[test]
fn built_and_lazy_masks_are_the_same() {
    type Make = fn(&str, &Arc<Vocabulary>) -> Option<Index>;
    let patterns = PATTERNS.iter().step_by(9).map(|p| (*p, pattern as Make));
    let schemas = SCHEMAS.iter().step_by(8).map(|s| (*s, schema as Make));
    let (mut flat, mut parts) = (0, 0);
    for (source, make) in patterns.chain(schemas) {
        // Vocabularies of their own, so that nothing is cached.
        let Some(lazy) = make(source, &vocabulary::small()) else { continue };
        let expected: Vec<u64> = (0..4).map(|seed| walk(&lazy, seed)).collect();
        let mut first: Option<Index> = None;
        let mut packed: Option<Vec<u8>> = None;
        for threads in [1, 2, 8] {
            let index = make(source, &vocabulary::small()).unwrap();
            index.build(Some(threads), 200_000, |_, _| Ok(())).unwrap_or_else(|e| panic!("{source}: {e}"));
            assert!(index.is_complete());
            let walked: Vec<u64> = (0..4).map(|seed| walk(&index, seed)).collect();
            assert!(expected == walked, "{source}: {threads} threads");
            let bytes = IndexPack::from_index(&index, source.to_owned(), None).unwrap().pack().to_bytes();
            let stored = open(&bytes, &index, make);
            let walked: Vec<u64> = (0..4).map(|seed| walk(&stored, seed)).collect();
            assert!(expected == walked, "{source}: stored");
            match &packed {
                None => packed = Some(bytes),
                Some(first) => assert!(*first == bytes, "{source}: the artifact of {threads} threads"),
            }
            first.get_or_insert(index);
        }
        match first.unwrap().built() {
            Some(_) => flat += 1,
            None => parts += 1,
        }
    }
    // Both forms were looked at.
    assert!(flat > 4 && parts > 1, "{flat} with tables, {parts} by parts");
}

#[test]
fn guides_of_a_stored_index_agree_on_and_off_its_tables() {
    for source in ["{}", r#"{"enum": [{"a": [1, 2]}, "b"]}"#] {
        let index = schema(source, &vocabulary::small()).unwrap();
        index.build(None, 200_000, |_, _| Ok(())).unwrap();
        let bytes = IndexPack::from_index(&index, source.to_owned(), None).unwrap().pack().to_bytes();
        let stored = open(&bytes, &index, schema);
        let mut seen: Vec<(Vec<u8>, Vec<u32>)> = Vec::new();
        for seed in 0..6 {
            let options = GuideOptions { max_tokens: (seed % 3 == 2).then_some(400), ..Default::default() };
            let mut guide = stored.guide(&options).unwrap();
            let mut walker = Walker::new(seed, b"").with_hints(HINTS);
            for turn in 0..12 {
                if turn == seed {
                    guide.explain(40);
                }
                let allowed = guide.allowed_token_ids();
                seen.push((guide.state_key(), allowed.clone()));
                let Some(id) = walker.next(&guide, &allowed) else { break };
                guide.advance(id).unwrap();
            }
            let (tokens, end) = (guide.tokens(), guide.allowed_token_ids());
            guide.rollback(tokens.len().min(3)).unwrap();
            assert_eq!(guide.advance_many(&tokens[guide.num_tokens()..]), tokens.len().min(3));
            assert_eq!(guide.allowed_token_ids(), end);
            guide.reset();
            assert_eq!(guide.advance_many(&tokens), tokens.len());
            assert_eq!(guide.allowed_token_ids(), end);
        }
        for (key, allowed) in &seen {
            assert!(seen.iter().all(|(k, a)| k != key || a == allowed), "{source}: equal states, different masks");
        }
        let starts = seen.iter().filter(|(key, _)| *key == seen[0].0).count();
        assert!(starts >= 6, "{source}: every guide begins in one state");
    }
}

#[test]
fn a_guide_that_began_before_the_build_goes_on() {
    let index = pattern("(ab|abc)*1{0,3}", &vocabulary::small()).unwrap();
    let lazy = pattern("(ab|abc)*1{0,3}", &vocabulary::small()).unwrap();
    let (mut guide, mut twin) =
        (index.guide(&GuideOptions::default()).unwrap(), lazy.guide(&GuideOptions::default()).unwrap());
    let step = guide.allowed_token_ids()[0];
    guide.advance(step).unwrap();
    twin.advance(step).unwrap();
    index.build(None, 200_000, |_, _| Ok(())).unwrap();
    assert_eq!(guide.allowed_token_ids(), twin.allowed_token_ids());
    guide.reset();
    twin.reset();
    assert_eq!(guide.allowed_token_ids(), twin.allowed_token_ids());
}

#[test]
fn a_build_can_be_stopped_and_is_limited() {
    for source in ["[a-z]{1,300}", "[a-z]{1,5000}"] {
        let index = pattern(source, &vocabulary::small()).unwrap();
        let stop = Error::new(ErrorKind::Internal, "stop");
        let error = index.build(Some(2), 200_000, |_, _| Err(stop.clone())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(!index.is_complete() && index.built().is_none());
        assert_eq!(index.build(Some(0), 100, |_, _| Ok(())).unwrap_err().kind(), ErrorKind::Argument);
        let mut told = Vec::new();
        index
            .build(Some(1), 200_000, |done, total| {
                told.push((done, total));
                Ok(())
            })
            .unwrap();
        assert!(told.windows(2).all(|w| w[0].0 < w[1].0), "{told:?}");
        assert!(told.last().is_some_and(|(done, total)| done == total));
    }
}

#[test]
fn a_build_beyond_its_limits_makes_the_beginning_and_says_so() {
    // Fewer states than there are by the limit, and a lexeme of a million.
    let sources = [("[a-z]{1,5000}", 100, false), (".*a.{20}", 200_000, false), ("[a-z]{1,5000}", 200_000, true)];
    for (source, max_states, complete) in sources {
        let lazy = pattern(source, &vocabulary::small()).unwrap();
        let index = pattern(source, &vocabulary::small()).unwrap();
        let mut told = Vec::new();
        let mut build = || {
            index.build(Some(1), max_states, |done, total| {
                told.push((done, total));
                Ok(())
            })
        };
        build().unwrap();
        // The second time nothing is done.
        build().unwrap();
        assert!(told.windows(2).all(|w| w[0].0 < w[1].0), "{told:?}");
        assert_eq!((index.is_complete(), index.built().is_some()), (complete, false), "{source}");
        for seed in 0..4 {
            assert_eq!(walk(&index, seed), walk(&lazy, seed));
        }
    }
}

#[test]
fn an_index_of_tables_alone_answers_as_the_one_it_was_built_from() {
    for (source, flat) in [("(ab|abc)*1{0,3}", true), ("[a-z]{1,5000}", false)] {
        let vocabulary = vocabulary::small();
        let lazy = pattern(source, &vocabulary).unwrap();
        let over = vocabulary.clone();
        let remake = move || Ok(pattern(source, &over).unwrap());
        let built = lazy.build_apart(Some(1), 200_000, Box::new(remake), |_, _| Ok(())).unwrap();
        assert_eq!(built.is_some(), flat);
        let Some(built) = built else { continue };
        assert!(built.is_complete() && built.fingerprint() == lazy.fingerprint() && built.report() == lazy.report());
        for seed in 0..4 {
            assert_eq!(walk(&built, seed), walk(&lazy, seed));
        }
        assert!(built.build_apart(Some(1), 200_000, Box::new(|| unreachable!()), |_, _| Ok(())).unwrap().is_none());
    }
}

/// An index of complete tables, whose source is compiled again for what they cannot answer, after a look at the watch.
fn built_apart() -> Index {
    let vocabulary = vocabulary::small();
    let over = vocabulary.clone();
    let remake = move || poll().map(|()| pattern("(ab|abc)*1{0,3}", &over).unwrap());
    let lazy = pattern("(ab|abc)*1{0,3}", &vocabulary).unwrap();
    lazy.build_apart(Some(1), 200_000, Box::new(remake), |_, _| Ok(())).unwrap().unwrap()
}

#[test]
fn a_stop_while_the_source_is_compiled_again_is_of_one_caller() {
    let index = built_apart();
    let stop: Watch = Arc::new(|| Err(Error::new(ErrorKind::Cancelled, "stop")));
    let stopped = watched(stop, || index.compiled());
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(index.compiled().is_ok());
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    assert!(guide.explain(u32::from(b'x')).contains("refused") && guide.failure().is_none());
}

#[test]
fn nobody_waits_for_a_watched_compile_of_the_source() {
    let index = built_apart();
    let (asks, asked) = std::sync::mpsc::channel();
    let (ends, ended) = std::sync::mpsc::channel();
    let other = index.clone();
    // As of one who asks for the GIL while another thread holds it.
    let watched_one = std::thread::spawn(move || {
        let ended = std::sync::Mutex::new(ended);
        let wait: Watch = Arc::new(move || {
            let _ = asks.send(());
            match ended.lock().unwrap().recv_timeout(std::time::Duration::from_secs(60)) {
                Ok(()) | Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => Ok(()),
                Err(_) => Err(Error::new(ErrorKind::Internal, "the other thread waits for this one")),
            }
        });
        watched(wait, || other.compiled())
    });
    asked.recv().unwrap();
    assert!(index.compiled().is_ok());
    drop(ends);
    assert!(watched_one.join().unwrap().is_ok());
}
