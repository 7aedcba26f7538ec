//! `interlock.Index`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use super::errors::of_kind;
use super::guide::PyGuide;
use super::ids::TokenIds;
use super::vocabulary::{PyVocabulary, hex};
use super::{limits, registry, source, store};
use crate::error::ErrorKind;
use crate::frontend::regex::{Dialect, RegexOptions};
use crate::frontend::schema::{
    Enforcement, Formats, OnUnsupported, PropertyOrder, ReportRow, SchemaOptions, Whitespace,
};
use crate::guide::GuideOptions;
use crate::index::Index;

/// One row of a report: how a keyword at a place of the source is enforced.
///
/// ``enforcement`` is ``"exact"``, ``"narrower"`` (accepts less than the source), ``"annotation"`` or ``"ignored"``
/// (the source's own draft says so), or ``"wider"`` (accepts more; only with ``on_unsupported="warn"``).
#[pyclass(frozen, eq, hash, get_all, module = "interlock", name = "ReportRow")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyReportRow {
    /// JSON Pointer of the schema that holds the keyword, or the offset in a pattern.
    pointer: String,
    /// The keyword.
    keyword: String,
    /// How it is enforced.
    enforcement: &'static str,
    /// Why, where it is not exact.
    reason: String,
}

#[pymethods]
impl PyReportRow {
    fn __repr__(&self) -> String {
        let PyReportRow { pointer, keyword, enforcement, reason } = self;
        format!("ReportRow(pointer={pointer:?}, keyword={keyword:?}, enforcement={enforcement:?}, reason={reason:?})")
    }
}

fn report_row(row: &ReportRow) -> PyReportRow {
    let enforcement = match row.enforcement {
        Enforcement::Exact => "exact",
        Enforcement::Narrower => "narrower",
        Enforcement::Annotation => "annotation",
        Enforcement::Ignored => "ignored",
        Enforcement::Wider => "wider",
    };
    PyReportRow { pointer: row.pointer.clone(), keyword: row.keyword.clone(), enforcement, reason: row.reason.clone() }
}

/// A source and a vocabulary, compiled: which tokens may come next, in every state. Shared between any number of
/// guides and threads.
///
/// Made by ``from_regex``, ``from_json_schema`` and ``from_choices``.
#[pyclass(frozen, module = "interlock", name = "Index")]
pub struct PyIndex {
    pub core: Index,
    vocabulary: Py<PyVocabulary>,
    /// The method and arguments that make this index again: what is pickled.
    recipe: (&'static str, Py<PyTuple>),
}

impl PyIndex {
    fn new(
        vocabulary: &Bound<'_, PyVocabulary>,
        core: Index,
        method: &'static str,
        arguments: Bound<'_, PyTuple>,
    ) -> PyIndex {
        PyIndex { core, vocabulary: vocabulary.clone().unbind(), recipe: (method, arguments.unbind()) }
    }
}

/// The value that an option's name stands for.
fn choose<T: Copy>(py: Python<'_>, option: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == given).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| format!("{name:?}")).collect();
        of_kind(py, ErrorKind::Argument, format!("{option} must be one of {}, not {given:?}", names.join(", ")))
    })
}

