//! The intermediate representation: what every frontend lowers to and every automaton is made from.
//!
//! [`expr`] holds hash-consed regular expressions over **bytes**, closed under union, concatenation, counted
//! repetition, intersection and complement. [`derivative`] derives them: the one-byte transitions of an expression, whole rows
//! at a time, and `product` decides which of them are live. `found` makes texts that contain something, [`utf8`] builds code-point classes over UTF-8 on top of it.
//! [`decimal_multiple`] is `multipleOf`. [`restrict`] restricts expressions to some bytes.

pub mod analysis;
mod constructors;
mod containing;
pub mod decimal_multiple;
pub mod derivative;
mod derivative_cache;
pub mod expr;
pub mod import;
mod intern;
mod liveness;
pub mod restrict;
mod row_merge;
pub mod utf8;

pub use crate::expr::decimal_multiple::{Divisor, Multiple, lcm, without_tens};
pub use crate::expr::expr::{Edge, Expr, ExprId, Exprs, INF};
pub use crate::expr::import::Digest;
pub use crate::expr::restrict::{Alphabet, ByteSet};
