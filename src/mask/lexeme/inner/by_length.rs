//! Masks of a string without a pattern near the bound on its length.
//!
//! Such a mask depends only on the *room*, the number of characters left: a token fits if it has no more code points.
//! One walk that counts the code points of every token makes the masks of all rooms that a token can tell from
//! infinity.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::lexeme_mask::{LexemeMask, TokenSet, walk};
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::Vocabulary;

impl VocabTables {
    /// Masks of any text of a kind between two characters, by room.
    pub(crate) fn rooms(&self, vocabulary: &Vocabulary, kind: LexemeKind) -> &[Arc<LexemeMask>] {
        let any = self.any_text_with(kind.escapes());
        let l = &*any.lexeme;
        any.masks.rooms.get_or_init(|| self.room_masks(vocabulary, l, l.next(l.start(), b'"')))
    }

    /// [`room_masks`](Self::room_masks) of a state inside a character or an escape, made once: there are some dozens.
    pub(crate) fn inside_masks(
        &self,
        vocabulary: &Vocabulary,
        lexeme: &MaskedLexeme,
        state: StateId,
    ) -> Arc<[Arc<LexemeMask>]> {
        let inside = &lexeme.masks.inside;
        if let Some(known) = inside.read().unwrap_or_else(|p| p.into_inner()).get(&state) {
            return known.clone();
        }
        self.counters.mask_walks.fetch_add(1, Ordering::Relaxed);
        let made: Arc<[Arc<LexemeMask>]> = self.room_masks(vocabulary, &lexeme.lexeme, state).into();
        inside.write().unwrap_or_else(|p| p.into_inner()).entry(state).or_insert(made).clone()
    }

    /// Masks of "any text, at most r more code points" for every r that a token can tell from infinity: a row per r,
    /// each the one before plus the tokens of r code points.
    pub(crate) fn room_masks(&self, vocabulary: &Vocabulary, l: &Lexeme, state: StateId) -> Vec<Arc<LexemeMask>> {
        let found = walk(l, self.with_children(vocabulary, TrieKind::Tokens), 0, state, None, true);
        let mut inner = found.inner.clone();
        inner.sort_unstable_by_key(|t| (t.1, t.0));
        let whole = |t| vocabulary.token_bytes(t).unwrap_or_default();
        let cross = self.crosses.intern(&found, (TrieKind::Tokens, 0), whole);
        let template = found.finish(self.words, cross);
        let mut row = vec![0u32; self.words];
        let mut next = 0;
        let mut out: Vec<Arc<LexemeMask>> = Vec::new();
        for r in 0..=self.reach.any {
            let before = next;
            while next < inner.len() && inner[next].1 <= r {
                let t = inner[next].0;
                row[t as usize >> 5] |= 1 << (t & 31);
                next += 1;
            }
            if r > 0
                && next == before
                && let Some(last) = out.last().cloned()
            {
                out.push(last);
                continue;
            }
            out.push(Arc::new(LexemeMask {
                inner: TokenSet::of_row(row.as_slice().into()),
                cross: template.cross.clone(),
            }));
        }
        out
    }
}
