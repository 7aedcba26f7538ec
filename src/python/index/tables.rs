//! Work ahead of time: `Index.build`, `warm_up`, `save` and `load`, and what complete tables count.

use std::sync::RwLock;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::python::convert::argument::{self, Given, LEFT_OUT};
use crate::python::convert::pickle_recipe;
use crate::python::index::PyIndex;
use crate::python::runtime::cancel::{self, interruptible};
use crate::python::vocabulary::PyVocabulary;
use crate::python::{build, index_file, warm_up};

#[pymethods]
impl PyIndex {
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
    #[pyo3(signature = (max_ms=LEFT_OUT, background=LEFT_OUT),
           text_signature = "($self, max_ms=5.0, background=False)")]
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
        index_file::save(py, path, &self.core(), self._recipe(py)?, make)
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
        let (core, recipe) = index_file::load(class.py(), &path, &vocabulary.get().core)?;
        let method = pickle_recipe::method_of(&recipe).unwrap_or_default();
        let vocabulary = vocabulary.clone().unbind();
        let core = RwLock::new(core);
        Ok(PyIndex { core, vocabulary, method, arguments: PyOnceLock::new(), recipe: Some(recipe) })
    }
}
