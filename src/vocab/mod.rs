//! What a model can say: the bytes of every token, and which ids stop.
//!
//! A [`Vocabulary`] maps token ids to bytes. Masks depend on nothing else. It may hold
//! a [`TokenizerModel`] of how the tokenizer encodes, for forced tokens alone. Terms:
//!
//! * *size* is the width of the logits, padding included; *len* is how many ids the tokenizer lists. Ids from `len`
//!   up to `size` exist in the model and have no text.
//! * *stop ids* (`eos_token_ids`) end the output. There may be several; there is at least one, for without it an
//!   output could not end.
//! * *special ids* never spell text: a guide never allows `<|im_start|>` inside a string that happens to permit
//!   these characters. Stop ids are special too. The bytes of a special token are kept (for display), but only
//!   [`Vocabulary::spelling`] and the trie say what may appear in output.
//! * Several ids may have the same bytes, and ids may have none (`b""`: unused, or a gap in the numbering).
//!
//! A vocabulary is immutable and shared as `Arc<Vocabulary>` between threads. Two vocabularies with equal
//! [`fingerprint`](Vocabulary::fingerprint) make the same masks: stored artifacts name the fingerprint of the
//! vocabulary that they were made for. How a tokenizer encodes is not part of it.

pub mod load;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
pub mod tokenizer;
pub mod trie;
pub(crate) mod trie_children;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::util::mapped::MappedSlice;
pub use crate::vocab::tokenizer::model_parts::{ModelParts, SENTENCEPIECE, StoredModel, UNIGRAM};
pub use crate::vocab::tokenizer::{Cut, NextText, TokenizerModel};
pub use crate::vocab::trie::{Trie, TrieParts};

/// The widest logits, in ids: sixteen times the widest known vocabulary, and 512 KiB per mask row.
pub const MAX_SIZE: usize = 1 << 22;

/// What a list of tokens does not say by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VocabularyOptions {
    /// The ids that end the output; at least one, in any order.
    pub eos_token_ids: Vec<u32>,
    /// The ids that never spell text, in any order. Stop ids need not be repeated here.
    pub special_token_ids: Vec<u32>,
    /// The width of the logits; `None` means as many ids as there are tokens.
    pub size: Option<usize>,
}

/// The bytes of every token id, the ids that stop, and a trie of what may be spelled.
#[derive(Debug)]
pub struct Vocabulary {
    id: u64,
    size: usize,
    /// All tokens one after the other; token `i` is `bytes[start[i]..start[i + 1]]`.
    bytes: MappedSlice<u8>,
    start: MappedSlice<u32>,
    eos: Vec<u32>,
    special: Vec<u32>,
    max_token_len: usize,
    fingerprint: [u8; 32],
    trie: Trie,
    extension: Extension,
    /// Made of `stored` when somebody asks, if it was not there from the start.
    model: OnceLock<Option<TokenizerModel>>,
    stored: StoredModel,
}

/// What a vocabulary consists of, as artifacts store it.
#[derive(Clone, Debug)]
pub struct VocabularyParts {
    /// The width of the logits.
    pub size: usize,
    /// All tokens one after the other.
    pub bytes: MappedSlice<u8>,
    /// Where each token begins in `bytes`; one entry more than tokens.
    pub start: MappedSlice<u32>,
    /// The ids that end the output, ascending.
    pub eos: Vec<u32>,
    /// The ids that never spell text, ascending, as they were given.
    pub special: Vec<u32>,
    /// The tokens that spell text.
    pub trie: Trie,
    /// How the tokenizer encodes, where that is known.
    pub model: StoredModel,
}

/// Whatever a later stage derives from a vocabulary and wants to live exactly as long.
#[derive(Default)]
pub struct Extension(std::sync::OnceLock<Arc<dyn std::any::Any + Send + Sync>>);

impl Extension {
    /// The value, made on first use by whoever asks first. One type per vocabulary: a second type gets `None`.
    pub fn get_or_init<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Option<Arc<T>> {
        self.0.get_or_init(|| Arc::new(make())).clone().downcast().ok()
    }

    /// The value, if it was made.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.get()?.clone().downcast().ok()
    }
}

impl std::fmt::Debug for Extension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Extension")
    }
}

fn error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Vocabulary, message)
}

/// `ids` ascending and without repeats.
fn id_set(what: &str, mut ids: Vec<u32>, size: usize) -> Result<Vec<u32>> {
    ids.sort_unstable();
    ids.dedup();
    match ids.last() {
        Some(&id) if id as usize >= size => Err(error(format!("{what}: id {id} is out of range: the size is {size}"))),
        _ => Ok(ids),
    }
}

