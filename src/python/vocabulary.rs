//! `interlock.Vocabulary`.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use crate::compile::index_cache::CompileCache;
use crate::error::{ErrorKind, counted};
use crate::python::convert::argument;
use crate::python::convert::ids::{TokenId, TokenIds};
use crate::python::convert::source::FilePath;
use crate::python::errors::{detached, of_kind};
use crate::python::runtime::process_caches;
use crate::vocab::load::{AddedToken, LoadOptions, load_file, load_object, model_of_sentencepiece};
use crate::vocab::{ModelParts, Vocabulary, VocabularyOptions};

/// The bytes of every token, which ids end an output, and the width of the logits.
///
/// ``tokens[i]`` are the bytes of token ``i``; ``b""`` means that it has no text. ``special_token_ids`` never spell
/// text: no guide allows ``<|im_start|>`` inside a string that happens to permit these characters. ``size`` is the
/// width of the logits, padding included; by default as many as there are tokens. ``VocabularyError`` if there are no
/// tokens, no stop ids, an id outside the logits, or a token of more than 65,535 bytes.
///
/// Immutable, shared freely between threads, and cheap to share between indexes.
#[pyclass(frozen, module = "interlock", name = "Vocabulary")]
pub struct PyVocabulary {
    pub core: Arc<Vocabulary>,
    /// Indexes of this vocabulary, which hold it: it may not hold them.
    pub compiled: Arc<CompileCache>,
}

impl PyVocabulary {
    fn over(core: Arc<Vocabulary>) -> Self {
        let compiled = process_caches::remember(&core);
        PyVocabulary { core, compiled }
    }

    fn make(
        py: Python<'_>,
        tokens: Vec<Bound<'_, PyBytes>>,
        eos_token_ids: TokenIds,
        special_token_ids: Option<TokenIds>,
        size: Option<usize>,
        parts: Option<ModelParts>,
    ) -> PyResult<Self> {
        let tokens: Vec<&[u8]> = tokens.iter().map(|token| token.as_bytes()).collect();
        let options = VocabularyOptions {
            eos_token_ids: eos_token_ids.known(py, ErrorKind::Vocabulary, "eos_token_ids: id")?,
            special_token_ids: match special_token_ids {
                None => Vec::new(),
                Some(ids) => ids.known(py, ErrorKind::Vocabulary, "special_token_ids: id")?,
            },
            size,
        };
        let core = detached(py, || prepared(tokens, options, parts.as_ref()))?;
        Ok(PyVocabulary::over(core))
    }
}

/// A vocabulary with its tokenizer's model, where it has one, and with what all its indexes share.
fn prepared(
    tokens: Vec<&[u8]>,
    options: VocabularyOptions,
    parts: Option<&ModelParts>,
) -> crate::error::Result<Arc<Vocabulary>> {
    let mut core = Vocabulary::new(tokens, options)?;
    if let Some(parts) = parts {
        core = core.with_model(parts);
    }
    crate::compile::prepare(&core)?;
    crate::compile::rehearse(&core);
    Ok(core)
}

#[pymethods]
impl PyVocabulary {
    #[new]
    #[pyo3(signature = (tokens, eos_token_ids, special_token_ids=None, size=None))]
    fn new(
        py: Python<'_>,
        tokens: &Bound<'_, PyAny>,
        eos_token_ids: &Bound<'_, PyAny>,
        special_token_ids: Option<&Bound<'_, PyAny>>,
        size: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let tokens = bytes_of_tokens(tokens)?;
        let eos_token_ids = TokenIds::one_or_several(eos_token_ids, "eos_token_ids")?;
        let special_token_ids =
            special_token_ids.map(|ids| TokenIds::one_or_several(ids, "special_token_ids")).transpose()?;
        Self::make(py, tokens, eos_token_ids, special_token_ids, argument::optional_count(size, "size")?, None)
    }

