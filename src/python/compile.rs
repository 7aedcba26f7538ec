//! Compiling a source that came from Python: its options by name, and Ctrl-C while it lasts.

use crate::compile::source::Source;
use crate::error::ErrorKind;
use crate::grammar::GrammarOptions;
use crate::index::Index;
use crate::limits::Limits;
use crate::python::convert::argument::{self, Given, LEFT_OUT};
use crate::python::convert::limits as convert_limits;
use crate::python::convert::pickle_recipe;
use crate::python::convert::source;
use crate::python::errors::of_kind;
use crate::python::report::{PyReportRow, report_row, warn_of_posix_classes, warn_of_slips};
use crate::python::runtime::cancel::{self, PyCancelToken, interruptible};
use crate::python::runtime::process_caches;
use crate::python::vocabulary::PyVocabulary;
use crate::regex::RegexOptions;
use crate::schema::{ReportRow, SchemaOptions, Whitespace, metaschema};
use pyo3::prelude::*;
use pyo3::types::PyAny;

/// The value that an option's name stands for.
pub(crate) fn choose<T: Copy>(py: Python<'_>, option: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == given).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| format!("{name:?}")).collect();
        of_kind(py, ErrorKind::Argument, format!("{option} must be one of {}, not {given:?}", names.join(", ")))
    })
}

/// The index of a source: one that was compiled lately, or made now, unless that is cancelled.
pub(crate) fn compile(
    vocabulary: &Bound<'_, PyVocabulary>,
    cancel: Option<&Bound<'_, PyCancelToken>>,
    source: Source,
    limits: Limits,
) -> PyResult<Index> {
    let PyVocabulary { core, compiled } = vocabulary.get();
    let is_cancelled = cancel.is_some_and(|token| token.get().is_cancelled());
    // A cancelled one says so below.
    if !is_cancelled && let Some(found) = compiled.get(&source, &limits) {
        return Ok(found);
    }
    let outcome = interruptible(vocabulary.py(), cancel, || {
        let index = source.compile(core, &limits)?;
        compiled.put(source, limits, &index);
        Ok(index)
    });
    // Cancelling refuses nothing.
    if outcome.is_ok() || !cancel.is_some_and(|token| token.get().is_cancelled()) {
        process_caches::compiled(core, outcome.is_ok());
    }
    outcome
}

/// The names that the options of a schema were given by.
pub(crate) struct SchemaNames<'a> {
    pub whitespace: &'a str,
    pub property_order: &'a str,
    pub on_unsupported: &'a str,
    pub formats: &'a str,
    pub spelling: Option<&'a str>,
}

impl<'a> SchemaNames<'a> {
    /// The arguments of a call, `whitespace`, `property_order`, `on_unsupported` and `formats` in this order, and
    /// `spelling`.
    pub(crate) fn given<'py: 'a>(
        [whitespace, property_order, on_unsupported, formats]: [Given<'a, 'py>; 4],
        spelling: Option<&'a Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        Ok(SchemaNames {
            whitespace: whitespace.text("whitespace", "flexible")?,
            property_order: property_order.text("property_order", "schema")?,
            on_unsupported: on_unsupported.text("on_unsupported", "error")?,
            formats: formats.text("formats", "assert")?,
            spelling: argument::optional_text(spelling, "spelling")?,
        })
    }

    /// What they stand for.
    pub(crate) fn options(&self, py: Python<'_>, documents: Option<&Bound<'_, PyAny>>) -> PyResult<SchemaOptions> {
        Ok(SchemaOptions {
            whitespace: whitespace(py, self.whitespace)?,
            property_order: choose(py, "property_order", self.property_order, &pickle_recipe::ORDERS)?,
            on_unsupported: choose(py, "on_unsupported", self.on_unsupported, &pickle_recipe::ON_UNSUPPORTED)?,
            formats: choose(py, "formats", self.formats, &pickle_recipe::FORMATS)?,
            documents: source::documents(documents)?,
            spelling: self.spelling.map(|name| choose(py, "spelling", name, &pickle_recipe::SPELLINGS)).transpose()?,
        })
    }
}

/// What `whitespace` stands for. A word that is none of its names is a mistake: as a pattern it would be no whitespace.
fn whitespace(py: Python<'_>, given: &str) -> PyResult<Whitespace> {
    match pickle_recipe::whitespace(given) {
        Whitespace::Pattern(word) if !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic()) => {
            let message = format!(
                "whitespace must be \"flexible\", \"compact\", \"spaced\" or a pattern of whitespace, not {word:?}"
            );
            Err(of_kind(py, ErrorKind::Argument, message))
        }
        known => Ok(known),
    }
}

/// The text of a pattern and the options that it is read with.
pub(crate) fn pattern_source(
    pattern: &Bound<'_, PyAny>,
    dialect: &str,
    flags: &str,
) -> PyResult<(String, RegexOptions)> {
    let (text, letters) = source::pattern(pattern, flags)?;
    let dialect = choose(pattern.py(), "dialect", dialect, &pickle_recipe::DIALECTS)?;
    Ok((text, RegexOptions { dialect, flags: letters }))
}

/// Check a source without a vocabulary.
fn check(
    py: Python<'_>,
    source: &Source,
    limits: Option<&Bound<'_, PyAny>>,
    cancel: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<ReportRow>> {
    let limits = convert_limits::from_argument(limits)?;
    let cancel = cancel::argument(cancel)?;
    interruptible(py, cancel, || source.check(&limits))
}

/// Check a pattern without a vocabulary: everything that ``Index.from_regex`` checks, with the same options and errors,
/// but for what only a vocabulary can lack. About as long as compiling takes.
///
/// >>> import interlock
/// >>> interlock.check_regex("[0-9]{4}")
#[pyfunction]
#[pyo3(signature = (pattern, dialect=LEFT_OUT, flags=LEFT_OUT, limits=None, cancel=None),
       text_signature = "(pattern, dialect='python', flags='', limits=None, cancel=None)")]
