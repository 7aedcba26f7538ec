//! `interlock.Index`.

use crate::python::compile::{GrammarNames, SchemaNames, compile, pattern_source};
use crate::python::report::{PyReportRow, report_row, warn_of_slips};
use std::sync::RwLock;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use crate::compile::source::Source;
use crate::error::ErrorKind;
use crate::guide::GuideOptions;
use crate::index::Index;
use crate::python::convert::argument::{self, Given, LEFT_OUT};
use crate::python::convert::ids::TokenIds;
use crate::python::convert::{limits, pickle_recipe, source};
use crate::python::guide::PyGuide;
use crate::python::runtime::cancel::{self, PyCancelToken, interruptible};
use crate::python::vocabulary::{PyVocabulary, hex, vocabulary_argument};
use crate::python::{build, language, store, warm_up};

/// A source and a vocabulary, compiled: which tokens may come next, in every state. Shared between any number of
/// guides and threads.
///
/// A source that came before, with the same options and limits, is found and not compiled again, if its index is in use
/// or if it came twice: the new index shares everything with that one, masks that guides have asked for included (see
/// ``set_index_cache_bytes``).
///
/// Made by ``from_regex``, ``from_json_schema``, ``from_choices`` and ``from_grammar``. All of them answer Ctrl-C, and end with
/// ``CancelledError`` soon after the ``CancelToken`` that was passed as ``cancel`` is cancelled; nothing is left then.
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