    /// The vocabulary of a tokenizer: transformers (fast or slow), ``tokenizers.Tokenizer``, ``tiktoken.Encoding``,
    /// sentencepiece or mistral_common.
    ///
    /// ``eos_token_ids`` replaces the stop tokens that the tokenizer names. ``size`` is the width of the logits where
    /// the model pads them. ``special_token_ids`` are tokens that never spell text, beside those that the tokenizer
    /// marks as special. By default they are its added tokens that look like markup (``</think>``) or stand in its chat
    /// template: a string that held one could end reasoning or begin a call. Give ``()`` for none, and more where a
    /// parser of the server looks for others. Forced tokens stay those that the tokenizer makes.
    ///
    /// ``VocabularyError`` if the tokenizer's tokens cannot be read, nothing names a stop token, or an id lies outside
    /// the logits; ``UnsupportedError`` if a token has no bytes of its own in it. Each of the ids may be one integer or
    /// several.
    #[classmethod]
    #[pyo3(signature = (tokenizer, eos_token_ids=None, size=None, special_token_ids=None))]
    fn from_tokenizer<'py>(
        class: &Bound<'py, PyType>,
        tokenizer: &Bound<'py, PyAny>,
        eos_token_ids: Option<&Bound<'py, PyAny>>,
        size: Option<&Bound<'py, PyAny>>,
        special_token_ids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Tokenizer libraries are Python objects of many shapes; telling them apart is work for Python.
        let reader = class.py().import("interlock.tokenizers")?.getattr("from_tokenizer")?;
        reader.call1((tokenizer, eos_token_ids, argument::optional_count(size, "size")?, special_token_ids))
    }

    /// The vocabulary in a file: ``tokenizer.json``, tiktoken's format, a sentencepiece model, ``tekken.json`` or GGUF.
    /// ``path`` may be the folder that holds the file; a ``tokenizer.json`` is read first there.
    ///
    /// Stop ids are ``eos_token_ids``, or those that the configuration beside the file or the file names. ``size`` and
    /// ``special_token_ids`` are as for ``from_tokenizer``; the markup is that of a ``tokenizer.json``, and the chat
    /// templates are those beside it. ``VocabularyError`` if the file cannot be read or is malformed, no stop id is
    /// found, or an id lies outside the logits; ``UnsupportedError`` if a token has no bytes of its own in its
    /// tokenizer. Some tenths of a second for 128,000 tokens.
    #[classmethod]
    #[pyo3(signature = (path, eos_token_ids=None, size=None, special_token_ids=None))]
    fn from_file<'py>(
        class: &Bound<'py, PyType>,
        path: &Bound<'py, PyAny>,
        eos_token_ids: Option<&Bound<'py, PyAny>>,
        size: Option<&Bound<'py, PyAny>>,
        special_token_ids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reader = class.py().import("interlock.tokenizers")?.getattr("from_file")?;
        reader.call1((path, eos_token_ids, argument::optional_count(size, "size")?, special_token_ids))
    }

    /// Write this vocabulary, and how its tokenizer encodes, to a file that ``load`` maps: as a whole or not at all.
    /// ``ArtifactError`` if it cannot be written.
    fn save(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = argument::path(path, "path")?;
        detached(py, || crate::artifact::vocabulary::save(&self.core, &path))
    }

    /// The vocabulary in a file that ``save`` wrote with this version; ``ArtifactError`` otherwise.
    ///
    /// The file is mapped, not read: processes that load one file share its memory. Never change such a file in place;
    /// ``save`` replaces it, which leaves those who mapped the old one undisturbed.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: &Bound<'_, PyAny>) -> PyResult<PyVocabulary> {
        let path = argument::path(path, "path")?;
        let core = detached(class.py(), || {
            let pack = crate::artifact::Pack::open(&path, crate::artifact::PackKind::Vocabulary)?;
            // A vocabulary that this process has already keeps its caches; the file is checked all the same.
            let loaded = crate::artifact::vocabulary::unpack(&pack)?;
            Ok(process_caches::find(&pack.vocabulary(), || loaded.model_parts()).unwrap_or(loaded))
        })?;
        Ok(PyVocabulary::over(core))
    }

    /// How many ids the tokenizer lists, those without text included.
    fn __len__(&self) -> usize {
        self.core.len()
    }

    /// The width of the logits, padding included.
    #[getter]
    fn size(&self) -> usize {
        self.core.size()
    }

    /// The ids that end an output, ascending.
    #[getter]
    fn eos_token_ids(&self) -> Vec<u32> {
        self.core.eos_token_ids().to_vec()
    }

    /// The ids that never spell text, ascending, as they were given.
    #[getter]
    fn special_token_ids(&self) -> Vec<u32> {
        self.core.special_token_ids().to_vec()
    }

    /// Whether it is known how the tokenizer encodes. Without that ``Guide.forced_tokens`` has no token of text: a
    /// vocabulary that was made of bytes has no tokenizer, and not every tokenizer is of a known kind.
    #[getter]
    fn knows_tokenizer(&self, py: Python<'_>) -> PyResult<bool> {
        detached(py, || Ok(self.core.model().is_some()))
    }

    /// 64 hexadecimal digits, equal for vocabularies that make the same masks. How a tokenizer encodes is not part of
    /// it.
    #[getter]
    fn fingerprint(&self) -> String {
        hex(&self.core.fingerprint())
    }

    /// Bytes of this process's memory that the tables occupy; what is mapped does not count.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.core.memory_bytes()
    }

    /// The bytes of one token, of a special one too; ``b""`` for padding. ``VocabularyError`` if the id is out of
    /// range.
    fn token_bytes<'py>(&self, py: Python<'py>, id: TokenId<'_, '_>) -> PyResult<Bound<'py, PyBytes>> {
        if id.id as usize >= self.core.size() {
            let message = format!("the token id {} is out of range: the size is {}", id.given(), self.core.size());
            return Err(of_kind(py, ErrorKind::Vocabulary, message));
        }
        Ok(PyBytes::new(py, self.core.token_bytes(id.id).unwrap_or_default()))
    }

    /// The bytes that ``ids`` spell one after the other. Special and stop tokens spell nothing. ``VocabularyError`` if
    /// an id is out of range.
    fn decode<'py>(&self, py: Python<'py>, ids: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let ids = TokenIds::several(ids, "ids")?.known(py, ErrorKind::Vocabulary, "token id")?;
        let bytes = detached(py, || self.core.decode(&ids))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyVocabulary>().is_ok_and(|other| self.core.fingerprint() == other.get().core.fingerprint())
    }

    fn __hash__(&self) -> u64 {
        self.core.fingerprint().iter().take(8).fold(0, |hash, &byte| hash << 8 | u64::from(byte))
    }

    fn __repr__(&self) -> String {
        let (core, digits) = (&self.core, self.fingerprint());
        let head = digits.get(..12).unwrap_or_default();
        let (len, size, eos) = (core.len(), core.size(), core.eos_token_ids());
        let tokens = counted(len as u64, "token");
        let tokenizer = if core.model().is_some() { "" } else { ", tokenizer unknown" };
        format!("<interlock.Vocabulary of {tokens}, size {size}, eos_token_ids {eos:?}{tokenizer}, fingerprint {head}>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let core = &self.core;
        let tokens = || (0..core.len() as u32).map(|id| core.token_bytes(id).unwrap_or_default());
        let joined: Vec<u8> = tokens().flatten().copied().collect();
        let lengths: Vec<u8> = tokens().flat_map(|token| (token.len() as u32).to_le_bytes()).collect();
        let arguments = (
            PyBytes::new(py, &joined),
            PyBytes::new(py, &lengths),
            core.eos_token_ids().to_vec(),
            core.special_token_ids().to_vec(),
            core.size(),
            PyBytes::new(py, &core.fingerprint()),
            core.model_parts().map(pack),
        );
        let restore = py.import("interlock._core")?.getattr("_restore_vocabulary")?;
        (restore, arguments).into_pyobject(py)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyDict>) -> Bound<'py, Self> {
        slf
    }
}

