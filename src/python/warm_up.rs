//! `Index.warm_up`: for a number of milliseconds, here or in the background.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::guide::warm_up::background;
use crate::index::Index;
use crate::python::errors::argument;
use crate::python::runtime::cancel::interruptible;

/// `Index.warm_up`.
pub fn warm_up(py: Python<'_>, index: &Index, max_ms: f64, background: bool) -> PyResult<Option<usize>> {
    let time = Duration::try_from_secs_f64(max_ms / 1e3).ok().filter(|time| !time.is_zero());
    let Some(time) = time else {
        return Err(argument(py, format!("max_ms is {max_ms}: a positive number of milliseconds is needed")));
    };
    // What is in no clock's range is no limit.
    let until = Instant::now().checked_add(time);
    if background {
        background::warm_up(index, time);
        return Ok(None);
    }
    let made = interruptible(py, None, || {
        if !index.compile_until(until) {
            return crate::util::cancel::poll().map(|()| 0);
        }
        let mut asked = Ok(());
        let made = index.warm_up(|| {
            asked = crate::util::cancel::poll();
            asked.is_ok() && until.is_none_or(|until| Instant::now() < until)
        });
        asked.map(|()| made)
    })?;
    Ok(Some(made))
}
