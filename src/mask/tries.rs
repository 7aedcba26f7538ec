//! The tries that masks are walked on: the vocabulary's own, that of its tokens with a quote, and that of the whitespace
//! tails.

use crate::mask::vocab_tables::{Tables, Walked, is_blank};
use crate::vocab::trie_children::Children;
use crate::vocab::{Trie, Vocabulary};

impl Tables {
    /// The bytes of a token below a node of a trie.
    pub fn rest_of<'v>(&self, vocabulary: &'v Vocabulary, token: u32, walked: Walked, node: u32) -> &'v [u8] {
        let bytes = vocabulary.token_bytes(token).unwrap_or_default();
        let blanks = match walked {
            Walked::Tokens | Walked::Quoted => 0,
            Walked::WhitespaceTails => bytes.iter().take_while(|b| is_blank(**b)).count(),
        };
        let depth = self.trie(vocabulary, walked).depth[node as usize] as usize;
        bytes.get(blanks + depth..).unwrap_or_default()
    }

    /// The trie of a [`Walked`].
    pub fn trie<'a>(&'a self, vocabulary: &'a Vocabulary, walked: Walked) -> &'a Trie {
        match walked {
            Walked::Tokens => vocabulary.trie(),
            Walked::Quoted => &self.quoted,
            Walked::WhitespaceTails => &self.blank_tails,
        }
    }

    /// The trie of a [`Walked`] with the children of its nodes.
    pub(crate) fn with_children<'a>(&'a self, vocabulary: &'a Vocabulary, walked: Walked) -> (&'a Trie, &'a Children) {
        (self.trie(vocabulary, walked), self.children_of(walked))
    }

    /// The child of a node of the trie of a [`Walked`].
    pub fn child(&self, walked: Walked, node: u32, byte: u8) -> Option<u32> {
        self.children_of(walked).child(node, byte)
    }

    /// What ends at a node of the trie of a [`Walked`].
    pub fn tokens<'a>(&'a self, vocabulary: &'a Vocabulary, walked: Walked, node: u32) -> &'a [u32] {
        self.children_of(walked).tokens(self.trie(vocabulary, walked), node)
    }

    fn children_of(&self, walked: Walked) -> &Children {
        match walked {
            Walked::Tokens => &self.children,
            Walked::Quoted => &self.quoted_children,
            Walked::WhitespaceTails => &self.blank_children,
        }
    }

    /// Whether a token below a node of the vocabulary's trie may go on with a quote.
    pub fn is_quoted(&self, node: u32) -> bool {
        self.children.is_quoted(node)
    }
}