impl Vocabulary {
    /// The vocabulary in which token `i` has the `i`-th bytes of `tokens`; `b""` means no text.
    ///
    /// # Errors
    /// `Vocabulary` if there are no tokens, no stop id, a stop or special id outside the logits, a `size` smaller
    /// than the number of tokens or larger than [`MAX_SIZE`], or a token of more than 65,535 bytes.
    ///
    /// # Cost
    /// Linear in the bytes but for one sort: under 0.1 s for 128,000 tokens.
    ///
    /// # Example
    ///
    /// ```
    /// use interlock::{Vocabulary, VocabularyOptions};
    ///
    /// let options = VocabularyOptions { eos_token_ids: vec![2], size: Some(64), ..Default::default() };
    /// let vocabulary = Vocabulary::new([&b"he"[..], b"llo", b""], options)?;
    /// assert_eq!((vocabulary.len(), vocabulary.size(), vocabulary.words()), (3, 64, 2));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn new<I>(tokens: I, options: VocabularyOptions) -> Result<Arc<Vocabulary>>
    where
        I: IntoIterator<Item: AsRef<[u8]>>,
    {
        let tokens = tokens.into_iter();
        let mut bytes = Vec::new();
        let mut start = Vec::with_capacity(tokens.size_hint().0.min(MAX_SIZE) + 1);
        start.push(0);
        let mut max_token_len = 0;
        for token in tokens {
            let token = token.as_ref();
            if token.len() > trie::MAX_TOKEN_BYTES {
                let id = start.len() - 1;
                return Err(error(format!(
                    "token {id} has {} bytes, more than {}",
                    token.len(),
                    trie::MAX_TOKEN_BYTES
                )));
            }
            if start.len() > MAX_SIZE || bytes.len() + token.len() >= u32::MAX as usize {
                return Err(error(format!("too many tokens: more than {MAX_SIZE}, or 4 GiB of text")));
            }
            max_token_len = max_token_len.max(token.len());
            bytes.extend_from_slice(token);
            start.push(bytes.len() as u32);
        }
        let len = start.len() - 1;
        if len == 0 {
            return Err(error("the vocabulary is empty"));
        }
        let size = options.size.unwrap_or(len);
        if size < len {
            return Err(error(format!("size {size} is smaller than the number of tokens, {len}")));
        }
        if size > MAX_SIZE {
            return Err(error(format!("size {size} is larger than the widest that is supported, {MAX_SIZE}")));
        }
        if options.eos_token_ids.is_empty() {
            return Err(error("no stop token: give eos_token_ids, the ids that end an output"));
        }
        let eos = id_set("eos_token_ids", options.eos_token_ids, size)?;
        let special = id_set("special_token_ids", options.special_token_ids, size)?;

        let silent = |id: u32| eos.binary_search(&id).is_ok() || special.binary_search(&id).is_ok();
        let mut items: Vec<(&[u8], u32)> = (0..len as u32)
            .map(|id| (&bytes[start[id as usize] as usize..start[id as usize + 1] as usize], id))
            .filter(|&(token, id)| !token.is_empty() && !silent(id))
            .collect();
        let trie = Trie::build(&mut items)?;
        let model = StoredModel::default();
        let parts = VocabularyParts { size, bytes: bytes.into(), start: start.into(), eos, special, trie, model };
        let fingerprint = fingerprint(&parts.bytes, &parts.start, &parts.eos, &parts.special, size);
        Ok(Vocabulary::of_parts(parts, max_token_len, fingerprint))
    }

    /// The parts fit together.
    fn of_parts(parts: VocabularyParts, max_token_len: usize, fingerprint: [u8; 32]) -> Arc<Vocabulary> {
        let VocabularyParts { size, bytes, start, eos, special, trie, model: stored } = parts;
        static INSTANCES: AtomicU64 = AtomicU64::new(1);
        Arc::new(Vocabulary {
            id: INSTANCES.fetch_add(1, Ordering::Relaxed),
            size,
            bytes,
            start,
            eos,
            special,
            max_token_len,
            fingerprint,
            trie,
            extension: Extension::default(),
            model: OnceLock::new(),
            stored,
        })
    }

    /// What an artifact stores; cheap where it is mapped, a copy where not, and of the model.
    pub fn parts(&self) -> VocabularyParts {
        VocabularyParts {
            size: self.size,
            bytes: self.bytes.clone(),
            start: self.start.clone(),
            eos: self.eos.clone(),
            special: self.special.clone(),
            trie: self.trie.clone(),
            model: self.model_parts().map_or_else(StoredModel::default, StoredModel::from_parts),
        }
    }

