//! Background warm-up: one thread of the process, one index after the other.
//!
//! A burst of new sources so takes one core and not all of them. Indexes that nobody else holds any more are passed
//! over, and who finds too many waiting is not queued: its masks are made when they are asked for. The thread ends when
//! nothing waits. A forked child has neither the thread nor what waited, so a process that forks lets the thread put
//! its locks down first.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::index::Index;
use crate::util::fork_guard::Working;

/// Indexes that wait at a time.
const MOST_WAITING: usize = 256;

/// What waits, and for how long each is warmed up.
struct Queue {
    /// The process whose thread takes from it, if there is one.
    process: Option<u32>,
    waits: VecDeque<(Index, Duration)>,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { process: None, waits: VecDeque::new() });

/// Warms `index` up for at most `time` once those before it are done. False if too many wait, or no thread could be
/// started.
pub fn warm_up(index: &Index, time: Duration) -> bool {
    let Some(mut queue) = try_lock() else { return false };
    let process = std::process::id();
    if queue.process.is_some_and(|p| p != process) {
        *queue = Queue { process: None, waits: VecDeque::new() };
    }
    if queue.waits.len() >= MOST_WAITING {
        return false;
    }
    queue.waits.push_back((index.clone(), time));
    if queue.process.is_none() {
        let started = std::thread::Builder::new().name("interlock-warm".into()).spawn(work).is_ok();
        if !started {
            queue.waits.clear();
            return false;
        }
        queue.process = Some(process);
    }
    true
}

/// The queue, which is held for moments only, unless a thread held it that a forked child does not have.
fn try_lock() -> Option<MutexGuard<'static, Queue>> {
    /// Looks at the lock.
    const TRIES: usize = 1_000;
    (0..TRIES).find_map(|_| match QUEUE.try_lock() {
        Ok(queue) => Some(queue),
        Err(TryLockError::Poisoned(queue)) => Some(queue.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::yield_now();
            None
        }
    })
}

fn next() -> Option<(Index, Duration)> {
    // The thread that asks belongs to this process, and so does whoever holds the lock.
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    let next = queue.waits.pop_front();
    if next.is_none() {
        queue.process = None;
    }
    next
}

fn work() {
    let working = Working::begin();
    while let Some((index, time)) = next() {
        // A request that is gone, or has not asked for a guide yet, is no reason; an index that nobody holds is.
        if index.num_holders() > 1 {
            let until = Instant::now().checked_add(time);
            let go_on = || {
                working.rest();
                until.is_none_or(|until| Instant::now() < until)
            };
            // A panic in here is a fault of the core, which whoever asks for the same mask is told of.
            _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                if index.compile_until(until) { index.warm_up(go_on) } else { 0 }
            }));
        }
    }
}
