//! Texts from outside, as a guide remembers them; see `force`.

use std::sync::Arc;

/// Text that must come behind some tokens.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HostText {
    /// How many tokens had been taken.
    pub(super) since: usize,
    pub(super) tokens: Arc<[u32]>,
}

/// A part of a text from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutsidePart {
    /// Plain text: special tokens that it may name are spelled like any other text.
    Text(Vec<u8>),
    /// A token by its id, special tokens too.
    Token(u32),
}