    /// The vocabulary that consists of `parts` and has this fingerprint. Whether the trie holds the tokens and the
    /// fingerprint is theirs is not looked at: whoever cannot rely on that asks [`check`](Vocabulary::check).
    ///
    /// # Errors
    /// `Vocabulary` if the parts break a rule of [`Vocabulary::new`], or a number lies outside of what it numbers.
    ///
    /// # Cost
    /// One quick pass over the numbers.
    pub fn from_parts(parts: VocabularyParts, fingerprint: [u8; 32]) -> Result<Arc<Vocabulary>> {
        let VocabularyParts { size, bytes, start, eos, special, trie, model } = &parts;
        let bad = |what: &str| error(format!("the vocabulary's parts do not fit together: {what}"));
        let len = start.len().saturating_sub(1);
        // Differences of a list that goes down somewhere are large.
        let longest = start.windows(2).fold(0, |most, w| most.max(w[1].wrapping_sub(w[0]))) as usize;
        let fits = start.first() == Some(&0)
            && start.last().is_some_and(|&last| last as usize == bytes.len())
            && longest <= trie::MAX_TOKEN_BYTES;
        if len == 0 || !fits {
            return Err(bad("the tokens"));
        }
        let ids_fit =
            |ids: &[u32]| ids.windows(2).all(|w| w[0] < w[1]) && ids.last().is_none_or(|&id| (id as usize) < *size);
        if *size < len || *size > MAX_SIZE || eos.is_empty() || !ids_fit(eos) || !ids_fit(special) {
            return Err(bad("the ids or the size"));
        }
        if trie.subtree_tokens(0).iter().fold(0, |most, &id| most.max(id)) as usize >= len {
            return Err(bad("the trie"));
        }
        if !model.fits(len) {
            return Err(bad("the tokenizer's model"));
        }
        Ok(Vocabulary::of_parts(parts, longest, fingerprint))
    }

    /// Whether the trie holds exactly the tokens that spell text and the fingerprint is that of the tokens: what
    /// [`from_parts`](Vocabulary::from_parts) takes on trust.
    ///
    /// # Errors
    /// `Vocabulary` that says what does not fit.
    ///
    /// # Cost
    /// One pass over the tokens and one over the trie: some milliseconds for 128,000 tokens.
    pub fn check(&self) -> Result<()> {
        let Vocabulary { size, bytes, start, eos, special, trie, .. } = self;
        let bad = |what: &str| error(format!("the vocabulary's parts do not fit together: {what}"));
        let len = self.len();
        if fingerprint(bytes, start, eos, special, *size) != self.fingerprint {
            return Err(bad("its tokens have another fingerprint than it says"));
        }
        let mut silent = vec![false; *size];
        eos.iter().chain(special).for_each(|&id| silent[id as usize] = true);
        let token = |id: usize| &bytes[start[id] as usize..start[id + 1] as usize];
        // Every node's ids spell the way to it, and as many ids spell text as the trie lists.
        let mut path: Vec<u8> = Vec::new();
        for node in 0..trie.len() as u32 {
            let depth = trie.depth[node as usize] as usize;
            path.truncate(depth.saturating_sub(1));
            if depth > 0 {
                path.push(trie.byte[node as usize]);
            }
            let ids = trie.tokens(node);
            let spelled = |&id: &u32| (id as usize) < len && !silent[id as usize] && token(id as usize) == path;
            if !ids.iter().all(spelled) || !ids.windows(2).all(|w| w[0] < w[1]) || depth == 0 && !ids.is_empty() {
                return Err(bad("the trie"));
            }
        }
        let spelling = (0..len).filter(|&id| !silent[id] && !token(id).is_empty()).count();
        if spelling != trie.subtree_tokens(0).len() {
            return Err(bad("the trie"));
        }
        Ok(())
    }

    /// Gives the vocabulary the model that `parts` make, if they make one and nobody else holds the vocabulary yet.
    /// The fingerprint stays as it is.
    pub fn with_model(mut self: Arc<Vocabulary>, parts: &ModelParts) -> Arc<Vocabulary> {
        if let Some(vocabulary) = Arc::get_mut(&mut self) {
            vocabulary.model = OnceLock::from(TokenizerModel::new(vocabulary, parts));
        }
        self
    }

