//! Work without the GIL, and Python's forks.
//!
//! Threads without the GIL may hold locks of the core while another thread forks, and a child would wait for these for
//! ever. So whoever works without the GIL says so, and Python tells of its forks: the one waits for the other (see
//! [`fork`](crate::util::fork_guard)). Work with the GIL is over when another thread forks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

use crate::util::fork_guard;

/// Runs `work` without the GIL; a panic is caught.
pub fn without_gil<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> std::thread::Result<T> {
    py.detach(|| {
        let _working = fork_guard::Working::begin();
        catch_unwind(AssertUnwindSafe(work))
    })
}

/// Has Python tell of its forks, where there are any.
pub fn watch_forks(py: Python<'_>) -> PyResult<()> {
    let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? else { return Ok(()) };
    let hooks = PyDict::new(py);
    // Work that is waited for may need the GIL, for a callback.
    let before = |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| args.py().detach(fork_guard::before);
    hooks.set_item("before", PyCFunction::new_closure(py, None, None, before)?)?;
    for (when, what) in
        [("after_in_parent", fork_guard::after_in_parent as fn()), ("after_in_child", fork_guard::after_in_child)]
    {
        hooks.set_item(when, PyCFunction::new_closure(py, None, None, move |_, _| what())?)?;
    }
    register.call((), Some(&hooks)).map(drop)
}
