//! `fill_bitmasks_within`: the masks of a batch, as many as there are within a time.
//!
//! Known masks are written at once. Each of the others is made by a thread over a copy of its guide, and the call waits
//! for them until its time is over. A thread that is late goes on, and what it makes is taken by the next call that
//! finds the guide in the same place: [`Guide::continue_as`]. So no call waits for a mask that takes long, and no mask
//! is begun twice.
//!
//! Those are begun first whose last mask took least time, and each wait halves what counts of it, so that none waits
//! for ever. Guides whose last mask took [much](HEAVY) are *heavy*: they come last, and no more of them run at a time
//! than there are threads, so that they do not keep the processors from the others.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::guide::{Guide, GuidePlace};
use crate::python::batch::{BatchArguments, BatchJob, Stage, failures_of, jobs_of, look_at_few, numbers_of, slots_of};
use crate::python::convert::argument::duration;
use crate::python::errors::{also_late, detached, of_several, panic_message};
use crate::python::runtime::process_caches;
use crate::util::fork_guard::Working;
use crate::util::idle_threads;

/// A mask that a thread makes, or has made.
pub struct MaskAhead {
    /// The process whose thread it is.
    process: u32,
    /// Where the guide is to be for it.
    place: GuidePlace,
    made: Mutex<Option<Made>>,
}

/// What a thread has made.
struct Made {
    guide: Guide,
    row: Vec<u32>,
    /// Whether anything is masked, or what a panic said.
    outcome: Result<bool, String>,
    took: Duration,
}

/// A mask that a thread begins when it comes to it.
struct Task {
    guide: Guide,
    words: usize,
    is_heavy: bool,
    /// What counts of the time that its guide's last mask took.
    expected: Duration,
    ahead: Arc<MaskAhead>,
}

/// Tasks that run, those of them that are heavy, and the process whose they are.
static RUNNING: Mutex<Running> = Mutex::new(Running { process: 0, all: 0, heavy: 0 });

struct Running {
    process: u32,
    all: usize,
    heavy: usize,
}

/// The tasks of this process that run.
fn running() -> MutexGuard<'static, Running> {
    let (mut running, process) = (lock(&RUNNING), std::process::id());
    if running.process != process {
        *running = Running { process, all: 0, heavy: 0 };
    }
    running
}

/// Who waits for masks is told here that one is made, or that nobody makes it.
static TOLD: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());

fn tell() {
    drop(lock(&TOLD.0));
    TOLD.1.notify_all();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that panics is done under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place among the tasks that run.
struct Place {
    is_heavy: bool,
}

impl Place {
    /// One for a task; `None` for a heavy one where `most` of these run.
    fn take(is_heavy: bool, most: usize) -> Option<Place> {
        let mut running = running();
        if is_heavy && running.heavy >= most {
            return None;
        }
        running.all += 1;
        running.heavy += usize::from(is_heavy);
        Some(Place { is_heavy })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut running = running();
        running.all = running.all.saturating_sub(1);
        running.heavy = running.heavy.saturating_sub(usize::from(self.is_heavy));
    }
}

impl Task {
    fn run(self) {
        let Task { mut guide, words, ahead, .. } = self;
        let _working = Working::begin();
        let mut row = vec![0; words];
        let began = Instant::now();
        let filled = catch_unwind(AssertUnwindSafe(|| guide.fill_mask(&mut row)));
        let outcome = filled.map_err(|panic| panic_message(&*panic));
        *lock(&ahead.made) = Some(Made { guide, row, outcome, took: began.elapsed() });
        drop(ahead);
        tell();
    }
}

/// Whether the mask is made. Otherwise a thread makes it or will, or it is nobody's.
fn is_made(ahead: &MaskAhead) -> bool {
    lock(&ahead.made).is_some()
}

/// Whether no thread has begun the mask, nor will: nobody but its guide holds it.
fn is_nobodys(ahead: &Arc<MaskAhead>) -> bool {
    Arc::strong_count(ahead) == 1 && !is_made(ahead)
}

/// What a thread of a call does: the tasks that nobody has begun, until none is left.
fn work(queue: &Mutex<VecDeque<Task>>, most_heavy: usize) {
    loop {
        let mut tasks = lock(queue);
        let Some(next) = tasks.front() else { return };
        let Some(_place) = Place::take(next.is_heavy, most_heavy) else {
            // Only heavy ones are behind it.
            tasks.clear();
            drop(tasks);
            return tell();
        };
        let next = tasks.pop_front();
        drop(tasks);
        if let Some(task) = next {
            task.run();
        }
    }
}

impl BatchJob<'_> {
    /// Takes what a thread has made of the row, if it has; whether one still makes it.
    fn take_made(&mut self) -> bool {
        // Where a guide is takes a copy of its tokens to tell, so only those are asked that a thread works for.
        let guide = &self.slot.guide;
        self.slot.ahead.take_if(|ahead| ahead.process != std::process::id() || ahead.place != guide.place());
        let Some(ahead) = &self.slot.ahead else { return false };
        let Some(Made { guide, row, outcome, took }) = lock(&ahead.made).take() else { return true };
        (self.slot.ahead, self.slot.took) = (None, took);
        self.slot.guide.continue_as(guide);
        let (written, rest) = self.row.split_at_mut(row.len());
        written.copy_from_slice(&row);
        rest.fill(0);
        self.slot.broken |= outcome.is_err();
        self.stage = outcome.map_or_else(Stage::Panicked, Stage::Filled);
        false
    }

    fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Waiting)
    }
}

