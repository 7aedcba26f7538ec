//! TODO.

pub(crate) mod assertion_free;
pub(crate) mod atomic;
pub(crate) mod continuation;
pub(crate) mod look_behind;
pub(crate) mod next_char;
pub(crate) mod split_by_context;
