//! TODO.

pub mod canonical;
pub(crate) mod canonical_tree;
pub mod decimal;
pub mod rules;
pub mod string_escape;
pub mod whitespace;
