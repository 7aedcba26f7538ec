//! Functions over whole batches: fill many rows, mask many rows of logits.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::counted;
use crate::guide::Guide;
use crate::mask_kernels::{apply_row, copy_row};
use crate::python::convert::argument::{integer, optional_count, type_name, wrong_type};
use crate::python::convert::buffer::{LogitRows, MaskRows};
use crate::python::convert::ids::row_numbers;
use crate::python::errors::{argument, busy, detached, internal, of_batch, of_several, panic_message};
use crate::python::guide::{PyGuide, Slot};
use crate::python::runtime::{process_caches, thread_pool};

/// One row to fill.
pub(super) struct BatchJob<'a> {
    pub(super) slot: &'a mut Slot,
    pub(super) row: &'a mut [u32],
    pub(super) stage: Stage,
}

/// A guide of a batch, or nothing for a sequence without a constraint.
pub struct GuideOrNone<'py>(Option<Bound<'py, PyGuide>>);

impl<'py> GuideOrNone<'py> {
    /// What a sequence of guides holds.
    pub(super) fn all(guides: &Bound<'py, PyAny>) -> PyResult<Vec<Self>> {
        // A guide that was forgotten to be put into a list is the commonest mistake.
        let items = guides.try_iter().map_err(|e| match e.is_instance_of::<PyTypeError>(guides.py()) {
            true => wrong_type(guides, "guides", "a sequence of interlock.Guide or None"),
            false => e,
        })?;
        items.enumerate().map(|(i, item)| GuideOrNone::one(&item?, i)).collect()
    }

    /// The guide, if there is one.
    pub(super) fn get(&self) -> Option<&PyGuide> {
        self.0.as_ref().map(|guide| guide.get())
    }

    /// ``ArgumentError`` for a guide whose vocabulary is not that of the first one: the rows of a batch mask the logits
    /// of one model. Two vocabularies with the same fingerprint are one.
    pub(super) fn check_vocabularies(py: Python<'_>, guides: &[Self]) -> PyResult<()> {
        let mut each =
            guides.iter().enumerate().filter_map(|(i, guide)| guide.get().map(|guide| (i, guide.vocabulary())));
        let Some((first, known)) = each.next() else { return Ok(()) };
        let other = each.find(|(_, own)| !Arc::ptr_eq(own, known) && own.fingerprint() != known.fingerprint());
        let Some((i, _)) = other else { return Ok(()) };
        let what = format!("its vocabulary is another one than that of guide {first}, and a batch is of one model");
        Err(of_batch(py, argument(py, of_guide(i, &what)), i))
    }

    fn one(object: &Bound<'py, PyAny>, i: usize) -> PyResult<Self> {
        if let Ok(guide) = object.cast::<PyGuide>() {
            return Ok(GuideOrNone(Some(guide.clone())));
        }
        match object.is_none() {
            true => Ok(GuideOrNone(None)),
            false => {
                let kind = type_name(object);
                Err(PyTypeError::new_err(format!("guides must hold interlock.Guide or None, not {kind} (guides[{i}])")))
            }
        }
    }
}

/// How far a row has come.
pub(super) enum Stage {
    Waiting,
    /// The guide had failed before.
    Failed,
    /// The guide's answer: whether anything is masked.
    Filled(bool),
    /// What a panic said, so that one bug costs one guide and not the batch's others.
    Panicked(String),
}

impl Stage {
    /// What a panic said.
    pub(super) fn panic(&self) -> Option<&str> {
        match self {
            Stage::Panicked(panic) => Some(panic),
            _ => None,
        }
    }
}

