//! The kind of trie that a mask was walked on.

/// Which trie a mask was walked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrieKind {
    /// The vocabulary's own.
    Tokens,
    /// The trie of tokens with a quote, where only those are asked for that pass the end of a string.
    Quoted,
    /// The suffixes of tokens that begin with whitespace.
    WhitespaceSuffixes,
}
