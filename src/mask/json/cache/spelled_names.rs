//! What tokens spell of the names of a closed object, remembered by place among the names.

use crate::mask::json::key::escape_table::EscapedAt;
use crate::mask::trie_kind::TrieKind;

/// What tokens spell of the names at one place among the names of a shape.
#[derive(Default)]
pub struct Spelled {
    /// Where among the names what ends, of what the vocabulary's trie has at its nodes: tokens, mostly.
    pub inside: Vec<TriePair>,
    /// Behind the quote of a name.
    pub ends: Vec<TriePair>,
    /// Behind a backslash in a name.
    pub escapes: Vec<EscapedAt>,
}

/// By shape and place among its names, and where tokens go on.
pub type SpelledAt = (u32, u32, TrieKind, u32);

impl Spelled {
    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        let places = (self.inside.len() + self.ends.len()) * size_of::<TriePair>();
        places + self.escapes.len() * size_of::<EscapedAt>() + size_of::<Spelled>()
    }
}

/// A place where the tries agree: among the names and in the vocabulary.
pub type TriePair = (u32, u32);
