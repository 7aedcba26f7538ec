//! The mask pipeline: several threads make masks, the first while configurations are still being found.
//!
//! Configurations are found one after the other, on the calling thread, which then minimizes the automaton. Helpers
//! follow it meanwhile and make the masks of what it found, in the same order; some of these in vain, of configurations
//! that are found to be equal to others. When the states are known, all threads make the masks that are *wanted* and
//! that nobody has claimed yet, and the calling one takes them in the order of the states. Who comes first lays next
//! states into rows: that is one piece, as long as many masks, and at the end the others would wait for it. So what is
//! taken does not depend on the number of threads, and a helper has what it found out about the frames at hand from the
//! beginning to the end.
//!
//! A helper that is late finds the index gone and leaves; nobody waits for it.

use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::index::tables::mask_delta::MaskDelta;
use crate::index::tables::packed_rows::PackedRows;
use crate::index::tables::worker::MaskWorker;

/// Masks that are claimed at once while configurations are still being found.
const BATCH: usize = 4;
/// The share that a thread claims: one in so many of the masks that are left, of states side by side, which are made of
/// equal parts. So threads make few parts twice, and end together.
const SHARE: usize = 16;
/// No more than these, so that masks get ready in the order in which they are taken.
const MOST_ROWS: usize = 32;
/// Steps that are told at once: who waits for them is not woken for each.
const TOLD: usize = 16;
/// Masks that are taken at once.
const TAKEN: usize = 64;

/// Next states by state and byte class, and the number of classes.
type StepTable = (Vec<u16>, usize);

/// What one thread does at a time.
enum PipelineJob {
    /// Masks of configurations.
    Masks(SmallVec<[u32; BATCH]>),
    Rows(StepTable),
}

/// What is left to claim once the states are known.
struct WantedMask {
    /// Configurations whose masks are wanted, and which of them nobody has looked at.
    ids: Arc<[u32]>,
    left: Range<usize>,
    table: Option<StepTable>,
}

impl WantedMask {
    /// Some of the masks that are left and that were not `claimed` before the states were known.
    fn claim(&mut self, claimed: usize) -> SmallVec<[u32; BATCH]> {
        let most = (self.left.len() / SHARE).clamp(1, MOST_ROWS);
        let mut ids = SmallVec::new();
        while ids.len() < most {
            let Some(next) = self.left.next() else { break };
            if self.ids[next] as usize >= claimed {
                ids.push(self.ids[next]);
            }
        }
        ids
    }
}

#[derive(Default)]
struct PipelineState {
    /// What is built, for threads that begin to help; `None` when there is nothing left to do for them.
    index: Option<Index>,
    /// Threads that began to help and have not let go of what they help with.
    helping: usize,
    /// From where, and by which byte, each configuration but the start was found.
    steps: Vec<(u32, u8)>,
    /// Configurations, in the order in which they were found, whose masks somebody makes or made.
    claimed: usize,
    wanted: Option<WantedMask>,
    /// Masks by configuration, as far as they are made.
    made: Vec<Option<Arc<MaskDelta>>>,
    rows: Option<PackedRows>,
    stopped: bool,
    /// Threads that wait: telling nobody costs a call of the system as well.
    waiting: usize,
}

impl PipelineState {
    /// Something to do.
    fn claim(&mut self) -> Option<PipelineJob> {
        let Some(wanted) = &mut self.wanted else {
            let from = self.claimed;
            // The start is found without a step.
            self.claimed = (from + BATCH).min(self.steps.len() + 1).max(from);
            return (self.claimed > from).then(|| PipelineJob::Masks((from as u32..self.claimed as u32).collect()));
        };
        if let Some(table) = wanted.table.take() {
            return Some(PipelineJob::Rows(table));
        }
        Some(wanted.claim(self.claimed)).filter(|ids| !ids.is_empty()).map(PipelineJob::Masks)
    }
}

/// The masks of an index's configurations, made by helpers while the calling thread finds further configurations.
pub struct MaskPipeline {
    state: Mutex<PipelineState>,
    changed: Condvar,
}

/// Ends the work of all threads however its scope ends, and waits until they have let go of the index.
pub struct Stop<'a>(pub &'a MaskPipeline);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.stopped = true;
        state.index = None;
        if state.helping > 0 {
            self.0.changed.notify_all();
        }
        while state.helping > 0 {
            state = self.0.wait(state);
        }
    }
}

/// A guard that says that a thread helps, and with what.
struct Helping<'a> {
    ahead: &'a MaskPipeline,
    index: Option<Index>,
}

impl Drop for Helping<'_> {
    fn drop(&mut self) {
        // Who waits is alone with the index then.
        self.index = None;
        let mut state = self.ahead.state();
        state.helping -= 1;
        // What it was making is missing.
        state.stopped |= std::thread::panicking();
        self.ahead.wake(state);
    }
}

