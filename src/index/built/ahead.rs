//! Masks that are made while configurations are still being found.
//!
//! Configurations are found one after the other, on the calling thread, which then minimizes the automaton. Other
//! threads follow it meanwhile and make the masks of what it found, in the same order. Some of these masks are made in
//! vain, of configurations that are found to be equal to others; what is taken is the same.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use super::maker::Maker;
use super::sketch::Sketch;
use crate::automaton::append::AppendVec;

/// Configurations that are claimed at once.
const BATCH: usize = 4;
/// Steps that are told at once.
const TOLD: usize = 16;

#[derive(Default)]
struct State {
    /// Of each configuration but the start, from where and by which byte it was found.
    steps: Vec<(u32, u8)>,
    /// Configurations that somebody makes the mask of.
    claimed: usize,
    stopped: bool,
}

/// See the module's story.
#[derive(Default)]
pub struct Ahead {
    state: Mutex<State>,
    changed: Condvar,
    made: AppendVec<Arc<Sketch>>,
}

impl Ahead {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// The mask of a configuration, if it was made.
    pub fn get(&self, id: u32) -> Option<&Arc<Sketch>> {
        self.made.get(id)
    }

    /// Makes masks until [`stop`](Self::stop).
    pub fn help(&self, maker: &mut Maker<'_>) {
        let mut steps: Vec<(u32, u8)> = Vec::new();
        loop {
            let mut state = self.state();
            while !state.stopped && state.claimed > state.steps.len() {
                state = self.changed.wait(state).unwrap_or_else(|p| p.into_inner());
            }
            if state.stopped {
                return;
            }
            // The start is found without a step.
            let from = state.claimed;
            state.claimed = (from + BATCH).min(state.steps.len() + 1);
            let until = state.claimed;
            steps.clear();
            steps.extend_from_slice(&state.steps[(maker.len() - 1).min(until - 1)..until - 1]);
            drop(state);
            steps.iter().for_each(|&(from, byte)| maker.follow(from, byte));
            for id in from..until {
                self.made.set(id as u32, maker.sketch(id as u32));
            }
        }
    }

    /// Tells the others of configurations that were found.
    pub fn tell(&self, steps: &mut Vec<(u32, u8)>) {
        if steps.len() >= TOLD {
            self.state().steps.append(steps);
            self.changed.notify_all();
        }
    }

    /// Nothing more is made ahead.
    pub fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }
}

/// Stops the others however its scope ends.
pub struct Stop<'a>(pub &'a Ahead);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
