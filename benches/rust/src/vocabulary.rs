//! A vocabulary of the size and shape of real ones, made of syllables.
//!
//! It holds the three thousand tokens of the tests, which cross JSON's structure in every way, all numbers of up to
//! three digits, runs of blanks, and words of one to five syllables as merges leave them: with and without a blank in
//! front, in capitals, and now and then with punctuation behind.

use interlock::util::rng::Rng;
use interlock::{Vocabulary, VocabularyOptions};
use std::collections::BTreeSet;
use std::sync::Arc;

const ONSETS: [&str; 20] =
    ["", "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "th", "ch"];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "io", "y"];
const CODAS: [&str; 8] = ["", "", "", "n", "r", "s", "t", "ng"];
const BEHIND: [&str; 8] = ["\"", "\",", "\":", "_", "-", ".", ",", "("];

/// The id that ends an output.
pub const EOS: u32 = crate::small::EOS;

fn word(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..1 + rng.below(4) {
        text.extend([*rng.pick(&ONSETS), *rng.pick(&VOWELS), *rng.pick(&CODAS)]);
    }
    let capital = rng.chance(15);
    if capital {
        text[..1].make_ascii_uppercase();
    }
    let before = if rng.chance(55) { " " } else { "" };
    let behind = if rng.chance(8) { *rng.pick(&BEHIND) } else { "" };
    format!("{before}{text}{behind}")
}

/// `size` tokens, at least 8,000.
pub fn synthetic(size: usize) -> Arc<Vocabulary> {
    let small = crate::small::small();
    let mut tokens: Vec<Vec<u8>> = vec![b"</s>".to_vec()];
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut add = |tokens: &mut Vec<Vec<u8>>, bytes: Vec<u8>| {
        if tokens.len() < size && !bytes.is_empty() && seen.insert(bytes.clone()) {
            tokens.push(bytes);
        }
    };
    for id in 2..small.len() as u32 {
        add(&mut tokens, small.token_bytes(id).unwrap_or_default().to_vec());
    }
    for number in 0..1_000 {
        let width = if number < 10 {
            1
        } else if number < 100 {
            2
        } else {
            3
        };
        for digits in width..=3 {
            add(&mut tokens, format!("{number:0digits$}").into_bytes());
        }
    }
    for length in 1..=64 {
        add(&mut tokens, b" ".repeat(length));
        add(&mut tokens, [b"\n", &b" ".repeat(length)[..]].concat());
    }
    let mut rng = Rng(11);
    while tokens.len() < size {
        add(&mut tokens, word(&mut rng).into_bytes());
    }
    let options = VocabularyOptions { eos_token_ids: vec![EOS], ..VocabularyOptions::default() };
    Vocabulary::new(tokens, options).expect("the tokens are a vocabulary")
}
