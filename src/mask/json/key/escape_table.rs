//! The escape table: escaped spellings behind each backslash of a vocabulary's trie.
//!
//! What a token may still become inside an escape does not depend on any name, so it is listed once.

use crate::json::string_escape::{EscapeMove, EscapeState, EscapeUse, step};
use crate::mask::trie_kind::TrieKind;
use crate::util::seeded_hash::SeededMap;
use crate::vocab::Trie;
use std::sync::{Arc, RwLock};

/// ASCII characters, as a set of bits.
pub(crate) type Ascii = u128;

/// The characters from `lo` to `hi`, as far as they are ASCII.
pub(crate) fn ascii(lo: u32, hi: u32) -> Ascii {
    let hi = hi.min(127);
    if lo <= hi { u128::MAX >> (127 - (hi - lo)) << lo } else { 0 }
}

/// The tokens behind a backslash of the vocabulary's trie, with the characters that they may become.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Escapes {
    /// What ends inside an escape, of what the trie has at its nodes, and what it may become.
    pub(super) inside: Vec<(u32, Ascii)>,
    /// Nodes at which an escape is complete, the character that it spells, and the bytes from the backslash on.
    pub(super) complete: Vec<(u32, u8, KeyPath)>,
}

impl Escapes {
    /// The tokens from the backslash `node` on that keep to some escapes.
    pub(super) fn find(trie: &Trie, node: u32, escapes: EscapeUse) -> Escapes {
        let mut found = Escapes::default();
        found.add(trie, (node, b'\\'), escapes, EscapeState::Plain, &mut KeyPath::new());
        found
    }

    /// Adds what lies from `node` on, to which `byte` leads.
    fn add(
        &mut self,
        trie: &Trie,
        (node, byte): (u32, u8),
        escapes: EscapeUse,
        before: EscapeState,
        path: &mut KeyPath,
    ) {
        let to = step(before, byte);
        if !escapes.allows(before, byte, &to) {
            return;
        }
        path.push(byte);
        match to {
            EscapeMove::To(sub) => {
                let pending = escapes.pending(sub);
                let next = pending.iter().fold(0, |all, &(lo, hi)| all | ascii(lo, hi));
                if next != 0 {
                    self.inside.extend(trie.tokens(node).iter().map(|&item| (item, next)));
                    for child in trie.children(node) {
                        self.add(trie, (child, trie.byte[child as usize]), escapes, sub, path);
                    }
                }
            }
            EscapeMove::Byte(b) => self.complete.push((node, b, path.clone())),
            EscapeMove::Char(c) if c.is_ascii() => self.complete.push((node, c as u8, path.clone())),
            EscapeMove::Char(_) | EscapeMove::Dead | EscapeMove::Close => {}
        }
        path.pop();
    }
}

/// The escapes that were asked for, by which may be written and where their backslash is.
#[derive(Default)]
pub(crate) struct AllEscapes(RwLock<SeededMap<(EscapeUse, TrieKind, u32), Arc<Escapes>>>);

impl AllEscapes {
    /// The tokens from the backslash `node` of a trie on. No more are kept than the trie has backslashes.
    pub(super) fn get(&self, trie: &Trie, escapes: EscapeUse, walked: TrieKind, node: u32) -> Arc<Escapes> {
        let key = (escapes, walked, node);
        if let Some(known) = self.0.read().unwrap_or_else(|p| p.into_inner()).get(&key) {
            return known.clone();
        }
        let made = Arc::new(Escapes::find(trie, node, escapes));
        self.0.write().unwrap_or_else(|p| p.into_inner()).entry(key).or_insert(made).clone()
    }
}

/// A backslash where the tries of names and vocabulary agree.
pub(crate) struct EscapedAt {
    /// The place among the names in front of it.
    pub name_node: u32,
    /// The backslash in the vocabulary's trie.
    pub child: u32,
    /// What the names go on with there; `None` if that is more than ASCII.
    pub(super) next: Option<Ascii>,
    pub(super) escapes: Arc<Escapes>,
}

pub(crate) type KeyPath = smallvec::SmallVec<[u8; 32]>;
