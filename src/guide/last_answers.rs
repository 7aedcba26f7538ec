//! What the last calls of a guide found, kept until it moves.

use crate::mask::grammar::DocumentMemo;
use crate::mask::json::cache::forced_runs::ForcedRun;
use crate::mask::json::cache::guide_memo::GuideMemo;
use crate::mask::json::cache::masks::CacheProbe;
use std::sync::Arc;

/// What masks leave for the next ones.
#[derive(Clone, Default)]
pub(crate) struct LastMask {
    /// What was found about the frames.
    pub known: GuideMemo,
    /// What was found about the document of a grammar.
    pub documents: DocumentMemo,
    /// What the index was asked for.
    pub(super) probe: CacheProbe,
    /// Whether the index was asked just now, and the guide has not moved.
    pub(super) looked: bool,
}

/// The run that a guide found last, and how much of it was taken since.
#[derive(Clone)]
pub(crate) struct LastRun {
    pub(super) run: Arc<ForcedRun>,
    pub(super) taken: usize,
}

/// A place at which a piece certainly begins.
#[derive(Clone, Copy)]
pub(crate) struct PieceStart {
    /// Tokens of context and output before it.
    pub(super) tokens: usize,
    /// How many tokens of output made it certain.
    pub(super) taken: usize,
}

/// The only token that may come after a number of tokens taken, if there is one; going back forgets it.
#[derive(Clone, Copy)]
pub(crate) struct KnownCanonical {
    pub(super) taken: usize,
    pub(super) token: Option<u32>,
}
