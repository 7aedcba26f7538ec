//! Outputs that end too early: `min_tokens`.
//!
//! A request may ask for a number of tokens before the end. Where the output is complete before and may go on, stop
//! tokens are withheld. Where nothing can follow, the output ends all the same: a row without any token would leave a
//! sampler with nothing to choose.

use crate::error::{Error, ErrorKind, Result};
use crate::guide::{Guide, GuideOptions};

/// Refuses numbers that contradict each other.
///
/// # Errors
/// `Argument` if the output may have fewer tokens than it must have.
pub(super) fn check(options: &GuideOptions) -> Result<()> {
    match options.max_tokens {
        Some(most) if most < options.min_tokens => {
            let message = format!("min_tokens is {}, but max_tokens is {most}: no output has both", options.min_tokens);
            Err(Error::new(ErrorKind::Argument, message))
        }
        _ => Ok(()),
    }
}

impl Guide {
    /// Whether fewer tokens were taken than the output must have.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        self.own_tokens() < self.min_tokens
    }

    /// Whether `row`, the mask but for stop tokens, has a token that may follow where it is too early to end.
    pub(super) fn withholds_stops(&self, row: &[u32]) -> bool {
        self.is_early() && {
            let mut stops = self.stops.iter().peekable();
            row.iter().zip(0u32..).any(|(&word, at)| {
                let mut word = word;
                while let Some(id) = stops.next_if(|&&id| id >> 5 == at) {
                    word &= !(1 << (id & 31));
                }
                word != 0
            })
        }
    }

    /// Whether another token than a stop token may come.
    pub(super) fn may_go_on(&mut self) -> bool {
        let mut row = vec![0; self.index.vocabulary().words()];
        self.fill_mask(&mut row);
        self.stops.iter().for_each(|&id| row[id as usize >> 5] &= !(1 << (id & 31)));
        row.iter().any(|&word| word != 0)
    }

    /// Whether `id` is refused by what the request asked for, though the output could go on with it.
    pub(super) fn is_withheld(&mut self, id: u32) -> bool {
        if self.terminated {
            return false;
        }
        if self.stops.contains(&id) {
            return self.is_early()
                && match self.is_accepting() {
                    true => !self.must_stop(),
                    false => self.index.is_last_token(id) && self.may_go_on(),
                };
        }
        self.canonical_token().is_some_and(|canonical| canonical != id)
    }
}
