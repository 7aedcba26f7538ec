//! TODO.

pub mod after_value;
pub(crate) mod interner;
pub mod member_value;
pub(crate) mod quote_tries;
pub mod suffixes;
pub mod viable;
