//! Tokens that are few and can do much.
//!
//! A token budget holds for nearly all tokens by one bound each: those of few *structural* bytes (brackets, commas,
//! colons) open and close little, and those without a *mark* (a quote or a backslash) stay inside the text that they
//! begin in. The others are listed here, once for a vocabulary.

use std::sync::Arc;

use crate::vocab::{Trie, Vocabulary};

/// Tokens with more structural bytes than this are listed.
pub const STRUCTURAL: usize = 3;

/// See the module's story.
pub struct Marked {
    /// Tokens of many structural bytes, ascending.
    pub structural: Arc<[u32]>,
    /// Tokens with a quote or a backslash; `None` if there are too many of them for a trie.
    pub text: Option<Trie>,
}

impl Marked {
    /// The lists of a vocabulary.
    pub fn of(vocabulary: &Vocabulary) -> Marked {
        let (mut structural, mut text) = (Vec::new(), Vec::new());
        for id in 0..vocabulary.len() as u32 {
            let Some(bytes) = vocabulary.spelling(id) else { continue };
            if bytes.iter().filter(|b| b"{}[],:".contains(b)).count() > STRUCTURAL {
                structural.push(id);
            }
            if bytes.iter().any(|b| b"\"\\".contains(b)) {
                text.push((bytes, id));
            }
        }
        Marked { structural: structural.into(), text: Trie::build(&mut text).ok() }
    }
}
