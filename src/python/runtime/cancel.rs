//! Ctrl-C and `interlock.CancelToken`: what ends long work early, at a deadline for instance.
//!
//! Compiles, builds and questions about languages run without the GIL, where Python cannot handle signals. The core
//! asks now and then whether to go on (see `work`); there the token is looked at, and every few hundredths of a second
//! the GIL is taken for a moment and signals are handled. What a handler raises, `KeyboardInterrupt` above all, ends
//! the work and is raised again. Python handles signals in the main thread only; elsewhere nothing is raised here.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::{Error, ErrorKind, Result};
use crate::python::convert::argument::{instance, number};
use crate::python::errors::{self, detached};
use crate::util::cancel::{Watch, uninterruptible, watched};

/// How often signals are looked at.
const PERIOD: Duration = Duration::from_millis(30);

/// A flag that ends what is being compiled or built, from another thread or at a deadline.
///
/// Pass it as ``cancel`` and call its ``cancel()``: the work ends with ``CancelledError`` within a fraction of a
/// second, and nothing of it is left. ``CancelToken.after(2.5)`` cancels itself 2.5 seconds after it was made.
/// Cancelling has no effect on work that has ended. A token stays cancelled.
#[pyclass(frozen, module = "interlock", name = "CancelToken")]
pub struct PyCancelToken {
    stop: Stop,
}

/// What ends work.
#[derive(Clone, Default)]
struct Stop {
    flag: Arc<AtomicBool>,
    deadline: Option<Deadline>,
}

/// When work ends, and the seconds that it was given.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    seconds: f64,
}

impl Stop {
    /// Why the work ends, if it does.
    fn reason(&self) -> Option<Error> {
        if self.flag.load(Ordering::Relaxed) {
            return Some(stopped());
        }
        let passed = self.deadline.filter(|deadline| Instant::now() >= deadline.at)?;
        let unit = if passed.seconds == 1.0 { "second" } else { "seconds" };
        let message = format!("the work took longer than its deadline of {} {unit}", passed.seconds);
        Some(Error::new(ErrorKind::Cancelled, message))
    }
}

#[pymethods]
impl PyCancelToken {
    #[new]
    #[pyo3(signature = (*args))]
    fn new(args: &Bound<'_, PyTuple>) -> PyResult<Self> {
        match args.is_empty() {
            true => Ok(PyCancelToken { stop: Stop::default() }),
            false => Err(PyTypeError::new_err(
                "a CancelToken takes no arguments; CancelToken.after(seconds) is one with a deadline",
            )),
        }
    }

    /// A token that cancels itself ``seconds`` after now. The clock starts here, so make one for each request. Its
    /// ``cancel()`` ends the work earlier. ``ArgumentError`` if ``seconds`` is negative or no number of seconds that a
    /// clock can count.
    ///
    /// >>> import interlock
    /// >>> interlock.CancelToken.after(30).is_cancelled
    /// False
    #[staticmethod]
    fn after(seconds: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = seconds.py();
        let seconds = number(seconds, "seconds")?;
        let at = Duration::try_from_secs_f64(seconds).ok().and_then(|length| Instant::now().checked_add(length));
        let Some(at) = at else {
            return Err(errors::argument(py, format!("seconds is {seconds}: a number of seconds from 0 is needed")));
        };
        Ok(PyCancelToken { stop: Stop { deadline: Some(Deadline { at, seconds }), ..Stop::default() } })
    }

    /// End the work that this token was passed to, and whatever it will be passed to.
    fn cancel(&self) {
        self.stop.flag.store(true, Ordering::Relaxed);
    }

    /// Whether ``cancel()`` was called, or the deadline has passed.
    #[getter]
    pub fn is_cancelled(&self) -> bool {
        self.stop.reason().is_some()
    }

    fn __repr__(&self) -> String {
        format!("<interlock.CancelToken{}>", if self.is_cancelled() { " cancelled" } else { "" })
    }
}

/// What was given as `cancel`: a token, or nothing.
pub fn argument<'a, 'py>(given: Option<&'a Bound<'py, PyAny>>) -> PyResult<Option<&'a Bound<'py, PyCancelToken>>> {
    given.map(|given| instance(given, "cancel", "an interlock.CancelToken or None")).transpose()
}

fn stopped() -> Error {
    Error::new(ErrorKind::Cancelled, "the work was cancelled")
}

/// Run `work` without the GIL until it ends, a signal handler raises, or the token is cancelled.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: Option<&Bound<'_, PyCancelToken>>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let stop = cancel.map(|token| token.get().stop.clone());
    let raised: Arc<OnceLock<PyErr>> = Arc::default();
    let told = raised.clone();
    let outcome = detached(py, move || {
        let last = Cell::new(Instant::now());
        #[allow(clippy::arc_with_non_send_sync)] // Watches do not leave their thread.
        let watch: Watch = Arc::new(move || {
            if let Some(reason) = stop.as_ref().and_then(Stop::reason) {
                return Err(reason);
            }
            // No lock is held while handlers run, which may use this package themselves.
            let is_due = told.get().is_none() && last.get().elapsed() >= PERIOD;
            if is_due && let Err(error) = uninterruptible(|| Python::attach(|py| py.check_signals())) {
                // Nobody else tells, so that it is empty.
                let _ = told.set(error);
            }
            if is_due {
                last.set(Instant::now());
            }
            if told.get().is_some() { Err(stopped()) } else { Ok(()) }
        });
        watched(watch, || {
            // A token that was cancelled before ends even the shortest work.
            crate::util::cancel::poll()?;
            work()
        })
    });
    match raised.get() {
        Some(error) => Err(error.clone_ref(py)),
        None => outcome,
    }
}
