//! Masks of JSON documents.
//!
//! [`mask_builder`] puts the mask of a configuration together. [`crossing`] finds the tokens that cross the end of a
//! lexeme, `key` does that inside the keys of objects, `unique` where elements must differ, and `literals` for
//! constants. [`cache`] remembers masks and their ingredients by what `cache_key` says of a configuration.
//!
//! A *name* is that of a property which the schema declares, and a *name node* is a place in the trie of a shape's
//! names. A *key* is what a document has in front of a colon: one of the names, or another text, which makes it an
//! unnamed key. The keys of caches are *cache keys*, and what tells finished masks apart is their *identity*
//! (`mask_identity`).

pub mod byte_coverage;
pub mod cache;
pub(crate) mod cache_key;
pub mod crossing;
pub(crate) mod key;
pub(crate) mod literals;
pub mod mask_builder;
pub mod structural_tokens;
pub(crate) mod unique;
