//! The canonical token alone, where bytes are forced.
//!
//! Several tokens may spell the beginning of a forced run, and a model may sample any of them. A draft of the forced
//! tokens is then refused although its text was right. A guide that was asked to allows nothing there but the token
//! that the tokenizer makes, so that every such draft is taken. Elsewhere nothing changes.

use crate::guide::Guide;
use crate::guide::last_answers::KnownCanonical;

impl Guide {
    /// The only token that may come here, if that was found before: `None` where it was not.
    pub(crate) fn known_canonical(&self) -> Option<Option<u32>> {
        self.canonical.filter(|known| known.taken == self.history.len()).map(|known| known.token)
    }

    /// The only token that may come here, where the guide allows canonical tokens alone and some are forced.
    pub(crate) fn canonical_token(&mut self) -> Option<u32> {
        if !self.canonical_forced || self.terminated {
            return None;
        }
        self.known_canonical().unwrap_or_else(|| {
            let token = self.forced_tokens().first().copied();
            self.canonical = Some(KnownCanonical { taken: self.history.len(), token });
            token
        })
    }

    /// Writes the row of a canonical token, if one is known to be the only one here. `None` where it is not known
    /// whether there is one.
    pub(crate) fn fill_known_canonical(&self, row: &mut [u32]) -> Option<bool> {
        if !self.canonical_forced {
            return Some(false);
        }
        self.known_canonical().map(|token| token.is_some_and(|id| only(id, row)))
    }

    /// Writes the row of the canonical token, if it is the only one here.
    pub(crate) fn fill_canonical(&mut self, row: &mut [u32]) -> bool {
        self.canonical_token().is_some_and(|id| only(id, row))
    }
}

/// Writes a row of one token.
fn only(id: u32, row: &mut [u32]) -> bool {
    row.fill(0);
    row[id as usize >> 5] = 1 << (id & 31);
    true
}
