//! The memory that a guide holds.

use crate::guide::Guide;
use crate::guide::history::HistoryStep;
use crate::guide::position::Position;
use crate::pushdown::json::arena::ArenaMark;

impl Guide {
    /// Approximate bytes held by the guide itself.
    pub fn memory_bytes(&self) -> usize {
        let position = match &self.position {
            Position::Document { arena, .. } => arena.memory_bytes(),
            Position::Grammar { stack, .. } => stack.memory_bytes(),
            _ => 0,
        };
        position
            + self.history.steps.capacity() * size_of::<HistoryStep>()
            + self.history.marks.capacity() * size_of::<ArenaMark>()
            + self.budget.as_ref().map_or(0, |b| b.memory_bytes())
            + self.events.as_ref().map_or(0, |log| log.memory_bytes())
            + self.rests.as_ref().map_or(0, |r| r.memory_bytes())
            + size_of::<Self>()
    }
}
