//! Arguments of a plain kind: texts, counts, flags, numbers, paths and objects of our classes.
//!
//! PyO3 converts arguments before a function sees them, and its errors do not name the argument. So functions that
//! callers use take arguments as they are, and convert them here, where the name is known. Every `TypeError` says which
//! argument it is, what it must be, and what it is.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::PyTypeCheck;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};

use crate::python::convert::source::FilePath;
use crate::python::errors::argument;

/// An argument that may be left out where leaving it out is not the same as `None`.
#[derive(Clone, Copy)]
pub struct Given<'a, 'py>(Option<Borrowed<'a, 'py, PyAny>>);

/// The default of an argument that was left out; what that means is said where the argument is converted.
pub const LEFT_OUT: Given<'static, 'static> = Given(None);

impl<'a, 'py> FromPyObject<'a, 'py> for Given<'a, 'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Given(Some(object)))
    }
}

impl<'a, 'py> Given<'a, 'py> {
    /// Whether an integer was given, such as a `re.RegexFlag`.
    pub fn is_integer(self) -> bool {
        self.0.is_some_and(|given| given.is_instance_of::<PyInt>())
    }

    /// The name of its type.
    pub fn type_name(self) -> String {
        self.0.map_or_else(|| "nothing".to_owned(), |given| type_name(&given))
    }

    /// A text.
    pub fn text(self, name: &str, default: &'static str) -> PyResult<&'a str> {
        self.0.map_or(Ok(default), |given| borrowed_text(given, name))
    }

    /// A number of things.
    pub fn count(self, name: &str, default: usize) -> PyResult<usize> {
        self.0.map_or(Ok(default), |given| count(&given, name))
    }

    /// `True` or `False`.
    pub fn flag(self, name: &str, default: bool) -> PyResult<bool> {
        self.0.map_or(Ok(default), |given| given.extract().map_err(|_| wrong_type(&given, name, "True or False")))
    }

    /// A number.
    pub fn number(self, name: &str, default: f64) -> PyResult<f64> {
        self.0.map_or(Ok(default), |given| number(&given, name))
    }

    /// An integer, of a row for instance.
    pub fn integer(self, name: &str, default: i64) -> PyResult<i64> {
        self.0.map_or(Ok(default), |given| integer(&given, name))
    }
}

/// The error for an argument of another kind than `wanted`.
#[cold]
pub fn wrong_type(given: &Bound<'_, PyAny>, name: &str, wanted: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} must be {wanted}, not {}", type_name(given)))
}

/// The name of a value's type, as `type(value).__name__` has it.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string())
}

fn borrowed_text<'a>(given: Borrowed<'a, '_, PyAny>, name: &str) -> PyResult<&'a str> {
    if !given.is_instance_of::<PyString>() {
        return Err(wrong_type(&given, name, "a str"));
    }
    // PyO3's own error for a lone surrogate is no `InterlockError`.
    given
        .extract::<&str>()
        .map_err(|_| argument(given.py(), format!("{name} holds a lone surrogate, which is not text: {:?}", *given)))
}

/// A text.
pub fn text<'a>(given: &'a Bound<'_, PyAny>, name: &str) -> PyResult<&'a str> {
    borrowed_text(given.as_borrowed(), name)
}

/// A text, or nothing.
pub fn optional_text<'a>(given: Option<&'a Bound<'_, PyAny>>, name: &str) -> PyResult<Option<&'a str>> {
    given.map(|given| borrowed_text(given.as_borrowed(), name)).transpose()
}

/// How many of something: an integer that is not negative. What is too large to count is the largest count.
pub fn count(given: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    if given.is_instance_of::<PyBool>() {
        return Err(wrong_type(given, name, "an int"));
    }
    match given.extract::<usize>() {
        Ok(n) => Ok(n),
        Err(e) if !e.is_instance_of::<PyOverflowError>(given.py()) => Err(wrong_type(given, name, "an int")),
        Err(_) if given.lt(0)? => Err(argument(given.py(), format!("{name} cannot be negative: {given}"))),
        Err(_) => Ok(usize::MAX),
    }
}

/// How many of something, or nothing.
pub fn optional_count(given: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<Option<usize>> {
    given.map(|given| count(given, name)).transpose()
}

/// An integer; what lies beyond 64 bits is the nearest one that does not. `True` and `False` are none, though Python
/// would take them for 1 and 0: they are what a comparison left instead of a token or of a row.
pub fn integer(given: &Bound<'_, PyAny>, name: &str) -> PyResult<i64> {
    if given.is_instance_of::<PyBool>() {
        return Err(wrong_type(given, name, "an int"));
    }
    given.extract::<i64>().or_else(|e| {
        if !e.is_instance_of::<PyOverflowError>(given.py()) {
            return Err(wrong_type(given, name, "an int"));
        }
        Ok(if given.lt(0)? { i64::MIN } else { i64::MAX })
    })
}

/// A number.
pub fn number(given: &Bound<'_, PyAny>, name: &str) -> PyResult<f64> {
    if given.is_instance_of::<PyBool>() {
        return Err(wrong_type(given, name, "a number"));
    }
    given.extract().map_err(|_| wrong_type(given, name, "a number"))
}

/// A number of seconds, as a time.
pub fn duration(given: &Bound<'_, PyAny>, name: &str) -> PyResult<Duration> {
    let seconds = number(given, name)?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| argument(given.py(), format!("{name} is {seconds}: a number of seconds from 0 is needed")))
}

/// The name of a file.
pub fn path(given: &Bound<'_, PyAny>, name: &str) -> PyResult<PathBuf> {
    given.extract().map(|FilePath(path)| path).map_err(|e: PyErr| match e.is_instance_of::<PyTypeError>(given.py()) {
        true => wrong_type(given, name, "a str or a path (os.PathLike)"),
        false => e,
    })
}

/// What can be called.
pub fn callable(given: &Bound<'_, PyAny>, name: &str) -> PyResult<Py<PyAny>> {
    match given.is_callable() {
        true => Ok(given.clone().unbind()),
        false => Err(wrong_type(given, name, "a function or None")),
    }
}

/// An object of one of our classes, which is called `wanted`.
pub fn instance<'a, 'py, T: PyTypeCheck>(
    given: &'a Bound<'py, PyAny>,
    name: &str,
    wanted: &str,
) -> PyResult<&'a Bound<'py, T>> {
    given.cast().map_err(|_| wrong_type(given, name, wanted))
}
