//! Vocabularies from tokenizer files.
//!
//! A file is recognised by what it holds, never by its name:
//!
//! | format | stop ids in the file itself | reader |
//! |---|---|---|
//! | `tokenizer.json` (BPE, Unigram, WordLevel; byte-level or metaspace) | none | `hf` |
//! | `tekken.json` | `</s>` | `tekken` |
//! | tiktoken ranks (`base64 rank` lines) | none | `tiktoken` |
//! | SentencePiece `.model` | its end piece | `sentencepiece` |
//! | GGUF | its metadata | `gguf` |
//!
//! Each reader fills a `TokenizerTable`: the bytes of each id, the ids that are special, and what the file says about
//! stopping. Stop ids come, in this order, from the caller; from `generation_config.json` and `tokenizer_config.json`
//! beside the file, both together, for servers stop at either; from `config.json`; from the file itself. If none
//! of them names any, an error asks for them: a vocabulary without a stop id could never end an output.
//!
//! **Added tokens.** A special one never spells text. One that is not special spells what the tokenizer's own
//! decoder makes of its content: the content letter for letter, but for characters that this decoder rewrites (a
//! metaspace, or byte-level letters when the content has no others). Added tokens of a format that cannot hold them
//! (tiktoken, SentencePiece) are read from `added_tokens_decoder` in `tokenizer_config.json`; they spell their content.
//!
//! **The start of an output.** Some decoders drop the space before the first token of a text. An output continues a
//! prompt, so here a token's bytes are those that it has after another token.
//!
//! Files are hostile input: sizes are checked before they are believed, and whatever is not understood is an error.

mod byte_level;
mod config;
mod decoder;
mod encoder_model;
mod gguf;
mod hf;
mod json;
mod normalizer;
mod sentencepiece;
mod tekken;
#[cfg(test)]
mod tests;
mod tiktoken;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, ErrorCode, ErrorKind, Result, counted};
use crate::util::mapped::open_file;
use crate::vocab::load::config::Config;
pub use crate::vocab::load::hf::AddedToken;
use crate::vocab::{MAX_SIZE, ModelParts, Vocabulary, VocabularyOptions};

/// The largest tokenizer file that is read, in bytes; the largest known one has 35 MB. Of a GGUF file only the head
/// is read, so its size does not matter.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// How many ids behind the last one that is listed may be special tokens, where a file does not list those.
const MAX_UNLISTED: usize = 4096;

/// What a caller says of a tokenizer file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// The stop ids; `None` takes them from the configuration beside the file, or from the file.
    pub eos: Option<Vec<u32>>,
    /// Ids that never spell text, beside those that the file marks so. Added tokens among them end a piece of text as
    /// before: how the tokenizer encodes does not change.
    pub special: Vec<u32>,
    /// The width of the logits; `None` means the ids that are listed.
    pub size: Option<usize>,
}

/// What a tokenizer file says: the bytes of each id, special ids, and stopping.
#[derive(Debug, Default)]
struct TokenizerTable {
    /// Bytes by id, `b""` where there is no text. Of a special id: its name.
    tokens: Vec<Vec<u8>>,
    special: BTreeSet<u32>,
    /// The stop ids that the file itself declares.
    eos: Vec<u32>,
    /// How the tokenizer encodes, where that is known.
    model: Option<ModelParts>,
    /// The file does not list its special tokens, whose ids lie behind those that it lists.
    is_open: bool,
}

impl TokenizerTable {
    /// Gives `id` its bytes, filling the gap before it with ids without text.
    fn set(&mut self, id: u64, bytes: Vec<u8>) -> Result<u32> {
        if id >= MAX_SIZE as u64 {
            return Err(malformed(format!("token id {id} is larger than the widest that is supported, {MAX_SIZE}")));
        }
        let index = id as usize;
        if index >= self.tokens.len() {
            self.tokens.resize_with(index + 1, Vec::new);
        }
        self.tokens[index] = bytes;
        Ok(id as u32)
    }

