//! The tokenizer's own way to spell a text, as far as it is byte-level BPE.
//!
//! A vocabulary may hold a [`Model`]: the merges, the pattern that cuts text into pieces, and the added tokens. It says
//! which tokens the tokenizer makes of a text, and which of them stay whatever text follows. It takes no part
//! in the vocabulary's fingerprint, for no mask depends on it. A tokenizer that is anything else (a normaliser other
//! than NFC, sentencepiece, unigram, a pattern that is not known) has no model.
//!
//! **Merging** is the published algorithm: of all neighbours that merge, those of the lowest rank, the leftmost first,
//! until none do. A rank file ranks the merged bytes; a list of merges ranks pairs of tokens.
//!
//! **Added tokens** are taken out of a text before anything else. Where one might begin, the known text ends.
//! **NFC** changes no ASCII text, so with it the known text ends at the first other character, and before a letter
//! or sign that an unknown mark might still combine with.

use rustc_hash::FxHashMap;

use super::Vocabulary;
use super::split::Splitter;

/// The longest piece that is merged, in bytes: merging takes quadratic time. Longer ones are not certain.
const MAX_PIECE: usize = 1024;

/// What makes a model, in terms of a vocabulary's ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// The pattern that cuts text into pieces.
    pub pattern: String,
    /// Whether a piece that is a token is that token, whatever the merges would make of it.
    pub whole: bool,
    /// Whether text is brought into normal form C first.
    pub nfc: bool,
    /// The tokens that merging makes, added tokens excepted. Without `merges`, an id is its own rank.
    pub ids: Vec<u32>,
    /// Left, right and merged token, the lowest rank first.
    pub merges: Option<Vec<[u32; 3]>>,
    /// The added tokens, special ones included, whose content is what the vocabulary says that they spell.
    pub added: Vec<u32>,
}

/// See the module's story.
#[derive(Debug)]
pub struct Model {
    recipe: Recipe,
    splitter: Splitter,
    by_bytes: FxHashMap<Box<[u8]>, u32>,
    by_pair: FxHashMap<(u32, u32), (u32, u32)>,
    added: Vec<Box<[u8]>>,
}

impl Model {
    /// The model that `recipe` makes; `None` if its pattern is not known, or it names an id without text.
    pub(super) fn new(vocabulary: &Vocabulary, recipe: &Recipe) -> Option<Model> {
        let splitter = Splitter::new(&recipe.pattern)?;
        let text = |&id: &u32| vocabulary.token_bytes(id).filter(|bytes| !bytes.is_empty());
        let by_bytes = recipe.ids.iter().map(|id| Some((text(id)?.into(), *id))).collect::<Option<_>>()?;
        let merges = recipe.merges.iter().flatten().zip(0..);
        let mut by_pair = FxHashMap::default();
        for (&[left, right, merged], rank) in merges {
            by_pair.insert((left, right), (rank, merged));
        }
        let added = recipe.added.iter().map(|id| Some(text(id)?.into())).collect::<Option<_>>()?;
        Some(Model { recipe: recipe.clone(), splitter, by_bytes, by_pair, added })
    }

    /// What made this model.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Whether `id` is taken out of a text before it is cut into pieces, so that a fresh piece follows it.
    pub fn is_added(&self, id: u32) -> bool {
        self.recipe.added.contains(&id)
    }

    /// Bytes that the tables occupy, about.
    pub fn memory_bytes(&self) -> usize {
        let recipe = 4 * self.recipe.ids.len() + 12 * self.recipe.merges.as_ref().map_or(0, Vec::len);
        recipe + self.by_bytes.keys().map(|k| k.len() + 32).sum::<usize>() + 20 * self.by_pair.capacity()
    }

    /// Where the certain pieces of `text` end, in order. `complete` says that nothing follows the text.
    pub fn pieces(&self, text: &[u8], complete: bool) -> Vec<usize> {
        let (known, complete) = self.known(text, complete);
        self.splitter.certain(known, complete)
    }

    /// The tokens of the pieces of `text` that end at `ends`, up to the first piece that has none.
    pub fn encode(&self, text: &[u8], ends: &[usize]) -> Vec<u32> {
        let mut out = Vec::new();
        let mut from = 0;
        for &end in ends {
            let Some(tokens) = text.get(from..end).and_then(|piece| self.merge(piece)) else { break };
            out.extend(tokens);
            from = end;
        }
        out
    }

    /// How much of `text` is certain to be cut by the pattern alone, and whether that is a complete text.
    fn known<'a>(&self, text: &'a [u8], complete: bool) -> (&'a str, bool) {
        let valid = match std::str::from_utf8(text) {
            Ok(valid) => valid,
            Err(e) => text.get(..e.valid_up_to()).and_then(|t| std::str::from_utf8(t).ok()).unwrap_or_default(),
        };
        let mut end = self.splitter.settled(valid);
        if self.recipe.nfc {
            end = end.min(valid.bytes().position(|b| !b.is_ascii()).unwrap_or(end));
        }
        if let Some(at) = self.added_from(text, complete) {
            end = end.min(at);
        }
        // An added token begins at a character, so this is one too; if it were not, nothing would be known.
        let known = valid.get(..end).unwrap_or_default();
        let complete = complete && known.len() == text.len();
        let combines = |c: char| c.is_ascii_alphabetic() || matches!(c, '<' | '=' | '>');
        if self.recipe.nfc && !complete && known.ends_with(combines) {
            return (known.get(..known.len() - 1).unwrap_or_default(), false);
        }
        (known, complete)
    }

    /// Where the first added token begins, or may yet begin.
    fn added_from(&self, text: &[u8], complete: bool) -> Option<usize> {
        (0..text.len()).find(|&at| {
            let rest = text.get(at..).unwrap_or_default();
            self.added.iter().any(|content| rest.starts_with(content) || !complete && content.starts_with(rest))
        })
    }

    fn merge(&self, piece: &[u8]) -> Option<Vec<u32>> {
        if self.recipe.whole
            && let Some(&id) = self.by_bytes.get(piece)
        {
            return Some(vec![id]);
        }
        if piece.len() > MAX_PIECE {
            return None;
        }
        // Start and token of each part, and the rank and token that it makes with the next one.
        let mut parts = Vec::with_capacity(piece.len());
        for (at, byte) in piece.chunks(1).enumerate() {
            parts.push((at, *self.by_bytes.get(byte)?));
        }
        let joined = |parts: &[(usize, u32)], i: usize| {
            let (&(from, left), &(_, right)) = (parts.get(i)?, parts.get(i + 1)?);
            if self.recipe.merges.is_some() {
                return self.by_pair.get(&(left, right)).copied();
            }
            let to = parts.get(i + 2).map_or(piece.len(), |p| p.0);
            self.by_bytes.get(piece.get(from..to)?).map(|&id| (id, id))
        };
        let mut next: Vec<_> = (0..parts.len()).map(|i| joined(&parts, i)).collect();
        while let Some((i, (_, id))) =
            next.iter().enumerate().filter_map(|(i, n)| n.map(|n| (i, n))).min_by_key(|&(i, (rank, _))| (rank, i))
        {
            if let Some(part) = parts.get_mut(i) {
                part.1 = id;
            }
            parts.remove(i + 1);
            next.remove(i + 1);
            for j in [i.checked_sub(1), Some(i)].into_iter().flatten() {
                let made = joined(&parts, j);
                if let Some(n) = next.get_mut(j) {
                    *n = made;
                }
            }
        }
        Some(parts.into_iter().map(|p| p.1).collect())
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
