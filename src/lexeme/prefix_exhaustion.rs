//! Tests whether every live prefix from a state on has infinitely many completions.
//!
//! Infinitely many texts may follow a state, and yet only one behind some prefix of them: `a.*|bc` is infinite, and
//! behind `b` there is one key. And a finite language may have too many texts to count. So whether texts that begin
//! alike can be used up is a matter of all states that lie ahead.

use crate::lexeme::{CLOSED, Lexeme, StateId};

/// States that are looked at. Beyond, what lies ahead counts as something that may be used up, which costs time only.
const FEW: usize = 64;

impl Lexeme {
    /// Whether endlessly many texts end every text that can be begun from a raw state. False as well where that takes
    /// more than a few states to see.
    pub fn every_prefix_is_infinite(&self, id: StateId) -> bool {
        if let Some(&known) = self.lock().lasting.get(&id) {
            return known;
        }
        let bytes = self.bytes_of_classes();
        let mut met = vec![id];
        let mut at = 0;
        // A finite language that is seen to its ends has states from which it counts few texts.
        while met.len() <= FEW
            && let Some(&state) = met.get(at)
            && self.residual_size(state) == u64::MAX
        {
            for &byte in &bytes {
                let next = self.next(state, byte);
                if next > CLOSED && !met.contains(&next) {
                    met.push(next);
                }
            }
            at += 1;
        }
        let lasts = at == met.len();
        self.lock().lasting.insert(id, lasts);
        lasts
    }
}

#[cfg(test)]
mod tests;
