//! `interlock.Index`: what it is, its guides, and what it says of itself.
//!
//! Its other methods stand by subject in the files of this folder, each in a block of its own.

mod constructors;
mod questions;
mod tables;

use std::sync::RwLock;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::error::{ErrorKind, counted};
use crate::guide::GuideOptions;
use crate::index::Index;
use crate::python::convert::argument::{self, Given, LEFT_OUT};
use crate::python::convert::ids::TokenIds;
use crate::python::convert::{limits, pickle_recipe};
use crate::python::guide::PyGuide;
use crate::python::index_file;
use crate::python::report::{PyReportRow, report_row};
use crate::python::vocabulary::{PyVocabulary, hex};

/// A source and a vocabulary, compiled: which tokens may come next, in every state. Shared between any number of
/// guides and threads.
///
/// A source that came before, with the same options and limits, is found and not compiled again, if its index is in use
/// or if it came twice: the new index shares everything with that one, masks that guides have asked for included (see
/// ``set_index_cache_bytes``).
///
/// Made by ``from_regex``, ``from_json_schema``, ``from_choices`` and ``from_grammar``. All of them answer Ctrl-C, and
/// end with ``CancelledError`` soon after the ``CancelToken`` that was passed as ``cancel`` is cancelled, or its
/// deadline has passed (``cancel=CancelToken.after(10)``); nothing is left then.
#[pyclass(frozen, module = "interlock", name = "Index")]
pub struct PyIndex {
    /// What was compiled, or what a build or a file holds of it.
    core: RwLock<Index>,
    vocabulary: Py<PyVocabulary>,
    /// The name of the method that makes this index again.
    method: &'static str,
    /// The arguments of the index: what is pickled. Of an index from a file they are read when somebody asks.
    arguments: PyOnceLock<Py<PyTuple>>,
    /// The arguments as text, as the file has them.
    recipe: Option<String>,
}

impl PyIndex {
    fn new(
        vocabulary: &Bound<'_, PyVocabulary>,
        core: Index,
        method: &'static str,
        arguments: Bound<'_, PyTuple>,
    ) -> PyResult<PyIndex> {
        let vocabulary = vocabulary.clone().unbind();
        let made = PyOnceLock::new();
        let _ = made.set(arguments.py(), arguments.unbind());
        Ok(PyIndex { core: RwLock::new(core), vocabulary, method, arguments: made, recipe: None })
    }

    /// The index as it is now.
    pub fn core(&self) -> Index {
        self.core.read().unwrap_or_else(|p| p.into_inner()).clone()
    }

    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        let read = || {
            let recipe = self.recipe.as_deref().unwrap_or_default();
            Ok::<_, PyErr>(index_file::arguments(recipe, self.vocabulary.bind(py))?.1.unbind())
        };
        Ok(self.arguments.get_or_try_init(py, read)?.bind(py))
    }

    /// The limit on questions about the language.
    fn max_flat_states(&self, py: Python<'_>) -> PyResult<usize> {
        let arguments = self.arguments(py)?;
        let limits = arguments.get_item(pickle_recipe::limits_at(self.method))?;
        Ok(limits::from_argument(Some(&limits))?.max_flat_states)
    }
}

