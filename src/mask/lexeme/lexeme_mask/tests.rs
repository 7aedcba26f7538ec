//! Walks that read listed texts off their expression find what walks by states find.

use super::*;
use crate::expr::Exprs;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::json::string_escape::EscapeUse;
use crate::lexeme::CLOSED;
use crate::limits::Limits;

const LISTS: &[&[&str]] = &[
    &["ab", "abc", "b/", "a"],
    &["", "n", "u00"],
    &["a\"b\\c/", "a\"", "\u{1}\u{1f}\n\t\u{7f}"],
    &["a b,", " ", "!b"],
];

const PIECES: &[&str] =
    &["\"", "\\", "u", "0", "00", "006", "1", "2", "a", "b", "c", "n", "/", ",", "}", " ", "ab", "!", "7f", "1F", "é"];

/// All tokens of up to three pieces, as a trie.
fn trie() -> (Vec<String>, Trie) {
    let mut tokens: Vec<String> = vec![String::new()];
    for from in [0, 1, 1 + PIECES.len()] {
        let longer: Vec<String> =
            tokens[from..].iter().flat_map(|t| PIECES.iter().map(move |p| format!("{t}{p}"))).collect();
        tokens.extend(longer);
    }
    let mut items: Vec<(&[u8], u32)> = tokens.iter().map(|t| t.as_bytes()).zip(0..).skip(1).collect();
    items.sort_unstable();
    items.dedup_by_key(|item| item.0);
    let trie = Trie::build(&mut items).expect("a few thousand tokens");
    (tokens, trie)
}

#[test]
fn lists_are_walked_as_their_states_are() {
    let (_, trie) = trie();
    let children = Children::from_trie(&trie);
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    let mut met = 0;
    for texts in LISTS {
        for kind in [EscapeUse::Any, EscapeUse::Writers, EscapeUse::Needed].map(LexemeKind::text) {
            let mut exprs = Exprs::new(1 << 16);
            let expr = exprs.choice(texts);
            let l = Lexeme::compile(&exprs, expr, kind, reach, &Limits::default()).expect("small").expect("not empty");
            let mut states = vec![l.start()];
            let mut at = 0;
            while let Some(&state) = states.get(at) {
                for node in
                    [0, children.child(0, b'"').expect("a quote"), children.child(0, b'\\').expect("a backslash")]
                {
                    for cross in [false, true] {
                        let list = walk_list(&l, (&trie, &children), node, state, cross).expect("a list");
                        let states = walk_states(&l, (&trie, &children), node, state, None, cross);
                        let place = format!("{texts:?} {kind:?} {state} {node}");
                        assert_eq!(list.inner, states.inner, "{place}");
                        assert_eq!(list.crossings, states.crossings, "{place}");
                        assert_eq!((list.suffixes, list.escaped), (states.suffixes, states.escaped), "{place}");
                    }
                }
                for to in (0..=255u8).map(|byte| l.next(state, byte)).filter(|&to| to > CLOSED) {
                    if !states.contains(&to) {
                        states.push(to);
                    }
                }
                at += 1;
            }
            met += states.len();
        }
    }
    assert!(met > 100);
}

#[test]
fn what_is_no_list_is_left_to_its_states() {
    let (_, trie) = trie();
    let children = Children::from_trie(&trie);
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    let mut exprs = Exprs::new(1 << 16);
    for (expr, kind) in [
        (exprs.any_text(), LexemeKind::text(EscapeUse::Any)),
        (exprs.choice(&["é"]), LexemeKind::text(EscapeUse::Any)),
        (exprs.choice(&["ab"]), LexemeKind::Text { min: 1, max: 9, escapes: EscapeUse::Any }),
        (exprs.choice(&["ab"]), LexemeKind::Raw),
    ] {
        let l = Lexeme::compile(&exprs, expr, kind, reach, &Limits::default()).expect("small").expect("not empty");
        assert!(walk_list(&l, (&trie, &children), 0, l.start(), true).is_none(), "{kind:?}");
    }
}
