//! What `interlock.Index` says about its language, and `interlock.Automaton`.
//!
//! The methods stand here and not in `index`, as free functions that it calls: each converts arguments, lets the core
//! search without the GIL, and converts the answer.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Error, counted};
use crate::index::Index;
use crate::python::runtime::cancel::{PyCancelToken, interruptible};

/// A source, a target, and the byte ranges (both ends included) that lead from one to the other.
type Edge = (u32, u32, Vec<(u8, u8)>);

/// The minimal automaton of an index over bytes, for drawing and inspection.
#[pyclass(frozen, get_all, module = "interlock", name = "Automaton")]
pub struct PyAutomaton {
    /// The start state; always 0.
    start: u32,
    /// Whether the output may end, by state.
    accepting: Vec<bool>,
    /// Source, target and inclusive byte ranges, by ascending source and target.
    edges: Vec<Edge>,
}

#[pymethods]
impl PyAutomaton {
    fn __repr__(&self) -> String {
        let (states, edges) = (self.accepting.len() as u64, self.edges.len() as u64);
        format!("<interlock.Automaton of {}, {}>", counted(states, "state"), counted(edges, "edge"))
    }
}

/// `Index.automaton`.
pub fn automaton(
    py: Python<'_>,
    index: &Index,
    (max_states, limit): (usize, usize),
    cancel: Option<&Bound<'_, PyCancelToken>>,
) -> PyResult<PyAutomaton> {
    interruptible(py, cancel, || {
        let flat = index.flat(limit)?;
        if flat.len() > max_states {
            return Err(Error::limit("states of the automaton", max_states as u64, flat.len() as u64));
        }
        let edges = (0..flat.len() as u32)
            .flat_map(|s| flat.edges(s).into_iter().map(move |(to, ranges)| (s, to, ranges)))
            .collect();
        Ok(PyAutomaton { start: 0, accepting: flat.accepting, edges })
    })
}

/// `Index.language_size`.
pub fn size<'py>(
    py: Python<'py>,
    index: &Index,
    limit: usize,
    cancel: Option<&Bound<'py, PyCancelToken>>,
) -> PyResult<Bound<'py, PyAny>> {
    match interruptible(py, cancel, || index.language_size(limit))? {
        None => py.import("math")?.getattr("inf"),
        Some(n) => {
            let bytes = PyBytes::new(py, &n.to_le_bytes());
            py.get_type::<pyo3::types::PyInt>().call_method1("from_bytes", (bytes, "little"))
        }
    }
}

/// Bytes for Python.
pub fn bytes<'py>(py: Python<'py>, member: Option<Vec<u8>>) -> Option<Bound<'py, PyBytes>> {
    member.map(|m| PyBytes::new(py, &m))
}
