//! `interlock.Limits`: bounds on the work of one compile.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::limits::Limits;

/// Bounds on the work of one compile, each a number of things and never a time.
///
/// Every field has a default; name those that differ: ``Limits(max_depth=50)``. Functions that take ``limits`` accept
/// a dict with the same keys too.
#[pyclass(frozen, eq, hash, module = "interlock", name = "Limits")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyLimits {
    core: Limits,
}

/// The fields by name, in one place.
fn fields(limits: &mut Limits) -> [(&'static str, &mut usize); 7] {
    [
        ("max_source_bytes", &mut limits.max_source_bytes),
        ("max_depth", &mut limits.max_depth),
        ("max_expr_nodes", &mut limits.max_expr_nodes),
        ("max_explored_states", &mut limits.max_explored_states),
        ("max_alternatives", &mut limits.max_alternatives),
        ("max_rules", &mut limits.max_rules),
        ("max_algebra_steps", &mut limits.max_algebra_steps),
    ]
}

fn from_dict(values: &Bound<'_, PyDict>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (key, value) in values.iter() {
        let key: String = key.extract()?;
        let Some((_, field)) = fields(&mut limits).into_iter().find(|(name, _)| *name == key) else {
            let known: Vec<_> = fields(&mut limits).into_iter().map(|(name, _)| name).collect();
            return Err(PyTypeError::new_err(format!("no limit is named {key:?}; there are {}", known.join(", "))));
        };
        *field = value.extract()?;
    }
    Ok(limits)
}

/// What a `limits` argument says: `Limits`, a dict, or `None` for the defaults.
pub fn from_argument(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    match argument {
        None => Ok(Limits::default()),
        Some(value) => match value.cast::<PyLimits>() {
            Ok(limits) => Ok(limits.get().core),
            Err(_) => from_dict(value.cast::<PyDict>()?),
        },
    }
}

/// The `Limits` object for `core`.
pub fn to_python(core: Limits) -> PyLimits {
    PyLimits { core }
}

#[pymethods]
impl PyLimits {
    #[new]
    #[pyo3(signature = (**fields))]
    fn new(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(PyLimits { core: fields.map_or_else(|| Ok(Limits::default()), from_dict)? })
    }

    fn __getattr__(&self, name: &str) -> PyResult<usize> {
        let mut core = self.core;
        match fields(&mut core).into_iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Ok(*value),
            None => Err(pyo3::exceptions::PyAttributeError::new_err(format!("no limit is named {name:?}"))),
        }
    }

    fn __dir__(&self) -> Vec<&'static str> {
        fields(&mut Limits::default()).into_iter().map(|(name, _)| name).collect()
    }

    fn __repr__(&self) -> String {
        let mut core = self.core;
        let fields: Vec<String> = fields(&mut core).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("Limits({})", fields.join(", "))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let values = PyDict::new(py);
        let mut core = self.core;
        for (name, value) in fields(&mut core) {
            values.set_item(name, *value)?;
        }
        let restore = py.import("interlock._core")?.getattr("_restore_limits")?;
        (restore, (values,)).into_pyobject(py)
    }
}

/// Rebuild pickled limits; ``pickle`` calls it.
#[pyfunction]
pub fn _restore_limits(values: &Bound<'_, PyDict>) -> PyResult<PyLimits> {
    Ok(PyLimits { core: from_dict(values)? })
}
