//! A parallel map: things that are made side by side and come back in order.
//!
//! The threads are started for it and have ended when it returns, so they may borrow, need no lock, and a forked child
//! misses none of them. That costs some tens of microseconds for each, so pieces should take longer in all: what is
//! asked of a few milliseconds has threads that are kept (see `idle_threads`).

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, scope};

/// What `make` says of each number below `count`, on up to `threads` threads of which the calling one is one. Where the
/// system gives no more threads, those that there are make all.
///
/// # Panics
/// If `make` does.
pub fn in_order<T: Send>(threads: usize, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < count);
        std::iter::from_fn(claim).map(|i| (i, make(i))).collect::<Vec<_>>()
    };
    let mut made = scope(|scope| {
        let start = |_| Builder::new().name("interlock-build".into()).spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (1..threads.min(count)).map_while(start).collect();
        let mut made = work();
        for helper in helpers {
            made.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        made
    });
    made.sort_unstable_by_key(|&(i, _)| i);
    made.into_iter().map(|(_, thing)| thing).collect()
}

#[cfg(test)]
mod tests;
