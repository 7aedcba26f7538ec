//! Things that are made side by side and taken one after the other.
//!
//! Threads claim batches of numbers in ascending order and make what belongs to them; the calling thread takes what is
//! made in the order of the numbers, and makes batches itself while the next one to take is not there yet. So what is
//! taken does not depend on the number of threads, and taking costs no time of its own where there are two or more.
//! Makers run ahead of the taker by a bounded number of batches.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::error::{Error, ErrorKind, Result};

/// Numbers that are claimed at once.
const BATCH: usize = 8;
/// Batches that are made before they are taken, for each thread.
const AHEAD: usize = 16;

struct State<T> {
    /// The next batch to claim, and the next to take.
    claimed: usize,
    taken: usize,
    /// What is made of the batches from `taken` on.
    made: VecDeque<Option<Vec<T>>>,
    /// No batch is made any more: the taker failed, or a maker panicked.
    stopped: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    batches: usize,
    ahead: usize,
}

/// Stops the others when its thread panics.
struct Stop<'a, T>(&'a Shared<T>);

impl<T> Drop for Stop<'_, T> {
    fn drop(&mut self) {
        self.0.state().stopped = true;
        self.0.changed.notify_all();
    }
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|p| p.into_inner())
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(|p| p.into_inner())
    }

    fn claim(&self, state: &mut State<T>) -> Option<usize> {
        let free = state.claimed < self.batches && state.claimed < state.taken + self.ahead;
        free.then(|| {
            state.claimed += 1;
            state.made.push_back(None);
            state.claimed - 1
        })
    }

    fn put(&self, batch: usize, things: Vec<T>) {
        let mut state = self.state();
        let at = batch - state.taken;
        if let Some(slot) = state.made.get_mut(at) {
            *slot = Some(things);
        }
        // Only the taker waits for one batch, the others for room.
        self.changed.notify_all();
    }

    /// Makes batches until there is none left.
    fn help(&self, mut make: impl FnMut(usize) -> Vec<T>) {
        let stop = Stop(self);
        loop {
            let mut state = self.state();
            let batch = loop {
                if state.stopped || state.claimed >= self.batches {
                    drop(state);
                    std::mem::forget(stop);
                    return;
                }
                match self.claim(&mut state) {
                    Some(batch) => break batch,
                    None => state = self.wait(state),
                }
            };
            drop(state);
            let things = make(batch);
            self.put(batch, things);
        }
    }
}

/// That the system gives no thread.
pub fn no_thread(e: &std::io::Error) -> Error {
    Error::new(ErrorKind::Limit, format!("threads cannot be started: {e}"))
}

/// Calls `make` with each number below `count`, on `threads` threads of which the calling one is one, and `take` with
/// each number and what was made, in order, on the calling thread. Each thread has what `worker` returns for itself.
///
/// # Errors
/// What `take` returns, which ends the work; `Limit` if a thread cannot be started.
pub fn in_order<T: Send, W>(
    threads: usize,
    count: usize,
    worker: impl Fn() -> W + Sync,
    make: impl Fn(&mut W, usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let batches = count.div_ceil(BATCH);
    let threads = threads.min(batches);
    if threads <= 1 {
        let mut worker = worker();
        return (0..count).try_for_each(|i| take(i, make(&mut worker, i)));
    }
    let state = State { claimed: 0, taken: 0, made: VecDeque::new(), stopped: false };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new(), batches, ahead: AHEAD * threads };
    let batch_of = |worker: &mut W, batch: usize| -> Vec<T> {
        (batch * BATCH..count.min((batch + 1) * BATCH)).map(|i| make(worker, i)).collect()
    };
    std::thread::scope(|scope| {
        // However this ends, the others end as well.
        let _stop = Stop(&shared);
        for _ in 1..threads {
            let helper = || {
                let mut worker = worker();
                shared.help(|batch| batch_of(&mut worker, batch));
            };
            let started = std::thread::Builder::new().name("interlock-build".into()).spawn_scoped(scope, helper);
            started.map_err(|e| no_thread(&e))?;
        }
        let mut worker = worker();
        let mut state = shared.state();
        while state.taken < batches {
            if let Some(Some(_)) = state.made.front() {
                let things = state.made.pop_front().flatten().unwrap_or_default();
                let batch = state.taken;
                state.taken += 1;
                shared.changed.notify_all();
                drop(state);
                (batch * BATCH..).zip(things).try_for_each(|(i, thing)| take(i, thing))?;
                state = shared.state();
            } else if let Some(batch) = shared.claim(&mut state) {
                drop(state);
                let things = batch_of(&mut worker, batch);
                shared.put(batch, things);
                state = shared.state();
            } else if state.stopped {
                return Err(Error::new(ErrorKind::Internal, "a thread that built an index panicked"));
            } else {
                state = shared.wait(state);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
