//! Forced bytes: runs of bytes that are certain.
//!
//! Where exactly one byte can follow and the output may not end, that byte is forced, and so is the next in the same
//! way. A run is bytes, not text: it may end inside a code point. An index remembers the runs that its guides found, by
//! position, with what may follow each. A guide keeps the run that it used last: a token that spells its beginning
//! leaves the rest of it forced, which needs no second look.

pub(crate) use crate::guide::last_answers::LastRun;
use std::sync::Arc;

use crate::guide::Guide;
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::lexeme::{CLOSED, Lexeme};
use crate::mask::json::cache::forced_runs::ForcedRun;
use crate::pushdown::grammar::machine::GrammarMachine;
use crate::pushdown::json::frame::NONE;
use crate::pushdown::json::machine::JsonMachine;

/// The longest run that is reported at once.
pub(crate) const MAX_RUN: usize = 1 << 16;

/// Steps a position by bytes that nobody took. What it makes is forgotten afterwards.
pub(crate) enum ForcedScan<'a> {
    Pattern(&'a Lexeme),
    Document(JsonMachine<'a>),
    Grammar(GrammarMachine<'a>),
}

impl ForcedScan<'_> {
    /// The position after a byte, if it is allowed.
    pub fn step(&mut self, at: u32, byte: u8) -> Option<u32> {
        match self {
            ForcedScan::Pattern(lexeme) => Some(lexeme.next(at, byte)).filter(|&to| to > CLOSED),
            ForcedScan::Document(frames) => Some(frames.step(at, byte)).filter(|&to| to != NONE),
            ForcedScan::Grammar(machine) => machine.step_byte(at, byte),
        }
    }

    /// Whether the output may end.
    pub fn is_accepting(&mut self, at: u32) -> bool {
        match self {
            ForcedScan::Pattern(lexeme) => lexeme.state(at).accepting,
            ForcedScan::Document(frames) => frames.is_accepting(at),
            ForcedScan::Grammar(machine) => machine.is_accepting(at) || machine.takes_special(at),
        }
    }

    /// The bytes that are allowed, and where they lead.
    fn all(&mut self, at: u32) -> Vec<(u8, u32)> {
        match self {
            ForcedScan::Pattern(lexeme) => {
                let state = lexeme.state(at);
                let to = |byte| (byte, lexeme.next_from(at, state, byte));
                (0..=255).map(to).filter(|&(_, to)| to > CLOSED).collect()
            }
            ForcedScan::Document(_) => (0..=255).filter_map(|byte| Some((byte, self.step(at, byte)?))).collect(),
            ForcedScan::Grammar(machine) => {
                let classes = machine.next_bytes(at);
                let bytes: Vec<u8> = machine.program.bytes_like(&classes).collect();
                // Where they lead matters only where there is one.
                match bytes[..] {
                    [one] => self.step(at, one).map(|to| (one, to)).into_iter().collect(),
                    _ => bytes.into_iter().map(|byte| (byte, at)).collect(),
                }
            }
        }
    }

    /// The run from a position. Each byte costs a look at every byte that might follow.
    fn run(&mut self, mut at: u32) -> ForcedRun {
        let mut run = ForcedRun::default();
        loop {
            run.may_end = self.is_accepting(at);
            let live = self.all(at);
            match live[..] {
                [(byte, next)] if !run.may_end && run.bytes.len() < MAX_RUN => {
                    run.bytes.push(byte);
                    at = next;
                }
                _ => {
                    run.next = live.into_iter().map(|(byte, _)| byte).collect();
                    return run;
                }
            }
        }
    }
}

impl Guide {
    /// Keeps what a token with these bytes leaves of the run. The end of a run that was cut for its length says
    /// nothing about what follows, and where dead states depend on tokens a run may end elsewhere after one.
    pub(crate) fn advance_run(&mut self, token: &[u8]) {
        let Some(LastRun { run, taken }) = self.run.take() else { return };
        let rest = run.bytes.get(taken..).unwrap_or_default();
        if rest.starts_with(token)
            && run.bytes.len() < MAX_RUN
            && (self.on_tables().is_some() || self.index.0.live.is_none())
        {
            self.run = Some(LastRun { run, taken: taken + token.len() });
        }
    }

    /// The bytes that must come next, whatever comes after them; empty where there is a choice or the output may end.
    /// Runs longer than 65,536 bytes come in parts. Cost: where no guide of the index was before, per byte of the
    /// run a look at every byte that might follow; else a look-up; while tokens stay inside a run that was asked for, a
    /// copy of its rest.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// assert_eq!(guide.forced_bytes(), b"ab");
    /// guide.advance_many(&[97, 98]);
    /// assert_eq!(guide.forced_bytes(), b"", "the output may end here");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn forced_bytes(&mut self) -> Vec<u8> {
        if self.due().is_some() {
            return self.due_bytes();
        }
        let found = self.find_run();
        found.map_or_else(Vec::new, |(run, taken)| run.bytes.get(taken..).unwrap_or_default().to_vec())
    }

    /// The run here and how much of it was taken already; `None` after the end.
    pub(crate) fn find_run(&mut self) -> Option<(Arc<ForcedRun>, usize)> {
        if self.is_terminated() {
            return None;
        }
        if let Some(last) = &self.run {
            return Some((last.run.clone(), last.taken));
        }
        if let Some(bytes) = self.run_on_tables(MAX_RUN) {
            // What may follow is asked only of the engine.
            let run = Arc::new(ForcedRun { bytes, ..ForcedRun::default() });
            self.run = Some(LastRun { run: run.clone(), taken: 0 });
            return Some((run, 0));
        }
        if !self.leave_tables() {
            return None;
        }
        self.make_room();
        let index = self.index.clone();
        if let IndexEngine::Grammar(_) = &index.0.engine {
            // To describe a deep stack takes longer than to look.
            let run = Arc::new(self.look_for_run());
            self.run = Some(LastRun { run: run.clone(), taken: 0 });
            return Some((run, 0));
        }
        let key = self.state_key();
        let run = match index.0.runs.get(&key) {
            Some(run) => run,
            None => {
                let run = self.look_for_run();
                if self.loses_given_up() {
                    return None;
                }
                index.0.runs.keep(key, run)
            }
        };
        self.run = Some(LastRun { run: run.clone(), taken: 0 });
        Some((run, 0))
    }

    fn look_for_run(&mut self) -> ForcedRun {
        let index = self.index.clone();
        if let (IndexEngine::Pattern(l), Position::Pattern(state), Some(live)) =
            (&index.0.engine, &self.position, &index.0.live)
        {
            let bytes = live.forced(&l.lexeme, index.vocabulary().trie(), *state, MAX_RUN);
            let end = bytes.iter().fold(*state, |s, &b| l.lexeme.next(s, b));
            let next = (0..=255).filter(|&b| l.lexeme.next(end, b) > CLOSED).collect();
            return ForcedRun { bytes, next, may_end: l.lexeme.state(end).accepting };
        }
        self.look_ahead(|ahead, at| ahead.run(at)).unwrap_or_default()
    }

    /// Calls `f` with the position and what steps from it, and forgets what that made.
    pub(crate) fn look_ahead<T>(&mut self, f: impl FnOnce(&mut ForcedScan<'_>, u32) -> T) -> Option<T> {
        match (&self.index.0.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(state)) => Some(f(&mut ForcedScan::Pattern(&l.lexeme), *state)),
            (IndexEngine::Document { program, .. }, Position::Document { arena, top }) => {
                let mark = arena.mark();
                let out = f(&mut ForcedScan::Document(JsonMachine { program, arena }), *top);
                arena.truncate(&mark);
                Some(out)
            }
            (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) => {
                let out = f(&mut ForcedScan::Grammar(grammar.program.machine(stack)), *at);
                stack.go_back_to(*at);
                Some(out)
            }
            _ => None,
        }
    }
}
