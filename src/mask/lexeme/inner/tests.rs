//! Masks of patterns inside and between characters, against stepping every token.

use crate::index::{Index, IndexEngine};
use crate::lexeme::CLOSED;
use crate::limits::Limits;
use crate::mask::vocab_tables::VocabTables;
use crate::regex::{Dialect, RegexOptions};
use crate::vocab::{Vocabulary, VocabularyOptions};

#[test]
fn masks_inside_characters_are_those_of_steps() {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let more = ["ab", "a1", "12", "é", "日本", "a日", "٣٤", "७", "1७", "\u{1D7D8}", "--", "b日1"];
    tokens.extend(more.iter().map(|t| t.as_bytes().to_vec()));
    // The ends and beginnings of characters, with others behind and before them.
    for text in ["日1", "७७", "٣a", "\u{1D7D8}2"] {
        let bytes = text.as_bytes();
        tokens.extend((1..bytes.len()).flat_map(|i| [bytes[i..].to_vec(), [b"a", &bytes[..i]].concat()]));
    }
    tokens.sort();
    tokens.dedup();
    let eos = tokens.len() as u32;
    tokens.push(b"</s>".to_vec());
    let options = VocabularyOptions { eos_token_ids: vec![eos], ..Default::default() };
    let vocabulary = Vocabulary::new(tokens, options).unwrap();
    let tables = VocabTables::for_vocabulary(&vocabulary).unwrap();
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let mut inside = 0;
    for pattern in [r"(a|ab)*\d+", r"\w+", "[^a]*", "(日|本)+1", r"(?!.*--)[^b]+", r".*७.*"] {
        let index = Index::from_regex(pattern, &vocabulary, &options, &Limits::default()).unwrap();
        let IndexEngine::Pattern(text) = &index.0.engine else { panic!("a pattern") };
        let l = &*text.lexeme;
        let (mut states, mut at) = (vec![l.start()], 0);
        while let Some(&state) = states.get(at) {
            at += 1;
            for byte in 0..=255 {
                let to = l.next(state, byte);
                if to > CLOSED && states.len() < 80 && !states.contains(&to) {
                    states.push(to);
                }
            }
            inside += usize::from(crate::mask::lexeme::inner::trie_walk::is_inside_char(l, state));
            let step = |s, &b: &u8| Some(l.next(s, b)).filter(|&to| to > CLOSED);
            let passes = |t: &u32| vocabulary.token_bytes(*t).unwrap().iter().try_fold(state, step).is_some();
            let expected: Vec<u32> = (0..eos).filter(passes).collect();
            assert_eq!(tables.root_mask(&vocabulary, text, state).inner.tokens(), expected, "{pattern}: state {state}");
        }
    }
    assert!(inside > 50, "{inside} states inside of a character");
}
