use super::*;
use crate::json::string_escape::EscapeUse;
use crate::lexeme::CLOSED;
use crate::lexeme::test_lexemes::lexeme;
use crate::mask::json::structural_tokens::StructuralTokens;
use crate::util::rng::Rng;
use crate::vocab::{Vocabulary, VocabularyOptions};

/// The rows of each state that text comes to, found by those of another one and by themselves.
#[test]
fn rows_by_others_are_those_of_a_walk() {
    let mut rng = Rng(3);
    let mut word = || (0..2 + rng.below(5)).map(|_| *rng.pick(b"abc12-")).collect::<Vec<u8>>();
    let words: Vec<Vec<u8>> = (0..400).map(|_| word()).collect();
    let marked = [&b"\""[..], b"1\"", b"ab\",", b"\\n", b"\\u00", b"\xc3\xa9", b"12\xc3", b"\xa9a"].map(<[u8]>::to_vec);
    let tokens: Vec<Vec<u8>> = (0..=255).map(|b| vec![b]).chain(words).chain(marked).chain([vec![]]).collect();
    let eos_token_ids = vec![tokens.len() as u32 - 1];
    let options = VocabularyOptions { eos_token_ids, ..Default::default() };
    let vocabulary = Vocabulary::new(&tokens, options).expect("a vocabulary");
    let marked = StructuralTokens::from_vocabulary(&vocabulary);
    let text = marked.text.as_ref().expect("tokens of text");
    let mut compared = 0;
    for (pattern, min) in [
        (r".*[12]{4}-[12]{4}-[12]{3}[12ab].*", 0),
        (".*(1b|a2).*", 0),
        (".*(a|b)c{3,5}1.*", 4),
        ("[a-c]+(-[12]+)*", 0),
        ("(ab|b1){2,9}-*", 6),
        (".{2}1.*b", 0),
    ] {
        let lexeme = lexeme(pattern, LexemeKind::Text { min, max: u32::MAX, escapes: EscapeUse::Any });
        for trie in [vocabulary.trie(), &text.whole] {
            let walks = EndsBehindTokens { lexeme: &lexeme, text, trie };
            let mut states = vec![lexeme.next(lexeme.start(), b'"')];
            for _ in 0..12 {
                let to = lexeme.next(*rng.pick(&states), *rng.pick(b"abc12-\xc3"));
                if to > CLOSED && !states.contains(&to) {
                    states.push(to);
                }
            }
            let rows: Vec<TextEndRows> = states.iter().map(|&state| walks.rows(state, min)).collect();
            for (&state, alone) in states.iter().zip(&rows) {
                for (&other, known) in states.iter().zip(&rows) {
                    if let Some(found) = walks.rows_by(state, min, (other, known)) {
                        assert!(found.says_the_same_as(alone), "{pattern} {state} by {other}");
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