impl BatchJob<'_> {
    /// Fill the row, if its mask is known.
    pub(super) fn look(&mut self) {
        if matches!(self.stage, Stage::Waiting) {
            self.attempt(|guide, row| guide.fill_known_mask(row).map_or(Stage::Waiting, Stage::Filled));
        }
    }

    /// Fill the row, unless that was done or tried. What another row of the batch has made meanwhile is known now.
    fn run(&mut self) {
        if matches!(self.stage, Stage::Waiting) {
            self.attempt(|guide, row| Stage::Filled(guide.fill_mask(row)));
        }
    }

    fn attempt(&mut self, fill: impl FnOnce(&mut Guide, &mut [u32]) -> Stage) {
        let BatchJob { slot, row, .. } = self;
        self.stage = catch_unwind(AssertUnwindSafe(|| fill(&mut slot.guide, row))).unwrap_or_else(|panic| {
            self.slot.broken = true;
            self.row.fill(0);
            Stage::Panicked(panic_message(&*panic))
        });
    }
}

/// Batches of at most this many guides are looked for with the GIL held: known masks of so few take less time than
/// another thread needs to wake up and take the GIL, so releasing it would only make the threads wait for each other.
/// Measured with 2 to 8 threads on two cores (`benches/threads.py`): from four guides on releasing it pays.
const FEW: usize = 3;
/// Work that is left below this is done by the calling thread: waking another costs about as much.
const WORTH_SHARING: Duration = Duration::from_micros(150);
/// Jobs between two looks at the clock, and taken by a thread at once.
const CHUNK: usize = 4;

/// Fill the rows whose masks are known, if the batch is small; whether all were.
pub(super) fn look_at_few(jobs: &mut [BatchJob<'_>]) -> bool {
    if jobs.len() > FEW {
        return false;
    }
    jobs.iter_mut().for_each(BatchJob::look);
    !jobs.iter().any(|job| matches!(job.stage, Stage::Waiting))
}

/// Run all jobs; on up to `threads` threads where that pays.
pub(super) fn run_all(jobs: &mut [BatchJob<'_>], threads: usize) {
    run_each(jobs, threads, BatchJob::run);
}

/// Run each of some jobs; on up to `threads` threads where that pays. They do not depend on each other, so who runs
/// which changes nothing but the time.
pub(super) fn run_each<T: Send>(mut jobs: &mut [T], threads: usize, run: impl Fn(&mut T) + Sync) {
    let start = Instant::now();
    let mut done = 0u32;
    while !jobs.is_empty() {
        let (now, later) = jobs.split_at_mut(CHUNK.min(jobs.len()));
        now.iter_mut().for_each(&run);
        done += now.len() as u32;
        jobs = later;
        let rest = start.elapsed() / done * jobs.len() as u32;
        if threads > 1 && rest > WORTH_SHARING {
            break;
        }
    }
    if jobs.is_empty() {
        return;
    }
    let helpers = (threads - 1).min(jobs.len().div_ceil(CHUNK) - 1);
    let queue = Mutex::new(jobs.chunks_mut(CHUNK));
    let next = || queue.lock().map_or(None, |mut chunks| chunks.next());
    let work = || {
        while let Some(chunk) = next() {
            chunk.iter_mut().for_each(&run);
        }
    };
    thread_pool::with_helpers(helpers, work);
}

/// The slot of the guide with this number, unless the guide is in use, or a panic or a damaged file left it in doubt.
/// The error has the guide's number in the batch. Nothing where there is no guide.
pub(super) fn slot_in_batch<'a>(
    py: Python<'_>,
    number: usize,
    guides: &'a [GuideOrNone<'_>],
) -> PyResult<Option<MutexGuard<'a, Slot>>> {
    let slot = locked_in_batch(py, number, guides)?;
    slot.as_ref().map_or(Ok(()), |slot| check_in_batch(py, number, slot))?;
    Ok(slot)
}

