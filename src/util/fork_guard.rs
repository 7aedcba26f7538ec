//! The fork guard: forks wait while other threads work.
//!
//! A forked child has one thread, and whatever lock another one held is held for ever there. So threads that work say
//! so ([`Working`]), and a process that is about to fork ([`before`]) waits until none does and holds back those that
//! would begin. Work that Python asks for is told so by the bindings, and background warm-up by itself: it may take
//! long, and [rests](Working::rest) where it holds no lock.
//!
//! `docs/internals/threads-and-fork.md` has an example.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Forks that are under way.
static FORKS: AtomicUsize = AtomicUsize::new(0);
/// Threads that may hold a lock.
static WORKING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// How often this thread has begun to work: callbacks from within work may ask for more.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Sleep of a waiting thread between two looks.
const MOMENT: Duration = Duration::from_micros(20);
/// How long a fork waits at most. Work that takes longer may wait for whoever forks.
const PATIENCE: Duration = Duration::from_secs(10);

/// To be called before the process forks: waits until no other thread holds a lock that the child would find held for
/// ever, for ten seconds at most, and lets none begin to work. Whether none holds one.
pub fn before() -> bool {
    FORKS.fetch_add(1, Ordering::SeqCst);
    let own = usize::from(DEPTH.get() > 0);
    let began = Instant::now();
    while WORKING.load(Ordering::SeqCst) > own {
        if began.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(MOMENT);
    }
    true
}

/// To be called in the parent afterwards.
pub fn after_in_parent() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

/// To be called in the child afterwards, which has only the thread that forked.
pub fn after_in_child() {
    FORKS.store(0, Ordering::SeqCst);
    WORKING.store(usize::from(DEPTH.get() > 0), Ordering::SeqCst);
}

/// A thread that may hold locks, as long as this lives, but for its rests. It does not leave its thread.
pub struct Working(std::marker::PhantomData<*const ()>);

impl Working {
    /// Waits for forks that are under way.
    #[inline]
    pub fn begin() -> Working {
        let depth = DEPTH.get();
        if depth == 0 {
            enter();
        }
        DEPTH.set(depth + 1);
        Working(std::marker::PhantomData)
    }

    /// Holds still while the process forks. The caller holds no lock.
    pub fn rest(&self) {
        if DEPTH.get() == 1 && FORKS.load(Ordering::SeqCst) > 0 {
            WORKING.fetch_sub(1, Ordering::SeqCst);
            enter();
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            WORKING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Begins work, unless a fork is under way. Who sees a fork takes itself back, and who forks looks after saying so: one
/// of the two sees the other.
fn enter() {
    loop {
        WORKING.fetch_add(1, Ordering::SeqCst);
        if FORKS.load(Ordering::SeqCst) == 0 {
            return;
        }
        WORKING.fetch_sub(1, Ordering::SeqCst);
        while FORKS.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(MOMENT);
        }
    }
}

#[cfg(test)]
mod tests;
