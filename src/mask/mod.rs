//! TODO.

pub mod byte_coverage;
pub mod cache;
pub(crate) mod char_postings;
pub mod crossing;
pub(crate) mod eager;
pub(crate) mod inner;
pub(crate) mod key;
pub(crate) mod lexeme_cache;
pub mod lexeme_mask;
pub(crate) mod literals;
pub mod masker;
pub mod structural_tokens;
pub(crate) mod subtree_summary;
pub(crate) mod survey;
pub(crate) mod tries;
pub(crate) mod unique;
pub mod vocab_tables;
