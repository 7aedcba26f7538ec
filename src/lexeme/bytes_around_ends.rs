//! The bytes before and behind the ends of a lexeme's texts.
//!
//! They say at which nodes of a trie of tokens a terminal may end, before any of these is walked
//! (`mask::grammar::end_nodes`). They belong to the lexeme alone, so all indexes of a vocabulary share them.

use std::sync::OnceLock;

use crate::expr::ByteSet;
use crate::expr::analysis::last_bytes::last_bytes;
use crate::lexeme::{CLOSED, Lexeme, StateId};

/// The bytes before and behind the ends of a lexeme's texts; perhaps some more.
pub struct BytesAroundEnds {
    /// The last bytes of texts.
    pub before: ByteSet,
    /// Bytes that can stand behind a text without making it a longer one.
    pub behind: ByteSet,
}

/// What a lexeme was asked for.
#[derive(Default)]
pub(super) struct KnownBytesAroundEnds {
    last: OnceLock<ByteSet>,
    /// Without a byte that separates a look-ahead, and with one.
    all: [OnceLock<BytesAroundEnds>; 2],
}

impl Lexeme {
    /// The last bytes of the texts of a raw lexeme; perhaps some more. Makes no states.
    pub fn last_bytes(&self) -> &ByteSet {
        self.bytes_around_ends.last.get_or_init(|| last_bytes(&self.lock().exprs, self.state(self.start).expr))
    }

    /// The bytes at the ends of the texts. If `border` is a byte, the lexeme reads what follows a text behind it, and a
    /// text ends where it may come. All bytes for lexemes of many states. Costs a walk over the states, once.
    pub fn bytes_around_ends(&self, border: Option<u8>) -> &BytesAroundEnds {
        self.bytes_around_ends.all[usize::from(border.is_some())].get_or_init(|| self.find_bytes_around_ends(border))
    }

    fn find_bytes_around_ends(&self, border: Option<u8>) -> BytesAroundEnds {
        /// States that are looked at.
        const MOST_STATES: usize = 256;
        let accepts = |state: StateId| match border {
            _ if state <= CLOSED => false,
            Some(border) => self.next(state, border) > CLOSED,
            None => self.state(state).accepting,
        };
        let runs: Vec<(u8, u8)> = self.byte_runs().collect();
        let mut out = BytesAroundEnds { before: [false; 256], behind: [false; 256] };
        let mut states = vec![self.start()];
        let mut at = 0;
        while let Some(&from) = states.get(at) {
            at += 1;
            let ends = accepts(from);
            for &(first, last) in &runs {
                // A border is no byte of a text.
                if Some(first) == border {
                    continue;
                }
                let to = self.next(from, first);
                let is_end = accepts(to);
                let bytes = usize::from(first)..=usize::from(last);
                out.before[bytes.clone()].iter_mut().for_each(|before| *before |= is_end);
                out.behind[bytes].iter_mut().for_each(|behind| *behind |= ends && !is_end);
                if to > CLOSED && !states.contains(&to) {
                    if states.len() == MOST_STATES {
                        return BytesAroundEnds { before: [true; 256], behind: [true; 256] };
                    }
                    states.push(to);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
