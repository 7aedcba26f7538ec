//! Forced text: the bytes that are certain to follow (`bytes`), and the tokens that the tokenizer makes of them
//! (`tokens`, with `open_piece` for the end of the run).
//!
//! `docs/internals/forced-tokens.md` has an example.

pub(crate) mod bytes;
pub(crate) mod canonical;
pub(crate) mod open_piece;
mod spelled;
pub(crate) mod tokens;
