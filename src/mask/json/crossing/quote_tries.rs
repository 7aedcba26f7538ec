//! Crossing tokens of strings, found without their inner tokens.
//!
//! Where several strings may be written, one of them may often go on with any text at all: a key that contains two
//! words, beside keys that contain one of them, or none. Then the inner tokens of all of them are those of that one,
//! and the others add only their crossing tokens. These contain a quote, so they stand in a trie of their own and are
//! found in a hundredth of the time.

use std::sync::Arc;

use crate::expr::INF;
use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::inner::trie_walk::is_inside_char;
use crate::mask::lexeme::lexeme_mask::{CrossingTokens, LexemeMask, TokenSet, walk};
use crate::mask::lexeme::masked_lexeme::LexemeMaskKey;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::Vocabulary;

/// Which of several strings at a place, if there are several, may go on with any text: lexemes, states and code points
/// that were read. No other one has tokens that stay inside and are not among its own.
pub fn takes_all<'a>(
    from: (TrieKind, u32),
    texts: impl ExactSizeIterator<Item = (&'a Arc<MaskedLexeme>, StateId, u32)>,
) -> Option<usize> {
    if texts.len() < 2 || from != (TrieKind::Tokens, 0) {
        return None;
    }
    texts.into_iter().position(|(masked, state, count)| {
        let l = &*masked.lexeme;
        let is_open =
            l.kind() != LexemeKind::Raw && l.room_and_need(count) == (INF, 0) && l.free(l.state(state)).is_open();
        is_open && l.is_text() && !is_inside_char(l, state)
    })
}

impl VocabTables {
    /// The mask of a string's state at the root, perhaps without the tokens that stay inside.
    pub fn crossing(
        &self,
        vocabulary: &Vocabulary,
        lexeme: &MaskedLexeme,
        state: StateId,
        count: u32,
    ) -> Arc<LexemeMask> {
        let l = &*lexeme.lexeme;
        let key_state = l.mask_state(state);
        if l.room_and_need(count) != (INF, 0) || lexeme.masks.roots.get(key_state).is_some() {
            return self.submask(vocabulary, lexeme, state, count, TrieKind::Tokens, 0);
        }
        let key = LexemeMaskKey { state: key_state, room: INF, need: 0, span: INF, walked: TrieKind::Quoted, node: 0 };
        if let Some(known) = lexeme.masks.other(&key) {
            return known;
        }
        let cross = self.text_cross(vocabulary, l, key_state, None);
        let made = LexemeMask { inner: TokenSet::Sparse(Box::default()), cross };
        self.keep(&lexeme.masks, key, false, Arc::new(made))
    }

    /// The crossing tokens of a string's state at the root; `count` is the register, or `None` where it bounds nothing.
    pub(crate) fn text_cross(
        &self,
        vocabulary: &Vocabulary,
        l: &Lexeme,
        state: StateId,
        count: Option<u32>,
    ) -> Option<Arc<CrossingTokens>> {
        let found = walk(l, self.with_children(vocabulary, TrieKind::Quoted), 0, state, count, true);
        self.crosses.intern(&found, (TrieKind::Tokens, 0), |t| vocabulary.token_bytes(t).unwrap_or_default())
    }
}
