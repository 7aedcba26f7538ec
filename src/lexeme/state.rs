//! States of a lexeme and their ids, and the kinds of lexemes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::expr::analysis::char_lengths::CharLengths;
use crate::expr::analysis::slice::Slice;
use crate::expr::{ExprId, INF};
use crate::json::string_escape::{EscapeState, EscapeUse};

/// Names a state of one lexeme.
pub type StateId = u32;

/// An entry of a row that was not computed yet.
pub(super) const UNKNOWN_STATE: StateId = 0;
/// No continuation.
pub const DEAD_STATE: StateId = 1;
/// After the closing quote of a text lexeme.
pub const CLOSED: StateId = 2;
pub(super) const FIRST: StateId = 3;

/// What a lexeme reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LexemeKind {
    /// Its own bytes.
    Raw,
    /// A JSON string with its quotes, of `min` to `max` code points.
    Text {
        /// Fewest code points.
        min: u32,
        /// Most code points.
        max: u32,
        /// The escapes that it is written with.
        escapes: EscapeUse,
    },
}

impl LexemeKind {
    /// A JSON string of any length.
    pub fn text(escapes: EscapeUse) -> LexemeKind {
        LexemeKind::Text { min: 0, max: INF, escapes }
    }

    /// Whether there is a string of this kind without constraints, whose masks others are made of: not one with the
    /// escapes of writers, which only constants have.
    #[inline]
    pub fn has_any_text(self) -> bool {
        self.escapes() != EscapeUse::Writers
    }

    /// The escapes of a string; any for what is none.
    #[inline]
    pub fn escapes(self) -> EscapeUse {
        match self {
            LexemeKind::Raw => EscapeUse::Any,
            LexemeKind::Text { escapes, .. } => escapes,
        }
    }
}

/// A state's data.
pub struct LexemeState {
    pub(super) row: Box<[AtomicU32]>,
    pub(super) expr: ExprId,
    pub(super) sub: EscapeState,
    /// Raw: the lexeme may end here. Text: a closing quote may follow, lengths permitting.
    pub accepting: bool,
    /// Text: lengths that may still follow, where the lexeme bounds them.
    pub(super) lengths: Option<CharLengths>,
    pub(super) mask_state: OnceLock<StateId>,
    pub(super) free: OnceLock<Slice>,
    /// No member of the expression has fewer bytes.
    pub(super) least: OnceLock<u32>,
}

impl LexemeState {
    /// Whether a text lexeme is between characters or inside an unescaped one.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.sub == EscapeState::Plain
    }

    /// By class of bytes: [`DEAD_STATE`] or [`CLOSED`] where it is known that these bytes lead there.
    pub(crate) fn ends(&self) -> impl Iterator<Item = Option<StateId>> + '_ {
        let known = |to: &AtomicU32| Some(to.load(Ordering::Acquire)).filter(|to| matches!(*to, DEAD_STATE | CLOSED));
        self.row.iter().map(known)
    }
}
