//! Grammars: Lark, GBNF and EBNF text to one model.
//!
//! ```text
//! text --syntax (lark, gbnf, ebnf)--> model: rules over terminals, and what a lexer does with them
//! ```
//!
//! The model is what the three syntaxes have in common. Which text a syntax takes, and what it means, is said by the
//! module of that syntax.

pub mod model;
