//! Hands free pages back to the system where a cache forgot much.
//!
//! An allocator keeps what is freed for the allocations to come, which a process that compiles all the time needs. What
//! a cache forgets is another matter: it may be hundreds of megabytes, nothing as large follows, and each thread keeps
//! its own. So a cache [counts](count) what it forgets, and every thread hands its pages back when it ends a compile
//! [after that](release_if_due). Where a cache forgets little, nothing is handed back: it costs some milliseconds, and
//! as many again for the pages that are needed after all.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that are worth handing back.
const MANY: usize = 64 << 20;

static FORGOTTEN: AtomicUsize = AtomicUsize::new(0);
/// How many times much was forgotten.
static TIMES: AtomicUsize = AtomicUsize::new(0);
static RELEASE: OnceLock<fn()> = OnceLock::new();

thread_local! {
    /// The times after which this thread handed its pages back.
    static SEEN: Cell<usize> = const { Cell::new(0) };
}

/// Says how the allocator hands free pages of a thread back. The first caller decides.
pub fn release_with(release: fn()) {
    let _ = RELEASE.set(release);
}

/// Counts bytes that a cache forgot.
pub fn count(bytes: usize) {
    let before = FORGOTTEN.fetch_add(bytes, Ordering::Relaxed);
    if before / MANY != before.wrapping_add(bytes) / MANY {
        TIMES.fetch_add(1, Ordering::Relaxed);
    }
}

/// Hands the free pages of this thread back if much was forgotten since it did so last.
pub fn release_if_due() {
    let times = TIMES.load(Ordering::Relaxed);
    if SEEN.replace(times) != times {
        RELEASE.get().inspect(|release| release());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static CALLS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn every_thread_hands_its_pages_back_where_much_was_forgotten() {
        release_with(|| {
            CALLS.fetch_add(1, Ordering::Relaxed);
        });
        release_if_due();
        // Other tests forget as well, so the counts are the fewest.
        let before = CALLS.load(Ordering::Relaxed);
        count(MANY);
        release_if_due();
        assert!(CALLS.load(Ordering::Relaxed) > before);
        let before = CALLS.load(Ordering::Relaxed);
        std::thread::spawn(release_if_due).join().unwrap_or(());
        assert!(CALLS.load(Ordering::Relaxed) > before, "a thread has pages of its own");
    }
}
