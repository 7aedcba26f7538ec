//! The memory that a guide holds.

use crate::guide::Guide;
use crate::guide::position::Position;

impl Guide {
    /// Approximate bytes held by the guide itself.
    pub fn memory_bytes(&self) -> usize {
        let position = match &self.position {
            Position::Document { arena, .. } => arena.memory_bytes(),
            Position::Grammar { stack, .. } => stack.memory_bytes(),
            _ => 0,
        };
        position
            + self.history.memory_bytes()
            + self.budget.as_ref().map_or(0, |b| b.memory_bytes())
            + self.events.as_ref().map_or(0, |log| log.memory_bytes())
            + self.rests.as_ref().map_or(0, |r| r.memory_bytes())
            + size_of::<Self>()
    }
}
