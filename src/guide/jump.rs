//! Forced runs: what is certain can be skipped.
//!
//! Where exactly one byte can follow and the output may not end, that byte is forced, and so is the next in the same
//! way. A run is bytes, not text: it may end inside a code point.

use super::{Guide, Position};
use crate::automaton::arena::NONE;
use crate::automaton::config::Frames;
use crate::automaton::lexeme::CLOSED;
use crate::index::Engine;

/// The longest run that is reported at once.
const MAX_RUN: usize = 1 << 16;

impl Guide {
    /// The bytes that must come next, whatever comes after them; empty where there is a choice or the output may end.
    /// Runs longer than 65,536 bytes come in parts. Cost: per byte of the run, a look at every byte that might follow.
    pub fn forced_bytes(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.is_terminated() {
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
