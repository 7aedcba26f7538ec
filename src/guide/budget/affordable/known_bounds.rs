//! Few tokens, whose bounds are known from other guides of the index.
//!
//! Between texts few tokens are allowed, and what the bounds of frames say of each of them is the same whenever a guide
//! comes to such a position, however much is left then. The tokens that fit by their bounds are taken from there; only
//! the others are stepped.

use crate::guide::budget::affordable::{AffordableTokens, DEAD_CONFIG};
use crate::guide::budget::completions::ENDLESS;
use crate::mask::json::cache::bounds_after_tokens::{BoundsAfterTokens, BoundsAfterTokensCache};
use crate::util::bits::ones_of_sparse;
use crate::vocab::Vocabulary;

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// [`keep_few`](Self::keep_few) where the guide is.
    pub(super) fn keep_few_by_bounds(&mut self, vocabulary: &Vocabulary, row: &mut [u32]) {
        let Some(known) = self.bounds_of_few(vocabulary, row) else { return self.keep_few(vocabulary, row) };
        let mut fitting = Vec::new();
        for &(_, token) in known.iter().take_while(|&&(bound, _)| u64::from(bound) <= self.left) {
            let (word, bit) = (&mut row[token as usize >> 5], 1 << (token & 31));
            if *word & bit != 0 {
                *word &= !bit;
                fitting.push(token);
            }
        }
        self.keep_few(vocabulary, row);
        fitting.into_iter().for_each(|token| row[token as usize >> 5] |= 1 << (token & 31));
    }

    /// The bounds of the tokens of a row, as far as there are any; `None` where they are not to be kept.
    fn bounds_of_few(&mut self, vocabulary: &Vocabulary, row: &[u32]) -> Option<BoundsAfterTokens> {
        self.bounds?;
        // Where elements must differ, a position is like few others.
        let top = self.top;
        if self.program.has_unique && self.frames().is_unique_inside(top) {
            return None;
        }
        let mut key = Vec::with_capacity(256);
        self.arena.describe(self.program, self.top, &mut key);
        if !BoundsAfterTokensCache::takes(&key) {
            return None;
        }
        if let Some(known) = self.facts.bounds_after_tokens.get(&key) {
            return Some(known);
        }
        let (mut found, before) = (Vec::new(), self.work);
        for token in ones_of_sparse(row) {
            let Some(bytes) = vocabulary.spelling(token) else { continue };
            let bound = self.bound_after(bytes);
            if bound != ENDLESS {
                found.push((bound, token));
            }
        }
        // What lies beyond a bounded amount of work has no bound here, but may have one for another guide.
        let is_whole = !self.is_exhausted();
        // The mask has as much work left as that of a guide which finds the bounds here.
        self.work = before;
        is_whole.then(|| self.facts.bounds_after_tokens.keep(&key, found))
    }

    /// The bound of where bytes lead; [`ENDLESS`] where they are priced in another way.
    fn bound_after(&mut self, bytes: &[u8]) -> u32 {
        let to = bytes.iter().fold(0, |at, &b| self.step(at, b));
        match self.classes.get(to as usize) {
            Some(class) if to != DEAD_CONFIG && class.price.is_none() && class.except.is_empty() => self.bound(to),
            _ => ENDLESS,
        }
    }
}
