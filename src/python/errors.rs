//! Exceptions: one class per error kind, and the one place where core errors become exceptions.
//!
//! `InterlockError` is the root. Every class below it, `InternalError` and `CancelledError` excepted, derives from
//! `ValueError` as well, because servers answer a `ValueError` with a client error. Each instance carries where the
//! error lies:
//!
//! * `place`: the same in words, `""` where there is none;
//! * `offset`: characters into a pattern, or bytes into a schema's text;
//! * `line`, `column`, `excerpt`: the same place counted from one, and its line with a caret below, which the message
//!   shows as well; of a pattern in a schema, the place is in the pattern;
//! * `pointer`, `keyword`: a JSON Pointer into a schema, and the keyword at fault;
//! * `limit`, `value`: what was exceeded, and by what; `field`: the field of `Limits` that sets the limit;
//! * `code`: which fault it is, in one fixed word, where a caller can do something about it; `subject`: the name that
//!   it is about;
//! * `batch_index`: the number of a guide in a batch; `batch_others`: the errors of the other guides that failed in the
//!   same call; `batch_outcomes`: what the call would have answered; `batch_late`: the guides whose masks are late;
//! * `hint`: what a program can do about it, in names of the package; `client_message`, a property that the package
//!   adds, is the message without it.

use std::any::Any;

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::error::{Error, ErrorKind, Result, SourcePlace};
use crate::python::runtime::fork::without_gil;

struct Classes {
    base: Py<PyType>,
    by_kind: Vec<(ErrorKind, Py<PyType>)>,
    busy: Py<PyType>,
    cancelled: Py<PyType>,
    internal: Py<PyType>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// Name, kind and docstring of every class that stands for one kind of core error.
const KINDS: [(&str, ErrorKind, &str); 11] = [
    ("PatternError", ErrorKind::Pattern, "A pattern is not well formed; `offset` says where."),
    ("SchemaError", ErrorKind::Schema, "A schema is not well formed; `pointer` and `keyword` say where."),
    ("UnsupportedError", ErrorKind::Unsupported, "The source means something that cannot be enforced exactly."),
    ("UnsatisfiableError", ErrorKind::Unsatisfiable, "The source accepts nothing that this vocabulary can spell."),
    ("GrammarError", ErrorKind::Grammar, "A grammar is not well formed; `offset` says where, in bytes of its text."),
    (
        "LimitError",
        ErrorKind::Limit,
        "A compile, a question about a language, or the masks of a grammar, need more work than a limit allows: \
         `value` exceeds `limit`. `field` names the field of `Limits` that sets it, or is None where nobody may. A \
         guide that raised it at a mask raises it from then on.",
    ),
    (
        "BudgetError",
        ErrorKind::Budget,
        "A token budget is too small for any output: `limit` is `max_tokens`, `value` the tokens that one needs. Where \
         finding that would take long, `value` is the fewest tokens known to do, and the message says so. Both are \
         None where no output was found that is short enough to be counted.",
    ),
    ("TokenRejected", ErrorKind::TokenRejected, "A token is not allowed here; the guide is unchanged."),
    ("VocabularyError", ErrorKind::Vocabulary, "A vocabulary is not usable, or does not belong to this index."),
    ("ArtifactError", ErrorKind::Artifact, "A stored artifact cannot be used."),
    ("ArgumentError", ErrorKind::Argument, "An argument has the wrong shape, type or range; nothing was written."),
];

impl Classes {
    fn make(py: Python<'_>) -> PyResult<Classes> {
        let class = |name: &str, doc: &str, bases: &Bound<'_, PyAny>| -> PyResult<Py<PyType>> {
            let space = PyDict::new(py);
            space.set_item("__doc__", doc)?;
            space.set_item("__module__", "interlock")?;
            if name == "InterlockError" {
                space.set_item("place", "")?;
                let of_source = ["offset", "line", "column", "excerpt", "pointer", "keyword"];
                let others = ["limit", "value", "field", "hint", "code", "subject", "batch_index", "batch_outcomes"];
                for attribute in of_source.into_iter().chain(others) {
                    space.set_item(attribute, py.None())?;
                }
                for attribute in ["batch_others", "batch_late"] {
                    space.set_item(attribute, PyTuple::empty(py))?;
                }
            }
            let made = py.get_type::<PyType>().call1((name, bases, space))?;
            Ok(made.cast_into::<PyType>()?.unbind())
        };
        let root = PyTuple::new(py, [py.get_type::<PyException>()])?;
        let base = class("InterlockError", "The root of all errors that interlock raises.", root.as_any())?;
        let value = PyTuple::new(py, [base.bind(py), &py.get_type::<PyValueError>()])?;
        let only = PyTuple::new(py, [base.bind(py)])?;
        let by_kind = KINDS
            .iter()
            .map(|(name, kind, doc)| Ok((*kind, class(name, doc, value.as_any())?)))
            .collect::<PyResult<_>>()?;
        Ok(Classes {
            base,
            by_kind,
            busy: class(
                "GuideBusyError",
                "One guide was used by two threads at once, or twice in one batch.",
                value.as_any(),
            )?,
            cancelled: class("CancelledError", "The work was cancelled; nothing of it is left.", only.as_any())?,
            internal: class("InternalError", "A bug in interlock; please report it.", only.as_any())?,
        })
    }