#[pymethods]
impl PyIndex {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new_refused(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<PyIndex> {
        Err(PyTypeError::new_err(
            "an Index is made by Index.from_regex, from_json_schema, from_choices or from_grammar: \
             Index.from_regex(pattern, vocabulary)",
        ))
    }

    /// A cursor for one request.
    ///
    /// ``max_tokens`` bounds the output: it is complete within so many tokens, whatever is sampled, the stop token not
    /// counted. ``BudgetError`` says that this is too small, with the number that is needed; where finding that would
    /// take long, with the fewest tokens known to do, and where no output is short enough to be counted, without one;
    /// its message says so. It takes some tens of milliseconds at most for common sources. ``stop_token_ids`` replaces
    /// the vocabulary's. ``context_ids`` are the tokens before the output, from the start of the text or at least from
    /// a special token on. ``forced_tokens`` needs them: without them it takes the output to begin as after a special
    /// token. An id outside the vocabulary is an ``ArgumentError``.
    ///
    /// ``min_tokens`` withholds stop tokens before so many tokens, as long as another token may follow; where none may,
    /// the output ends earlier. More than ``max_tokens`` is an ``ArgumentError``. With ``canonical_forced=True`` the
    /// masks allow one token alone where ``forced_tokens`` is not empty: its first. Other tokens that spell the same
    /// bytes are refused there, so that every draft of forced tokens is taken.
    #[pyo3(signature = (max_tokens=None, stop_token_ids=None, context_ids=None, min_tokens=LEFT_OUT,
                        canonical_forced=LEFT_OUT),
           text_signature = "($self, max_tokens=None, stop_token_ids=None, context_ids=None, min_tokens=0, \
                             canonical_forced=False)")]
    fn guide(
        slf: &Bound<'_, Self>,
        max_tokens: Option<&Bound<'_, PyAny>>,
        stop_token_ids: Option<&Bound<'_, PyAny>>,
        context_ids: Option<&Bound<'_, PyAny>>,
        min_tokens: Given<'_, '_>,
        canonical_forced: Given<'_, '_>,
    ) -> PyResult<PyGuide> {
        let max_tokens = argument::optional_count(max_tokens, "max_tokens")?;
        let stop_token_ids = stop_token_ids.map(|ids| TokenIds::one_or_several(ids, "stop_token_ids")).transpose()?;
        let stop = |ids: TokenIds| ids.known(slf.py(), ErrorKind::Argument, "stop token id");
        let stop_token_ids = stop_token_ids.map(stop).transpose()?;
        let context_ids = context_ids.map(|ids| TokenIds::several(ids, "context_ids")).transpose()?;
        let context_ids = context_ids.map(|ids| ids.ids);
        let min_tokens = min_tokens.count("min_tokens", 0)?;
        let canonical_forced = canonical_forced.flag("canonical_forced", false)?;
        PyGuide::start(slf, GuideOptions { stop_token_ids, max_tokens, context_ids, min_tokens, canonical_forced })
    }

    /// The class method and the arguments that make this index again, as JSON without the vocabulary.
    fn _recipe(&self, py: Python<'_>) -> PyResult<String> {
        match &self.recipe {
            Some(recipe) => Ok(recipe.clone()),
            None => index_file::recipe_of(self.method, self.arguments(py)?),
        }
    }

    /// The vocabulary that this index was compiled for.
    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> Py<PyVocabulary> {
        self.vocabulary.clone_ref(py)
    }

    /// A row for each keyword that is enforced otherwise than exactly, or that only annotates. Empty for patterns
    /// and grammars, and so for tools and structural tags: ``from_json_schema`` of one of their schemas has its rows,
    /// and ``interlock inspect`` all of them.
    #[getter]
    fn report(&self) -> Vec<PyReportRow> {
        self.core().report().iter().map(report_row).collect()
    }

    /// States of the complete tables, where ``build`` made them; else how many are known so far.
    #[getter]
    fn num_states(&self) -> usize {
        self.core().num_states()
    }

    /// About how many bytes this index holds: its lexemes and their masks, which other indexes may share, included; its
    /// vocabulary excepted.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.core().memory_bytes()
    }

    /// What was compiled: ``"regex"``, ``"json_schema"``, ``"choices"`` or ``"grammar"``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.method.trim_start_matches("from_")
    }

    /// The text that was compiled: the pattern, the JSON Schema or the grammar, and of choices their list as JSON.
    /// Options are not part of it.
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<String> {
        let given = self.arguments(py)?.get_item(0)?;
        match given.cast::<PyString>() {
            Ok(text) => Ok(text.to_string_lossy().into_owned()),
            Err(_) => index_file::dumps(&given),
        }
    }

    /// 64 hexadecimal digits, equal for indexes of the same source, options, vocabulary and version. Indexes with equal
    /// ones are equal.
    #[getter]
    fn fingerprint(&self) -> String {
        hex(&self.core().fingerprint())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyIndex>().is_ok_and(|other| self.core().fingerprint() == other.get().core().fingerprint())
    }

    fn __hash__(&self) -> u64 {
        self.core().fingerprint().iter().take(8).fold(0, |hash, &byte| hash << 8 | u64::from(byte))
    }

    fn __repr__(&self) -> String {
        let source = self.kind();
        let digits = self.fingerprint();
        let head = digits.get(..12).unwrap_or_default();
        let states = counted(self.core().num_states() as u64, "state");
        format!("<interlock.Index of a {source}, {states}, fingerprint {head}>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let index = slf.get();
        (slf.get_type().getattr(index.method)?, index.arguments(py)?).into_pyobject(py)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyDict>) -> Bound<'py, Self> {
        slf
    }
}

/// The bytes of `state`: equal only for equal states of indexes with the same fingerprint.
pub fn state_bytes<'py>(py: Python<'py>, index: &PyIndex, key: &[u8]) -> Bound<'py, PyBytes> {
    let fingerprint = index.core().fingerprint();
    PyBytes::new(py, &[&fingerprint[..8], key].concat())
}