    /// One more than the largest id that is listed.
    fn reach(&self) -> usize {
        self.special.last().map_or(0, |&id| id as usize + 1).max(self.tokens.len())
    }

    /// The id named `name`: a special token of that name if there is one, else the first token that spells it.
    fn id_of(&self, name: &str) -> Option<u32> {
        let named = |&id: &u32| self.tokens.get(id as usize).is_some_and(|t| t == name.as_bytes());
        self.special.iter().copied().find(|id| named(id)).or_else(|| (0..self.tokens.len() as u32).find(named))
    }

    /// Adds what the configuration beside the file knows of added tokens.
    fn add_configured(&mut self, config: &Config) -> Result<()> {
        let listed = self.tokens.len() as u64;
        for added in &config.added {
            let is_new = added.id >= listed || self.tokens.get(added.id as usize).is_some_and(Vec::is_empty);
            if is_new {
                self.set(added.id, added.content.clone().into_bytes())?;
            }
            // A file that already has the id keeps its bytes; the configuration may still make it special.
            if added.special {
                self.special.insert(added.id as u32);
            }
        }
        Ok(())
    }

    fn stop_ids(&self, config: &Config) -> Result<Vec<u32>> {
        let mut ids = config.generation_eos.clone();
        if let Some(name) = &config.eos_token {
            match self.id_of(name) {
                Some(id) => ids.push(id),
                None => {
                    return Err(malformed(format!(
                        "tokenizer_config.json names the stop token {name:?}, which the vocabulary does not have: \
                         give eos_token_ids"
                    )));
                }
            }
        }
        if ids.is_empty() {
            ids.clone_from(&config.model_eos);
        }
        if ids.is_empty() {
            ids.clone_from(&self.eos);
        }
        if ids.is_empty() {
            return Err(malformed(
                "no stop token: neither the file nor a generation_config.json, tokenizer_config.json or config.json \
                 beside it names one. Give eos_token_ids, the ids that end an output",
            ));
        }
        Ok(ids)
    }

    /// Stop ids that a caller gives must be listed, or lie within a width that is given too: wider logits than the
    /// model has would be found out only when it runs.
    fn check_listed(&self, ids: &[u32], size: Option<usize>) -> Result<()> {
        let listed = self.reach();
        let most = listed + if self.is_open { MAX_UNLISTED } else { 0 };
        match ids.iter().find(|&&id| id as usize >= most) {
            Some(id) if size.is_none() => Err(malformed(format!(
                "eos_token_ids: id {id} is out of range: the tokenizer lists {}, from 0 to {}; give size too, \
                 the width of the logits, if the model has more",
                counted(listed as u64, "id"),
                listed.saturating_sub(1)
            ))),
            _ => Ok(()),
        }
    }

    fn finish(mut self, config: &Config, options: LoadOptions) -> Result<Arc<Vocabulary>> {
        self.add_configured(config)?;
        let LoadOptions { eos, special, size } = options;
        let eos = match eos {
            Some(ids) => {
                self.check_listed(&ids, size)?;
                ids
            }
            None => self.stop_ids(config)?,
        };
        // Where the width of the logits is not known, it is at least wide enough for the stop ids: those of a
        // tiktoken model lie after the ranks that its file lists, those of a configuration after a cut list.
        let reach = eos.iter().chain(self.special.last()).max().map_or(0, |&id| id as usize + 1);
        let size = size.unwrap_or(self.tokens.len().max(reach));
        // An id of the caller's widens nothing: one that is not there is a mistake.
        self.special.extend(special);
        let options = VocabularyOptions {
            eos_token_ids: eos,
            special_token_ids: self.special.into_iter().collect(),
            size: Some(size),
        };
        let vocabulary = Vocabulary::new(&self.tokens, options)?;
        // Added tokens that only the configuration lists are taken out of text as well, in a way that it does not say.
        let lists =
            |parts: &ModelParts| config.added.iter().all(|a| parts.added.iter().any(|&id| u64::from(id) == a.id));
        Ok(match self.model.filter(lists).as_ref() {
            Some(parts) => vocabulary.with_model(parts),
            None => vocabulary,
        })
    }
}

