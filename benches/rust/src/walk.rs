//! Texts as tokens, and guides along them.

use interlock::{Guide, GuideOptions, Index, Vocabulary};
use std::collections::BTreeMap;

/// Cuts texts into the longest tokens of a vocabulary.
pub struct Cutter {
    ids: BTreeMap<Vec<u8>, u32>,
    longest: usize,
}

impl Cutter {
    /// For one vocabulary.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let mut ids = BTreeMap::new();
        for id in (0..vocabulary.len() as u32).rev() {
            match vocabulary.spelling(id) {
                Some(bytes) if !bytes.is_empty() => drop(ids.insert(bytes.to_vec(), id)),
                _ => {}
            }
        }
        Cutter { ids, longest: vocabulary.max_token_len() }
    }

    /// The tokens of `text`.
    pub fn cut(&self, text: &str) -> Vec<u32> {
        let (mut rest, mut found) = (text.as_bytes(), Vec::new());
        while !rest.is_empty() {
            let id = |n: &usize| self.ids.get(&rest[..*n]).map(|id| (*n, *id));
            let (n, id) = (1..=self.longest.min(rest.len())).rev().find_map(|n| id(&n)).expect("every byte is a token");
            found.push(id);
            rest = &rest[n..];
        }
        found
    }
}

/// A guide at the start.
pub fn guide(index: &Index) -> Guide {
    index.guide(&GuideOptions::default()).expect("a guide without a budget")
}

/// Fills a mask before each token and takes it. The number of bits that were set in all masks together, which is the
/// answer that a benchmark asserts.
///
/// # Panics
/// If a mask lacks the token, or the guide refuses it.
pub fn masks(guide: &mut Guide, ids: &[u32], row: &mut [u32]) -> u64 {
    let mut bits = 0;
    for &id in ids {
        assert!(guide.fill_mask(row), "something is masked");
        assert!(row[id as usize / 32] >> (id % 32) & 1 == 1, "token {id} is allowed");
        bits += u64::from(row[0].count_ones() + row[row.len() / 2].count_ones());
        assert!(guide.try_advance(id), "token {id} is taken");
    }
    bits
}
