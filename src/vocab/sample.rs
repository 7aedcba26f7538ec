//! Vocabularies that tests make, those of this crate and those beside it.

use super::{Vocabulary, VocabularyOptions};
use std::sync::Arc;

/// The 256 single bytes, each as the id that it is, and then `more`.
pub fn bytes_and<T: AsRef<[u8]>>(more: impl IntoIterator<Item = T>) -> Vec<Vec<u8>> {
    let bytes = (0..=255u8).map(|b| vec![b]);
    bytes.chain(more.into_iter().map(|token| token.as_ref().to_vec())).collect()
}

/// All strings of two to `longest` characters of an alphabet.
#[allow(dead_code)]
pub fn strings(alphabet: &[&str], longest: usize) -> Vec<String> {
    let mut last: Vec<String> = alphabet.iter().map(|c| c.to_string()).collect();
    let mut all = Vec::new();
    for _ in 1..longest {
        last = last.iter().flat_map(|s| alphabet.iter().map(move |c| format!("{s}{c}"))).collect();
        all.extend_from_slice(&last);
    }
    all
}

/// The vocabulary of the tokens and, behind them, one without text that ends the output.
pub fn ended(mut tokens: Vec<Vec<u8>>) -> Arc<Vocabulary> {
    let options = VocabularyOptions { eos_token_ids: vec![tokens.len() as u32], ..Default::default() };
    tokens.push(Vec::new());
    Vocabulary::new(&tokens, options).unwrap()
}
