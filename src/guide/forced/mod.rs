//! Forced text: the bytes that are certain to follow (`bytes`), and the tokens that the tokenizer makes of them
//! (`tokens`, with `open_piece` for the end of the run).

pub(crate) mod bytes;
pub(crate) mod open_piece;
pub(crate) mod tokens;
