//! Cancelling: long work that is stopped from outside.
//!
//! Compiles and searches are bounded by limits on work, and still may take seconds. Whoever starts one may *watch* it:
//! a function that is called now and then and may end the work by an error. The loops that count work for the limits
//! ask [`checkpoint`] on the way, so a stop leaves by the same paths as a limit that is exceeded: typed, and with
//! nothing half made left behind. A watch belongs to a thread, and to the work that it runs; work that nobody watches
//! pays for a counter.
//!
//! The same questions bound one compile as a whole: other limits bound one search, and a source may ask for thousands
//! of searches that each stay within theirs. Steps that take longer than others [`charge`] more.
//!
//! What a watch or a report of progress runs in turn, handlers of signals above all, is no part of the work: it is run
//! [`uninterruptible`].
//!
//! A watch that has ended the work once must go on saying so: what fails for one reason in the middle of a compile is
//! sometimes tried in another way.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::error::{Error, Result};

/// What is asked whether to go on.
pub type Watch = Arc<dyn Fn() -> Result<()>>;

/// Steps between two questions to the watch: some tens of microseconds.
const STEPS: u32 = 64;

/// The counters of a thread, together: to find them takes longer than to count.
struct Counters {
    /// Steps until the next question.
    left: Cell<u32>,
    /// Steps spent by the work at hand, and how many it may spend.
    spent: Cell<usize>,
    most: Cell<usize>,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
    static COUNTERS: Counters =
        const { Counters { left: Cell::new(STEPS), spent: Cell::new(0), most: Cell::new(usize::MAX) } };
}

/// Runs `work`, which ends with a `Limit` error when it has spent `most` steps.
pub fn limited<T>(most: usize, work: impl FnOnce() -> T) -> T {
    struct Before(usize, usize);
    impl Drop for Before {
        fn drop(&mut self) {
            COUNTERS.with(|c| {
                c.spent.set(self.0);
                c.most.set(self.1);
            });
        }
    }
    let _before = COUNTERS.with(|c| Before(c.spent.replace(0), c.most.replace(most)));
    work()
}

/// Counts `steps`; [`checkpoint`] tells when they are too many.
#[inline]
pub fn charge(steps: usize) {
    COUNTERS.with(|c| c.spent.set(c.spent.get().saturating_add(steps)));
}

/// The steps that the work at hand has spent.
pub fn spent() -> usize {
    COUNTERS.with(|c| c.spent.get())
}

/// Puts the watch of before back, whatever happens.
struct Before(Option<Watch>);

impl Drop for Before {
    fn drop(&mut self) {
        WATCH.set(self.0.take());
    }
}

/// Runs `work`, which ends early with the error of `watch` if that returns one.
pub fn watched<T>(watch: Watch, work: impl FnOnce() -> T) -> T {
    let _before = Before(WATCH.replace(Some(watch)));
    work()
}

/// Runs `work`, which ends early with the error of `watch`, or of the watch that it has already.
pub fn also_watched<T>(watch: Watch, work: impl FnOnce() -> T) -> T {
    let Some(before) = WATCH.with_borrow(|w| w.clone()) else { return watched(watch, work) };
    watched(Arc::new(move || before().and_then(|()| watch())), work)
}

/// Runs `work` without a watch: for what is made once and kept, which a stop must not leave failed, and for what is no
/// part of the work.
pub fn uninterruptible<T>(work: impl FnOnce() -> T) -> T {
    let _before = Before(WATCH.replace(None));
    limited(usize::MAX, work)
}

/// Whether somebody watches the work.
pub fn is_watched() -> bool {
    WATCH.with_borrow(Option::is_some)
}

/// Whether the work may go on. Called once for each step that a limit counts.
///
/// # Errors
/// What the watch says; `Limit` beyond the steps of [`limited`].
#[inline]
pub fn checkpoint() -> Result<()> {
    let left = COUNTERS.with(|c| {
        c.spent.set(c.spent.get().saturating_add(1));
        let left = c.left.get();
        c.left.set(left.wrapping_sub(1));
        left
    });
    if left > 1 { Ok(()) } else { poll() }
}

/// Whether the work may go on after some that took as long as `steps` steps.
///
/// # Errors
/// As [`checkpoint`].
#[inline]
pub fn checkpoint_after(steps: usize) -> Result<()> {
    charge(steps);
    if steps < STEPS as usize { checkpoint() } else { poll() }
}

/// Whether the work must end, for what cannot fail itself and belongs to a step that is counted. Who is told so leaves
/// what it makes unfinished, and whoever counts the step learns why.
#[inline]
pub fn should_stop() -> bool {
    let left = COUNTERS.with(|c| c.left.replace(c.left.get().wrapping_sub(1)));
    left <= 1 && poll().is_err()
}

/// Whether the work at hand has spent more steps than it may. The watch is not asked.
#[inline]
pub fn is_exhausted() -> bool {
    COUNTERS.with(|c| c.spent.get() > c.most.get())
}

/// Whether the work may go on, asked by a step that takes long itself.
///
/// # Errors
/// What the watch says.
#[cold]
pub fn poll() -> Result<()> {
    let (spent, most) = COUNTERS.with(|c| {
        c.left.set(STEPS);
        (c.spent.get(), c.most.get())
    });
    if spent > most {
        return Err(Error::limit("steps of the compile", most as u64, spent as u64).set_by("max_compile_steps"));
    }
    // The watch may run work of its own.
    let watch = WATCH.with_borrow(|w| w.clone());
    watch.map_or(Ok(()), |watch| watch())
}

#[cfg(test)]
mod tests;
