//! `advance_each`: a token for each guide of a batch.
//!
//! A step takes less than a microsecond, and releasing the GIL as long as several of them. So the steps are taken with
//! the GIL held, until one may take long or they have taken long together. The rest is taken without it, by several
//! threads: patterns with counts inside of counts take up to some milliseconds for each token.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::counted;
use crate::python::batch::{GuideOrNone, check_in_batch, locked_in_batch, of_guide, run_each};
use crate::python::convert::ids::TokenIds;
use crate::python::errors::{argument, detached, of_batch, of_several};
use crate::python::guide::Slot;
use crate::python::runtime::thread_pool;

/// One step to take.
struct Step<'a> {
    /// The number of the guide.
    number: usize,
    slot: &'a mut Slot,
    id: u32,
    /// Whether the token was taken, or a panic. Nothing of a guide that failed before.
    taken: Option<std::thread::Result<bool>>,
}

impl Step<'_> {
    fn take(&mut self) {
        if self.slot.has_failed() {
            return;
        }
        let (guide, id) = (&mut self.slot.guide, self.id);
        self.taken = Some(catch_unwind(AssertUnwindSafe(|| guide.try_advance(id))));
    }
}

/// How long steps may hold the GIL together. Releasing it takes a few microseconds.
const HELD: Duration = Duration::from_micros(300);

/// Takes steps as long as they may hold the GIL; those that are left.
fn take_held<'a, 'b>(steps: &'a mut [Step<'b>]) -> &'a mut [Step<'b>] {
    /// Steps between two looks at the clock.
    const CHUNK: usize = 8;
    let began = Instant::now();
    let mut at = 0;
    while let Some(step) = steps.get_mut(at) {
        if step.slot.guide.may_step_long() || (at % CHUNK == CHUNK - 1 && began.elapsed() > HELD) {
            break;
        }
        step.take();
        at += 1;
    }
    &mut steps[at..]
}

/// Take token ``ids[i]`` on ``guides[i]``, for all of them in one call: what ``try_advance`` does for one.
///
/// The answer has a byte for each guide: 0 where the token was refused, such as an id beyond the vocabulary, 1 where it
/// was taken, and 2 where the output ended with it. ``None`` instead of a guide is a sequence without a constraint, and
/// answers 1. Nothing is taken if there are not as many ids as guides (``ArgumentError``), or a guide is in use or
/// twice there (``GuideBusyError``). A guide that fails at its token (``LimitError`` of a pattern or a grammar,
/// ``ArtifactError`` for a damaged file of its index, ``InternalError`` for a bug), and one that has failed before,
/// costs itself alone: all others have been stepped. ``batch_index`` of the error is its number, ``batch_others`` are
/// the errors of the other guides that failed, and ``batch_outcomes`` is the answer, with 0 for all of these.
#[pyfunction]
pub fn advance_each(py: Python<'_>, guides: &Bound<'_, PyAny>, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let (guides, ids) = (GuideOrNone::all(guides)?, TokenIds::several(ids, "ids")?);
    if ids.ids.len() != guides.len() {
        let said = format!("{}, but {}", counted(guides.len() as u64, "guide"), counted(ids.ids.len() as u64, "id"));
        return Err(argument(py, format!("{said}: ids[i] is the token of guide i")));
    }
    let mut slots: Vec<Option<MutexGuard<'_, Slot>>> = Vec::with_capacity(guides.len());
    for i in 0..guides.len() {
        slots.push(locked_in_batch(py, i, &guides)?);
    }
    let each = slots.iter_mut().zip(&ids.ids).enumerate();
    let mut steps: Vec<Step<'_>> = each
        .filter_map(|(number, (slot, &id))| Some(Step { number, slot: slot.as_deref_mut()?, id, taken: None }))
        .collect();
    let rest = take_held(&mut steps);
    if !rest.is_empty() {
        detached(py, || {
            run_each(rest, thread_pool::num_threads(), Step::take);
            Ok(())
        })?;
    }
    let mut answers = vec![1; guides.len()];
    let mut failed = Vec::new();
    for Step { number, slot, taken, .. } in steps {
        let outcome = match taken {
            None => check_in_batch(py, number, slot).map(|()| false),
            Some(outcome) => slot
                .settle_saying(py, outcome, |what| of_guide(number, what))
                .map_err(|error| of_batch(py, error, number)),
        };
        answers[number] = match &outcome {
            Ok(taken) => u8::from(*taken) + u8::from(*taken && slot.guide.is_terminated()),
            Err(_) => 0,
        };
        failed.extend(outcome.err());
    }
    of_several(py, failed, Some(&answers)).map_or(Ok(answers), Err)
}
