//! Numbers that come from Python: token ids, row numbers and counts.
//!
//! A token id that no vocabulary can have (negative, or too large) is not a type error: it is a token that is not
//! allowed. It becomes [`NO_TOKEN`], which every guide refuses.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

use crate::error::ErrorKind;
use crate::python::errors::{argument, of_kind};

/// Stands for every integer that cannot be a token id.
pub const NO_TOKEN: u32 = u32::MAX;

fn integer(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    object.extract::<i64>().or_else(|e| {
        // Beyond 64 bits: still an integer, and out of every range that is asked about here.
        if !e.is_instance_of::<PyOverflowError>(object.py()) {
            return Err(e);
        }
        Ok(if object.lt(0)? { i64::MIN } else { i64::MAX })
    })
}

fn token(n: i64) -> u32 {
    u32::try_from(n).unwrap_or(NO_TOKEN)
}

/// A single token id.
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
        integer(&object).map(|given| TokenId { id: token(given), given })
    }
}

/// A row number, any integer; the buffer checks its range.
#[derive(Clone, Copy)]
pub struct RowNumber(pub i64);

impl<'py> FromPyObject<'_, 'py> for RowNumber {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        integer(&object).map(RowNumber)
    }
}

/// How many of something: an integer that is not negative. What is too large to count is the largest count.
#[derive(Clone, Copy)]
pub struct Count(pub usize);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<usize>() {
            Ok(n) => Ok(Count(n)),
            Err(e) if !e.is_instance_of::<PyOverflowError>(object.py()) => Err(e),
            Err(_) if object.lt(0)? => Err(argument(object.py(), format!("a count cannot be negative: {}", *object))),
            Err(_) => Ok(Count(usize::MAX)),
        }
    }
}

/// Any iterable of integers. NumPy arrays of 32 and 64 bits are copied without making Python integers.
fn integers(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
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
    object.try_iter()?.map(|item| integer(&item?)).collect()
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
    pub fn one_or_several(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<TokenIds> {
        if let Ok(one) = integer(object) {
            return Ok(TokenIds::of(vec![one]));
        }
        integers(object).map(TokenIds::of).map_err(|e| {
            if !e.is_instance_of::<PyTypeError>(object.py()) {
                return e;
            }
            let kind = object.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
            let message = format!("{argument} must be a token id or several, all of them int, not {kind}: {e}");
            PyTypeError::new_err(message)
        })
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

impl<'py> FromPyObject<'_, 'py> for TokenIds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        integers(&object).map(TokenIds::of)
    }
}

/// A sequence of row numbers.
pub fn row_numbers(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    integers(object)
}

/// A sequence of draft ids or parents, in which negative numbers mean something.
pub fn signed_ids(object: &Bound<'_, PyAny>) -> PyResult<Vec<i32>> {
    Ok(integers(object)?.into_iter().map(|n| i32::try_from(n).unwrap_or(i32::MAX)).collect())
}
