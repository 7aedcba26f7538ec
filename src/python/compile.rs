//! Compiling a source that came from Python: its options by name, and Ctrl-C while it lasts.

use crate::compile::source::Source;
use crate::error::ErrorKind;
use crate::index::Index;
use crate::limits::Limits;
use crate::python::errors::of_kind;
use crate::python::runtime::cancel::{PyCancelToken, interruptible};
use crate::python::runtime::registry;
use crate::python::vocabulary::PyVocabulary;
use pyo3::prelude::*;

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
    registry::compiled(core, outcome.is_ok());
    outcome
}
