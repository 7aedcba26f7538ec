//! What stands behind the mutex of an `interlock.Guide`: the guide, and whether it may still be used.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;

use crate::guide::Guide;
use crate::python::errors::{internal, panic_message, to_exception};
use crate::python::fill_within::MaskAhead;
use crate::python::guide::forced_within::ForcedAhead;
use crate::python::runtime::fork::without_gil;

/// A guide, and whether a panic left it in doubt.
pub struct Slot {
    pub(in crate::python) guide: Guide,
    pub broken: bool,
    /// The mask at its place, which a thread makes.
    pub(in crate::python) ahead: Option<Arc<MaskAhead>>,
    /// The forced tokens at its place, or at one where it was, which a thread looks for.
    pub(super) forced: Option<ForcedAhead>,
    /// How many calls in a row have left it waiting for a thread that begins its mask.
    pub(in crate::python) waited: u32,
    /// How long its last mask took that was new, as far as calls with a bound know.
    pub(in crate::python) took: Duration,
}

impl Slot {
    pub(super) fn new(guide: Guide) -> Slot {
        Slot { guide, broken: false, ahead: None, forced: None, waited: 0, took: Duration::ZERO }
    }

    /// Step the guide: with the GIL held, which takes less than releasing it, unless the step may take long.
    #[inline]
    pub(in crate::python) fn step<T: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Guide) -> T + Send,
    ) -> PyResult<T> {
        let outcome = match self.guide.may_step_long() {
            true => without_gil(py, || work(&mut self.guide)),
            false => catch_unwind(AssertUnwindSafe(|| work(&mut self.guide))),
        };
        self.settle(py, outcome)
    }

    /// Run `work` on the guide without the GIL.
    pub(in crate::python) fn detached<T: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Slot) -> T + Send,
    ) -> PyResult<T> {
        let outcome = without_gil(py, || work(self));
        self.settle(py, outcome)
    }

    /// What work on the guide answered, unless it panicked or found the index's file damaged.
    pub(in crate::python) fn settle<T>(&mut self, py: Python<'_>, outcome: std::thread::Result<T>) -> PyResult<T> {
        self.settle_saying(py, outcome, str::to_owned)
    }

    /// What `settle` answers, with what `say` makes of the messages of its errors.
    pub(in crate::python) fn settle_saying<T>(
        &mut self,
        py: Python<'_>,
        outcome: std::thread::Result<T>,
        say: impl Fn(&str) -> String,
    ) -> PyResult<T> {
        let answer = outcome.map_err(|panic| {
            self.broken = true;
            internal(py, &say(&panic_message(&*panic)))
        })?;
        self.sound_saying(py, say)?;
        Ok(answer)
    }

    /// Whether `check` refuses it.
    pub(in crate::python) fn has_failed(&self) -> bool {
        self.broken || self.guide.failure().is_some()
    }

    /// Refuse to go on with a guide that a panic left in doubt.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        if self.broken {
            return Err(internal(py, "this guide was in use when another bug struck"));
        }
        self.sound(py)
    }

    /// Refuse the answer of a guide whose index turned out to come from a damaged file.
    pub fn sound(&self, py: Python<'_>) -> PyResult<()> {
        self.sound_saying(py, str::to_owned)
    }

    /// What `sound` refuses, with what `say` makes of the message.
    pub(in crate::python) fn sound_saying(&self, py: Python<'_>, say: impl Fn(&str) -> String) -> PyResult<()> {
        self.guide.failure().map_or(Ok(()), |error| {
            let message = say(error.message());
            Err(to_exception(py, &error.clone().saying(message)))
        })
    }
}
