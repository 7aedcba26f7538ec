//! Ctrl-C and `interlock.CancelToken`: what ends long work early.
//!
//! Compiles, builds and questions about languages run without the GIL, where Python cannot handle signals. The core
//! asks now and then whether to go on (see `work`); there the token is looked at, and every few hundredths of a second
//! the GIL is taken for a moment and signals are handled. What a handler raises, `KeyboardInterrupt` above all, ends
//! the work and is raised again. Python handles signals in the main thread only; elsewhere nothing is raised here.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::python::convert::argument::instance;
use crate::python::errors::detached;
use crate::util::cancel::{Watch, uninterruptible, watched};

/// How often signals are looked at.
const PERIOD: Duration = Duration::from_millis(30);

/// A flag that ends what is being compiled or built, from another thread.
///
/// Pass it as ``cancel`` and call its ``cancel()``: the work ends with ``CancelledError`` within a fraction of a
/// second, and nothing of it is left. Cancelling has no effect on work that has ended. A token stays cancelled.
#[pyclass(frozen, module = "interlock", name = "CancelToken")]
pub struct PyCancelToken {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl PyCancelToken {
    #[new]
    fn new() -> Self {
        PyCancelToken { flag: Arc::default() }
    }

    /// End the work that this token was passed to, and whatever it will be passed to.
    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether ``cancel()`` was called.
    #[getter]
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
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
    let flag = cancel.map(|token| token.get().flag.clone());
    let raised: Arc<OnceLock<PyErr>> = Arc::default();
    let told = raised.clone();
    let outcome = detached(py, move || {
        let last = Cell::new(Instant::now());
        #[allow(clippy::arc_with_non_send_sync)] // Watches do not leave their thread.
        let watch: Watch = Arc::new(move || {
            if flag.as_ref().is_some_and(|f| f.load(Ordering::Relaxed)) {
                return Err(stopped());
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
