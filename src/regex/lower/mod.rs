//! Lowering: from a syntax tree to an expression.
//!
//! A pattern without assertions is lowered part by part (`assertion_free`). Others are walked from the end to the
//! beginning, with what follows as a continuation (`continuation`). Patterns that stand between other text, as the
//! terminals of a grammar do, are the affair of `symbol`.

pub(crate) mod assertion_free;
pub(crate) mod atomic;
pub(crate) mod continuation;
pub(crate) mod look_behind;
pub(crate) mod next_char;
pub(crate) mod preferred;
pub(crate) mod split_by_context;
pub(crate) mod symbol_texts;
pub(crate) mod within_grammar;