/// The tokens of a list of `bytes`.
fn bytes_of_tokens<'py>(tokens: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let kind = tokens.get_type().name()?;
    let single = tokens.is_instance_of::<PyString>() || tokens.is_instance_of::<PyBytes>();
    let items = match tokens.try_iter() {
        Ok(items) if !single && !tokens.is_instance_of::<PyDict>() => items,
        _ => {
            return Err(PyTypeError::new_err(format!(
                "tokens must be a list of bytes in the order of their ids, not {kind}; Vocabulary.from_tokenizer reads \
                 a tokenizer, Vocabulary.from_file its file"
            )));
        }
    };
    let one = |(i, token): (usize, PyResult<Bound<'py, PyAny>>)| {
        token?.cast_into::<PyBytes>().map_err(|e| {
            let kind = e.into_inner().get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "tokens must hold bytes, but token {i} is {kind}: give the bytes that it spells, as text.encode() does"
            ))
        })
    };
    items.enumerate().map(one).collect()
}

/// The vocabulary that was given as `argument` behind a `source`.
pub fn vocabulary_argument<'a, 'py>(
    argument: &'a Bound<'py, PyAny>,
    source: &Bound<'py, PyAny>,
    source_name: &str,
) -> PyResult<&'a Bound<'py, PyVocabulary>> {
    if let Ok(vocabulary) = argument.cast::<PyVocabulary>() {
        return Ok(vocabulary);
    }
    let kind = argument.get_type().name()?;
    let way = match source.is_instance_of::<PyVocabulary>() {
        true => format!("the two stand in the wrong order: {source_name} comes first, vocabulary second"),
        false => "make one with Vocabulary.from_tokenizer or Vocabulary.from_file".to_owned(),
    };
    Err(PyTypeError::new_err(format!("vocabulary must be an interlock.Vocabulary, not {kind}; {way}")))
}

