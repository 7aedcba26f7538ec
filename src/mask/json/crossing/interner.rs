//! Interned sets of crossing tokens.
//!
//! Many states of many lexemes have the same crossing tokens: at the end of every constant these are the quote with
//! what may stand behind it. Patches, and what guides remember, go by the id of a set. So a state whose walk finds a
//! set that exists takes that one, and everything that was made of it.
//!
//! A set's key is what the walk found, compared in full. Sets live as long as masks hold them; keys are dropped when
//! they are too many bytes.

use std::sync::{Arc, Weak};

use crate::mask::lexeme::lexeme_mask::{CrossingTokens, WalkResult};
use crate::mask::trie_kind::TrieKind;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::CROSSING_TOKENS;

/// What an entry costs beside its key.
const OVERHEAD: usize = 160;

/// The sets of crossing tokens of a vocabulary, each kept once.
#[derive(Default)]
pub struct CrossingInterner(pub(crate) BoundedCache<Box<[u32]>, Weak<CrossingTokens>, CROSSING_TOKENS>);

impl CrossingInterner {
    /// The crossing tokens that a walk found which began at `from`; `None` if there are none. `spelled` gives the bytes
    /// of a token from there on.
    pub(crate) fn intern<'a>(
        &self,
        found: &WalkResult,
        (walked, node): (TrieKind, u32),
        spelled: impl Fn(u32) -> &'a [u8],
    ) -> Option<Arc<CrossingTokens>> {
        if !found.crosses() {
            return None;
        }
        let mut key = vec![walked as u32, node];
        found.describe(&mut key);
        let known = self.0.get(key.as_slice()).and_then(|known| known.upgrade());
        if known.is_some() {
            return known;
        }
        let made = found.cross(spelled)?;
        let bytes = OVERHEAD + key.len() * 4;
        self.0.keep(key.into(), Arc::downgrade(&made), bytes);
        Some(made)
    }
}

#[cfg(test)]
mod tests;
