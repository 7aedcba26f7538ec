//! Cases that the random grammars found.

use interlock::{GrammarOptions, GuideOptions, Index, Lexer, Limits};

use crate::random_grammar::{FIRST_SPECIAL, random_grammar};
use crate::random_grammars::vocabularies;

/// The blanks take all that follows, and another blank would have to come: nothing is accepted. Terminals that are
/// ignored and named by rules as well were taken for ones that let everything follow.
#[test]
fn an_ignored_terminal_of_a_rule_takes_what_must_follow() {
    let grammar = "start: BLANKS \" a\"\nBLANKS: /[ \\n]+/\n%ignore BLANKS";
    let options = GrammarOptions { lexer: Some(Lexer::Dynamic), ..GrammarOptions::default() };
    let index = Index::from_grammar(grammar, &vocabularies()[0].0, &options, &Limits::default());
    assert_eq!(index.err().map(|error| error.kind()), Some(interlock::ErrorKind::Unsatisfiable));
}

/// Only a special token can follow, because what must not follow as text is all that the grammar has besides. The
/// search for a completion tried bytes only, so everything before the token was masked.
#[test]
fn only_a_special_token_completes() {
    let grammar = format!("start: A <[{FIRST_SPECIAL}]> | A B\nA: /a+/\nB: /ab/");
    for lexer in [Lexer::Any, Lexer::Dynamic, Lexer::Contextual] {
        let options = GrammarOptions { lexer: Some(lexer), ..GrammarOptions::default() };
        let index = Index::from_grammar(&grammar, &vocabularies()[0].0, &options, &Limits::default()).unwrap();
        let mut guide = index.guide(&GuideOptions::default()).unwrap();
        for id in [97, 97, FIRST_SPECIAL] {
            let mut row = vec![0; index.vocabulary().words()];
            guide.fill_mask(&mut row);
            assert!(row[id as usize / 32] >> (id % 32) & 1 == 1, "{lexer:?}: {id} is masked");
            guide.advance(id).unwrap();
        }
        assert!(guide.is_accepting() && guide.must_stop());
    }
}

/// Behind `W` both rules go on, so all that may come next competes: `B` takes what `A` would, and nothing is accepted
/// that begins with `W` and `c`. The mask asked behind each of the two alone.
#[test]
fn an_ignored_terminal_of_a_rule_leaves_one_place_behind_it() {
    let grammar = "start: | A B W | W A A\nB.1: /[ bc]+/\nA: /c+/\nW: / [ab]*\\n/\n%ignore W";
    let options = GrammarOptions { lexer: Some(Lexer::Contextual), ..GrammarOptions::default() };
    for (vocabulary, _) in vocabularies() {
        let index = Index::from_grammar(grammar, vocabulary, &options, &Limits::default()).unwrap();
        let guide = index.guide(&GuideOptions::default()).unwrap();
        let mut row = vec![0; index.vocabulary().words()];
        guide.clone().fill_mask(&mut row);
        let mut longer = 0;
        for id in 0..index.vocabulary().size() as u32 {
            let spelled = index.vocabulary().spelling(id).unwrap_or_default();
            let is_allowed = row[id as usize / 32] >> (id % 32) & 1 == 1;
            assert_eq!(is_allowed, guide.clone().try_advance(id), "{id} {spelled:?}");
            longer += usize::from(spelled.starts_with(b" \nc"));
            assert!(!is_allowed || !spelled.starts_with(b" \nc"), "{id} {spelled:?}");
        }
        assert!(longer > 0);
    }
}

/// The search for a completion makes stacks with thousands of nodes that stand on each other in many ways. It was
/// bounded in steps, each of which looked through all of them, and took minutes. Nothing is found in the steps it has.
#[test]
fn a_search_through_wide_stacks_ends() {
    let index = Index::from_model(random_grammar(203_394), "wide".to_owned(), &vocabularies()[0].0, &Limits::default());
    assert_eq!(index.err().map(|error| error.kind()), Some(interlock::ErrorKind::Limit));
}