    /// The tokenizer's own way to spell a text, where it is known.
    ///
    /// # Cost
    /// Nothing, but for the first call on a vocabulary that came from a pack: some tens of milliseconds for 128,000
    /// tokens.
    pub fn model(&self) -> Option<&TokenizerModel> {
        self.model.get_or_init(|| TokenizerModel::new(self, &self.stored.parts()?)).as_ref()
    }

    /// What [`model`](Vocabulary::model) is made of; makes none.
    pub fn model_parts(&self) -> Option<ModelParts> {
        match self.model.get() {
            Some(made) => made.as_ref().map(|made| made.parts().clone()),
            None => self.stored.parts(),
        }
    }

    /// A slot for what later stages derive from this vocabulary.
    pub fn extension(&self) -> &Extension {
        &self.extension
    }

    /// How many ids the tokenizer lists, those without text included.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// The width of the logits: `len`, or more where the model pads.
    pub fn size(&self) -> usize {
        self.size
    }

    /// 32-bit words of one mask row: `size` bits, rounded up.
    pub fn words(&self) -> usize {
        self.size.div_ceil(32)
    }

    /// The ids that end the output, ascending; at least one.
    pub fn eos_token_ids(&self) -> &[u32] {
        &self.eos
    }

    /// The ids that never spell text, ascending, as they were given: a stop id need not be among them.
    pub fn special_token_ids(&self) -> &[u32] {
        &self.special
    }

    /// Whether `id` ends the output.
    pub fn is_eos(&self, id: u32) -> bool {
        self.eos.binary_search(&id).is_ok()
    }

    /// Whether `id` never spells text: a special or a stop id.
    pub fn is_special(&self, id: u32) -> bool {
        // In most vocabularies they come after all text, so that one comparison tells.
        let may_be = self.special.first().is_some_and(|&first| first <= id);
        self.is_eos(id) || may_be && self.special.binary_search(&id).is_ok()
    }

    /// The bytes that were given for `id`, also for a special id; `b""` for an id without text, `None` from `len` on.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        let id = id as usize;
        let (from, to) = (*self.start.get(id)?, *self.start.get(id + 1)?);
        self.bytes.get(from as usize..to as usize)
    }

    /// The bytes that `id` adds to an output: `None` for a special or stop id and for an id without text. These are
    /// exactly the ids in the trie.
    pub fn spelling(&self, id: u32) -> Option<&[u8]> {
        self.token_bytes(id).filter(|bytes| !bytes.is_empty() && !self.is_special(id))
    }

    /// The bytes that `ids` spell one after the other. Special and stop ids spell nothing.
    ///
    /// # Errors
    /// `Vocabulary` if an id lies outside the logits.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// assert_eq!(vocabulary.decode(&[104, 105])?, b"hi");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for &id in ids {
            if id as usize >= self.size {
                return Err(error(format!("token id {id} is out of range: the size is {}", self.size)));
            }
            out.extend_from_slice(self.spelling(id).unwrap_or_default());
        }
        Ok(out)
    }

    /// BLAKE3 over the bytes of every token in order, the special ids, the stop ids and the size. The order in which
    /// stop and special ids were given does not matter.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// The tokens that spell text, as a trie.
    pub fn trie(&self) -> &Trie {
        &self.trie
    }

    /// Bytes of the longest token, special tokens included.
    pub fn max_token_len(&self) -> usize {
        self.max_token_len
    }

    /// A number that no other vocabulary of this process has: a cheap key for caches.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Bytes of this process's memory that the tables occupy; what is mapped does not count.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.memory_bytes()
            + self.start.memory_bytes()
            + 4 * (self.eos.capacity() + self.special.capacity())
            + self.trie.memory_bytes()
            + self.stored.memory_bytes()
            + self.model.get().and_then(Option::as_ref).map_or(0, TokenizerModel::memory_bytes)
    }
}

/// Lengths go before contents, so that no two vocabularies feed the hash the same bytes.
fn fingerprint(bytes: &[u8], start: &[u32], eos: &[u32], special: &[u32], size: usize) -> [u8; 32] {
    fn numbers(hasher: &mut blake3::Hasher, numbers: &[u32]) {
        let packed: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        hasher.update(&(numbers.len() as u64).to_le_bytes()).update(&packed);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"interlock vocabulary 1\0").update(&(size as u64).to_le_bytes());
    numbers(&mut hasher, start);
    hasher.update(bytes);
    numbers(&mut hasher, special);
    numbers(&mut hasher, eos);
    *hasher.finalize().as_bytes()
}
