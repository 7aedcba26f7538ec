//! Forced text: the bytes that are certain to follow (`forced_bytes`), and the tokens that the tokenizer makes of them
//! (`forced_tokens`, with `open_piece` for the end of the run).
//!
//! `docs/internals/forced-tokens.md` has an example.

pub(crate) mod canonical_forced;
pub(crate) mod forced_bytes;
pub(crate) mod forced_tokens;
mod longest_spelling;
pub(crate) mod open_piece;
