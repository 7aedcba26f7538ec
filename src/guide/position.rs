//! Where a guide stands.

use crate::error::Error;
use crate::lexeme::StateId;
use crate::pushdown::grammar::parse_stack::{ParseStack, PositionId};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::FrameId;

#[derive(Clone)]
pub(crate) enum Position {
    Pattern(StateId),
    Document {
        arena: Box<Arena>,
        top: FrameId,
    },
    /// A position of a grammar's stack.
    Grammar {
        stack: Box<ParseStack>,
        at: PositionId,
    },
    /// A state of the tables of an index that came from a file.
    Tables(u16),
    /// Nowhere, for a reason.
    Lost(Box<Loss>),
}

/// What is left of a guide that failed.
#[derive(Clone)]
pub(crate) struct Loss {
    pub(super) error: Error,
    /// The tokens that were taken until then: a server still asks which they are.
    pub(super) tokens: Vec<u32>,
}

/// Where a token leads on the tables.
pub(crate) enum TableStep {
    /// To a state.
    State(u16),
    /// Nowhere: it is refused.
    Refused,
    /// Beyond what the tables hold, or the guide is not on tables.
    Elsewhere,
}
