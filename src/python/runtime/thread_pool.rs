//! The threads that help with batches: a pool of our own, made on first use.
//!
//! A forked child has none of its parent's threads, so the pool remembers the process that made it; a child makes a
//! new one and never touches the old, whose locks may be held by threads that no longer exist. The lock around the
//! pool itself is only ever tried, never waited for: a caller that finds it taken works alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// More threads than any batch can use.
pub const MAX_THREADS: usize = 1024;

/// The environment's variable for the number of threads.
pub const THREADS_VARIABLE: &str = "INTERLOCK_NUM_THREADS";

/// What `set_num_threads` said; 0 is "use the default".
static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// The pool, the process that made it, and its size.
static POOL: Mutex<Option<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(None);

/// Set how many threads to use; `None` goes back to the default.
pub fn set_num_threads(n: Option<usize>) {
    CHOSEN.store(n.unwrap_or(0), Ordering::Relaxed);
}

/// What the environment asks for, if it does.
///
/// # Errors
/// What it says, where that is no number of threads.
pub fn asked() -> Result<Option<usize>, String> {
    let Some(text) = std::env::var_os(THREADS_VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let number = text.to_str().and_then(|text| text.trim().parse().ok()).filter(|n| (1..=MAX_THREADS).contains(n));
    number.map(Some).ok_or_else(|| text.to_string_lossy().into_owned())
}

/// How many threads to use, the calling one included.
pub fn num_threads() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    match CHOSEN.load(Ordering::Relaxed) {
        0 => *DEFAULT.get_or_init(|| {
            let allowed = || std::thread::available_parallelism().map_or(1, usize::from);
            asked().ok().flatten().unwrap_or_else(allowed)
        }),
        n => n,
    }
}

/// A pool of at least `size` threads, or `None` where there can be none now.
fn pool(size: usize) -> Option<Arc<ThreadPool>> {
    let mut slot = POOL.try_lock().ok()?;
    let process = std::process::id();
    match &*slot {
        Some((owner, threads, pool)) if *owner == process && *threads >= size => return Some(Arc::clone(pool)),
        _ => {}
    }
    let made = ThreadPoolBuilder::new().num_threads(size).thread_name(|i| format!("interlock-{i}")).build().ok()?;
    let made = Arc::new(made);
    if let Some((owner, _, old)) = slot.replace((process, size, Arc::clone(&made)))
        && owner != process
    {
        // Dropping it would wake threads that this process does not have.
        std::mem::forget(old);
    }
    Some(made)
}

/// Run `work` on the calling thread and, at the same time, on up to `helpers` others; return when all have finished.
pub fn with_helpers(helpers: usize, work: impl Fn() + Sync) {
    match if helpers == 0 { None } else { pool(helpers.min(MAX_THREADS)) } {
        Some(pool) => pool.in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| work());
            }
            work();
        }),
        None => work(),
    }
}
