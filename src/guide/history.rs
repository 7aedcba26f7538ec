//! The tokens that a guide took, and where it stood before each of them.

use crate::pushdown::json::arena::ArenaMark;

#[derive(Clone, Copy)]
pub(crate) struct HistoryStep {
    pub(super) token: u32,
    /// The state or top node before the token.
    before: u32,
}

/// The tokens taken, and for documents the arena's lengths before each.
#[derive(Clone, Default)]
pub(crate) struct History {
    pub(super) steps: Vec<HistoryStep>,
    pub(super) marks: Vec<ArenaMark>,
}

impl History {
    pub(super) fn push(&mut self, token: u32, (before, mark): (u32, ArenaMark)) {
        self.steps.push(HistoryStep { token, before });
        // A pattern has no arena.
        if mark != ArenaMark::default() {
            self.marks.push(mark);
        }
    }

    pub(super) fn truncate(&mut self, keep: usize) {
        self.steps.truncate(keep);
        self.marks.truncate(keep);
    }

    /// The state or top node before token `at`, and the arena's lengths then.
    pub(super) fn place(&self, at: usize) -> Option<(u32, ArenaMark)> {
        Some((self.steps.get(at)?.before, self.marks.get(at).copied().unwrap_or_default()))
    }
}

impl std::ops::Deref for History {
    type Target = [HistoryStep];

    fn deref(&self) -> &[HistoryStep] {
        &self.steps
    }
}