fn malformed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Vocabulary, message)
}

fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

/// The vocabulary of the tokenizer file at `path`, in any format of the module's table.
///
/// # Errors
/// `Vocabulary` if a file cannot be read or is no regular one (a pipe), is of no known format or malformed, or no stop
/// id is found; `Unsupported` if the tokenizer decodes in a way in which a token has no bytes of its own (WordPiece,
/// for one).
///
/// # Cost
/// 0.1 to 0.3 s for 128,000 tokens, most of it reading JSON.
pub fn load_file(path: &Path, options: LoadOptions) -> Result<Arc<Vocabulary>> {
    let load = move || -> Result<Arc<Vocabulary>> {
        let mut file = open_file(path).map_err(|e| malformed(e.to_string()))?;
        let mut magic = Vec::new();
        file.by_ref().take(4).read_to_end(&mut magic).map_err(|e| malformed(e.to_string()))?;
        let table = if magic == gguf::MAGIC {
            gguf::read(std::io::BufReader::new(file))?
        } else {
            let mut data = magic;
            file.take(MAX_FILE_BYTES).read_to_end(&mut data).map_err(|e| malformed(e.to_string()))?;
            if data.len() as u64 > MAX_FILE_BYTES {
                return Err(malformed(format!("the file has more than {MAX_FILE_BYTES} bytes")));
            }
            parse(&data)?
        };
        table.finish(&Config::beside(path)?, options)
    };
    load().map_err(|e| {
        let message = format!("{}: {}", path.display(), e.message());
        e.saying(message)
    })
}

/// The vocabulary of a tokenizer file's contents, with no configuration beside it; otherwise as [`load_file`].
///
/// # Errors
/// As [`load_file`].
pub fn load_bytes(data: &[u8], options: LoadOptions) -> Result<Arc<Vocabulary>> {
    parse(data)?.finish(&Config::default(), options)
}

/// The vocabulary of a tokenizer object: of its document, as the tokenizers library writes it, and of what the object
/// says of its added tokens. `keeps_numbers` tells whether it gives them the numbers that the document says.
/// With `cuts`, tokens beyond `options.size` are left out, and how the tokenizer encodes with them.
///
/// # Errors
/// As [`load_file`].
///
/// # Cost
/// 0.2 s for 128,000 tokens.
pub fn load_object(
    document: &str,
    added: Vec<AddedToken>,
    keeps_numbers: bool,
    options: LoadOptions,
    cuts: bool,
) -> Result<Arc<Vocabulary>> {
    let mut table = hf::read_object(&json::object(document.as_bytes())?, added, keeps_numbers)?;
    if let Some(size) = options.size.filter(|&size| cuts && table.reach() > size) {
        table.tokens.truncate(size);
        table.special.retain(|&id| (id as usize) < size);
        table.model = None;
    }
    table.finish(&Config::default(), options)
}

/// How the tokenizer of a sentencepiece model encodes, where that is known.
pub fn model_of_sentencepiece(data: &[u8]) -> Option<ModelParts> {
    sentencepiece::model(data)
}

fn parse(data: &[u8]) -> Result<TokenizerTable> {
    if let Some(rest) = data.strip_prefix(gguf::MAGIC) {
        return gguf::read(rest);
    }
    if data.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
        let document = json::object(data)?;
        return if tekken::recognises(&document) { tekken::read(&document) } else { hf::read(&document) };
    }
    if tiktoken::recognises(data) {
        return tiktoken::read(data);
    }
    if sentencepiece::recognises(data) {
        return sentencepiece::read(data);
    }
    Err(malformed(
        "not a tokenizer file of a known format (tokenizer.json, tekken.json, tiktoken ranks, SentencePiece, GGUF)",
    )
    .coded(ErrorCode::NotATokenizer))
}
