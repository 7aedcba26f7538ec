//! Which masks lie on a device: `interlock.gpu.DeviceRows` asks it what a step has to send.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::error::counted;
use crate::guide::device_rows::RowSlots;
use crate::mask::mask_identity::MaskIdentity;
use crate::python::batch::{BatchJob, GuideOrNone, Stage, of_guide, run_all, slot_in_batch, sound_in_batch};
use crate::python::convert::argument::{count, optional_count};
use crate::python::convert::buffer::MaskRows;
use crate::python::errors::{argument, busy, detached, internal, of_batch, panic_message};
use crate::python::guide::Slot;
use crate::python::runtime::{process_caches, thread_pool};

/// The number of a sequence without a mask.
const FREE: i32 = -1;

/// Which mask is in which row of a device's tensor. ``fill`` answers what a step has to send.
#[pyclass(frozen, module = "interlock._core", name = "_RowSlots")]
pub struct PyRowSlots(Mutex<RowSlots>);

/// What one step sends.
type Step<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>);

/// A guide of the batch: its number there, and the identity of its mask.
struct Asked<'a> {
    slot: &'a mut Slot,
    identity: std::thread::Result<Option<MaskIdentity>>,
    ended: bool,
}

#[pymethods]
impl PyRowSlots {
    #[new]
    fn new(py: Python<'_>, slots: &Bound<'_, PyAny>) -> PyResult<Self> {
        let slots = count(slots, "slots")?;
        match i32::try_from(slots) {
            Ok(n) if n > 0 => Ok(PyRowSlots(Mutex::new(RowSlots::new(slots)))),
            _ => Err(argument(py, format!("the number of slots must be from 1 to {}, not {slots}", i32::MAX))),
        }
    }

    /// For each guide the slot of its mask, -1 where nothing is masked; and the slots that are new in this step, whose
    /// masks are written to the first rows of ``bits``, in order.
    #[pyo3(signature = (guides, bits, threads=None))]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        guides: &Bound<'py, PyAny>,
        bits: &Bound<'py, PyAny>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Step<'py>> {
        let guides = GuideOrNone::all(guides)?;
        let threads = optional_count(threads, "threads")?;
        let mut rows = self.rows(py)?;
        let mut mask = MaskRows::<true>::new(bits)?;
        let mut slots = Vec::with_capacity(guides.len());
        for (i, guide) in guides.iter().enumerate() {
            let Some(guide) = guide.get() else { continue };
            mask.check_width(guide.words(), || format!("the vocabulary of guide {i}"))
                .map_err(|error| of_batch(py, error, i))?;
            slots.extend(slot_in_batch(py, i, &guides)?.map(|slot| (i, slot)));
        }
        GuideOrNone::check_vocabularies(py, &guides)?;
        if slots.len() > rows.len() || slots.len() > mask.rows() {
            let message = format!(
                "{}, but {} and {}",
                counted(slots.len() as u64, "guide"),
                counted(rows.len() as u64, "slot"),
                counted(mask.rows() as u64, "row")
            );
            return Err(argument(py, message));
        }
        if threads == Some(0) {
            return Err(argument(py, "threads must be at least 1"));
        }
        let numbers: Vec<i64> = (0..slots.len() as i64).collect();
        let written = mask.rows_mut(&numbers)?;
        process_caches::count(&process_caches::MASKS, slots.len() as u64);
        let threads = threads.unwrap_or_else(thread_pool::num_threads);
        let mut answer = vec![FREE; guides.len()];
        let guides: Vec<(usize, &mut Slot)> = slots.iter_mut().map(|(i, slot)| (*i, &mut **slot)).collect();
        let known: &mut RowSlots = &mut rows;
        let filled = detached(py, || Ok(fill(known, guides, written, threads, &mut answer)));
        if !matches!(filled, Ok(Ok(_))) {
            rows.clear();
        }
        let new = filled?.map_err(|(i, panic)| of_batch(py, internal(py, &of_guide(i, &panic)), i))?;
        if let Err(error) = slots.iter().try_for_each(|(i, slot)| sound_in_batch(py, *i, slot)) {
            rows.clear();
            return Err(error);
        }
        Ok((answer.into_pyarray(py), new.into_pyarray(py)))
    }

    /// Forget what is on the device.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.rows(py)?.clear();
        Ok(())
    }

    /// How many slots hold a mask that may be found again.
    #[getter]
    fn num_identified(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.rows(py)?.num_identified())
    }
}

impl PyRowSlots {
    fn rows(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, RowSlots>> {
        match self.0.try_lock() {
            Ok(rows) => Ok(rows),
            // What a panic left half done is forgotten.
            Err(TryLockError::Poisoned(poisoned)) => {
                let mut rows = poisoned.into_inner();
                rows.clear();
                Ok(rows)
            }
            Err(TryLockError::WouldBlock) => Err(busy(py, "these device rows are in use by another thread")),
        }
    }
}

/// Looks for the masks of the guides, and writes those that are not in a slot to `written`. The slots of these, or the
/// number of a guide and what a panic said.
fn fill(
    rows: &mut RowSlots,
    guides: Vec<(usize, &mut Slot)>,
    written: Vec<&mut [u32]>,
    threads: usize,
    answer: &mut [i32],
) -> Result<Vec<i32>, (usize, String)> {
    rows.begin();
    let mut written = written.into_iter();
    let (mut jobs, mut new, mut unidentified) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers = Vec::new();
    for (i, slot) in guides {
        let Asked { slot, identity, ended } = ask(slot);
        let identity = identity.map_err(|panic| (i, panic_message(&*panic)))?;
        if ended {
            continue;
        }
        if let Some(known) = identity.as_ref().and_then(|identity| rows.find(identity)) {
            answer[i] = known as i32;
            continue;
        }
        // There are as many slots and rows as guides: that was checked.
        let (Some(taken), Some(row)) = (rows.take(), written.next()) else {
            return Err((i, "no slot is left for a row".to_owned()));
        };
        answer[i] = taken as i32;
        new.push(taken as i32);
        jobs.push(BatchJob { slot, row, stage: Stage::Waiting });
        numbers.push(i);
        // Others of the batch that are in the same place find it.
        match identity {
            Some(identity) => rows.identify(taken, identity),
            None => unidentified.push((jobs.len() - 1, taken)),
        }
    }
    run_all(&mut jobs, threads);
    if let Some((panic, &i)) = jobs.iter().zip(&numbers).find_map(|(job, i)| Some((job.stage.panic()?, i))) {
        return Err((i, panic.to_owned()));
    }
    // What was made now has an identity the next time.
    for (at, taken) in unidentified {
        let Asked { identity, .. } = ask(jobs[at].slot);
        if let Some(identity) = identity.map_err(|panic| (numbers[at], panic_message(&*panic)))? {
            rows.identify(taken, identity);
        }
    }
    Ok(new)
}

fn ask(slot: &mut Slot) -> Asked<'_> {
    let ended = slot.guide.is_terminated();
    let identity = catch_unwind(AssertUnwindSafe(|| slot.guide.mask_identity()));
    slot.broken |= identity.is_err();
    Asked { slot, identity, ended }
}