/// What [`slot_in_batch`] answers, for a guide in doubt as well.
pub(super) fn locked_in_batch<'a>(
    py: Python<'_>,
    number: usize,
    guides: &'a [GuideOrNone<'_>],
) -> PyResult<Option<MutexGuard<'a, Slot>>> {
    let Some(guide) = &guides[number].0 else { return Ok(None) };
    let Some(slot) = guide.get().try_slot() else {
        let is_same = |other: &GuideOrNone<'_>| other.0.as_ref().is_some_and(|other| other.is(guide));
        let message = match guides[..number].iter().position(is_same) {
            Some(first) => {
                format!("guide {number} of the batch is guide {first} again: each row takes a fork of its own")
            }
            None => format!("guide {number} of the batch is in use by another thread"),
        };
        return Err(of_batch(py, busy(py, &message), number));
    };
    Ok(Some(slot))
}

/// What [`Slot::check`] refuses, with the guide's number in the batch.
pub(super) fn check_in_batch(py: Python<'_>, number: usize, slot: &Slot) -> PyResult<()> {
    if slot.broken {
        let message = format!("guide {number} of the batch was in use when another bug struck; drop its request");
        return Err(of_batch(py, internal(py, &message), number));
    }
    sound_in_batch(py, number, slot)
}

/// What [`Slot::sound`] refuses, with the guide's number in the batch.
pub(super) fn sound_in_batch(py: Python<'_>, number: usize, slot: &Slot) -> PyResult<()> {
    slot.sound_saying(py, |what| of_guide(number, what)).map_err(|error| of_batch(py, error, number))
}

/// What is said of one guide of a batch.
pub(super) fn of_guide(number: usize, what: &str) -> String {
    format!("guide {number} of the batch: {what}")
}

/// What calls that fill the masks of a batch are given.
pub(super) struct BatchArguments<'py> {
    pub guides: Vec<GuideOrNone<'py>>,
    /// The row of each guide.
    pub numbers: Vec<i64>,
    pub mask: MaskRows<'py, true>,
    pub threads: usize,
}

impl<'py> BatchArguments<'py> {
    pub(super) fn new(
        py: Python<'py>,
        guides: &Bound<'py, PyAny>,
        bits: &Bound<'py, PyAny>,
        rows: Option<&Bound<'py, PyAny>>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let guides = GuideOrNone::all(guides)?;
        let threads = optional_count(threads, "threads")?;
        // Python code of the caller's may run here, so it does before memory is looked at.
        let numbers = match rows {
            Some(rows) => row_numbers(rows)?,
            None => (0..guides.len() as i64).collect(),
        };
        let mask = MaskRows::<true>::new(bits)?;
        if numbers.len() != guides.len() {
            let said = format!(
                "{}, but {} in rows",
                counted(guides.len() as u64, "guide"),
                counted(numbers.len() as u64, "number")
            );
            return Err(argument(py, format!("{said}: rows[i] is the row of bits for guide i")));
        }
        if rows.is_none() && guides.len() > mask.rows() {
            let (given, has) = (counted(guides.len() as u64, "guide"), counted(mask.rows() as u64, "row"));
            return Err(argument(py, format!("{given}, but bits has {has}: without rows, row i is that of guide i")));
        }
        if threads == Some(0) {
            return Err(argument(py, "threads must be at least 1"));
        }
        Ok(BatchArguments { guides, numbers, mask, threads: threads.unwrap_or_else(thread_pool::num_threads) })
    }
}

/// The slots of all guides of a batch, in order, which are of one vocabulary; `mask` has room for each.
pub(super) fn slots_of<'a>(
    py: Python<'_>,
    guides: &'a [GuideOrNone<'_>],
    mask: &MaskRows<'_, true>,
) -> PyResult<Vec<MutexGuard<'a, Slot>>> {
    let mut slots = Vec::with_capacity(guides.len());
    for (i, guide) in guides.iter().enumerate() {
        let Some(guide) = guide.get() else { continue };
        mask.check_width(guide.words(), || format!("the vocabulary of guide {i}"))
            .map_err(|error| of_batch(py, error, i))?;
        slots.extend(locked_in_batch(py, i, guides)?);
    }
    GuideOrNone::check_vocabularies(py, guides)?;
    Ok(slots)
}

