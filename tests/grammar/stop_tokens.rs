//! Special tokens that a grammar names and that end the output in the vocabulary.
//!
//! `GRAMMARS=5000 cargo test --release --test grammar stop_tokens -- --nocapture` walks through as many.

use std::sync::Arc;

use interlock::grammar::model::{Grammar, Node, Rule, TokenName, TokenSet};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

use crate::random_grammar::{FIRST_SPECIAL, SPECIALS, random_grammar};
use crate::random_grammars::{has, mask};

const EOS: u32 = 256;

/// Single bytes, an end and special tokens, of which the first `ending` end outputs as well.
fn vocabulary(ending: u32) -> Arc<Vocabulary> {
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let names = (0..=SPECIALS).map(|n| format!("<|{n}|>").into_bytes());
    let tokens: Vec<Vec<u8>> = bytes.chain(names).collect();
    let options = VocabularyOptions {
        eos_token_ids: (EOS..=EOS + ending).collect(),
        special_token_ids: (EOS..=EOS + SPECIALS).collect(),
        ..Default::default()
    };
    Vocabulary::new(&tokens, options).unwrap()
}

/// A grammar behind whose outputs the token comes.
fn ended(mut grammar: Grammar) -> Grammar {
    grammar.token_sets.push(TokenSet { place: 0, tokens: vec![TokenName::Id(FIRST_SPECIAL)], complement: false });
    let token = Node::Token(grammar.token_sets.len() as u32 - 1);
    let body = Node::Sequence(vec![Node::Rule(grammar.start), token]);
    grammar.start = grammar.rules.len() as u32;
    grammar.rules.push(Rule { name: "whole".to_owned(), place: 0, body, max_tokens: None });
    grammar
}

/// Compared with a vocabulary in which the token ends nothing: it is allowed where it may come and the output may end
/// behind it, or where the output may end before it; and where all that must come can come, no mask is empty.
#[test]
fn a_special_token_that_ends_the_output_is_the_last_one_of_it() {
    let count: u64 = std::env::var("GRAMMARS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (plain, ending) = (vocabulary(0), vocabulary(1));
    let (mut walked, mut refused, mut last) = (0, 0, 0);
    for seed in 0..count {
        let make = |v: &Arc<Vocabulary>| {
            let grammar = if seed % 2 == 0 { random_grammar(seed) } else { ended(random_grammar(seed)) };
            Index::from_model(grammar, format!("random {seed}"), v, &Limits::default())
        };
        let Ok(free) = make(&plain) else { continue };
        let index = match make(&ending) {
            Ok(index) => index,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Vocabulary, "{seed}: {error:?}");
                refused += 1;
                continue;
            }
        };
        walked += 1;
        let start = |index: &Index| index.guide(&GuideOptions::default()).unwrap();
        let (mut guide, mut twin) = (start(&index), start(&free));
        let mut rng = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..14 {
            let (row, free) = (mask(&mut guide), mask(&mut twin));
            let at = guide.tokens();
            assert!(row.iter().any(|&word| word != 0), "{seed} {at:?}: nothing is allowed");
            let ends = twin.is_accepting();
            for id in (0..=EOS + SPECIALS).filter(|&id| id != FIRST_SPECIAL) {
                assert_eq!(has(&row, id), has(&free, id), "{seed} {at:?}: {id}");
            }
            let mut behind = twin.clone();
            let comes = has(&free, FIRST_SPECIAL) && behind.try_advance(FIRST_SPECIAL) && behind.is_accepting();
            // One that may be the last at one place of the grammar and not at another is none.
            let allowed = has(&row, FIRST_SPECIAL);
            assert!(!allowed || ends || comes, "{seed} {at:?}");
            assert!(!ends || allowed, "{seed} {at:?}: the output may end");
            if allowed {
                let mut fork = guide.clone();
                assert!(fork.try_advance(FIRST_SPECIAL) && fork.is_terminated());
                last += usize::from(!ends);
                fork.rollback(1).unwrap();
                assert!(!fork.is_terminated() && mask(&mut fork) == row, "{seed} {at:?}");
            } else {
                assert!(!guide.try_advance(FIRST_SPECIAL));
            }
            let ids: Vec<u32> = (0..=EOS + SPECIALS).filter(|&id| has(&row, id)).collect();
            let going_on: Vec<u32> = ids.iter().copied().filter(|&id| id != EOS && id != FIRST_SPECIAL).collect();
            let Some(&id) = (!going_on.is_empty()).then(|| rng.pick(&going_on)) else { break };
            guide.advance(id).unwrap();
            twin.advance(id).unwrap();
        }
    }
    println!("{walked} walked, {refused} refused, {last} last tokens");
    assert!(walked > 20 && refused > 0 && last > 0);
}

fn index(grammar: &str, v: &Arc<Vocabulary>) -> interlock::Result<Index> {
    Index::from_grammar(grammar, v, &interlock::GrammarOptions::default(), &Limits::default())
}

#[test]
fn what_must_go_on_behind_a_stop_token_is_refused_with_its_place() {
    let v = vocabulary(1);
    let message = index("start: \"a\" <|1|> \"b\"", &v).expect_err("refused").to_string();
    assert!(
        message.contains("is a stop token of the vocabulary") && message.contains("line 1, column 12"),
        "{message}"
    );
    // Other ways around it are left.
    let two = index("start: \"a\" (<|1|> \"b\" | \"c\")", &v).unwrap();
    let mut guide = two.guide(&GuideOptions::default()).unwrap();
    assert_eq!(guide.advance_many(&[97, 257]), 1);
    assert_eq!(guide.allowed_token_ids(), [99]);
}

/// A budget plans with the last token, `min_tokens` waits with it, and it is forced.
#[test]
fn the_last_token_is_counted_withheld_and_forced() {
    let v = vocabulary(1);
    let index = index("start: (\"a\"+ \";\" <|1|>)+", &v).unwrap();
    let guide = |max_tokens, min_tokens| {
        index.guide(&GuideOptions { max_tokens, min_tokens, ..GuideOptions::default() }).unwrap()
    };
    let mut short = guide(Some(3), 0);
    assert_eq!(short.advance_many(&[97, 59]), 2);
    assert_eq!(short.forced_tokens(), [257]);
    assert_eq!(short.advance_many(&[257]), 1);
    assert!(short.is_terminated());
    let mut long = guide(Some(9), 8);
    assert_eq!(long.advance_many(&[97, 97, 59]), 3);
    assert_eq!(long.allowed_token_ids(), [257], "nothing else can come");
    long.rollback(3).unwrap();
    assert_eq!(long.advance_many(&[97; 7]), 7);
    assert_eq!(long.allowed_token_ids(), [59]);
}
