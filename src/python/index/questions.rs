//! What `Index` says about its language: how large it is, members of it, and how it differs from another one.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::index::Index;
use crate::python::convert::argument::{self, Given, LEFT_OUT};
use crate::python::index::PyIndex;
use crate::python::language;
use crate::python::runtime::cancel::{self, PyCancelToken, interruptible};

/// Looks for an output that tells two indexes apart, under a limit on configurations.
type FindWitness = fn(&Index, &Index, usize) -> crate::error::Result<Option<Vec<u8>>>;

impl PyIndex {
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
}

#[pymethods]
impl PyIndex {
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
}

/// The index that was given as `other`.
fn another<'a>(other: &'a Bound<'_, PyAny>) -> PyResult<&'a PyIndex> {
    Ok(argument::instance::<PyIndex>(other, "other", "an interlock.Index")?.get())
}
