//! JSON itself: rules over values, exact decimals, canonical values, escapes and whitespace.
//!
//! [`rules`] is the language that the schema frontend lowers to and that the pushdown automaton is made from.

pub mod canonical;
pub(crate) mod canonical_tree;
pub mod decimal;
pub mod rules;
pub mod string_escape;
pub mod whitespace;
