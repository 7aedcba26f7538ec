//! Forced runs: what is certain can be skipped.
//!
//! Where exactly one byte can follow and the output may not end, that byte is forced, and so is the next in the same
//! way. A run is bytes, not text: it may end inside a code point. A guide keeps the run that it found last: a token
//! that spells its beginning leaves the rest of it forced, which needs no second look.

use super::{Guide, Position};
use crate::automaton::arena::NONE;
use crate::automaton::config::Frames;
use crate::automaton::lexeme::CLOSED;
use crate::index::Engine;

/// The longest run that is reported at once.
const MAX_RUN: usize = 1 << 16;

/// The most characters after a run that are tried one by one.
pub(super) const MAX_FOLLOWING: usize = 24;

/// The run that a guide found last, and how much of it was taken since.
#[derive(Clone)]
pub(super) struct Run {
    bytes: Vec<u8>,
    taken: usize,
}

impl Guide {
    /// Keeps what a token with these bytes leaves of the run. The end of a run that was cut for its length says
    /// nothing about what follows, and where dead states depend on tokens a run may end elsewhere after one.
    pub(super) fn advance_run(&mut self, token: &[u8]) {
        let Some(mut run) = self.run.take() else { return };
        let rest = run.bytes.get(run.taken..).unwrap_or_default();
        if rest.starts_with(token)
            && run.bytes.len() < MAX_RUN
            && (self.on_tables().is_some() || self.index.0.live.is_none())
        {
            run.taken += token.len();
            self.run = Some(run);
        }
    }

    /// The bytes that must come next, whatever comes after them; empty where there is a choice or the output may end.
    /// Runs longer than 65,536 bytes come in parts. Cost: at first, per byte of the
    /// run, a look at every byte that might follow; while tokens stay inside a run that was asked for, a copy of its
    /// rest.
    pub fn forced_bytes(&mut self) -> Vec<u8> {
        if self.is_terminated() {
            return Vec::new();
        }
        if let Some(run) = &self.run {
            return run.bytes.get(run.taken..).unwrap_or_default().to_vec();
        }
        let bytes = self.find_run();
        self.run = Some(Run { bytes: bytes.clone(), taken: 0 });
        bytes
    }

    /// The bytes that may follow the run, and whether the output may end there; `None` if they are many or not all ASCII.
    pub(super) fn following(&mut self, run: &[u8]) -> Option<(Vec<u8>, bool)> {
        match (&self.index.0.engine, &mut self.position) {
            (Engine::Pattern(l), Position::Pattern(state)) => {
                let at = run.iter().fold(*state, |s, &b| l.lexeme.next(s, b));
                let bytes = (0..=255u8).filter(|&b| l.lexeme.next(at, b) > CLOSED);
                few(bytes).map(|bytes| (bytes, l.lexeme.state(at).accepting))
            }
            (Engine::Document { program, .. }, Position::Document { arena, top }) => {
                let mark = arena.mark();
                let mut frames = Frames { program, arena };
                let at = run.iter().fold(*top, |at, &b| if at == NONE { NONE } else { frames.step(at, b) });
                let found = (at != NONE).then(|| few((0..=255u8).filter(|&b| frames.step(at, b) != NONE))).flatten();
                let found = found.map(|bytes| (bytes, frames.is_accepting(at)));
                arena.truncate(&mark);
                found
            }
            _ => None,
        }
    }

    fn find_run(&mut self) -> Vec<u8> {
        if let Some(run) = self.run_on_tables(MAX_RUN) {
            return run;
        }
        let mut out = Vec::new();
        if !self.leave_tables() {
            return out;
        }
        match (&self.index.0.engine, &mut self.position) {
            (Engine::Pattern(l), Position::Pattern(state)) => {
                if let Some(live) = &self.index.0.live {
                    return live.forced(&l.lexeme, self.index.vocabulary().trie(), *state, MAX_RUN);
                }
                let mut s = *state;
                while out.len() < MAX_RUN && !l.lexeme.state(s).accepting {
                    let mut live = (0..=255u8).filter_map(|b| Some((b, l.lexeme.next(s, b))).filter(|n| n.1 > CLOSED));
                    let (Some((byte, next)), None) = (live.next(), live.next()) else { break };
                    out.push(byte);
                    s = next;
                }
            }
            (Engine::Document { program, .. }, Position::Document { arena, top }) => {
                let mark = arena.mark();
                let mut at = *top;
                while out.len() < MAX_RUN {
                    let mut frames = Frames { program, arena };
                    if frames.is_accepting(at) {
                        break;
                    }
                    let mut only = None;
                    let mut several = false;
                    for b in 0..=255u8 {
                        let next = frames.step(at, b);
                        if next != NONE {
                            several = only.is_some();
                            if several {
                                break;
                            }
                            only = Some((b, next));
                        }
                    }
                    let (Some((byte, next)), false) = (only, several) else { break };
                    out.push(byte);
                    at = next;
                }
                arena.truncate(&mark);
            }
            _ => {}
        }
        out
    }
}

fn few(bytes: impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = bytes.take(MAX_FOLLOWING + 1).collect();
    (bytes.len() <= MAX_FOLLOWING && bytes.is_ascii()).then_some(bytes)
}