/// Hexadecimal digits of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A model's parts as Python values: pattern, flags (whole, normal form C), ids, merges one after the other, added ids,
/// ranks, tokens of bytes.
type Packed = (String, bool, bool, Vec<u32>, Option<Vec<u32>>, Vec<u32>, Vec<u32>, Vec<u32>);

fn pack(parts: ModelParts) -> Packed {
    let ModelParts { pattern, whole, nfc, ids, merges, added, ranks, bytes } = parts;
    (pattern, whole, nfc, ids, merges.map(|m| m.into_flattened()), added, ranks, bytes)
}

fn unpack((pattern, whole, nfc, ids, merges, added, ranks, bytes): Packed) -> ModelParts {
    let merges = merges.map(|m| m.as_chunks::<3>().0.to_vec());
    ModelParts { pattern, whole, nfc, ids, merges, added, ranks, bytes }
}

/// Make a vocabulary that knows how its tokenizer encodes; ``Vocabulary.from_tokenizer`` calls it.
///
/// ``sentencepiece`` is a model; else ``pattern``, ``ids`` and ``added`` are those of a tiktoken encoding.
#[pyfunction]
#[pyo3(signature = (tokens, eos_token_ids, special_token_ids, size=None, pattern=None, ids=None, added=None,
                    sentencepiece=None))]
#[allow(clippy::too_many_arguments)]
pub fn _vocabulary_with_model(
    py: Python<'_>,
    tokens: Vec<Bound<'_, PyBytes>>,
    eos_token_ids: &Bound<'_, PyAny>,
    special_token_ids: &Bound<'_, PyAny>,
    size: Option<&Bound<'_, PyAny>>,
    pattern: Option<String>,
    ids: Option<Vec<u32>>,
    added: Option<Vec<u32>>,
    sentencepiece: Option<&[u8]>,
) -> PyResult<PyVocabulary> {
    let parts = match (pattern, ids) {
        _ if sentencepiece.is_some() => sentencepiece.and_then(model_of_sentencepiece),
        (Some(pattern), Some(ids)) => {
            let added = added.unwrap_or_default();
            Some(ModelParts { pattern, whole: true, ids, added, ..ModelParts::default() })
        }
        _ => None,
    };
    let eos = TokenIds::several(eos_token_ids, "eos_token_ids")?;
    let special = TokenIds::several(special_token_ids, "special_token_ids")?;
    PyVocabulary::make(py, tokens, eos, Some(special), argument::optional_count(size, "size")?, parts)
}

