//! Idle threads, kept for the next build.
//!
//! Many builds take a few milliseconds, of which starting a thread and its first pages of memory take a part that can
//! be seen. So a thread that has done its work is *idle* for a while: it waits to be called by whoever starts a build,
//! and ends when nobody does.
//!
//! A forked child has none of its parent's threads, so the list of idle ones remembers the process that it belongs to.
//! Where a thread may find the list taken by a thread that its process does not have, it only tries to take it: who
//! finds it taken starts a thread, or ends.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What a thread is called for.
type Job = Box<dyn FnOnce() + Send>;

/// How long a thread is spare before it ends.
const KEPT: Duration = Duration::from_secs(1);
/// Threads that are spare at a time.
const MOST_SPARE: usize = 16;

/// Where a spare thread waits.
#[derive(Default)]
struct IdleThreads {
    job: Mutex<Option<Job>>,
    called: Condvar,
}

/// The process whose threads these are, and those that wait, the one that began to wait last at the end.
static SPARE: Mutex<(u32, Vec<Arc<IdleThreads>>)> = Mutex::new((0, Vec::new()));

/// Runs `job` on a spare thread, or on a new one. A panic ends its thread.
///
/// # Errors
/// Those of starting a thread.
pub fn run(job: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let job: Job = Box::new(job);
    if let Some(spare) = take() {
        *spare.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
        spare.called.notify_one();
        return Ok(());
    }
    std::thread::Builder::new().name("interlock-build".into()).spawn(|| live(job)).map(drop)
}

/// A spare thread, which nobody else has then.
fn take() -> Option<Arc<IdleThreads>> {
    let mut spare = SPARE.try_lock().ok()?;
    if spare.0 != std::process::id() {
        spare.1.clear();
    }
    spare.1.pop()
}

/// Offers a thread. False where there are enough, or it cannot be told.
fn offer(thread: &Arc<IdleThreads>) -> bool {
    let Ok(mut spare) = SPARE.try_lock() else { return false };
    let process = std::process::id();
    if spare.0 != process {
        *spare = (process, Vec::new());
    }
    let room = spare.1.len() < MOST_SPARE;
    if room {
        spare.1.push(thread.clone());
    }
    room
}

/// Takes an offer back. False where somebody took the thread meanwhile.
fn leave(thread: &Arc<IdleThreads>) -> bool {
    // This process took the list before, to offer the thread.
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = spare.1.iter().position(|other| Arc::ptr_eq(other, thread));
    at.map(|at| spare.1.remove(at)).is_some()
}

/// What a thread does as long as it is called.
fn live(mut job: Job) {
    let thread = Arc::new(IdleThreads::default());
    loop {
        job();
        if !offer(&thread) {
            return;
        }
        let none = |job: &mut Option<Job>| job.is_none();
        let waits = thread.job.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut called, _) =
            thread.called.wait_timeout_while(waits, KEPT, none).unwrap_or_else(PoisonError::into_inner);
        if called.is_none() {
            drop(called);
            if leave(&thread) {
                return;
            }
            let waits = thread.job.lock().unwrap_or_else(PoisonError::into_inner);
            called = thread.called.wait_while(waits, none).unwrap_or_else(PoisonError::into_inner);
        }
        match called.take() {
            Some(next) => job = next,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests;
