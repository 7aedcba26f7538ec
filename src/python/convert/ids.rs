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

/// Whether [`integer`] may have put this instead of an integer beyond 64 bits.
fn is_widest(n: i64) -> bool {
    n == i64::MAX || n == i64::MIN
}

/// Digits of an integer that a message shows; a longer one is cut.
const SHOWN: usize = 40;

/// An integer of any size as messages write it.
#[cold]
fn written(given: &Bound<'_, PyAny>) -> String {
    // Python writes out some thousands of digits at most.
    let Ok(text) = given.call_method0("__index__").and_then(|n| n.str()) else { return "of so many digits".to_owned() };
    let text = text.to_string();
    match text.get(..SHOWN) {
        Some(start) if text.len() > SHOWN => format!("{start}... ({} digits)", text.trim_start_matches('-').len()),
        _ => text,
    }
}

/// A single token id; the argument is called `id` wherever there is one.
#[derive(Clone, Copy)]
pub struct TokenId<'a, 'py> {
    /// The id, [`NO_TOKEN`] for what cannot be one.
    pub id: u32,
    given: Borrowed<'a, 'py, PyAny>,
}

impl TokenId<'_, '_> {
    /// The integer as it was given, for messages.
    pub fn given(self) -> String {
        written(&self.given)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for TokenId<'a, 'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        integer(&object, "id").map(|n| TokenId { id: token(n), given: object })
    }
}

/// The integers of an iterable.
fn integers(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i64>> {
    integers_noting(object, name, &mut None)
}

/// The integers of an iterable, and in `widest` the first one that [`is_widest`], as messages write it. NumPy arrays of
/// 32 and 64 bits are copied without making Python integers.
fn integers_noting(object: &Bound<'_, PyAny>, name: &str, widest: &mut Option<String>) -> PyResult<Vec<i64>> {
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
    let one = |(i, item): (usize, PyResult<Bound<'_, PyAny>>)| {
        let item = item?;
        let n = integer(&item, &format!("{name}[{i}]"))?;
        if is_widest(n) {
            widest.get_or_insert_with(|| written(&item));
        }
        Ok(n)
    };
    items.enumerate().map(one).collect()
}

/// A sequence of token ids.
pub struct TokenIds {
    /// The ids, [`NO_TOKEN`] for what cannot be one.
    pub ids: Vec<u32>,
    /// The first integer that cannot be one, as messages write it.
    stranger: Option<String>,
}

impl TokenIds {
    /// The ids in `object`, one or several; else a `TypeError` that names the argument.
    pub fn one_or_several(object: &Bound<'_, PyAny>, name: &str) -> PyResult<TokenIds> {
        if let Ok(one) = integer(object, name) {
            return Ok(TokenIds::new(vec![one], is_widest(one).then(|| written(object))));
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
        let mut widest = None;
        let given = integers_noting(object, name, &mut widest)?;
        Ok(TokenIds::new(given, widest))
    }

    fn new(given: Vec<i64>, widest: Option<String>) -> TokenIds {
        let stranger = given.iter().copied().find(|&n| token(n) == NO_TOKEN);
        let stranger = stranger.map(|n| widest.filter(|_| is_widest(n)).unwrap_or_else(|| n.to_string()));
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
