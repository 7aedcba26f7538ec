//! Signature scopes: how far the suffixes of a vocabulary go into a value.

use crate::json::whitespace::is_whitespace;
use crate::vocab::Trie;

/// How far the suffixes behind a colon go into a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignatureScope {
    /// Opening brackets in one of them, at most.
    pub(crate) brackets: u32,
    /// Whether some suffix goes on behind the quote of a key, so that it can tell what keys there are.
    pub(crate) keys: bool,
}

impl SignatureScope {
    /// The scope of the suffixes of a vocabulary.
    pub fn from_suffixes(suffixes: &Trie) -> SignatureScope {
        let mut found = SignatureScope::default();
        let Some(colon) = suffixes.child(0, b':') else { return found };
        let base = usize::from(suffixes.depth[colon as usize]);
        let mut path: Vec<u8> = Vec::new();
        for node in colon + 1..suffixes.end[colon as usize] {
            path.truncate(usize::from(suffixes.depth[node as usize]) - base - 1);
            // Something follows all of `path`.
            if let Some((b'"', before)) = path.split_last() {
                found.keys |= before.iter().rfind(|b| !is_whitespace(**b)) == Some(&b'{');
            }
            path.push(suffixes.byte[node as usize]);
            let brackets = path.iter().filter(|b| matches!(b, b'[' | b'{')).count();
            found.brackets = found.brackets.max(brackets as u32);
        }
        found
    }
}