/// Rebuild a pickled vocabulary; ``pickle`` calls it.
#[pyfunction]
#[pyo3(signature = (joined, lengths, eos_token_ids, special_token_ids, size, fingerprint, model=None))]
#[allow(clippy::too_many_arguments)]
pub fn _restore_vocabulary(
    py: Python<'_>,
    joined: &[u8],
    lengths: &[u8],
    eos_token_ids: Vec<u32>,
    special_token_ids: Vec<u32>,
    size: usize,
    fingerprint: &[u8],
    model: Option<Packed>,
) -> PyResult<PyVocabulary> {
    let model = model.map(unpack);
    if let Some(core) = process_caches::find(fingerprint, || model.clone()) {
        return Ok(PyVocabulary::over(core));
    }
    let damaged = || of_kind(py, ErrorKind::Artifact, "the pickled vocabulary is damaged");
    let mut tokens = Vec::with_capacity(lengths.len() / 4);
    let mut rest = joined;
    for length in lengths.chunks(4) {
        let length = <[u8; 4]>::try_from(length).map(u32::from_le_bytes).map_err(|_| damaged())?;
        let (token, after) = rest.split_at_checked(length as usize).ok_or_else(damaged)?;
        tokens.push(token);
        rest = after;
    }
    if !rest.is_empty() {
        return Err(damaged());
    }
    let options = VocabularyOptions { eos_token_ids, special_token_ids, size: Some(size) };
    let core = detached(py, || prepared(tokens, options, model.as_ref()))?;
    if core.fingerprint()[..] != *fingerprint {
        return Err(damaged());
    }
    Ok(PyVocabulary::over(core))
}

/// Read the vocabulary in a tokenizer file; ``Vocabulary.from_file`` calls it.
#[pyfunction]
#[pyo3(signature = (path, eos_token_ids=None, size=None, special_token_ids=None))]
pub fn _load_vocabulary(
    py: Python<'_>,
    path: FilePath,
    eos_token_ids: Option<&Bound<'_, PyAny>>,
    size: Option<&Bound<'_, PyAny>>,
    special_token_ids: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyVocabulary> {
    let known = |ids: Option<&Bound<'_, PyAny>>, what: &str| {
        let known = |ids| TokenIds::several(ids, what)?.known(py, ErrorKind::Vocabulary, &format!("{what}: id"));
        ids.map(known).transpose()
    };
    let options = LoadOptions {
        eos: known(eos_token_ids, "eos_token_ids")?,
        special: known(special_token_ids, "special_token_ids")?.unwrap_or_default(),
        size: argument::optional_count(size, "size")?,
    };
    let core = detached(py, || shared(load_file(&path.0, options)?))?;
    Ok(PyVocabulary::over(core))
}

/// Make the vocabulary of a ``tokenizers.Tokenizer``; ``Vocabulary.from_tokenizer`` calls it.
///
/// ``document`` is its ``to_str()``, and ``added`` its added tokens: id, content, what it spells, and whether it is
/// special. ``keeps_numbers`` says whether their ids are those in the document. With ``cuts``, tokens beyond ``size``
/// are left out.
#[pyfunction]
#[pyo3(signature = (document, added, keeps_numbers, eos_token_ids, special_token_ids, size=None, cuts=false))]
#[allow(clippy::too_many_arguments)]
pub fn _vocabulary_of_document(
    py: Python<'_>,
    document: &str,
    added: Vec<(u32, String, Vec<u8>, bool)>,
    keeps_numbers: bool,
    eos_token_ids: &Bound<'_, PyAny>,
    special_token_ids: &Bound<'_, PyAny>,
    size: Option<&Bound<'_, PyAny>>,
    cuts: bool,
) -> PyResult<PyVocabulary> {
    let options = LoadOptions {
        eos: Some(TokenIds::several(eos_token_ids, "eos_token_ids")?.known(
            py,
            ErrorKind::Vocabulary,
            "eos_token_ids: id",
        )?),
        special: TokenIds::several(special_token_ids, "special_token_ids")?.known(
            py,
            ErrorKind::Vocabulary,
            "special_token_ids: id",
        )?,
        size: argument::optional_count(size, "size")?,
    };
    let token = |(id, content, bytes, special)| AddedToken { id, content, bytes, special };
    let added = added.into_iter().map(token).collect();
    let core = detached(py, || shared(load_object(document, added, keeps_numbers, options, cuts)?))?;
    Ok(PyVocabulary::over(core))
}

/// A vocabulary with what all its indexes share.
fn shared(core: Arc<Vocabulary>) -> crate::error::Result<Arc<Vocabulary>> {
    crate::compile::prepare(&core)?;
    crate::compile::rehearse(&core);
    Ok(core)
}
