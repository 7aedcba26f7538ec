//! What a tokenizer's model is made of.
//!
//! Loaders read it from a tokenizer's files, packs and pickles carry it. In a pack it is numbers that are mapped like
//! the rest: a [`TokenizerModel`](crate::vocab::TokenizerModel) takes some tens of milliseconds to make, so one is made
//! of them when somebody asks what its tokenizer encodes, and not before.

use crate::util::mapped::MappedSlice;

/// The "pattern" of sentencepiece models, which cut text by none.
pub const SENTENCEPIECE: &str = "\u{2581}";

/// The "pattern" of sentencepiece models that spell by scores: of each of [`ModelParts::ids`], the bits of its score
/// stand in [`ModelParts::ranks`].
pub const UNIGRAM: &str = "\u{2581}unigram";

/// What makes a model, in terms of a vocabulary's ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelParts {
    /// The pattern that cuts text into pieces, of several steps one behind the other with a zero byte between them;
    /// [`SENTENCEPIECE`] or [`UNIGRAM`].
    pub pattern: String,
    /// Whether a piece that is a token is that token, whatever the merges would make of it.
    pub whole: bool,
    /// Whether text is brought into normal form C first.
    pub nfc: bool,
    /// The tokens that merging makes, added tokens excepted.
    pub ids: Vec<u32>,
    /// The bits of each score, for a unigram model. For others without `merges`: the rank of each of `ids`, the lowest
    /// merged first; if there are none, an id is its own rank.
    pub ranks: Vec<u32>,
    /// The token of each byte, for sentencepiece models, whose characters may be no tokens; else nothing.
    pub bytes: Vec<u32>,
    /// Left, right and merged token, the lowest rank first.
    pub merges: Option<Vec<[u32; 3]>>,
    /// The added tokens, special ones included, whose content is what the vocabulary says that they spell.
    pub added: Vec<u32>,
}

/// [`ModelParts`] as numbers that may be mapped: those of a vocabulary without a model are all empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredModel {
    /// UTF-8.
    pub pattern: MappedSlice<u8>,
    /// Zero or one each: pieces that are tokens stay whole, text is brought into normal form C, there are merges.
    pub flags: MappedSlice<u32>,
    /// As in [`ModelParts`], and so are the others.
    pub ids: MappedSlice<u32>,
    #[allow(missing_docs)]
    pub ranks: MappedSlice<u32>,
    #[allow(missing_docs)]
    pub bytes: MappedSlice<u32>,
    /// Three numbers for each.
    pub merges: MappedSlice<u32>,
    #[allow(missing_docs)]
    pub added: MappedSlice<u32>,
}

impl StoredModel {
    /// The numbers of a model.
    pub fn from_parts(parts: ModelParts) -> Self {
        let ModelParts { pattern, whole, nfc, ids, ranks, bytes, merges, added } = parts;
        StoredModel {
            pattern: pattern.into_bytes().into(),
            flags: [whole, nfc, merges.is_some()].map(u32::from).to_vec().into(),
            ids: ids.into(),
            ranks: ranks.into(),
            bytes: bytes.into(),
            merges: merges.unwrap_or_default().into_flattened().into(),
            added: added.into(),
        }
    }

    /// The model that they are of, if they are of one.
    pub fn parts(&self) -> Option<ModelParts> {
        let &[whole, nfc, merges] = &self.flags[..] else { return None };
        Some(ModelParts {
            pattern: std::str::from_utf8(&self.pattern).ok()?.to_owned(),
            whole: whole == 1,
            nfc: nfc == 1,
            ids: self.ids.to_vec(),
            ranks: self.ranks.to_vec(),
            bytes: self.bytes.to_vec(),
            merges: (merges == 1).then(|| self.merges.as_chunks::<3>().0.to_vec()),
            added: self.added.to_vec(),
        })
    }

    /// Whether every number lies among what it numbers: tokens, of which there are `len`, and flags.
    pub(crate) fn fits(&self, len: usize) -> bool {
        let tokens = [&self.ids, &self.bytes, &self.merges, &self.added];
        let empty = self.pattern.is_empty() && self.ranks.is_empty() && tokens.iter().all(|ids| ids.is_empty());
        (self.flags.len() == 3 || self.flags.is_empty() && empty)
            && self.flags.iter().all(|&flag| flag <= 1)
            && std::str::from_utf8(&self.pattern).is_ok()
            && self.merges.len().is_multiple_of(3)
            && (self.merges.is_empty() || self.flags[2] == 1)
            && [0, self.ids.len()].contains(&self.ranks.len())
            && tokens.iter().all(|ids| ids.iter().fold(0, |most, &id| most.max(id)) as usize <= len.saturating_sub(1))
    }

    /// Bytes of this process's memory that they occupy; what is mapped does not count.
    pub(crate) fn memory_bytes(&self) -> usize {
        let numbers = [&self.flags, &self.ids, &self.ranks, &self.bytes, &self.merges, &self.added];
        self.pattern.memory_bytes() + numbers.iter().map(|numbers| numbers.memory_bytes()).sum::<usize>()
    }
}
