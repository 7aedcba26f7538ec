//! Numbers that come from Python: token ids and row numbers.
//!
//! A token id that no vocabulary can have (negative, or too large) is not a type error: it is a token that is not
//! allowed. It becomes [`NO_TOKEN`], which every guide refuses.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::ErrorKind;
use crate::python::convert::argument::{integer, type_name, wrong_type};
use crate::python::errors::of_kind;

/// Stands for every integer that cannot be a token id.
pub const NO_TOKEN: u32 = u32::MAX;

fn token(n: i64) -> u32 {
    u32::try_from(n).unwrap_or(NO_TOKEN)
}

/// A single token id; the argument is called `id` wherever there is one.
#[derive(Clone, Copy)]
pub struct TokenId {
    /// The id, [`NO_TOKEN`] for what cannot be one.
    pub id: u32,
    /// The integer as it was given.
    pub given: i64,
}

impl<'py> FromPyObject<'_, 'py> for TokenId {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        integer(&object, "id").map(|given| TokenId { id: token(given), given })
    }
}

/// The integers of an iterable. NumPy arrays of 32 and 64 bits are copied without making Python integers.
fn integers(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i64>> {
    if let Ok(array) = object.cast::<PyArray1<i64>>()
        && let Ok(values) = array.to_vec()
    {
        return Ok(values);
    }
    if let Ok(array) = object.cast::<PyArray1<i32>>()
        && let Ok(values) = array.to_vec()
    {
        return Ok(values.into_iter().map(i64::from).collect());
    }
    // A text is a sequence of texts, and what it holds says nothing.
    if object.is_instance_of::<PyString>() {
        return Err(wrong_type(object, name, "a sequence of int"));
    }
    let items = object.try_iter().map_err(|e| match e.is_instance_of::<PyTypeError>(object.py()) {
        true => wrong_type(object, name, "a sequence of int"),
        false => e,
    })?;
    items.enumerate().map(|(i, item)| integer(&item?, &format!("{name}[{i}]"))).collect()
}

/// A sequence of token ids.
pub struct TokenIds {
    /// The ids, [`NO_TOKEN`] for what cannot be one.
    pub ids: Vec<u32>,
    /// The first integer that cannot be one.
    stranger: Option<i64>,
}

impl TokenIds {
    /// The ids in `object`, one or several; else a `TypeError` that names the argument.
    pub fn one_or_several(object: &Bound<'_, PyAny>, name: &str) -> PyResult<TokenIds> {
        if let Ok(one) = integer(object, name) {
            return Ok(TokenIds::of(vec![one]));
        }
        TokenIds::several(object, name).map_err(|e| {
            if !e.is_instance_of::<PyTypeError>(object.py()) {
                return e;
            }
            let kind = type_name(object);
            let inner = match object.is_instance_of::<PyString>() || object.try_iter().is_err() {
                true => String::new(),
                false => format!(": {}", e.value(object.py())),
            };
            PyTypeError::new_err(format!("{name} must be a token id or several, all of them int, not {kind}{inner}"))
        })
    }

    /// The ids in an iterable; else a `TypeError` that names the argument.
    pub fn several(object: &Bound<'_, PyAny>, name: &str) -> PyResult<TokenIds> {
        integers(object, name).map(TokenIds::of)
    }

    fn of(given: Vec<i64>) -> TokenIds {
        let stranger = given.iter().copied().find(|&n| token(n) == NO_TOKEN);
        TokenIds { ids: given.into_iter().map(token).collect(), stranger }
    }

    /// The ids, where each has to be one; else an error of `kind` that names the integer as it was given.
    pub fn known(self, py: Python<'_>, kind: ErrorKind, what: &str) -> PyResult<Vec<u32>> {
        match self.stranger {
            None => Ok(self.ids),
            Some(n) => Err(of_kind(py, kind, format!("{what} {n} is out of range"))),
        }
    }
}

/// A sequence of row numbers.
pub fn row_numbers(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    integers(object, "rows")
}

/// A sequence of draft ids or parents, in which negative numbers mean something.
pub fn signed_ids(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i32>> {
    Ok(integers(object, name)?.into_iter().map(|n| i32::try_from(n).unwrap_or(i32::MAX)).collect())
}
