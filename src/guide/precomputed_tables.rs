//! Guides over the tables of an index.
//!
//! The index of a file that holds tables is walked on them: a position is a state, and a token is stepped byte by byte.
//! What tables do not answer needs the compiled source. Then the guide *leaves* the tables: the index is compiled, once
//! for all its guides, and the guide's tokens are taken again from the start. From there on it is like any other guide,
//! but masks are still copied from the tables as far as they reach. A guide does not come back to the tables before its
//! next [`reset`](Guide::reset).
//!
//! Leaving fails only for a forged file. The guide is lost then: it refuses everything. [`Guide::failure`] says why.

use crate::error::{Error, ErrorKind};
use crate::guide::Guide;
use crate::guide::position::{Loss, Position, TableStep};
use crate::index::tables::{DEAD_ENTRY, DenseTables, OUTSIDE};
use crate::util::cancel::uninterruptible;
use crate::util::work_meter::has_given_up;

impl Guide {
    /// Why this guide refuses everything: `Limit` where a mask of a grammar took more than its limits allow, or a state
    /// of a pattern more memory, `Artifact` where the file of its index does not make the index that it names.
    pub fn failure(&self) -> Option<&Error> {
        match &self.position {
            Position::Lost(loss) => Some(&loss.error),
            _ => None,
        }
    }

    /// Whether a token may take long to step by: the source may have to be compiled first, many tokens be taken again,
    /// or a plan of the budget be made.
    pub fn may_step_long(&self) -> bool {
        /// Tokens that are taken again in less than a millisecond.
        const FEW_TOKENS: usize = 1 << 10;
        let Some((tables, _)) = self.on_tables() else { return !self.is_known_to_have_room() };
        !tables.is_complete() && (self.root.engine().is_none() || self.history.len() > FEW_TOKENS)
    }

    /// The tables that masks are copied from.
    pub(super) fn tables(&self) -> Option<&DenseTables> {
        self.root.stored_tables().or_else(|| self.root.built())
    }

    /// The state of the tables where the guide is, if it is on them.
    pub(super) fn on_tables(&self) -> Option<(&DenseTables, u16)> {
        match self.position {
            Position::Tables(state) => self.root.stored_tables().map(|tables| (tables, state)),
            _ => None,
        }
    }

    /// Where bytes lead on the tables.
    pub(super) fn next_on_tables(&self, bytes: &[u8]) -> TableStep {
        match self.on_tables().map(|(tables, state)| tables.advance(state, bytes)) {
            None | Some(OUTSIDE) => TableStep::Elsewhere,
            Some(DEAD_ENTRY) => TableStep::Refused,
            Some(to) => TableStep::State(to),
        }
    }

    /// The mask by the tables.
    pub(super) fn fill_from_tables(&mut self, row: &mut [u32]) -> bool {
        let Some(state) = self.table_state() else { return false };
        let Some(tables) = self.tables() else { return false };
        tables.fill(state, row);
        true
    }

    /// The state that the tokens so far lead to on the tables, as far as these reach: the guide's own, or looked up.
    pub(super) fn table_state(&mut self) -> Option<u16> {
        if let Some((_, state)) = self.on_tables() {
            return Some(state);
        }
        let mut flat = std::mem::take(&mut self.flat);
        let state = self.tables().and_then(|tables| {
            if flat.is_empty() {
                flat.push(0);
            }
            while let (Some(step), Some(&state)) = (self.history.get(flat.len() - 1), flat.last()) {
                if self.is_forced_from_outside(flat.len() - 1) {
                    flat.push(state);
                    continue;
                }
                let to = tables.advance(state, self.root.vocabulary().spelling(step.token)?);
                if to >= OUTSIDE {
                    return None;
                }
                flat.push(to);
            }
            flat.last().copied()
        });
        self.flat = flat;
        state
    }

    /// Moves the guide to the engine, if it is on tables. False if that is not possible.
    pub(super) fn leave_tables(&mut self) -> bool {
        match self.position {
            Position::Pattern(_) | Position::Document { .. } | Position::Grammar { .. } => return true,
            Position::Lost(_) => return false,
            Position::Tables(_) => {}
        }
        // Nothing stops a guide on its way from one position to the next.
        if let Err(error) = uninterruptible(|| self.index.compiled()) {
            self.lose(error);
            return false;
        }
        let steps = std::mem::take(&mut self.history);
        self.go_to_engine();
        // What may follow a run is not on the tables.
        self.run = None;
        for step in steps.iter() {
            if !self.take_again(step.token) {
                let message = "the stored index is damaged: its tables allow what its source refuses";
                self.lose_behind(Error::new(ErrorKind::Artifact, message), steps.iter().map(|s| s.token).collect());
                return false;
            }
        }
        true
    }

    /// Whether the guide is lost, because states that it asked for needed more memory than they may take.
    #[inline]
    pub(super) fn loses_given_up(&mut self) -> bool {
        has_given_up() && self.lose_given_up()
    }

    #[cold]
    fn lose_given_up(&mut self) -> bool {
        let error = self.index.given_up();
        let is_lost = error.is_some();
        error.into_iter().for_each(|error| self.lose(error));
        is_lost
    }

    pub(super) fn lose(&mut self, error: Error) {
        self.lose_behind(error, self.tokens());
    }

    /// Loses the guide behind these tokens.
    fn lose_behind(&mut self, error: Error, tokens: Vec<u32>) {
        self.position = Position::Lost(Box::new(Loss { error, tokens }));
        self.history = Default::default();
        self.flat.clear();
        self.run = None;
    }

    /// The forced run, as far as the tables hold it; `None` if the guide is not on them or the run leads outside.
    pub(super) fn run_on_tables(&self, most: usize) -> Option<Vec<u8>> {
        let (tables, mut at) = self.on_tables()?;
        let mut out = Vec::new();
        while out.len() < most && !tables.is_accepting(at) {
            let Some((byte, to)) = tables.forced(at) else { break };
            if to >= OUTSIDE {
                return None;
            }
            out.push(byte);
            at = to;
        }
        Some(out)
    }

    /// The state of complete stored tables that the tokens so far lead to, wherever the guide is now.
    pub(super) fn stored_state(&self) -> Option<u16> {
        let tables = self.root.stored_tables().filter(|tables| tables.is_complete())?;
        if let Some((_, state)) = self.on_tables() {
            return Some(state);
        }
        let own = self.history.iter().enumerate().filter(|&(at, _)| !self.is_forced_from_outside(at));
        let text = own.map(|(_, s)| s).filter(|s| !self.stops.contains(&s.token));
        Some(text.fold(0, |state, s| match self.index.vocabulary().spelling(s.token) {
            Some(bytes) if state < OUTSIDE => tables.advance(state, bytes),
            _ => state,
        }))
    }
}
