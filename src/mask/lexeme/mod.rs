//! Masks of one lexeme: the tokens that stay inside it, by its state alone.
//!
//! `masked_lexeme` is a lexeme with the masks of its states, `lexeme_cache` keeps those that schemas have in common,
//! `lexeme_lookup` finds one, and [`lexeme_mask`] is what a walk over the vocabulary's trie finds. `inner` makes the
//! masks of long lexemes without that walk, by the lengths and characters of tokens (`char_postings`,
//! `subtree_summary`). `masks_at_compile` makes masks before they are asked for.

pub(crate) mod char_postings;
pub(crate) mod inner;
pub(crate) mod lexeme_cache;
pub(crate) mod lexeme_lookup;
pub mod lexeme_mask;
pub(crate) mod masked_lexeme;
pub(crate) mod masks_at_compile;
pub(crate) mod subtree_summary;
pub(crate) mod text_end_rows;
