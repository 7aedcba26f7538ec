//! Masks: which tokens a configuration allows.
//!
//! A token either stays inside the lexeme that is open, or it crosses the lexeme's end. [`inner`] finds the tokens of the
//! first kind; they depend on the lexeme alone. [`crossing`] finds those of the second kind: what follows the lexeme
//! decides them, so they are looked at for each configuration. [`key`] does both inside the keys of objects.
//! [`masker`] puts the mask of a configuration together, and [`cache`] remembers the
//! parts by what [`cache_key`] says of a configuration.
//!
//! [`vocab_tables`] is what one vocabulary contributes to all indexes over it: tries, postings, and lexemes with the
//! masks of their states (`lexeme_cache`). `docs/internals/masks.md` explains the whole with an example, and
//! `docs/internals/mask-miss.md` follows one unknown mask from file to file.

pub mod byte_coverage;
pub mod cache;
pub(crate) mod cache_key;
pub(crate) mod char_postings;
pub mod crossing;
pub(crate) mod eager;
pub(crate) mod inner;
pub(crate) mod key;
pub(crate) mod lexeme_cache;
pub(crate) mod lexeme_lookup;
pub mod lexeme_mask;
pub(crate) mod literals;
pub(crate) mod masked_lexeme;
pub mod masker;
pub mod structural_tokens;
pub(crate) mod subtree_summary;
pub(crate) mod survey;
pub(crate) mod trie_kind;
pub(crate) mod tries;
pub(crate) mod unique;
pub mod vocab_tables;