/// Looks for an output that tells two indexes apart, under a limit on configurations.
type FindWitness = fn(&Index, &Index, usize) -> crate::error::Result<Option<Vec<u8>>>;

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
            Ok::<_, PyErr>(store::arguments(recipe, self.vocabulary.bind(py))?.1.unbind())
        };
        Ok(self.arguments.get_or_try_init(py, read)?.bind(py))
    }

    /// Whether `other` accepts every output of this index.
    fn accepted_by(
        &self,
        py: Python<'_>,
        other: &PyIndex,
        cancel: Option<&Bound<'_, PyCancelToken>>,
    ) -> PyResult<bool> {
        Ok(self.witness(py, other, cancel, Index::witness_not_in)?.is_none())
    }

    /// What tells this index's outputs from another one's.
    fn witness(
        &self,
        py: Python<'_>,
        other: &PyIndex,
        cancel: Option<&Bound<'_, PyCancelToken>>,
        find: FindWitness,
    ) -> PyResult<Option<Vec<u8>>> {
        let limit = self.max_flat_states(py)?;
        interruptible(py, cancel, || find(&self.core(), &other.core(), limit))
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

    /// Compile a pattern. The whole output must match it, with the meaning of Python's ``re.fullmatch``.
    ///
    /// ``pattern`` is a string or a compiled ``re.Pattern``, whose flags count too. ``dialect`` is ``"python"`` or
    /// ``"ecma"``. ``flags`` is a string of letters: of ``i m s x a u`` in Python's dialect, of ``d g i m s u y`` in
    /// ECMA-262's.
    ///
    /// ``PatternError`` if the pattern is not well formed, ``UnsupportedError`` if it means something that is no
    /// regular language (a backreference, a conditional group) or is not offered (look-ahead inside look-behind, a
    /// possessive or atomic part that forbids something, a code point by name), ``UnsatisfiableError`` if it accepts
    /// nothing that the vocabulary can spell, ``LimitError`` if it is too much work, ``ArgumentError`` for an unknown
    /// option.
    ///
    /// Of a pattern of at most 4 KiB, masks near its start that would take long are made as well, ten at most: some
    /// tens of microseconds for most patterns, milliseconds for few.
    #[classmethod]
    #[pyo3(signature = (pattern, vocabulary, dialect=LEFT_OUT, flags=LEFT_OUT, limits=None, cancel=None),
           text_signature = "(pattern, vocabulary, dialect='python', flags='', limits=None, cancel=None)")]
    fn from_regex(
        class: &Bound<'_, PyType>,
        pattern: &Bound<'_, PyAny>,
        vocabulary: &Bound<'_, PyAny>,
        dialect: Given<'_, '_>,
        flags: Given<'_, '_>,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyIndex> {
        let vocabulary = vocabulary_argument(vocabulary, pattern, "pattern")?;
        let (dialect, flags) = (dialect.text("dialect", "python")?, source::flags(flags)?);
        let (py, cancel) = (class.py(), cancel::argument(cancel)?);
        let (text, options) = pattern_source(pattern, dialect, flags)?;
        let limits = limits::from_argument(limits)?;
        let arguments = (&text, vocabulary, dialect, &options.flags, limits::to_python(limits)).into_pyobject(py)?;
        let index = compile(vocabulary, cancel, Source::Pattern { text, options }, limits)?;
        PyIndex::new(vocabulary, index, "from_regex", arguments)
    }

    /// Compile a JSON Schema, drafts 4 to 2020-12.
    ///
    /// ``schema`` is its text (``str`` or ``bytes``), a ``dict``, a ``bool`` or a pydantic model class. ``whitespace``
    /// is ``"flexible"`` (any JSON whitespace, in short runs), ``"compact"``, ``"spaced"`` (as ``json.dumps`` writes)
    /// or a pattern. ``property_order`` is ``"schema"`` (as declared) or ``"any"``. ``on_unsupported="warn"`` leaves
    /// out what cannot be enforced and says so in ``report``. ``formats`` is ``"assert"`` or ``"annotate"``.
    /// ``documents`` maps URIs to further schemas that ``$ref`` may reach; nothing is ever fetched.
    ///
    /// ``spelling`` says how strings are written. ``"plain"``: every string has only the escapes that JSON needs, so
    /// that each text is written in one way, and what a pattern or format leaves no choice about is forced.
    /// ``"constants"``: what the schema spells out (names of properties, strings and numbers of ``enum`` and ``const``)
    /// is written as ``json.dumps`` writes it, with and without ``ensure_ascii``; other strings in every way. ``"any"``:
    /// every way of JSON. By default it is ``"constants"`` where ``whitespace`` is ``"compact"`` or ``"spaced"``, else
    /// ``"any"``. Numbers of ``enum`` and ``const`` are written as ``json.dumps`` writes them unless it is ``"any"``.
    ///
    /// A keyword that JSON Schema does not know asserts nothing. One that looks like a slip of a keyword
    /// (``"minLenght"``), and a schema without any keyword, are an ``interlock.UnknownKeywordWarning``;
    /// ``warnings.simplefilter("error", interlock.UnknownKeywordWarning)`` makes them errors.
    ///
    /// ``SchemaError`` if the schema is not well formed, ``UnsupportedError`` for a keyword that cannot be enforced
    /// exactly, ``UnsatisfiableError`` if nothing is valid, or nothing that the vocabulary can spell, ``LimitError`` if
    /// it is too much work, ``ArgumentError`` for an unknown option. They name the place by its JSON Pointer.
    ///
    /// Of a schema of at most 4 KiB, up to four masks of strings with a pattern or format are made as well, once for a
    /// vocabulary.
    #[classmethod]
    #[pyo3(signature = (schema, vocabulary, whitespace=LEFT_OUT, property_order=LEFT_OUT, on_unsupported=LEFT_OUT,
                        formats=LEFT_OUT, documents=None, limits=None, spelling=None, cancel=None),
           text_signature = "(schema, vocabulary, whitespace='flexible', property_order='schema', \
                             on_unsupported='error', formats='assert', documents=None, limits=None, spelling=None, \
                             cancel=None)")]
    #[allow(clippy::too_many_arguments)]
    fn from_json_schema(
        class: &Bound<'_, PyType>,
        schema: &Bound<'_, PyAny>,
        vocabulary: &Bound<'_, PyAny>,
        whitespace: Given<'_, '_>,
        property_order: Given<'_, '_>,
        on_unsupported: Given<'_, '_>,
        formats: Given<'_, '_>,
        documents: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyAny>>,
        spelling: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyIndex> {
        let vocabulary = vocabulary_argument(vocabulary, schema, "schema")?;
        let py = class.py();
        let text = source::schema(schema)?;
        let whitespace = whitespace.text("whitespace", "flexible")?;
        let property_order = property_order.text("property_order", "schema")?;
        let on_unsupported = on_unsupported.text("on_unsupported", "error")?;
        let formats = formats.text("formats", "assert")?;
        let spelling = argument::optional_text(spelling, "spelling")?;
        let cancel = cancel::argument(cancel)?;
        let options =
            SchemaNames { whitespace, property_order, on_unsupported, formats, spelling }.options(py, documents)?;
        let limits = limits::from_argument(limits)?;
        let documents = PyDict::new(py);
        for (uri, document) in &options.documents {
            documents.set_item(uri, document)?;
        }
        let names = (whitespace, property_order, on_unsupported, formats);
        let limits_given = limits::to_python(limits);
        // A caller's own `str` is kept as it is.
        let own = match schema.cast_exact::<PyString>() {
            Ok(own) => own.clone(),
            Err(_) => PyString::new(py, &text),
        };
        let arguments = (&own, vocabulary, names.0, names.1, names.2, names.3, documents, limits_given, spelling)
            .into_pyobject(py)?;
        let index = compile(vocabulary, cancel, Source::Schema { text, options }, limits)?;
        warn_of_slips(py, index.report(), own.to_str()?)?;
        PyIndex::new(vocabulary, index, "from_json_schema", arguments)
    }

    /// Compile a list of strings, one of which must be the output. Errors are those of ``from_regex``.
    #[classmethod]
    #[pyo3(signature = (choices, vocabulary, limits=None, cancel=None))]
    fn from_choices(
        class: &Bound<'_, PyType>,
        choices: &Bound<'_, PyAny>,
        vocabulary: &Bound<'_, PyAny>,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyIndex> {
        let vocabulary = vocabulary_argument(vocabulary, choices, "choices")?;
        let py = class.py();
        let (limits, cancel) = (limits::from_argument(limits)?, cancel::argument(cancel)?);
        let choices = source::choices(choices)?;
        let arguments = (&choices, vocabulary, limits::to_python(limits)).into_pyobject(py)?;
        let index = compile(vocabulary, cancel, Source::Choices(choices), limits)?;
        PyIndex::new(vocabulary, index, "from_choices", arguments)
    }

    /// Compile a grammar: rules over terminals, as for SQL, a programming language or a language of your own.
    ///
    /// ``grammar`` is its text. ``syntax`` is ``"lark"`` (Lark's notation with llguidance's additions), ``"gbnf"``
    /// (llama.cpp's) or ``"ebnf"`` (XGrammar's). ``start`` is the rule that the output is, by default ``start`` in Lark's
    /// notation and ``root`` in the others.
    ///
    /// ``lexer`` says how a text is cut into terminals. ``"any"``: a terminal takes any text that it matches.
    /// ``"dynamic"``: each terminal takes its own longest match. ``"contextual"``: the longest match of all terminals
    /// that the parser can take is taken, the one of highest priority among equals, literals before patterns, so
    /// keywords are reserved. By default ``"dynamic"`` in Lark's notation and ``"any"`` in the others.
    ///
    /// ``imports`` maps the names of files that ``%import`` may name to their texts; nothing is ever opened.
    /// ``grammars`` maps names to grammars in Lark's notation that ``@name`` may name.
    ///
    /// ``GrammarError`` if the grammar is not well formed, with line, column and an excerpt, ``UnsupportedError`` for
    /// what has no exact meaning, ``UnsatisfiableError`` if nothing is accepted, ``VocabularyError`` if a byte that the
    /// grammar reads is no token or a special token is unknown, ``LimitError`` if it is too much work, ``ArgumentError``
    /// for an unknown option.
    #[classmethod]
    #[pyo3(signature = (grammar, vocabulary, syntax=LEFT_OUT, start=None, lexer=None, imports=None,
                        grammars=None, limits=None, cancel=None),
           text_signature = "(grammar, vocabulary, syntax='lark', start=None, lexer=None, imports=None, grammars=None, \
                             limits=None, cancel=None)")]
    #[allow(clippy::too_many_arguments)]
    fn from_grammar(
        class: &Bound<'_, PyType>,
        grammar: &Bound<'_, PyAny>,
        vocabulary: &Bound<'_, PyAny>,
        syntax: Given<'_, '_>,
        start: Option<&Bound<'_, PyAny>>,
        lexer: Option<&Bound<'_, PyAny>>,
        imports: Option<&Bound<'_, PyAny>>,
        grammars: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyIndex> {
        let vocabulary = vocabulary_argument(vocabulary, grammar, "grammar")?;
        let py = class.py();
        let text = source::grammar(grammar)?;
        let syntax = syntax.text("syntax", "lark")?;
        let start = argument::optional_text(start, "start")?;
        let lexer = argument::optional_text(lexer, "lexer")?;
        let cancel = cancel::argument(cancel)?;
        let options = GrammarNames { syntax, start, lexer }.options(py, imports, grammars)?;
        let limits = limits::from_argument(limits)?;
        let named = (options.imports.clone(), options.grammars.clone());
        let limits_given = limits::to_python(limits);
        let arguments = (&text, vocabulary, syntax, start, lexer, named.0, named.1, limits_given).into_pyobject(py)?;
        let index = compile(vocabulary, cancel, Source::Grammar { text, options }, limits)?;
        PyIndex::new(vocabulary, index, "from_grammar", arguments)
    }

    /// A cursor for one request.
    ///
    /// ``max_tokens`` bounds the output: it is complete within so many tokens, whatever is sampled, the stop token not
    /// counted. ``BudgetError`` says that this is too small, with the number that is needed; where finding that would
    /// take long, with the fewest tokens known to do, and its message says so. It takes some tens of milliseconds at
    /// most. ``UnsupportedError`` says that no short output was found. ``stop_token_ids`` replaces the vocabulary's.
    /// ``context_ids`` are the tokens before the output, from the start of the text or at least from a special token
    /// on. ``forced_tokens`` needs them: without them it takes the output to begin as after a special token. An id
    /// outside the vocabulary is an ``ArgumentError``.
    ///
    /// ``min_tokens`` withholds stop tokens before so many tokens, as long as another token may follow; where none may,
    /// the output ends earlier. More than ``max_tokens`` is an ``ArgumentError``. With ``canonical_forced=True`` the
    /// masks allow one token alone where ``forced_tokens`` is not empty: its first. Other tokens that spell the same
    /// bytes are refused there, so that every draft of forced tokens is taken.
    #[pyo3(signature = (max_tokens=None, stop_token_ids=None, context_ids=None, min_tokens=LEFT_OUT, canonical_forced=LEFT_OUT),
           text_signature = "($self, max_tokens=None, stop_token_ids=None, context_ids=None, min_tokens=0, canonical_forced=False)")]
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

    /// How many byte strings are accepted: an exact ``int``, or ``math.inf``.
    ///
    /// Explores the index's configurations, some 5 us each, as all questions about the language do. ``LimitError`` if
    /// it has more than ``Limits.max_flat_states``, as with recursion, or if they take more than 20 steps of work each,
    /// as those of patterns with large counts may; ``UnsupportedError`` where the vocabulary narrows the source. A
    /// question ends with ``CancelledError`` soon after ``cancel`` is cancelled, and with what a signal handler raises.
    #[pyo3(signature = (cancel=None))]
    fn language_size<'py>(&self, py: Python<'py>, cancel: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        language::size(py, &self.core(), self.max_flat_states(py)?, cancel::argument(cancel)?)
    }

    /// The shortest output, the least in byte order among those. Errors are those of ``language_size``.
    #[pyo3(signature = (cancel=None))]
    fn shortest_member<'py>(
        &self,
        py: Python<'py>,
        cancel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (limit, cancel) = (self.max_flat_states(py)?, cancel::argument(cancel)?);
        Ok(PyBytes::new(py, &interruptible(py, cancel, || self.core().shortest_member(limit))?))
    }

    /// A random output of at most ``max_bytes`` bytes; the same ``seed`` gives the same one. ``UnsatisfiableError`` if
    /// there is none so short; otherwise errors are those of ``language_size``.
    #[pyo3(signature = (seed=None, max_bytes=LEFT_OUT, cancel=None),
           text_signature = "($self, seed=None, max_bytes=200, cancel=None)")]
    fn random_member<'py>(
        &self,
        py: Python<'py>,
        seed: Option<&Bound<'_, PyAny>>,
        max_bytes: Given<'_, '_>,
        cancel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let max_bytes = max_bytes.count("max_bytes", 200)?;
        let seed = match argument::optional_count(seed, "seed")? {
            Some(seed) => seed as u64,
            None => py.import("random")?.call_method1("getrandbits", (64,))?.extract()?,
        };
        let limit = self.max_flat_states(py)?;
        let cancel = cancel::argument(cancel)?;
        Ok(PyBytes::new(py, &interruptible(py, cancel, || self.core().random_member(seed, max_bytes, limit))?))
    }

    /// The minimal automaton over bytes; ``LimitError`` if it has more than ``max_states`` states.
    #[pyo3(signature = (max_states=LEFT_OUT, cancel=None), text_signature = "($self, max_states=500, cancel=None)")]
    fn automaton(
        &self,
        py: Python<'_>,
        max_states: Given<'_, '_>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<language::PyAutomaton> {
        let (max_states, cancel) = (max_states.count("max_states", 500)?, cancel::argument(cancel)?);
        language::automaton(py, &self.core(), (max_states, self.max_flat_states(py)?), cancel)
    }

    /// A shortest output of this index that ``other`` refuses, or ``None`` if ``other`` accepts all of them.
    #[pyo3(signature = (other, cancel=None))]
    fn witness_not_in<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'_, PyAny>,
        cancel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(language::bytes(py, self.witness(py, another(other)?, cancel::argument(cancel)?, Index::witness_not_in)?))
    }

    /// A shortest output that both indexes accept, or ``None`` if there is none.
    #[pyo3(signature = (other, cancel=None))]
    fn witness_in_both<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'_, PyAny>,
        cancel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(language::bytes(py, self.witness(py, another(other)?, cancel::argument(cancel)?, Index::witness_in_both)?))
    }

    /// Whether every output of this index is one of ``other``.
    #[pyo3(signature = (other, cancel=None))]
    fn is_subset_of(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        self.accepted_by(py, another(other)?, cancel::argument(cancel)?)
    }

    /// Whether both indexes accept exactly the same outputs.
    #[pyo3(signature = (other, cancel=None))]
    fn is_equivalent_to(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (other, cancel) = (another(other)?, cancel::argument(cancel)?);
        Ok(self.accepted_by(py, other, cancel)? && other.accepted_by(py, self, cancel)?)
    }

    /// Make now what guides would make on first use. The answers stay the same.
    ///
    /// An index of at most 4,096 configurations (``Limits.max_flat_states`` may say fewer) gets complete tables, and
    /// keeps nothing else: what tables do not answer is compiled again when it is first needed. Any other, and one
    /// whose source is narrowed by a vocabulary that lacks tokens of single bytes, is filled with masks of the states
    /// of its strings, numbers and keys: at most 1,024 masks and 4 MiB; where there are more, up to 512 of those
    /// nearest to the starts are made, or 2 MiB (4 MiB if only these run out), and ``is_complete`` stays false.
    ///
    /// ``threads`` is how many to use, by default as many as the process may; the GIL is released. ``progress(done,
    /// total)`` is called from this thread now and then; an exception that it raises, or Ctrl-C, stops the work, and
    /// the index stays as usable as it was; so does ``cancel``.
    #[pyo3(signature = (threads=None, progress=None, cancel=None))]
    fn build(
        &self,
        py: Python<'_>,
        threads: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let threads = argument::optional_count(threads, "threads")?;
        let progress = progress.map(|call| argument::callable(call, "progress")).transpose()?;
        let cancel = cancel::argument(cancel)?;
        let max_states = self.max_flat_states(py)?;
        let (core, recipe) = (self.core(), self._recipe(py)?);
        let over = core.vocabulary().clone();
        let remake = Box::new(move || pickle_recipe::compile(&recipe, &over));
        if let Some(built) = build::build(py, &core, remake, threads, max_states, progress.as_ref(), cancel)? {
            *self.core.write().unwrap_or_else(|p| p.into_inner()) = built;
        }
        Ok(())
    }

    /// Make masks that a request is likely to need, before its first token. The answers stay the same.
    ///
    /// Documents that a model may write are walked: the names of the schema in its order, in the styles of blanks that
    /// are common, one alternative after the other; every mask on the way is made. That ends after ``max_ms``
    /// milliseconds, or earlier if nothing is left to be expected. The GIL is released; Ctrl-C stops the work. What
    /// ``build`` made complete is warm.
    ///
    /// With ``background`` the answer comes at once, and a thread of the process does the work, one index after the
    /// other: call it when a request comes in, and its prompt is read meanwhile. While 256 wait no more are taken.
    ///
    /// Returns how many masks were made, or ``None`` with ``background``. Raises ``ArgumentError`` if ``max_ms`` is no
    /// positive number.
    #[pyo3(signature = (max_ms=LEFT_OUT, background=LEFT_OUT), text_signature = "($self, max_ms=5.0, background=False)")]
    fn warm_up(&self, py: Python<'_>, max_ms: Given<'_, '_>, background: Given<'_, '_>) -> PyResult<Option<usize>> {
        let (max_ms, background) = (max_ms.number("max_ms", 5.0)?, background.flag("background", false)?);
        warm_up::warm_up(py, &self.core(), max_ms, background)
    }

    /// Whether ``build`` has made everything, and nothing is left for first use.
    #[getter]
    fn is_complete(&self) -> bool {
        self.core().is_complete()
    }

    /// Pairs of a state and a class of tokens that it allows; ``None`` if not built, or built by parts: because there
    /// are too many configurations for complete tables, or because the vocabulary lacks tokens of single bytes that the
    /// source uses and narrows it. The first question for classes walks the vocabulary once per state.
    #[getter]
    fn num_transitions(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        interruptible(py, None, || Ok(self.core().token_classes().map(|classes| classes.num_transitions())))
    }

    /// Distinct masks; ``None`` where ``num_transitions`` is.
    #[getter]
    fn num_masks(&self) -> Option<usize> {
        self.core().built().map(|tables| tables.num_masks())
    }

    /// Classes of tokens that lead every state to the same state; ``None`` where ``num_transitions`` is.
    #[getter]
    fn num_token_classes(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        interruptible(py, None, || Ok(self.core().token_classes().map(|classes| classes.count)))
    }

    /// States where the output may end; ``None`` where ``num_transitions`` is.
    #[getter]
    fn num_accepting_states(&self) -> Option<usize> {
        self.core().built().map(|tables| tables.num_accepting_states())
    }

    /// Write this index to a file that ``load`` reads: its recipe and, if it was built, its tables.
    ///
    /// ``tables=True`` makes the tables if they are not there: complete ones for up to 4,096 configurations
    /// (``Limits.max_flat_states`` may say fewer), else those of the first configurations, as where complete ones would
    /// take more than 16 MiB. ``ArtifactError`` if the file cannot be written.
    #[pyo3(signature = (path, tables=LEFT_OUT), text_signature = "($self, path, tables=False)")]
    fn save(&self, py: Python<'_>, path: &Bound<'_, PyAny>, tables: Given<'_, '_>) -> PyResult<()> {
        let (path, tables) = (argument::path(path, "path")?, tables.flag("tables", false)?);
        let make = if tables { Some(self.max_flat_states(py)?) } else { None };
        store::save(py, path, &self.core(), self._recipe(py)?, make)
    }

    /// The index in a file that ``save`` wrote with this version, for the same vocabulary; ``ArtifactError`` otherwise.
    ///
    /// The tables of an index that was built are mapped, not read, and answer at once; what they do not answer is
    /// compiled when it is first needed. An index that was not built is compiled now. Never change such a file in
    /// place; ``save`` replaces it.
    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: &Bound<'_, PyAny>, vocabulary: &Bound<'_, PyAny>) -> PyResult<PyIndex> {
        let (path, vocabulary) = (
            argument::path(path, "path")?,
            argument::instance::<PyVocabulary>(vocabulary, "vocabulary", "an interlock.Vocabulary")?,
        );
        let (core, recipe) = store::load(class.py(), &path, &vocabulary.get().core)?;
        let method = pickle_recipe::method_of(&recipe).unwrap_or_default();
        let vocabulary = vocabulary.clone().unbind();
        let core = RwLock::new(core);
        Ok(PyIndex { core, vocabulary, method, arguments: PyOnceLock::new(), recipe: Some(recipe) })
    }

    /// The class method and the arguments that make this index again, as JSON without the vocabulary.
    fn _recipe(&self, py: Python<'_>) -> PyResult<String> {
        match &self.recipe {
            Some(recipe) => Ok(recipe.clone()),
            None => store::recipe_of(self.method, self.arguments(py)?),
        }
    }

    /// The vocabulary that this index was compiled for.
    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> Py<PyVocabulary> {
        self.vocabulary.clone_ref(py)
    }

    /// A row for each keyword that is enforced otherwise than exactly, or that only annotates; empty for patterns and
    /// grammars.
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
            Err(_) => store::dumps(&given),
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
        format!("<interlock.Index of a {source}, {} states, fingerprint {head}>", self.core().num_states())
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

/// The index that was given as `other`.
fn another<'a>(other: &'a Bound<'_, PyAny>) -> PyResult<&'a PyIndex> {
    Ok(argument::instance::<PyIndex>(other, "other", "an interlock.Index")?.get())
}

/// The bytes of `state`: equal only for equal states of indexes with the same fingerprint.
pub fn state_bytes<'py>(py: Python<'py>, index: &PyIndex, key: &[u8]) -> Bound<'py, PyBytes> {
    let fingerprint = index.core().fingerprint();
    PyBytes::new(py, &[&fingerprint[..8], key].concat())
}
