//! Patterns whose states become unions of millions of ways to have read a text: a guide that comes there is lost with
//! an error, and no other guide is.

use interlock::regex::RegexOptions;
use interlock::schema::SchemaOptions;
use interlock::{ErrorKind, GrammarOptions, Guide, Index, Limits, Vocabulary, VocabularyOptions};
use std::sync::Arc;

use crate::state_overflow::{mask, start};

/// Counts within counts, with something optional between them, so that nobody can say which count a letter belongs to.
const WIDE: &str = "(?:(?:(?:(?:ab?){1,99}c?){1,99}d?){1,99}e?){1,99}";

/// Single bytes and an end.
fn bytes() -> Arc<Vocabulary> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() }).unwrap()
}

/// Feeds `a` until a token is refused; how many were taken.
fn feed(guide: &mut Guide) -> usize {
    (0..400).take_while(|_| guide.try_advance(97)).count()
}

fn assert_lost(guide: &mut Guide) {
    let failure = guide.failure().expect("a guide that is lost");
    assert_eq!((failure.kind(), failure.limit_field()), (ErrorKind::Limit, Some("max_state_bytes")));
    assert!(mask(guide).iter().all(|&word| word == 0));
    assert!(!guide.try_advance(97));
}

/// Sources around the pattern, each with a text that comes before it.
fn sources(v: &Arc<Vocabulary>) -> Vec<(Index, &'static [u8])> {
    let limits = Limits::default();
    let schema = |text: String| Index::from_json_schema(&text, v, &SchemaOptions::default(), &limits).unwrap();
    let item = format!(r#"{{"type":"array","items":{{"type":"string","pattern":"^{WIDE}$"}}}}"#);
    let key = format!(
        r#"{{"type":"object","patternProperties":{{"^{WIDE}$":{{"type":"null"}}}},"additionalProperties":false}}"#
    );
    vec![
        (Index::from_regex(WIDE, v, &RegexOptions::default(), &limits).unwrap(), b""),
        (schema(item), b"[\""),
        (schema(key), b"{\""),
    ]
}

#[test]
fn a_guide_whose_states_need_too_much_is_lost_alone() {
    let (v, other) = (bytes(), bytes());
    for ((index, before), (fresh, _)) in sources(&v).into_iter().zip(sources(&other)) {
        let mut lost = start(&index);
        let mut stays = start(&index);
        let mut twin = start(&fresh);
        for guide in [&mut lost, &mut stays, &mut twin] {
            assert!(before.iter().chain(b"aaaaa").all(|&byte| guide.try_advance(u32::from(byte))));
        }
        let taken = feed(&mut lost);
        assert!((10..150).contains(&taken), "{taken}");
        assert_lost(&mut lost);
        // The others find their states in a copy, and so does who comes later.
        for guide in [&mut stays, &mut start(&index)] {
            let begun = guide.num_tokens();
            for &byte in [before, b"aaaaabaaa"].concat().iter().skip(begun) {
                assert!(
                    guide.try_advance(u32::from(byte)),
                    "{before:?} {:?} {byte} {:?}",
                    guide.tokens(),
                    guide.failure()
                );
            }
            twin.rollback(twin.num_tokens()).unwrap();
            assert!(guide.tokens().iter().all(|&id| twin.try_advance(id)));
            assert!(guide.failure().is_none() && mask(guide) == mask(&mut twin));
        }
    }
}

/// Questions about the language and complete tables look at states that guides may never come to.
#[test]
fn questions_and_tables_end_where_states_need_too_much() {
    let v = bytes();
    let index = Index::from_regex(WIDE, &v, &RegexOptions::default(), &Limits::default()).unwrap();
    for failure in [index.language_size(1 << 20).err(), index.flat(1 << 20).err()] {
        assert_eq!(failure.map(|error| error.kind()), Some(ErrorKind::Limit));
    }
    // A build keeps what it can, and answers are what they were.
    index.build(Some(1), 1 << 20, |_, _| Ok(())).unwrap();
    assert!(index.built().is_none());
    let mut guide = start(&index);
    assert_eq!(guide.advance_many(b"aaaaabaaa".map(u32::from).as_slice()), 9);
    let fresh = Index::from_regex(WIDE, &bytes(), &RegexOptions::default(), &Limits::default()).unwrap();
    let mut twin = start(&fresh);
    assert_eq!(twin.advance_many(b"aaaaabaaa".map(u32::from).as_slice()), 9);
    assert_eq!(mask(&mut guide), mask(&mut twin));
}

/// What is known of a grammar was made of all its terminals, so no guide of it goes on; another index of it does.
#[test]
fn a_grammar_whose_terminal_needs_too_much_is_given_up() {
    let v = bytes();
    let grammar = format!("start: WIDE \";\" | AS\nWIDE: /{WIDE}/\nAS: /a+/");
    let make = || Index::from_grammar(&grammar, &v, &GrammarOptions::default(), &Limits::default()).unwrap();
    let index = make();
    let (mut lost, mut other) = (start(&index), start(&index));
    assert!(other.try_advance(97));
    feed(&mut lost);
    assert_lost(&mut lost);
    mask(&mut other);
    assert_lost(&mut other);
    let mut again = start(&make());
    assert!(again.try_advance(97) && mask(&mut again)[3] >> 1 & 1 == 1);
}