pub fn check_regex(
    pattern: &Bound<'_, PyAny>,
    dialect: Given<'_, '_>,
    flags: Given<'_, '_>,
    limits: Option<&Bound<'_, PyAny>>,
    cancel: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (text, options) = pattern_source(pattern, dialect.text("dialect", "python")?, source::flags(flags)?)?;
    let source = Source::Pattern { text, options };
    check(pattern.py(), &source, limits, cancel)?;
    match &source {
        Source::Pattern { text, .. } => warn_of_posix_classes(pattern.py(), "warn_of_pattern", text),
        _ => Ok(()),
    }
}

/// Check a JSON Schema without a vocabulary: everything that ``Index.from_json_schema`` checks, with the same options
/// and errors, but for what only a vocabulary can lack. Returns what ``Index.report`` would be. About as long as
/// compiling takes.
///
/// >>> import interlock
/// >>> [row.keyword for row in interlock.check_json_schema({"type": "integer"})]
/// ['numbers']
#[pyfunction]
#[pyo3(signature = (schema, whitespace=LEFT_OUT, property_order=LEFT_OUT, on_unsupported=LEFT_OUT, formats=LEFT_OUT,
                    documents=None, limits=None, spelling=None, cancel=None),
       text_signature = "(schema, whitespace='flexible', property_order='schema', on_unsupported='error', \
                         formats='assert', documents=None, limits=None, spelling=None, cancel=None)")]
#[allow(clippy::too_many_arguments)]
pub fn check_json_schema(
    schema: &Bound<'_, PyAny>,
    whitespace: Given<'_, '_>,
    property_order: Given<'_, '_>,
    on_unsupported: Given<'_, '_>,
    formats: Given<'_, '_>,
    documents: Option<&Bound<'_, PyAny>>,
    limits: Option<&Bound<'_, PyAny>>,
    spelling: Option<&Bound<'_, PyAny>>,
    cancel: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<PyReportRow>> {
    let py = schema.py();
    let text = source::schema(schema)?;
    let names = SchemaNames::given([whitespace, property_order, on_unsupported, formats], spelling)?;
    let options = names.options(py, documents)?;
    let source = Source::Schema { text, options };
    let report = check(py, &source, limits, cancel)?;
    if let Source::Schema { text, .. } = &source {
        warn_of_slips(py, &report, text)?;
    }
    Ok(report.iter().map(report_row).collect())
}

/// Check choices without a vocabulary: everything that ``Index.from_choices`` checks, with the same errors.
///
/// >>> import interlock
/// >>> interlock.check_choices(["yes", "no"])
#[pyfunction]
#[pyo3(signature = (choices, limits=None, cancel=None))]
pub fn check_choices(
    choices: &Bound<'_, PyAny>,
    limits: Option<&Bound<'_, PyAny>>,
    cancel: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    check(choices.py(), &Source::Choices(source::choices(choices)?), limits, cancel).map(drop)
}

/// The names that the options of a grammar were given by.
pub(crate) struct GrammarNames<'a> {
    pub syntax: &'a str,
    pub start: Option<&'a str>,
    pub lexer: Option<&'a str>,
}

impl GrammarNames<'_> {
    /// What they stand for.
    pub(crate) fn options(
        &self,
        py: Python<'_>,
        imports: Option<&Bound<'_, PyAny>>,
        grammars: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<GrammarOptions> {
        Ok(GrammarOptions {
            syntax: choose(py, "syntax", self.syntax, &pickle_recipe::SYNTAXES)?,
            start: self.start.map(str::to_owned),
            lexer: self.lexer.map(|name| choose(py, "lexer", name, &pickle_recipe::LEXERS)).transpose()?,
            imports: source::named_texts(imports, "imports")?,
            grammars: source::named_texts(grammars, "grammars")?,
        })
    }
}

/// Check a grammar without a vocabulary: everything that ``Index.from_grammar`` checks, with the same options and
/// errors, but for what only a vocabulary can lack. Any special token may be named. About as long as compiling takes.
///
/// >>> import interlock
/// >>> interlock.check_grammar('start: "a" start | "b"')
#[pyfunction]
#[pyo3(signature = (grammar, syntax=LEFT_OUT, start=None, lexer=None, imports=None, grammars=None, limits=None,
                    cancel=None),
       text_signature = "(grammar, syntax='lark', start=None, lexer=None, imports=None, grammars=None, limits=None, \
                         cancel=None)")]
#[allow(clippy::too_many_arguments)]
pub fn check_grammar(
    grammar: &Bound<'_, PyAny>,
    syntax: Given<'_, '_>,
    start: Option<&Bound<'_, PyAny>>,
    lexer: Option<&Bound<'_, PyAny>>,
    imports: Option<&Bound<'_, PyAny>>,
    grammars: Option<&Bound<'_, PyAny>>,
    limits: Option<&Bound<'_, PyAny>>,
    cancel: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = grammar.py();
    let text = source::grammar(grammar)?;
    let lexer = source::lexer_of(grammar, lexer)?;
    let names = GrammarNames {
        syntax: syntax.text("syntax", "lark")?,
        start: argument::optional_text(start, "start")?,
        lexer: argument::optional_text(lexer.as_ref(), "lexer")?,
    };
    let options = names.options(py, imports, grammars)?;
    check(py, &Source::Grammar { text, options }, limits, cancel).map(drop)
}

/// The text of the specification's own document of a URI without a fragment, which every schema may refer to.
#[pyfunction]
pub fn _metaschema(uri: &str) -> Option<&'static str> {
    metaschema(uri)
}