/// A job for each guide, over its row. Rows without a guide become all ones.
pub(super) fn jobs_of<'a>(
    guides: &[GuideOrNone<'_>],
    slots: &'a mut [MutexGuard<'_, Slot>],
    rows: Vec<&'a mut [u32]>,
) -> Vec<BatchJob<'a>> {
    let mut jobs = Vec::with_capacity(slots.len());
    let mut each = slots.iter_mut();
    for (row, guide) in rows.into_iter().zip(guides) {
        match guide.get().and_then(|_| each.next()) {
            Some(slot) if slot.has_failed() => {
                row.fill(0);
                jobs.push(BatchJob { slot, row, stage: Stage::Failed });
            }
            Some(slot) => jobs.push(BatchJob { slot, row, stage: Stage::Waiting }),
            None => row.fill(u32::MAX),
        }
    }
    process_caches::count(&process_caches::MASKS, jobs.len() as u64);
    jobs
}

/// The numbers of the guides that there are.
pub(super) fn numbers_of(guides: &[GuideOrNone<'_>]) -> impl Iterator<Item = usize> {
    guides.iter().enumerate().filter_map(|(i, guide)| guide.get().map(|_| i))
}

/// The errors of the guides that failed.
pub(super) fn failures_of(py: Python<'_>, guides: &[GuideOrNone<'_>], jobs: &[BatchJob<'_>]) -> Vec<PyErr> {
    let failure = |(job, i): (&BatchJob<'_>, usize)| match job.stage.panic() {
        Some(panic) => Some(of_batch(py, internal(py, &of_guide(i, panic)), i)),
        None => check_in_batch(py, i, job.slot).err(),
    };
    jobs.iter().zip(numbers_of(guides)).filter_map(failure).collect()
}

/// Fill one row for each guide in one call: on several threads where that pays, and without the GIL unless the masks
/// are few and known.
///
/// Row ``rows[i]`` of ``bits``, which is as for ``Guide.fill_bitmask``, belongs to ``guides[i]``; without ``rows`` that
/// is row ``i``. ``None`` instead of a guide is a sequence without a constraint: its row becomes all ones, which
/// is -1 in every word. Returns whether any row masks anything. Nothing is written if an argument is unsuitable, guides
/// are of different vocabularies or a row is named twice (``ArgumentError``), or a guide is in use or twice there
/// (``GuideBusyError``). A guide that fails at its mask (``LimitError`` of a grammar, ``InternalError`` for a bug), and
/// one that has failed before, costs itself alone: its row is zero, all other rows are written, and ``batch_index`` of
/// the error is the guide's number. ``batch_others`` are the errors of the other guides that failed.
#[pyfunction]
#[pyo3(signature = (guides, bits, rows=None, threads=None))]
pub fn fill_bitmasks(
    py: Python<'_>,
    guides: &Bound<'_, PyAny>,
    bits: &Bound<'_, PyAny>,
    rows: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let BatchArguments { guides, numbers, mut mask, threads } = BatchArguments::new(py, guides, bits, rows, threads)?;
    let mut slots = slots_of(py, &guides, &mask)?;
    let mut jobs = jobs_of(&guides, &mut slots, mask.rows_mut(&numbers)?);
    if !look_at_few(&mut jobs) {
        detached(py, || {
            run_all(&mut jobs, threads);
            Ok(())
        })?;
    }
    let masked = jobs.iter().any(|job| matches!(job.stage, Stage::Filled(true)));
    of_several(py, failures_of(py, &guides, &jobs), None).map_or(Ok(masked), Err)
}

/// Mask logits in memory that the processor can reach; `masks.apply_bitmask` calls it.
///
/// ``bfloat16`` says that the 16-bit integers of ``logits`` are that format's bit patterns. With ``source``, other
/// logits of the same shape and dtype, the masked copy of these is written instead, rows without a mask included.
#[pyfunction]
#[pyo3(signature = (logits, bits, rows=None, bfloat16=false, source=None))]
pub fn apply_bitmask_cpu(
    py: Python<'_>,
    logits: &Bound<'_, PyAny>,
    bits: &Bound<'_, PyAny>,
    rows: Option<&Bound<'_, PyAny>>,
    bfloat16: bool,
    source: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    // Python code of the caller's may run here, so it does before memory is looked at.
    let rows = rows.map(row_numbers).transpose()?;
    let mut logits = LogitRows::new(logits, bfloat16)?;
    logits.check_rows_apart()?;
    let mut source = source.map(|s| LogitRows::new(s, bfloat16)).transpose()?;
    if let Some(source) = &source {
        logits.check_source(source)?;
    }
    let mask = MaskRows::<false>::new(bits)?;
    logits.check_apart(&mask)?;
    let numbers: Vec<usize> = match rows {
        Some(numbers) => {
            if numbers.len() != mask.rows() {
                let given = counted(numbers.len() as u64, "row");
                let said = format!("rows names {given}, but bits has {}", mask.rows());
                return Err(argument(py, format!("{said}: rows[i] is the row of the logits that row i of bits masks")));
            }
            let in_range = |&n: &i64| usize::try_from(n).ok().filter(|&n| n < logits.rows());
            match numbers.iter().map(in_range).collect() {
                Some(numbers) => numbers,
                None => {
                    let out = numbers.iter().find(|n| in_range(n).is_none()).copied().unwrap_or_default();
                    let has = counted(logits.rows() as u64, "row");
                    return Err(argument(py, format!("row {out} is out of range: logits have {has}")));
                }
            }
        }
        None if mask.rows() == logits.rows() => (0..mask.rows()).collect(),
        None => {
            let rows = counted(mask.rows() as u64, "row");
            return Err(argument(py, format!("bits has {rows}, logits have {}", logits.rows())));
        }
    };
    let (words, width) = (mask.all(), mask.words());
    let free: Vec<usize> = match &source {
        Some(_) => {
            let named: HashSet<usize> = numbers.iter().copied().collect();
            (0..logits.rows()).filter(|row| !named.contains(row)).collect()
        }
        None => Vec::new(),
    };
    let whole = vec![u32::MAX; if free.is_empty() { 0 } else { logits.columns().div_ceil(32) }];
    let mut memory = logits.memory();
    let mut source = source.as_mut().map(LogitRows::memory);
    detached(py, move || {
        let masked = numbers.iter().enumerate().map(|(i, &row)| (row, &words[i * width..(i + 1) * width]));
        for (row, words) in masked.chain(free.iter().map(|&row| (row, &whole[..]))) {
            let Some(lanes) = memory.row_mut(row) else { continue };
            match source.as_mut().map(|s| s.row_mut(row)) {
                None => apply_row(lanes, words),
                // Shapes and formats are the same: that was checked.
                Some(from) => drop(from.map(|from| copy_row(lanes, &from, words))),
            }
        }
        Ok(())
    })
}

/// How many threads batch calls may use in this process; ``None`` goes back to the default.
///
/// The default is ``INTERLOCK_NUM_THREADS`` where that is a number from 1 to 1024, and otherwise what the process may
/// use. Importing interlock warns where the variable holds anything else.
#[pyfunction]
#[pyo3(signature = (n))]
pub fn set_num_threads(py: Python<'_>, n: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let most = thread_pool::MAX_THREADS;
    // No count, so that a negative number is told the same as 0.
    let checked = |given: &Bound<'_, PyAny>| {
        let n = usize::try_from(integer(given, "n")?).ok().filter(|n| (1..=most).contains(n));
        n.ok_or_else(|| argument(py, format!("n is a number of threads from 1 to {most}, or None, not {given}")))
    };
    thread_pool::set_num_threads(n.map(checked).transpose()?);
    Ok(())
}

/// How many threads batch calls may use in this process.
#[pyfunction]
pub fn get_num_threads() -> usize {
    thread_pool::num_threads()
}
