//! Meters work that cannot fail itself, such as making a mask.
//!
//! Compiles end with an error where they have taken too many steps ([`cancel`](crate::util::cancel)). A mask has no
//! error to give, and most of what it is made of is kept for others, so nothing may end in the middle of that. So the
//! parts [`charge`] what they take, and only the loops that join them ask whether the work [is over](is_over) what was
//! allowed. They end early then, and keep nothing of what they have.
//!
//! A part may need more memory than it may take, and answer wrongly for want of it. It [gives up](give_up) then: all
//! work that is metered is over, and whoever runs work that is not asks whether a part [gave up](has_given_up).
//!
//! A meter belongs to a thread, and to the work that it runs. Work that nobody meters is never over.

use std::cell::Cell;

use crate::error::{Error, Result};

struct Meter {
    spent: Cell<usize>,
    most: Cell<usize>,
    /// The bytes that a part may take which gave up; otherwise 0.
    gave_up: Cell<u64>,
    /// Bytes of states and masks that the thread has taken, ever.
    taken: Cell<usize>,
    /// What `taken` would be if the work had taken nothing.
    before: Cell<usize>,
    /// The work took more memory than there was for it.
    crowded: Cell<bool>,
}

thread_local! {
    static METER: Meter = const {
        Meter {
            spent: Cell::new(0),
            most: Cell::new(usize::MAX),
            gave_up: Cell::new(0),
            taken: Cell::new(0),
            before: Cell::new(0),
            crowded: Cell::new(false),
        }
    };
}

/// What some work took.
#[derive(Clone, Copy)]
pub struct Spent {
    /// Steps; more than it was allowed: it ended early.
    pub steps: usize,
    /// Bytes of states and masks, those of the work before it included.
    pub bytes: usize,
    /// It ended early because all sources together hold more memory than they may.
    pub crowded: bool,
}

/// Runs `work`, which may take `most` steps, and says what it took. Who has `taken` bytes before takes more of them.
pub fn metered_with<T>(most: usize, taken: usize, work: impl FnOnce() -> T) -> (T, Spent) {
    struct Outer(usize, usize, usize, bool);
    impl Drop for Outer {
        fn drop(&mut self) {
            METER.with(|m| {
                m.spent.set(self.0);
                m.most.set(self.1);
                m.before.set(self.2);
                m.crowded.set(self.3);
            });
        }
    }
    let before = taken_here().wrapping_sub(taken);
    let _outer = METER
        .with(|m| Outer(m.spent.replace(0), m.most.replace(most), m.before.replace(before), m.crowded.replace(false)));
    let answer = work();
    let bytes = taken_here().wrapping_sub(before);
    (answer, METER.with(|m| Spent { steps: m.spent.get(), bytes, crowded: m.crowded.get() }))
}

/// Runs `work`, which may take `most` steps, and says how many it took. More than `most`: it ended early.
pub fn metered<T>(most: usize, work: impl FnOnce() -> T) -> (T, usize) {
    let (answer, spent) = metered_with(most, 0, work);
    (answer, spent.steps)
}

/// Runs `work` to its end: for what is made once for all requests, and has bounds of its own. Nobody pays for it.
pub fn unmetered<T>(work: impl FnOnce() -> T) -> T {
    metered(usize::MAX, work).0
}

/// Counts steps of the work at hand. One is about a microsecond.
#[inline]
pub fn charge(steps: usize) {
    METER.with(|m| m.spent.set(m.spent.get().saturating_add(steps)));
}

/// Counts memory that the work at hand fills: two hundred bytes take a step.
#[inline]
pub fn charge_bytes(bytes: usize) {
    const BYTES_PER_STEP: usize = 200;
    charge(bytes.div_ceil(BYTES_PER_STEP));
}

/// Counts bytes of states and masks that the work at hand takes, as memory and as steps.
#[inline]
pub fn take(bytes: usize) {
    METER.with(|m| m.taken.set(m.taken.get().wrapping_add(bytes)));
    charge_bytes(bytes);
}

/// The bytes of states and masks that this thread has taken, ever.
pub fn taken_here() -> usize {
    METER.with(|m| m.taken.get())
}

