//! Masks: which tokens a configuration allows.
//!
//! A token either stays inside the open lexeme, or it crosses the lexeme's end. `inner` finds the tokens of the first
//! kind (the field's context-independent tokens); they depend on the lexeme state alone. [`crossing`] finds those of
//! the second kind (context-dependent tokens): what follows the lexeme decides about them, so it is asked of each
//! configuration. `key` does both inside the keys of objects. [`masker`] puts the mask of a configuration together, and
//! [`cache`] remembers masks and their ingredients by what `cache_key` says of a configuration.
//!
//! [`vocab_tables`] is what one vocabulary contributes to all indexes over it: tries, postings, and lexemes with the
//! masks of their states (`masked_lexeme`, `lexeme_cache`). `docs/internals/masks.md` explains the whole with an
//! example, and `docs/internals/mask-miss.md` follows one unknown mask from file to file.

pub mod byte_coverage;
pub mod cache;
pub(crate) mod cache_key;
pub(crate) mod char_postings;
pub mod crossing;
pub(crate) mod eager;
pub(crate) mod grammar;
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
