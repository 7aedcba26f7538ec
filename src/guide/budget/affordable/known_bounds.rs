//! Tokens whose bounds are known from other guides of the index.
//!
//! What the bounds of frames say of a token is the same whenever a guide comes to such a position, however much is left
//! then. Between texts few tokens are allowed, and the bound of each is kept: those that fit by it are taken from
//! there, and only the others are stepped. Inside a key the largest bound of all tokens that may end it is kept.

use crate::guide::budget::affordable::{AffordableTokens, DEAD_CONFIG};
use crate::guide::budget::completions::ENDLESS;
use crate::mask::json::cache::bounds_after_tokens::{BoundsAfterTokens, BoundsAfterTokensCache};
use crate::pushdown::json::frame::Phase;
use crate::util::bits::ones_of_sparse;
use crate::vocab::Vocabulary;

/// What is asked about a position: the bound of each token, or the largest of those that may end its key.
const EACH: u8 = 0;
const ENDS: u8 = 1;

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
        let key = self.position_key(EACH)?;
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

    /// The largest bound of the tokens that may end the key in which the guide is, if it is known.
    pub(super) fn known_bound_of_ends(&self, key: &[u8]) -> Option<u32> {
        self.facts.bounds_after_tokens.get(key)?.first().map(|&(bound, _)| bound)
    }

    /// The cache key of [`known_bound_of_ends`](Self::known_bound_of_ends); `None` where it is not to be kept.
    pub(super) fn key_of_ends(&mut self) -> Option<Vec<u8>> {
        let is_key = self.arena.nodes[self.top as usize].phase == Phase::Key;
        is_key.then(|| self.position_key(ENDS))?
    }

    /// Remembers the largest bound of the tokens that may end the key in which the guide is.
    pub(super) fn keep_bound_of_ends(&mut self, key: &[u8], bound: u32) {
        self.facts.bounds_after_tokens.keep(key, vec![(bound, 0)]);
    }

    /// Describes where the guide is, and what is asked; `None` where answers are not to be kept.
    fn position_key(&mut self, question: u8) -> Option<Vec<u8>> {
        self.bounds?;
        // Where elements must differ, a position is like few others.
        let top = self.top;
        if self.program.has_unique && self.frames().is_unique_inside(top) {
            return None;
        }
        let mut key = Vec::with_capacity(256);
        key.push(question);
        self.arena.describe(self.program, self.top, &mut key);
        BoundsAfterTokensCache::takes(&key).then_some(key)
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
