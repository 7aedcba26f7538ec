//! Tokens that spell a forced run, where the tokenizer's own are not known.
//!
//! The bytes of a run are certain, and any tokens that spell them are permitted. What the tokenizer would make of them
//! is known of some tokenizers, and of these as far as nothing behind the run can change it. Where that does not
//! matter, as for drafts that are checked anyhow, the rest of the run is spelled with the longest tokens that fit.

use crate::guide::Guide;

/// So many tokens are found at once.
const MAX_TOKENS: usize = 4096;

impl Guide {
    /// [`forced_tokens`](Self::forced_tokens), and behind them tokens that spell the rest of the forced run: the
    /// longest that fit. They are permitted and what they spell is certain, but the tokenizer might have made others of
    /// it.
    ///
    /// # Cost
    /// That of the forced tokens, and of taking what is found and going back.
    pub fn forced_spelling(&mut self) -> Vec<u32> {
        let mut tokens = self.forced_tokens();
        let (run, canonical) = (self.run.clone(), self.canonical);
        let known = self.advance_many(&tokens);
        tokens.truncate(known);
        let index = self.index.clone();
        while tokens.len() < MAX_TOKENS {
            let Some((found, taken)) = self.find_run() else { break };
            let rest = found.bytes.get(taken..).unwrap_or_default();
            let Some(id) = longest(index.vocabulary(), rest).into_iter().find(|&id| self.take(id)) else { break };
            tokens.push(id);
        }
        self.back(tokens.len());
        (self.run, self.canonical) = (run, canonical);
        tokens
    }

    /// [`forced_spelling`](Self::forced_spelling) as it will be once `ids` were taken. The guide stays where it is.
    /// Empty where some of `ids` is refused.
    ///
    /// # Cost
    /// That of taking `ids` and going back, and that of the tokens there.
    pub fn forced_spelling_after(&mut self, ids: &[u32]) -> Vec<u32> {
        self.found_after(ids, Guide::forced_spelling)
    }
}

/// The tokens that begin `text`, the longest first.
fn longest(vocabulary: &crate::vocab::Vocabulary, text: &[u8]) -> Vec<u32> {
    let trie = vocabulary.trie();
    let (mut node, mut found) = (0, Vec::new());
    for &byte in text {
        let Some(child) = trie.child(node, byte) else { break };
        node = child;
        found.extend(trie.tokens(node).first());
    }
    found.reverse();
    found
}
