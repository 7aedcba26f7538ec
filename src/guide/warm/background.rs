//! Warming up beside what goes on.
//!
//! One thread of the process warms up, one index after the other, so that a burst of new sources takes one core and not
//! all of them. What nobody else holds any more is passed over, and who finds too many waiting is not queued: its masks
//! are made when they are asked for. The thread ends when nothing waits. A forked child has neither the thread nor what
//! waited, so a process that forks lets the thread put its locks down first.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::index::Index;

/// Indexes that wait at a time.
const MOST: usize = 256;

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
    if queue.waits.len() >= MOST {
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
    let busy = Busy::begin();
    while let Some((index, time)) = next() {
        // A request that is gone, or has not asked for a guide yet, is no reason; an index that nobody holds is.
        if index.num_holders() > 1 {
            let until = Instant::now().checked_add(time);
            let go_on = || {
                busy.rest();
                until.is_none_or(|until| Instant::now() < until)
            };
            // A panic in here is a fault of the core, which whoever asks for the same mask is told of.
            _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| index.warm_up(go_on)));
        }
    }
}

/// Forks that are under way, for which the thread holds still.
static FORKS: AtomicUsize = AtomicUsize::new(0);
/// Threads that may hold a lock: one, or two while the last one ends.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// To be called before the process forks: waits until the thread is between two masks, where it holds no lock that the
/// child would find held for ever, and keeps it there.
pub fn before_fork() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    while BUSY.load(Ordering::SeqCst) > 0 {
        std::thread::sleep(MOMENT);
    }
}

/// To be called in the parent afterwards.
pub fn after_fork_in_parent() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

/// To be called in the child afterwards.
pub fn after_fork_in_child() {
    FORKS.store(0, Ordering::SeqCst);
    BUSY.store(0, Ordering::SeqCst);
}

/// How long who waits sleeps.
const MOMENT: Duration = Duration::from_micros(20);

/// A thread that may hold locks, as long as this lives, but for its rests.
struct Busy;

impl Busy {
    fn begin() -> Busy {
        Busy::enter();
        Busy
    }

    /// Who sees a fork takes itself back, and who forks looks after saying so: one of the two sees the other.
    fn enter() {
        loop {
            BUSY.fetch_add(1, Ordering::SeqCst);
            if FORKS.load(Ordering::SeqCst) == 0 {
                return;
            }
            BUSY.fetch_sub(1, Ordering::SeqCst);
            while FORKS.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(MOMENT);
            }
        }
    }

    /// Holds still while the process forks.
    fn rest(&self) {
        if FORKS.load(Ordering::SeqCst) > 0 {
            BUSY.fetch_sub(1, Ordering::SeqCst);
            Busy::enter();
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::SeqCst);
    }
}
