//! The tries that masks are walked on: all tokens, tokens with a quote, and whitespace suffixes.

use crate::json::whitespace::is_whitespace;
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::trie_children::Children;
use crate::vocab::{Trie, Vocabulary};

impl VocabTables {
    /// The bytes of a token below a node of a trie.
    pub fn rest_of<'v>(&self, vocabulary: &'v Vocabulary, token: u32, walked: TrieKind, node: u32) -> &'v [u8] {
        let bytes = vocabulary.token_bytes(token).unwrap_or_default();
        let blanks = match walked {
            TrieKind::Tokens | TrieKind::Quoted => 0,
            TrieKind::WhitespaceSuffixes => bytes.iter().take_while(|b| is_whitespace(**b)).count(),
        };
        let depth = self.trie(vocabulary, walked).depth[node as usize] as usize;
        bytes.get(blanks + depth..).unwrap_or_default()
    }

    /// The trie of a [`TrieKind`].
    pub fn trie<'a>(&'a self, vocabulary: &'a Vocabulary, walked: TrieKind) -> &'a Trie {
        match walked {
            TrieKind::Tokens => vocabulary.trie(),
            TrieKind::Quoted => &self.quoted,
            TrieKind::WhitespaceSuffixes => &self.blank_suffixes,
        }
    }

    /// The trie of a [`TrieKind`] with the children of its nodes.
    pub(crate) fn with_children<'a>(
        &'a self,
        vocabulary: &'a Vocabulary,
        walked: TrieKind,
    ) -> (&'a Trie, &'a Children) {
        (self.trie(vocabulary, walked), self.children_of(walked))
    }

    /// The child of a node of the trie of a [`TrieKind`].
    pub fn child(&self, walked: TrieKind, node: u32, byte: u8) -> Option<u32> {
        self.children_of(walked).child(node, byte)
    }

    /// What ends at a node of the trie of a [`TrieKind`].
    pub fn tokens<'a>(&'a self, vocabulary: &'a Vocabulary, walked: TrieKind, node: u32) -> &'a [u32] {
        self.children_of(walked).tokens(self.trie(vocabulary, walked), node)
    }

    fn children_of(&self, walked: TrieKind) -> &Children {
        match walked {
            TrieKind::Tokens => &self.children,
            TrieKind::Quoted => &self.quoted_children,
            TrieKind::WhitespaceSuffixes => &self.blank_children,
        }
    }

    /// Whether a token below a node of the vocabulary's trie may go on with a quote.
    pub fn is_quoted(&self, node: u32) -> bool {
        self.children.is_quoted(node)
    }
}
