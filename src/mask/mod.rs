//! Masks: which tokens a configuration allows.
//!
//! A token either stays inside the open lexeme, or it crosses the lexeme's end. [`lexeme`] finds the tokens of the
//! first kind (the field's context-independent tokens); they depend on the lexeme's state alone, so documents, grammars
//! and patterns share them. What follows the lexeme decides about tokens of the second kind (context-dependent tokens):
//! it is asked of each configuration's stack, by [`json`] for documents and by `grammar` for grammars. Nothing outside
//! `json` looks at a document's frames, and nothing outside `grammar` at a parser's stack, but where a grammar holds
//! documents; `tests/layering.rs` sees to it.
//!
//! [`vocab_tables`] is what one vocabulary contributes to all indexes over it: tries, postings, and lexemes with the
//! masks of their states. `docs/internals/masks.md` explains the whole with an example, and
//! `docs/internals/mask-miss.md` follows one unknown mask from file to file.

pub(crate) mod grammar;
pub mod json;
pub mod lexeme;
pub mod mask_identity;
pub(crate) mod row_patch;
pub(crate) mod token_survey;
pub(crate) mod trie_kind;
pub(crate) mod tries;
pub mod vocab_tables;
