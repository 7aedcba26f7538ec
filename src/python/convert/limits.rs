//! `interlock.Limits`: bounds on the work of one compile.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple};

use crate::error::near_name::did_you_mean;
use crate::limits::Limits;
use crate::python::convert::argument::{count, text, type_name, wrong_type};

/// Bounds on the work of one compile, each a number of things and never a time. What is found in a cache, because a
/// compile before has made it, is no work.
///
/// Every field has a default; name those that differ: ``Limits(max_depth=50)``. Functions that take ``limits`` accept
/// a mapping with the same keys too.
#[pyclass(frozen, eq, hash, module = "interlock", name = "Limits")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyLimits {
    core: Limits,
}

fn from_dict(values: &Bound<'_, PyDict>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (key, value) in values.iter() {
        if !key.is_instance_of::<PyString>() {
            let (key, kind) = (key.repr()?, type_name(&key));
            return Err(PyTypeError::new_err(format!("the names of limits are str, and {key} is {kind}")));
        }
        let key = text(&key, "the name of a limit")?;
        let Some((_, field)) = fields(&mut limits).into_iter().find(|&(name, _)| name == key) else {
            let known: Vec<_> = fields(&mut limits).into_iter().map(|(name, _)| name).collect();
            let near = did_you_mean(key, known.iter().copied());
            return Err(PyTypeError::new_err(format!(
                "no limit is named {key:?}{near}; there are {}",
                known.join(", ")
            )));
        };
        *field = count(&value, &format!("limits: {key}"))?;
    }
    Ok(limits)
}

/// What a `limits` argument says: `Limits`, a mapping, or `None` for the defaults.
pub fn from_argument(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    match argument {
        None => Ok(Limits::default()),
        Some(value) => match value.cast::<PyLimits>() {
            Ok(limits) => Ok(limits.get().core),
            Err(_) => {
                let values = PyDict::new(value.py());
                let wanted = "an interlock.Limits, a mapping such as {\"max_depth\": 50} or None";
                values.update(value.cast::<PyMapping>().map_err(|_| wrong_type(value, "limits", wanted))?)?;
                from_dict(&values)
            }
        },
    }
}

/// The `Limits` object for `core`.
pub fn to_python(core: Limits) -> PyLimits {
    PyLimits { core }
}

/// What depends on the fields, which are named once, below. A field of `Limits` that is missing there does not compile.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The fields by name.
        pub fn fields(limits: &mut Limits) -> Vec<(&'static str, &mut usize)> {
            let Limits { $($name),* } = limits;
            vec![$((stringify!($name), $name)),*]
        }

        #[pymethods]
        impl PyLimits {
            #[new]
            #[pyo3(signature = (**fields))]
            fn new(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
                Ok(PyLimits { core: fields.map_or_else(|| Ok(Limits::default()), from_dict)? })
            }

            fn __repr__(&self) -> String {
                let mut core = self.core;
                let fields = fields(&mut core).into_iter().map(|(name, value)| format!("{name}={value}"));
                format!("Limits({})", fields.collect::<Vec<_>>().join(", "))
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                let restore = py.import("interlock._core")?.getattr("_restore_limits")?;
                (restore, (self.to_dict(py)?,)).into_pyobject(py)
            }

            $(
                $(#[$doc])*
                #[getter]
                fn $name(&self) -> usize {
                    self.core.$name
                }
            )*
        }
    };
}

impl PyLimits {
    /// The fields as a dict.
    #[allow(clippy::wrong_self_convention)] // Python methods take a reference.
    pub fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        let mut core = self.core;
        for (name, value) in fields(&mut core) {
            values.set_item(name, *value)?;
        }
        Ok(values)
    }
}

limits! {
    /// Bytes of a source text; by default 16,777,216, which take about a second.
    max_source_bytes,
    /// Nesting of groups in a pattern or of values in a schema; by default 1,000. No more than 10,000 of groups and
    /// 2,000 of values, whatever it is.
    max_depth,
    /// Nodes of the expression arena, and of a pattern before; by default 1,200,000, which are about 100 MB, and as
    /// much again where the index needs them all.
    max_expr_nodes,
    /// States explored eagerly to decide which states are live; by default 300,000, of 0.3 to 2 us each.
    max_explored_states,
    /// States of a pattern explored where the vocabulary lacks tokens of single bytes; by default 200,000, of about 2
    /// us each.
    max_token_states,
    /// Bytes of tokens stepped on the way; by default 50,000,000, which take about a second.
    max_token_steps,
    /// Configurations explored to flatten, search or compare indexes; by default 200,000, of about 5 us and 300 bytes
    /// each. Their descriptions are bounded as well: 400 bytes kept and 4,000 looked at for each that this allows.
    max_flat_states,
    /// Steps of one compile in all; by default 1,500,000, of about 1 us each.
    max_compile_steps,
    /// Bytes of states that one lexeme of an index remembers; by default 16,777,216, some 40,000 states. When they are
    /// full, guides move to a new, empty copy of it. That costs time and is no error. A single state of a pattern such
    /// as ``(((ab?){1,99}c?){1,99}d?){1,99}`` may stand for very many ways to have read a text: where the states that
    /// follow one take more than a quarter of this, and than eight times the source, the mask or the token raises
    /// :class:`LimitError`, and the guide is lost.
    max_state_bytes,
    /// Bytes of history that one guide holds for rolling back, beside what its position needs; by default 16,777,216.
    /// Exceeding it is no error: the guide lets go of the oldest, and rolling back to there takes the tokens again.
    max_guide_bytes,
    /// Steps that one guide may take for masks that nobody has made before; by default 1,000,000, of half a
    /// microsecond to one each. Each token gives a fiftieth back. A guide that takes more fails with ``LimitError``:
    /// grammars with many terminals of the same texts, and patterns with counts inside of counts.
    max_mask_steps,
    /// Bytes of states that the terminals of a grammar have side by side in one index; by default 134,217,728. Where
    /// they have more, new masks fail with ``LimitError``.
    max_scanner_bytes,
    /// Alternatives of one rule; by default 12,288.
    max_alternatives,
    /// Rules of one index; by default 100,000.
    max_rules,
    /// Steps of schema algebra in one compile; by default 3,000,000.
    max_algebra_steps,
}

/// Rebuild pickled limits; ``pickle`` calls it.
#[pyfunction]
pub fn _restore_limits(values: &Bound<'_, PyDict>) -> PyResult<PyLimits> {
    Ok(PyLimits { core: from_dict(values)? })
}
