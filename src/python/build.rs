//! `Index.build`: progress and Ctrl-C.
//!
//! The core reports progress on the calling thread between chunks of work. There the GIL is taken for a moment, signals
//! are looked at and the caller's function is called; what either raises stops the work and is raised again.

use pyo3::prelude::*;

use crate::error::{Error, ErrorKind};
use crate::index::Index;
use crate::index::from_artifact::RemakeSource;
use crate::python::runtime::cancel::{PyCancelToken, interruptible};
use crate::util::cancel::{poll, uninterruptible};

/// `Index.build`: an index of complete tables, compiled by `remake` again when more is asked of it, or `None` if
/// `index` was filled in place.
pub fn build(
    py: Python<'_>,
    index: &Index,
    remake: RemakeSource,
    threads: Option<usize>,
    max_states: usize,
    progress: Option<&Py<PyAny>>,
    cancel: Option<&Bound<'_, PyCancelToken>>,
) -> PyResult<Option<Index>> {
    let mut raised = None;
    let outcome = interruptible(py, cancel, || {
        index.build_apart(threads, max_states, remake, |done, total| {
            let tell = |py: Python<'_>| {
                py.check_signals()?;
                progress.map_or(Ok(()), |f| f.call1(py, (done, total)).map(drop))
            };
            // A token that was cancelled, the last time in `progress` itself perhaps.
            poll()?;
            let told = uninterruptible(|| Python::attach(tell));
            told.map_err(|error| {
                raised = Some(error);
                Error::new(ErrorKind::Internal, "the build was stopped")
            })
        })
    });
    match raised {
        Some(error) => Err(error),
        None => outcome,
    }
}