/// Ends the work at hand, if it is metered and has taken more bytes of states and masks than its `share`.
#[cold]
pub fn end_if_crowded(share: usize) {
    METER.with(|m| {
        if m.most.get() != usize::MAX && m.taken.get().wrapping_sub(m.before.get()) > share {
            m.spent.set(usize::MAX);
            m.crowded.set(true);
        }
    });
}

/// Says that a part of the work at hand cannot be done within the `bytes` that it may take: its answer is wrong.
#[cold]
pub fn give_up(bytes: u64) {
    METER.with(|m| {
        m.spent.set(usize::MAX);
        m.gave_up.set(bytes.max(1));
    });
}

/// Whether a part of the work gave up since this was asked last.
#[inline]
pub fn has_given_up() -> bool {
    METER.with(|m| m.gave_up.get() != 0 && m.gave_up.replace(0) != 0)
}

/// Runs work that can fail itself, and fails where a part of it gave up.
///
/// # Errors
/// That of the work, or `Limit`.
pub fn unless_given_up<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    has_given_up();
    let done = work();
    match METER.with(|m| m.gave_up.replace(0)) {
        0 => done,
        bytes => Err(too_large_states(bytes)),
    }
}

/// What is told where the states that follow one of a pattern need more than the `most` bytes that they may take.
pub fn too_large_states(most: u64) -> Error {
    Error::limit("bytes of the states behind one of a pattern", most, most.saturating_add(1)).set_by("max_state_bytes")
}

/// The steps that the work at hand has taken.
#[inline]
pub fn spent() -> usize {
    METER.with(|m| m.spent.get())
}

/// Whether the work at hand has taken more steps than it may.
#[inline]
pub fn is_over() -> bool {
    METER.with(|m| m.spent.get() > m.most.get())
}

/// Whether the work at hand has taken half of the steps that it may: what can be left out is left out from then on.
#[inline]
pub fn is_nearly_over() -> bool {
    METER.with(|m| m.spent.get() > m.most.get() / 2)
}

/// What one request may spend: so many steps, of which each token gives a part back.
#[derive(Clone, Copy)]
pub struct WorkAccount {
    left: usize,
    /// Bytes of states and masks that it has taken.
    pub taken: usize,
    /// How many tokens had been taken when it was looked at last.
    tokens: usize,
}

/// Tokens that give back all that was spent.
const REGAINED: usize = 50;

impl Default for WorkAccount {
    fn default() -> Self {
        WorkAccount { left: usize::MAX, taken: 0, tokens: 0 }
    }
}

impl WorkAccount {
    /// The steps that are left of `most` when so many tokens have been taken.
    pub fn left(&mut self, most: usize, tokens: usize) -> usize {
        let regained = tokens.saturating_sub(self.tokens).saturating_mul(most / REGAINED);
        self.tokens = tokens;
        self.left = self.left.saturating_add(regained).min(most);
        self.left
    }

    /// Takes steps off.
    pub fn pay(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_give_back_what_was_spent() {
        let mut account = WorkAccount::default();
        assert_eq!(account.left(100, 0), 100);
        account.pay(90);
        assert_eq!(account.left(100, 3), 16);
        assert_eq!(account.left(100, 1), 16, "going back neither costs nor gives");
        assert_eq!(account.left(100, 2), 18);
        assert_eq!(account.left(100, 1_000), 100, "no more than all");
    }

    #[test]
    fn who_gives_up_ends_metered_work_and_is_told_once() {
        let (was_over, spent) = metered(10, || {
            give_up(7);
            is_over()
        });
        assert!(was_over && spent > 10 && !is_over());
        assert!(has_given_up() && !has_given_up());
        let failed = unless_given_up(|| {
            give_up(7);
            Ok(())
        });
        assert_eq!(failed.unwrap_err().limit_values(), Some((7, 8)));
        assert!(unless_given_up(|| Ok(())).is_ok() && !has_given_up());
    }

    #[test]
    fn work_inside_of_work_has_its_own_meter() {
        let (inner, outer) = metered(10, || {
            charge(4);
            assert!(!is_nearly_over());
            let inner = metered(usize::MAX, || charge(100)).1;
            assert!(!is_over());
            charge(2);
            assert!(is_nearly_over() && !is_over());
            charge(5);
            assert!(is_over());
            inner
        });
        assert_eq!((inner, outer), (100, 11));
        assert!(!is_over(), "nobody meters what comes behind");
    }
}