impl MaskPipeline {
    /// For a build of an index.
    pub fn new(index: &Index) -> Self {
        let state = PipelineState { index: Some(index.clone()), ..PipelineState::default() };
        MaskPipeline { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, PipelineState> {
        self.state.lock().unwrap_or_else(|p| p.into_inner())
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, PipelineState>) -> MutexGuard<'a, PipelineState> {
        state.waiting += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(|p| p.into_inner());
        state.waiting -= 1;
        state
    }

    /// Ends a change of the state, of which those hear who wait.
    fn wake(&self, state: MutexGuard<'_, PipelineState>) {
        let waiting = state.waiting > 0;
        drop(state);
        if waiting {
            self.changed.notify_all();
        }
    }

    fn work(&self, job: PipelineJob, maker: &mut MaskWorker<'_>) {
        match job {
            PipelineJob::Masks(ids) => {
                let sketches: SmallVec<[(u32, Arc<MaskDelta>); BATCH]> =
                    ids.iter().map(|&id| (id, maker.sketch(id))).collect();
                let mut state = self.state();
                for (id, sketch) in sketches {
                    let id = id as usize;
                    if state.made.len() <= id {
                        state.made.resize(id + 1, None);
                    }
                    state.made[id] = Some(sketch);
                }
                self.wake(state);
            }
            PipelineJob::Rows((next, width)) => {
                let rows = PackedRows::pack(&next, width);
                let mut state = self.state();
                state.rows = Some(rows);
                self.wake(state);
            }
        }
    }

    /// Works until nothing is left that nobody has claimed, or until it is stopped.
    pub fn help(&self) {
        let mut state = self.state();
        let index = state.index.clone();
        state.helping += 1;
        drop(state);
        let helping = Helping { ahead: self, index };
        let Some(index) = &helping.index else { return };
        let mut maker = MaskWorker::at_start(&index.0);
        let mut steps: Vec<(u32, u8)> = Vec::new();
        loop {
            let mut state = self.state();
            let job = loop {
                let job = if state.stopped { None } else { state.claim() };
                match job {
                    Some(job) => break job,
                    None if state.stopped || state.wanted.is_some() => return,
                    None => state = self.wait(state),
                }
            };
            steps.clear();
            if let PipelineJob::Masks(ids) = &job {
                let until = ids.iter().max().map_or(0, |&id| id as usize);
                steps.extend_from_slice(state.steps.get(maker.len() - 1..until).unwrap_or_default());
            }
            drop(state);
            steps.iter().for_each(|&(from, byte)| maker.follow(from, byte));
            self.work(job, &mut maker);
        }
    }

    /// Tells the others of configurations that were found, where these are many.
    pub fn tell(&self, steps: &mut Vec<(u32, u8)>) {
        if steps.len() >= TOLD {
            let mut state = self.state();
            state.steps.append(steps);
            self.wake(state);
        }
    }

    /// Calls `take` with the masks of all `ids`, in this order, on the calling thread, which makes masks as well.
    /// `steps` are those that the others were not told, `table` is what the rows are made of that come back.
    ///
    /// # Errors
    /// What `take` returns.
    pub fn take(
        &self,
        mut steps: Vec<(u32, u8)>,
        ids: Arc<[u32]>,
        table: StepTable,
        maker: &mut MaskWorker<'_>,
        mut take: impl FnMut(usize, Arc<MaskDelta>) -> Result<()>,
    ) -> Result<PackedRows> {
        let mut state = self.state();
        state.steps.append(&mut steps);
        state.wanted = Some(WantedMask { ids: ids.clone(), left: 0..ids.len(), table: Some(table) });
        self.wake(state);
        let mut ready: Vec<Arc<MaskDelta>> = Vec::with_capacity(TAKEN);
        let mut taken = 0;
        while taken < ids.len() {
            self.find(maker, |state| {
                let left = ids[taken..].iter().take(TAKEN);
                ready.extend(left.map_while(|&id| state.made.get(id as usize).cloned().flatten()));
                (!ready.is_empty()).then_some(())
            })?;
            for sketch in ready.drain(..) {
                take(taken, sketch)?;
                taken += 1;
            }
        }
        self.find(maker, |state| state.rows.take())
    }

    /// What somebody makes, when it is made; works on something else until then.
    fn find<T>(&self, maker: &mut MaskWorker<'_>, mut found: impl FnMut(&mut PipelineState) -> Option<T>) -> Result<T> {
        let mut state = self.state();
        loop {
            if let Some(found) = found(&mut state) {
                return Ok(found);
            }
            match state.claim() {
                Some(job) => {
                    drop(state);
                    self.work(job, maker);
                    state = self.state();
                }
                None if state.stopped => {
                    return Err(Error::new(ErrorKind::Internal, "a thread that built an index panicked"));
                }
                None => state = self.wait(state),
            }
        }
    }
}
