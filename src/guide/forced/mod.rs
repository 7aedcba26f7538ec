//! Forced text: the [`bytes`] that are certain to follow, and the [`tokens`] that the tokenizer makes of them.

pub(crate) mod bytes;
pub(crate) mod open_piece;
pub(crate) mod tokens;