/// What a mask takes that a guide is heavy after it.
const HEAVY: Duration = Duration::from_millis(5);
/// Masks that take long and run at a time, for each thread, before no further thread is begun for those behind them.
const MOST_PER_THREAD: usize = 4;

/// Fills what is known and what threads make until then. Rows that are late are [`Stage::Waiting`] afterwards.
fn fill_until(jobs: &mut [BatchJob<'_>], until: Option<Instant>, threads: usize) {
    let mut tasks: Vec<Task> = Vec::new();
    for job in jobs.iter_mut().filter(|job| job.is_waiting()) {
        if job.take_made() || !job.is_waiting() {
            continue;
        }
        job.look();
        if job.is_waiting() {
            let guide = job.slot.guide.clone();
            let (process, words) = (std::process::id(), guide.index().vocabulary().words());
            let ahead = Arc::new(MaskAhead { process, place: guide.place(), made: Mutex::new(None) });
            let (is_heavy, expected) = (job.slot.took > HEAVY, job.slot.took / (1 << job.slot.waited.min(20)));
            tasks.push(Task { guide, words, is_heavy, expected, ahead: ahead.clone() });
            job.slot.ahead = Some(ahead);
        }
    }
    tasks.sort_by_key(|task| (task.is_heavy, task.expected));
    let workers = threads.min(tasks.len());
    let queue = Arc::new(Mutex::new(VecDeque::from(tasks)));
    let begin = || {
        let queue = queue.clone();
        idle_threads::run(move || work(&queue, threads)).is_ok()
    };
    let started = (0..workers).filter(|_| begin()).count();
    if started == 0 {
        // No thread can be had: those that nobody makes are made here.
        work(&queue, threads);
    }
    wait(jobs, until, || {
        // Every thread is busy with a mask that takes long, and others wait behind these.
        let room = running().all < MOST_PER_THREAD * threads;
        if room && lock(&queue).front().is_some_and(|task| !task.is_heavy) {
            begin();
        }
    });
    // What no thread has begun, the next call begins.
    lock(&queue).clear();
    for job in jobs.iter_mut().filter(|job| job.is_waiting()) {
        job.take_made();
        let is_left = job.slot.ahead.take_if(|ahead| is_nobodys(ahead)).is_some();
        job.slot.waited = if is_left { job.slot.waited.saturating_add(1) } else { 0 };
        if job.is_waiting() {
            job.row.fill(0);
        }
    }
}

/// Waits until all masks are made that threads make, or the time is over. `on_stall` is called now and then where
/// nothing was made for a while.
fn wait(jobs: &[BatchJob<'_>], until: Option<Instant>, on_stall: impl Fn()) {
    /// How long nothing is made before that is a stall: much longer than an everyday mask takes.
    const STALL: Duration = Duration::from_millis(4);
    let waits: Vec<_> = jobs.iter().filter(|job| job.is_waiting()).filter_map(|job| job.slot.ahead.as_ref()).collect();
    let mut told = lock(&TOLD.0);
    while !waits.iter().all(|ahead| is_made(ahead) || is_nobodys(ahead)) {
        let rest = until.map_or(STALL, |until| until.saturating_duration_since(Instant::now()).min(STALL));
        if rest.is_zero() {
            return;
        }
        let (held, timeout) = TOLD.1.wait_timeout(told, rest).unwrap_or_else(PoisonError::into_inner);
        told = held;
        if timeout.timed_out() {
            on_stall();
        }
    }
}

/// Fill one row for each guide, as ``fill_bitmasks`` does, and wait at most ``seconds`` for masks that are new.
///
/// Returns the numbers of the guides whose masks are late, ascending. Their rows are zero, so they allow no token:
/// leave these sequences out of this step, and ask again in the next. A thread goes on with each of them meanwhile,
/// and the next call takes what it has made. A guide that is late may be used as ever; the mask is thrown away where
/// it goes on or back. With ``seconds=0`` nothing is waited for.
///
/// Everything else is as for ``fill_bitmasks``. Of an error, ``batch_late`` are the numbers of the guides that are
/// late, and the rows of all others are written.
///
/// A mask that is known takes as long as there, and a new one some 50 microseconds more, for its thread.
#[pyfunction]
#[pyo3(signature = (guides, bits, seconds, rows=None, threads=None))]
pub fn fill_bitmasks_within(
    py: Python<'_>,
    guides: &Bound<'_, PyAny>,
    bits: &Bound<'_, PyAny>,
    seconds: &Bound<'_, PyAny>,
    rows: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<usize>> {
    let time = duration(seconds, "seconds")?;
    // What is in no clock's range is no limit.
    let until = Instant::now().checked_add(time);
    let BatchArguments { guides, numbers, mut mask, threads } = BatchArguments::new(py, guides, bits, rows, threads)?;
    let mut slots = slots_of(py, &guides, &mask)?;
    let mut jobs = jobs_of(&guides, &mut slots, mask.rows_mut(&numbers)?);
    if !look_at_few(&mut jobs) {
        detached(py, || {
            fill_until(&mut jobs, until, threads);
            Ok(())
        })?;
    }
    let late: Vec<usize> =
        jobs.iter().zip(numbers_of(&guides)).filter(|(job, _)| job.is_waiting()).map(|(_, i)| i).collect();
    process_caches::count(&process_caches::LATE_MASKS, late.len() as u64);
    match of_several(py, failures_of(py, &guides, &jobs), None) {
        Some(error) => Err(also_late(py, error, late)),
        None => Ok(late),
    }
}
