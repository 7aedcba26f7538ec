//! Where text is certainly cut that no pattern cuts: between characters that stand side by side in no token.
//!
//! Tokenizers of the sentencepiece kind merge across a whole text. But a merge makes a token, so wherever two
//! neighbouring characters of a text are neighbours in no token of the vocabulary, no merge ever crosses, and what lies
//! on both sides is merged by itself. That is exact, whatever follows.

use rustc_hash::FxHashSet;

/// Neighbours in some token.
#[derive(Debug, Default)]
pub(crate) struct SafeCuts(FxHashSet<(char, char)>);

impl SafeCuts {
    /// The neighbours in `tokens`. Parts that are not UTF-8 have none.
    pub(crate) fn from_tokens<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> SafeCuts {
        let mut pairs = FxHashSet::default();
        for text in tokens.filter_map(|token| std::str::from_utf8(token).ok()) {
            pairs.extend(text.chars().zip(text.chars().skip(1)));
        }
        SafeCuts(pairs)
    }

    /// Where the certain pieces of `text` end, in order; `complete` says that nothing follows the text.
    pub(crate) fn certain(&self, text: &str, complete: bool) -> Vec<usize> {
        let next = text.char_indices().skip(1);
        let cuts = text.chars().zip(next).filter(|&(a, (_, b))| !self.0.contains(&(a, b))).map(|(_, (at, _))| at);
        cuts.chain((complete && !text.is_empty()).then_some(text.len())).collect()
    }

    /// Bytes held, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.0.capacity() * 9
    }
}
