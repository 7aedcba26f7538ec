//! Classes as the steps of a search for the fewest tokens.

use crate::guide::budget::affordable::config_class::ConfigClass;
use crate::guide::budget::affordable::{ALONE, AffordableTokens, DEAD_CONFIG};
use crate::guide::budget::fewest_tokens_search::SearchSteps;

impl<U: Fn(u32) -> bool> SearchSteps for AffordableTokens<'_, U> {
    fn to(&mut self, at: u32, byte: u8) -> Option<u32> {
        let to = self.step(at, byte);
        self.left_out |= to == ALONE;
        (to != DEAD_CONFIG && to != ALONE).then_some(to)
    }

    fn is_end(&mut self, at: u32) -> bool {
        let Some(&ConfigClass { node, .. }) = self.classes.get(at as usize) else { return false };
        let mark = self.arena.mark();
        let ends = self.frames().is_accepting(node);
        self.arena.truncate(&mark);
        ends
    }

    fn made(&self) -> usize {
        // A class may take a completion, which can be more work than the step.
        self.made.max(self.work)
    }

    fn is_exact(&self) -> bool {
        !self.left_out
    }
}
