//! TODO.

pub(crate) mod bytes;
pub(crate) mod open_piece;
pub(crate) mod tokens;