    fn get(py: Python<'_>) -> PyResult<&'static Classes> {
        CLASSES.get_or_try_init(py, || Classes::make(py))
    }

    fn for_kind(&self, kind: ErrorKind) -> &Py<PyType> {
        if kind == ErrorKind::Cancelled {
            return &self.cancelled;
        }
        self.by_kind.iter().find(|(k, _)| *k == kind).map_or(&self.internal, |(_, class)| class)
    }
}

/// Put every exception class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let classes = Classes::get(py)?;
    let named = [&classes.base, &classes.busy, &classes.cancelled, &classes.internal];
    for class in classes.by_kind.iter().map(|(_, class)| class).chain(named) {
        let class = class.bind(py);
        module.add(class.name()?, class)?;
    }
    Ok(())
}

/// The exception for a core error.
pub fn to_exception(py: Python<'_>, error: &Error) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let excerpt = error.excerpt().map(|excerpt| format!("\n{}", excerpt.text)).unwrap_or_default();
        let message = match error.hint() {
            // Behind an excerpt, a line of its own.
            Some(hint) if !excerpt.is_empty() => format!("{}{excerpt}\n{hint}", error.client_message()),
            _ => format!("{error}{excerpt}"),
        };
        let instance = Classes::get(py)?.for_kind(error.kind()).bind(py).call1((message,))?;
        if let Some(hint) = error.hint() {
            instance.setattr("hint", hint)?;
            instance.setattr("_client_message", error.client_message() + &excerpt)?;
        }
        if let (Some(code), subject) = error.code() {
            instance.setattr("code", code.as_str())?;
            instance.setattr("subject", subject)?;
        }
        if let Some(excerpt) = error.excerpt() {
            instance.setattr("line", excerpt.line)?;
            instance.setattr("column", excerpt.column)?;
            instance.setattr("excerpt", &excerpt.text)?;
        }
        instance.setattr("place", error.place().to_string())?;
        match error.place() {
            SourcePlace::Unknown => {}
            SourcePlace::Offset(n) | SourcePlace::Byte(n) => instance.setattr("offset", *n)?,
            SourcePlace::Pointer { pointer, keyword } => {
                instance.setattr("pointer", pointer)?;
                instance.setattr("keyword", keyword)?;
            }
        }
        if let Some((limit, value)) = error.limit_values() {
            instance.setattr("limit", limit)?;
            instance.setattr("value", value)?;
        }
        if let Some(field) = error.limit_field() {
            instance.setattr("field", field)?;
        }
        Ok(PyErr::from_value(instance))
    };
    build().unwrap_or_else(|failed| failed)
}

/// The exception for an unsuitable argument.
#[cold]
pub fn argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    to_exception(py, &Error::new(ErrorKind::Argument, message))
}

/// The exception for an error of `kind` that this layer finds itself.
#[cold]
pub fn of_kind(py: Python<'_>, kind: ErrorKind, message: impl Into<String>) -> PyErr {
    to_exception(py, &Error::new(kind, message))
}

#[cold]
fn raised(py: Python<'_>, pick: impl Fn(&Classes) -> &Py<PyType>, message: String) -> PyErr {
    match Classes::get(py).and_then(|classes| pick(classes).bind(py).call1((message,))) {
        Ok(instance) => PyErr::from_value(instance),
        Err(failed) => failed,
    }
}

/// The exception for a guide that is already in use.
#[cold]
pub fn busy(py: Python<'_>, message: &str) -> PyErr {
    raised(py, |classes| &classes.busy, message.to_owned())
}

/// The exception for a bug, `what` being a caught panic's message.
#[cold]
pub fn internal(py: Python<'_>, what: &str) -> PyErr {
    raised(py, |classes| &classes.internal, format!("a bug in interlock, please report it: {what}"))
}

/// The error of one guide of a batch, with the guide's number there.
#[cold]
pub fn of_batch(py: Python<'_>, error: PyErr, number: usize) -> PyErr {
    // Errors that are not interlock's, such as `MemoryError`, may take no attributes.
    let _ = error.value(py).setattr("batch_index", number);
    error
}

/// The first error of the guides of a batch that failed. It has those of the others, and what the call would have
/// answered.
pub fn of_several(py: Python<'_>, errors: Vec<PyErr>, outcomes: Option<&[u8]>) -> Option<PyErr> {
    let mut errors = errors.into_iter();
    let first = errors.next()?;
    let others: Vec<_> = errors.map(|error| error.into_value(py)).collect();
    let set = |name: &str, value: Bound<'_, PyAny>| first.value(py).setattr(name, value);
    // As in `of_batch`.
    let _ = PyTuple::new(py, others).and_then(|others| set("batch_others", others.into_any()));
    let _ = outcomes.map(|outcomes| set("batch_outcomes", PyBytes::new(py, outcomes).into_any()));
    Some(first)
}

/// The error of a batch, with the numbers of the guides whose masks are late.
pub fn also_late(py: Python<'_>, error: PyErr, late: Vec<usize>) -> PyErr {
    // As in `of_batch`.
    let _ = PyTuple::new(py, late).and_then(|late| error.value(py).setattr("batch_late", late));
    error
}

/// What a panic said.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Run `work` without the GIL; a panic becomes `InternalError` and a core error its exception.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    settle(py, without_gil(py, work))
}

fn settle<T>(py: Python<'_>, outcome: std::thread::Result<Result<T>>) -> PyResult<T> {
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(to_exception(py, &error)),
        Err(panic) => Err(internal(py, &panic_message(&*panic))),
    }
}
