//! `Guide.forced_tokens(within=…)`: the forced tokens, if they are found within a time.
//!
//! A thread looks for them over a copy of the guide, and the call waits until its time is over. A thread that is late
//! goes on, and the next call at the same place takes what it has found: [`Guide::continue_as`]. A guide has one such
//! thread at most, so a call elsewhere waits for it first. So no call takes long, and threads do not pile up.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::guide::{Guide, GuidePlace};
use crate::util::fork_guard::Working;
use crate::util::idle_threads;

/// What a call asks for.
#[derive(Clone, PartialEq)]
pub(super) struct Wanted {
    /// Tokens that are taken before.
    pub after: Option<Vec<u32>>,
    pub canonical: bool,
}

impl Wanted {
    pub fn find(&self, guide: &mut Guide) -> Vec<u32> {
        match (&self.after, self.canonical) {
            (Some(after), true) => guide.forced_tokens_after(after),
            (None, true) => guide.forced_tokens(),
            (Some(after), false) => guide.forced_spelling_after(after),
            (None, false) => guide.forced_spelling(),
        }
    }
}

/// Forced tokens that a thread looks for, or has found.
pub(super) struct ForcedAhead {
    /// The process whose thread it is.
    process: u32,
    /// Where the guide is to be for them.
    place: GuidePlace,
    wanted: Wanted,
    found: Receiver<Found>,
}

/// What a thread has found.
struct Found {
    guide: Guide,
    /// The tokens, or the panic.
    outcome: std::thread::Result<Vec<u32>>,
}

impl ForcedAhead {
    /// Has a thread look. Where none can be had, nobody is there to tell anything.
    fn begin(guide: &Guide, wanted: &Wanted) -> ForcedAhead {
        let (tell, found) = channel();
        let (place, mut guide, job) = (guide.place(), guide.clone(), wanted.clone());
        let look = move || {
            let outcome = {
                let _working = Working::begin();
                catch_unwind(AssertUnwindSafe(|| job.find(&mut guide)))
            };
            // Who asked may be gone.
            let _ = tell.send(Found { guide, outcome });
        };
        let _ = idle_threads::run(look);
        ForcedAhead { process: std::process::id(), place, wanted: wanted.clone(), found }
    }
}

/// What is wanted of the guide, and nothing where that takes longer than `time`. `under_way` is what the thread of an
/// earlier call does, and then what that of this call does. Panics as the thread did.
pub(super) fn forced_within(
    guide: &mut Guide,
    under_way: &mut Option<ForcedAhead>,
    wanted: &Wanted,
    time: Duration,
) -> Vec<u32> {
    let began = Instant::now();
    loop {
        let ahead = under_way.take().filter(|ahead| ahead.process == std::process::id());
        let ahead = ahead.unwrap_or_else(|| ForcedAhead::begin(guide, wanted));
        match ahead.found.recv_timeout(time.saturating_sub(began.elapsed())) {
            Ok(Found { guide: copy, outcome }) if ahead.wanted == *wanted && ahead.place == guide.place() => {
                guide.continue_as(copy);
                return outcome.unwrap_or_else(|panic| resume_unwind(panic));
            }
            // Of another place.
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {
                *under_way = Some(ahead);
                return Vec::new();
            }
            Err(RecvTimeoutError::Disconnected) => return wanted.find(guide),
        }
    }
}
