//! Masks of JSON documents.
//!
//! [`mask_builder`] puts the mask of a configuration together. [`crossing`] finds the tokens that cross the end of a
//! lexeme, `key` does that inside the keys of objects, `unique` where elements must differ, and `literals` for
//! constants. [`cache`] remembers masks and their ingredients by what `cache_key` says of a configuration.

pub mod byte_coverage;
pub mod cache;
pub(crate) mod cache_key;
pub mod crossing;
pub(crate) mod key;
pub(crate) mod literals;
pub mod mask_builder;
pub mod structural_tokens;
pub(crate) mod unique;