#[pymethods]
impl PyIndex {
    /// Compile a pattern. The whole output must match it, with the meaning of Python's ``re.fullmatch``.
    ///
    /// ``pattern`` is a string or a compiled ``re.Pattern``, whose flags count too. ``flags`` is a string of the
    /// letters ``i m s x a``. ``dialect`` is ``"python"`` or ``"ecma"``.
    #[classmethod]
    #[pyo3(signature = (pattern, vocabulary, dialect="python", flags="", limits=None))]
    fn from_regex(
        class: &Bound<'_, PyType>,
        pattern: &Bound<'_, PyAny>,
        vocabulary: &Bound<'_, PyVocabulary>,
        dialect: &str,
        flags: &str,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyIndex> {
        let py = class.py();
        let (text, letters) = source::pattern(pattern, flags)?;
        let dialects = [("python", Dialect::Python), ("ecma", Dialect::Ecma)];
        let options = RegexOptions { dialect: choose(py, "dialect", dialect, &dialects)?, flags: letters };
        let limits = limits::from_argument(limits)?;
        let core = &vocabulary.get().core;
        let index = registry::compile(py, core, || Index::from_regex(&text, core, &options, &limits))?;
        let arguments = (text, vocabulary, dialect, options.flags, limits::to_python(limits)).into_pyobject(py)?;
        Ok(PyIndex::new(vocabulary, index, "from_regex", arguments))
    }

    /// Compile a JSON Schema, drafts 4 to 2020-12.
    ///
    /// ``schema`` is its text (``str`` or ``bytes``), a ``dict``, a ``bool`` or a pydantic model class. ``whitespace``
    /// is ``"flexible"`` (any JSON whitespace, in short runs), ``"compact"``, ``"spaced"`` (as ``json.dumps`` writes)
    /// or a pattern. ``property_order`` is ``"schema"`` (as declared) or ``"any"``. ``on_unsupported="warn"`` leaves
    /// out what cannot be enforced and says so in ``report``. ``formats`` is ``"assert"`` or ``"annotate"``.
    /// ``documents`` maps URIs to further schemas that ``$ref`` may reach; nothing is ever fetched.
    #[classmethod]
    #[pyo3(signature = (schema, vocabulary, whitespace="flexible", property_order="schema", on_unsupported="error",
                        formats="assert", documents=None, limits=None))]
    #[allow(clippy::too_many_arguments)]
    fn from_json_schema(
        class: &Bound<'_, PyType>,
        schema: &Bound<'_, PyAny>,
        vocabulary: &Bound<'_, PyVocabulary>,
        whitespace: &str,
        property_order: &str,
        on_unsupported: &str,
        formats: &str,
        documents: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyIndex> {
        let py = class.py();
        let text = source::schema(schema)?;
        let options = SchemaOptions {
            whitespace: match whitespace {
                "flexible" => Whitespace::Flexible,
                "compact" => Whitespace::Compact,
                "spaced" => Whitespace::Spaced,
                pattern => Whitespace::Pattern(pattern.to_owned()),
            },
            property_order: choose(
                py,
                "property_order",
                property_order,
                &[("schema", PropertyOrder::Schema), ("any", PropertyOrder::Any)],
            )?,
            on_unsupported: choose(
                py,
                "on_unsupported",
                on_unsupported,
                &[("error", OnUnsupported::Error), ("warn", OnUnsupported::Warn)],
            )?,
            formats: choose(py, "formats", formats, &[("assert", Formats::Assert), ("annotate", Formats::Annotate)])?,
            documents: source::documents(documents)?,
        };
        let limits = limits::from_argument(limits)?;
        let core = &vocabulary.get().core;
        let index = registry::compile(py, core, || Index::from_json_schema(&text, core, &options, &limits))?;
        let documents = PyDict::new(py);
        for (uri, document) in &options.documents {
            documents.set_item(uri, document)?;
        }
        let names = (whitespace, property_order, on_unsupported, formats);
        let arguments = (text, vocabulary, names.0, names.1, names.2, names.3, documents, limits::to_python(limits))
            .into_pyobject(py)?;
        Ok(PyIndex::new(vocabulary, index, "from_json_schema", arguments))
    }

    /// Compile a list of strings, one of which must be the output.
    #[classmethod]
    #[pyo3(signature = (choices, vocabulary, limits=None))]
    fn from_choices(
        class: &Bound<'_, PyType>,
        choices: Vec<String>,
        vocabulary: &Bound<'_, PyVocabulary>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyIndex> {
        let py = class.py();
        let limits = limits::from_argument(limits)?;
        let core = &vocabulary.get().core;
        let index = registry::compile(py, core, || Index::from_choices(&choices, core, &limits))?;
        let arguments = (choices, vocabulary, limits::to_python(limits)).into_pyobject(py)?;
        Ok(PyIndex::new(vocabulary, index, "from_choices", arguments))
    }

    /// A cursor for one request.
    ///
    /// ``max_tokens`` bounds the output: it is complete within so many tokens, whatever is sampled, the stop token not
    /// counted; ``BudgetError`` names the number that is needed where that is too small, ``UnsupportedError`` says that
    /// no short output was found. ``stop_token_ids`` replaces the vocabulary's. ``context_ids`` are the tokens before
    /// the output, from the start of the text or at least from a special token on. ``forced_tokens`` needs them: without
    /// them it takes the output to begin as after a special token.
    #[pyo3(signature = (max_tokens=None, stop_token_ids=None, context_ids=None))]
    fn guide(
        slf: &Bound<'_, Self>,
        max_tokens: Option<u64>,
        stop_token_ids: Option<TokenIds>,
        context_ids: Option<TokenIds>,
    ) -> PyResult<PyGuide> {
        let max_tokens = max_tokens.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let (stop_token_ids, context_ids) = (stop_token_ids.map(|ids| ids.0), context_ids.map(|ids| ids.0));
        PyGuide::start(slf, GuideOptions { stop_token_ids, max_tokens, context_ids })
    }

    /// Write this index to a file that ``load`` reads.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (method, arguments) = &self.recipe;
        let vocabulary = self.core.vocabulary().fingerprint();
        store::save(path, method, arguments.bind(py), &vocabulary, &self.core.fingerprint())
    }

    /// The index in a file that ``save`` wrote with this version, for the same vocabulary; ``ArtifactError`` otherwise.
    #[classmethod]
    fn load<'py>(
        class: &Bound<'py, PyType>,
        path: PathBuf,
        vocabulary: &Bound<'py, PyVocabulary>,
    ) -> PyResult<Bound<'py, PyIndex>> {
        let (method, arguments, fingerprint) = store::load(path.clone(), vocabulary)?;
        let index = class.getattr(method)?.call1(arguments)?.cast_into::<PyIndex>()?;
        if index.get().fingerprint() != fingerprint {
            let message = format!("{} does not make the index that it names", path.display());
            return Err(of_kind(class.py(), ErrorKind::Artifact, message));
        }
        Ok(index)
    }

    /// The vocabulary that this index was compiled for.
    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> Py<PyVocabulary> {
        self.vocabulary.clone_ref(py)
    }

    /// One row per keyword and place, saying how exactly it is enforced.
    #[getter]
    fn report(&self) -> Vec<PyReportRow> {
        self.core.report().iter().map(report_row).collect()
    }

    /// How many states are known so far.
    #[getter]
    fn num_states(&self) -> usize {
        self.core.num_states()
    }

    /// Bytes that this index occupies, its vocabulary and what is shared between indexes excepted.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.core.memory_bytes()
    }

    /// 64 hexadecimal digits, equal for indexes of the same source, options, vocabulary and version.
    #[getter]
    fn fingerprint(&self) -> String {
        hex(&self.core.fingerprint())
    }

    fn __repr__(&self) -> String {
        let source = self.recipe.0.trim_start_matches("from_");
        let digits = self.fingerprint();
        let head = digits.get(..12).unwrap_or_default();
        format!("<interlock.Index of a {source}, {} states, fingerprint {head}>", self.core.num_states())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (method, arguments) = &slf.get().recipe;
        (slf.get_type().getattr(*method)?, arguments.bind(py)).into_pyobject(py)
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
    let fingerprint = index.core.fingerprint();
    PyBytes::new(py, &[&fingerprint[..8], key].concat())
}
