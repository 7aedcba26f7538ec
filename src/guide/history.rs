//! The tokens that a guide took, and where it stood before each of them.
//!
//! A document's arena keeps what rolling back needs. When it has grown by [`PIECE_BYTES`], the guide goes on in a copy
//! of the frames on which it stands, and the old arena is *sealed*: a piece of the history that does not change any
//! more. Forks share sealed pieces, so a fork copies no more than the piece that is open. Rolling back to a sealed
//! piece opens it again. When the pieces of a guide hold more than `Limits::max_guide_bytes`, the oldest are let go;
//! rolling back to those takes the tokens again from the start.

pub(crate) mod replay;

use std::sync::Arc;

use crate::guide::Guide;
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::pushdown::json::arena::{Arena, ArenaMark};

/// Bytes by which an arena grows before it is sealed. A fork copies about that much, which takes some 30 us.
const PIECE_BYTES: usize = 256 << 10;

/// Tokens from one look at the arena's size to the next.
const SEAL_EVERY: usize = 8;

#[derive(Clone, Copy)]
pub(crate) struct HistoryStep {
    pub(super) token: u32,
    /// The state or top node before the token.
    before: u32,
}

/// A piece of the history: an arena, and its lengths before each of the piece's tokens.
#[derive(Clone)]
struct SealedPiece {
    arena: Arena,
    marks: Vec<ArenaMark>,
}

/// Where a sealed piece ends.
#[derive(Clone)]
struct PieceEnd {
    /// How many tokens had been taken.
    since: usize,
    /// `None` where it was let go.
    piece: Option<Arc<SealedPiece>>,
    bytes: usize,
}

/// The tokens taken, and for documents the arena's lengths before each.
#[derive(Clone, Default)]
pub(crate) struct History {
    steps: Vec<HistoryStep>,
    /// Of the tokens of the open piece.
    marks: Vec<ArenaMark>,
    /// The pieces before it.
    sealed: Vec<PieceEnd>,
    /// Bytes that an arena uses when it is sealed; 0 where that is not known yet.
    seal_at: usize,
}

impl History {
    /// An empty history with room for some tokens.
    pub(super) fn with_room() -> History {
        History { steps: Vec::with_capacity(64), marks: Vec::with_capacity(64), ..History::default() }
    }

    pub(super) fn push(&mut self, token: u32, (before, mark): (u32, ArenaMark)) {
        self.steps.push(HistoryStep { token, before });
        // A pattern has no arena.
        if mark != ArenaMark::default() {
            self.marks.push(mark);
        }
    }

    /// Tokens before the open piece.
    fn base(&self) -> usize {
        self.sealed.last().map_or(0, |end| end.since)
    }

    pub(super) fn truncate(&mut self, keep: usize) {
        self.steps.truncate(keep);
        self.marks.truncate(keep.saturating_sub(self.base()));
    }

    /// The state or top node before token `at` of the open piece, and the arena's lengths then.
    pub(super) fn place(&self, at: usize) -> Option<(u32, ArenaMark)> {
        let mark = at.checked_sub(self.base()).and_then(|at| self.marks.get(at));
        Some((self.steps.get(at)?.before, mark.copied().unwrap_or_default()))
    }

    /// Whether some piece was let go.
    pub(super) fn has_let_go(&self) -> bool {
        self.sealed.first().is_some_and(|end| end.piece.is_none())
    }

    /// Bytes held, pieces that are shared with forks included.
    pub(super) fn memory_bytes(&self) -> usize {
        self.steps.capacity() * size_of::<HistoryStep>()
            + self.marks.capacity() * size_of::<ArenaMark>()
            + self.sealed.iter().filter(|end| end.piece.is_some()).map(|end| end.bytes).sum::<usize>()
            + self.sealed.capacity() * size_of::<PieceEnd>()
    }
}

impl std::ops::Deref for History {
    type Target = [HistoryStep];

    fn deref(&self) -> &[HistoryStep] {
        &self.steps
    }
}

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

    /// Seals the arena if it has grown long. Looks at it before every [`SEAL_EVERY`]th token alone: the lengths of all
    /// its parts are a tenth of what a token costs.
    #[inline]
    pub(super) fn seal_history(&mut self) {
        if self.history.marks.len().is_multiple_of(SEAL_EVERY)
            && let Position::Document { arena, .. } = &self.position
            && arena.used_bytes() >= self.history.seal_at
        {
            self.seal();
        }
    }

    /// Where little may be kept, pieces are small.
    fn piece_bytes(&self) -> usize {
        PIECE_BYTES.min(self.index.0.limits.max_guide_bytes / 4)
    }

    #[cold]
    fn seal(&mut self) {
        let taken = self.history.len();
        let piece = self.piece_bytes();
        if self.history.seal_at < piece {
            self.history.seal_at = piece;
            return self.seal_history();
        }
        // A change of index and a new arena at one place would not be told apart.
        if self.has_moved_at(taken) || self.history.base() == taken {
            return;
        }
        let (IndexEngine::Document { program, .. }, Position::Document { arena, top }) =
            (&self.index.0.engine, &mut self.position)
        else {
            return;
        };
        let (live, at) = arena.live(program, *top);
        let used = live.used_bytes();
        let old = std::mem::replace(&mut **arena, live);
        *top = at;
        // What is found about frames names them by their numbers.
        self.last = Default::default();
        let history = &mut self.history;
        // Copying what lives on takes its time: as much as that must be new before it is done again.
        history.seal_at = used + used.max(piece);
        let marks = std::mem::take(&mut history.marks);
        let bytes = old.memory_bytes() + marks.capacity() * size_of::<ArenaMark>();
        history.sealed.push(PieceEnd { since: taken, piece: Some(Arc::new(SealedPiece { arena: old, marks })), bytes });
        let mut held = 0;
        for end in history.sealed.iter_mut().rev() {
            held += end.bytes;
            if held > self.index.0.limits.max_guide_bytes {
                end.piece = None;
            }
        }
    }

    /// Opens the piece of the history in which the guide was when it had taken `keep` tokens. False, and nothing was
    /// done, if that was let go.
    pub(super) fn open_piece_of(&mut self, keep: usize) -> bool {
        let history = &mut self.history;
        let Some(i) = history.sealed.iter().position(|end| end.since > keep) else { return true };
        let Some(piece) = history.sealed[i].piece.take() else { return false };
        history.sealed.truncate(i);
        let SealedPiece { arena, marks } = Arc::try_unwrap(piece).unwrap_or_else(|shared| (*shared).clone());
        history.marks = marks;
        history.seal_at = arena.used_bytes();
        self.position = Position::Document { arena: Box::new(arena), top: 0 };
        self.last = Default::default();
        true
    }
}

#[cfg(test)]
mod tests;
