//! The intermediate representation: what every frontend lowers to and every automaton is made from.
//!
//! [`expr`] holds hash-consed regular expressions over **bytes**, closed under union, concatenation, counted
//! repetition, intersection and complement. [`row`] derives them: the one-byte transitions of an expression, whole rows
//! at a time, and `product` decides which of them are live. `found` makes texts that contain something, [`text`] builds code-point classes over UTF-8 on top of it.
//! [`multiple`] is `multipleOf`. [`alphabet`] restricts expressions to some bytes.

pub mod alphabet;
pub mod copy;
pub mod expr;
mod found;
mod intern;
pub mod multiple;
mod operators;
mod pieces;
mod product;
pub mod row;
mod rows;
pub mod rules;
pub mod text;

pub use alphabet::{Alphabet, ByteSet};
pub use copy::Digest;
pub use expr::{Edge, Expr, ExprId, Exprs, INF};
pub use multiple::{Divisor, Multiple, lcm, without_tens};
pub use rules::{
    ArrayShape, Contains, Element, KeyClass, MAX_WITNESSES, ObjectShape, Property, Rule, RuleId, Rules, StringSet,
    witness_members,
};
