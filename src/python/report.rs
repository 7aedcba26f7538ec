//! `interlock.ReportRow`: how exactly one keyword of a source is enforced.

use crate::error::ErrorKind;
use crate::limits::Limits;
use crate::python::errors::of_kind;
use crate::schema::{Enforcement, ReportRow, SchemaOptions, UNKNOWN_FORMAT, UNKNOWN_KEYWORD, parse_schema};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// One row of a report: how a keyword at a place of the source is enforced, where that is not exactly.
///
/// ``enforcement`` is ``"narrower"`` (accepts less than the source), ``"annotation"`` or ``"ignored"`` (the source's
/// own draft says so), or ``"wider"`` (accepts more; only with ``on_unsupported="warn"``).
#[pyclass(frozen, eq, hash, get_all, module = "interlock", name = "ReportRow")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyReportRow {
    /// JSON Pointer of the schema that holds the keyword.
    pointer: String,
    /// The keyword, or at the root the option that leaves something out: ``whitespace``, ``property_order``,
    /// ``spelling``, ``numbers``. ``""`` where the vocabulary narrows the document.
    keyword: String,
    /// How it is enforced.
    enforcement: &'static str,
    /// Why.
    reason: String,
}

#[pymethods]
impl PyReportRow {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, row) = (slf.py(), slf.get());
        let restore = py.import("interlock._core")?.getattr("_restore_report_row")?;
        (restore, (&row.pointer, &row.keyword, row.enforcement, &row.reason)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        let PyReportRow { pointer, keyword, enforcement, reason } = self;
        format!("ReportRow(pointer={pointer:?}, keyword={keyword:?}, enforcement={enforcement:?}, reason={reason:?})")
    }
}

/// Rebuild a pickled row of a report; ``pickle`` calls it.
#[pyfunction]
pub fn _restore_report_row(
    py: Python<'_>,
    pointer: String,
    keyword: String,
    enforcement: &str,
    reason: String,
) -> PyResult<PyReportRow> {
    match ENFORCEMENTS.into_iter().find(|(name, _)| *name == enforcement) {
        Some((enforcement, _)) => Ok(PyReportRow { pointer, keyword, enforcement, reason }),
        None => Err(of_kind(py, ErrorKind::Artifact, format!("a pickled report says {enforcement:?}"))),
    }
}

pub(crate) fn report_row(row: &ReportRow) -> PyReportRow {
    let named = ENFORCEMENTS.iter().find(|(_, enforcement)| *enforcement == row.enforcement);
    let enforcement = named.map_or("", |(name, _)| name);
    PyReportRow { pointer: row.pointer.clone(), keyword: row.keyword.clone(), enforcement, reason: row.reason.clone() }
}

/// The most keywords of one schema that a warning is made of.
const MOST_WARNED: usize = 32;

/// Warns of keywords, formats and drafts of a schema that say nothing and look like slips, as `interlock.schema_hints`
/// says.
/// A filter of warnings may make an exception of it, which is returned.
pub(crate) fn warn_of_slips(py: Python<'_>, report: &[ReportRow], schema: &str) -> PyResult<()> {
    warn_of_posix_classes(py, "warn_of_schema", schema)?;
    let unknown: Vec<PyReportRow> =
        report.iter().filter(|row| is_unknown(row)).take(MOST_WARNED).map(report_row).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    py.import("interlock.schema_hints")?.call_method1("warn_of_slips", (unknown, schema)).map(drop)
}

/// Whether a row is about a keyword, a format or a draft that JSON Schema does not know.
fn is_unknown(row: &ReportRow) -> bool {
    let is_format = || row.keyword == "format" && row.reason.ends_with(UNKNOWN_FORMAT);
    match row.enforcement {
        Enforcement::Annotation => row.reason == UNKNOWN_KEYWORD || is_format(),
        Enforcement::Ignored => row.keyword == "$schema",
        _ => false,
    }
}

/// Whether the report of a schema's text may have rows of unknown keywords, formats or drafts. They are found when
/// the text is read, which takes a tenth of the time that a check takes.
#[pyfunction]
pub fn _may_have_slips(schema: &str) -> bool {
    let read = parse_schema(schema, &SchemaOptions::default(), &Limits::default());
    read.map_or(true, |(_, rows)| rows.iter().any(is_unknown))
}

/// Warns of POSIX classes in a pattern or in those of a schema, as the function `warning` of `interlock.posix_classes`
/// does. A filter of warnings may make an exception of it, which is returned.
pub(crate) fn warn_of_posix_classes(py: Python<'_>, warning: &str, text: &str) -> PyResult<()> {
    if !text.contains("[:") || !text.contains(":]") {
        return Ok(());
    }
    py.import("interlock.posix_classes")?.call_method1(warning, (text,)).map(drop)
}

pub(crate) const ENFORCEMENTS: [(&str, Enforcement); 4] = [
    ("narrower", Enforcement::Narrower),
    ("annotation", Enforcement::Annotation),
    ("ignored", Enforcement::Ignored),
    ("wider", Enforcement::Wider),
];
