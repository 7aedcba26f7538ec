//! `Index.from_regex`, `from_json_schema`, `from_choices` and `from_grammar`: options by name, compiling without the
//! GIL.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};

use crate::compile::source::Source;
use crate::python::compile::{GrammarNames, SchemaNames, compile, pattern_source};
use crate::python::convert::argument::{self, Given, LEFT_OUT};
use crate::python::convert::{limits, source};
use crate::python::index::PyIndex;
use crate::python::report::{warn_of_posix_classes, warn_of_slips};
use crate::python::runtime::cancel;
use crate::python::vocabulary::vocabulary_argument;

#[pymethods]
impl PyIndex {
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
        let warned = text.clone();
        let index = compile(vocabulary, cancel, Source::Pattern { text, options }, limits)?;
        warn_of_posix_classes(py, "warn_of_pattern", &warned)?;
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
    /// ``spelling`` says how values are written. ``"plain"``: every string has only the escapes that JSON needs, so
    /// that each text is written in one way, and what a pattern or format leaves no choice about is forced; integers
    /// have neither point nor exponent, and are never ``-0``. ``"constants"``: what the schema spells out (names of
    /// properties, strings and numbers of ``enum`` and ``const``) is written as ``json.dumps`` writes it, with and
    /// without ``ensure_ascii``; other strings in every way. ``"any"``: every way of JSON. By default it is
    /// ``"constants"`` where ``whitespace`` is ``"compact"`` or ``"spaced"``, else ``"any"``. Numbers of ``enum`` and
    /// ``const`` are written as ``json.dumps`` writes them unless it is ``"any"``.
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
        let names = SchemaNames::given([whitespace, property_order, on_unsupported, formats], spelling)?;
        let cancel = cancel::argument(cancel)?;
        let options = names.options(py, documents)?;
        let limits = limits::from_argument(limits)?;
        let documents = PyDict::new(py);
        for (uri, document) in &options.documents {
            documents.set_item(uri, document)?;
        }
        let SchemaNames { whitespace, property_order, on_unsupported, formats, spelling } = names;
        let limits_given = limits::to_python(limits);
        // A caller's own `str` is kept where it is the canonical text.
        let own = match schema.cast_exact::<PyString>() {
            Ok(own) if own.to_str().is_ok_and(|own| own == text) => own.clone(),
            _ => PyString::new(py, &text),
        };
        let arguments =
            (&own, vocabulary, whitespace, property_order, on_unsupported, formats, documents, limits_given, spelling)
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
    /// (llama.cpp's) or ``"ebnf"`` (XGrammar's). ``start`` is the rule that the output is, by default ``start`` in
    /// Lark's notation and ``root`` in the others.
    ///
    /// ``lexer`` says how a text is cut into terminals. ``"any"``: a terminal takes any text that it matches.
    /// ``"dynamic"``: each terminal takes its own longest match. ``"contextual"``: the longest match of all terminals
    /// that the parser can take is taken, the one of highest priority among equals, literals before patterns, so
    /// keywords are reserved. By default a text of ``interlock.grammars`` brings its own; of others it is ``"dynamic"``
    /// in Lark's notation and ``"any"`` in the others.
    ///
    /// ``imports`` maps the names of files that ``%import`` may name to their texts; nothing is ever opened.
    /// ``grammars`` maps names to grammars in Lark's notation that ``@name`` may name.
    ///
    /// ``GrammarError`` if the grammar is not well formed, with line, column and an excerpt, ``UnsupportedError`` for
    /// what has no exact meaning, ``UnsatisfiableError`` if nothing is accepted, ``VocabularyError`` if a byte that the
    /// grammar reads is no token or a special token is unknown, ``LimitError`` if it is too much work,
    /// ``ArgumentError`` for an unknown option.
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
        let lexer = source::lexer_of(grammar, lexer)?;
        let lexer = argument::optional_text(lexer.as_ref(), "lexer")?;
        let cancel = cancel::argument(cancel)?;
        let options = GrammarNames { syntax, start, lexer }.options(py, imports, grammars)?;
        let limits = limits::from_argument(limits)?;
        let named = (options.imports.clone(), options.grammars.clone());
        let limits_given = limits::to_python(limits);
        let arguments = (&text, vocabulary, syntax, start, lexer, named.0, named.1, limits_given).into_pyobject(py)?;
        let index = compile(vocabulary, cancel, Source::Grammar { text, options }, limits)?;
        PyIndex::new(vocabulary, index, "from_grammar", arguments)
    }
}
