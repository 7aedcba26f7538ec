//! Expressions: what every frontend lowers to and every automaton is made from.
//!
//! [`arena`] holds hash-consed regular expressions over **bytes**, closed under union, concatenation, counted
//! repetition, intersection and complement. [`derivative`] gives the transitions of an expression, a whole row at a
//! time, and `liveness` decides which intersections and complements accept anything. `containing` makes texts in which
//! something is found, [`utf8`] builds classes of code points, [`decimal_multiple`] is `multipleOf`, and
//! [`restrict_to_bytes`] leaves only some bytes. [`analysis`] reads facts off expressions.
//! `docs/internals/expressions.md` has an example.

pub mod analysis;
pub mod arena;
pub(crate) mod byte_bits;
mod constructors;
mod containing;
pub mod copy_between_arenas;
pub mod decimal_multiple;
pub mod derivative;
mod derivative_cache;
mod intern;
mod liveness;
pub mod marked_texts;
pub mod restrict_to_bytes;
mod row_merge;
pub mod utf8;

pub use crate::expr::arena::{Edge, Expr, ExprId, Exprs, INF};
pub use crate::expr::copy_between_arenas::Digest;
pub use crate::expr::decimal_multiple::{Divisor, Multiple, lcm, without_tens};
pub use crate::expr::restrict_to_bytes::{Alphabet, ByteSet};
