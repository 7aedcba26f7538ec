//! Automata: from expressions and rules to states that step by bytes.
//!
//! Two levels, because what a token does *inside* a lexeme does not depend on what follows the lexeme:
//!
//! * [`lexeme`]: one lexeme is a lazily determinized automaton over bytes. A pattern is one raw lexeme; the scalars of
//!   a JSON value are raw lexemes (numbers, `true`, `null`) and text lexemes (strings seen through JSON's escapes).
//! * [`flat`]: all configurations as one minimal automaton, where there are few.
//! * [`program`] and [`config`]: the frames. A program is a compiled [`Rules`](crate::ir::Rules); a configuration is
//!   a stack of frames over it, each a set of items that run side by side. JSON is visibly pushdown: `{ [` push and
//!   `} ]` pop for all items at once, so one stack serves every alternative. Nodes and items live in an [`arena`];
//!   what objects, arrays of counted and of unique elements, strings and constants ask of a step stands in a file each.
//! * What is written ahead of a model: the nearest ends ([`complete`]), likely documents ([`likely`]), budgets'
//!   distances ([`farthest`], [`least`]).

pub mod agreeing;
pub mod apart;
pub mod append;
pub mod arena;
pub mod beyond;
pub mod blanks;
pub mod complete;
pub mod config;
pub mod constants;
pub mod costs;
mod counting;
pub mod describe;
pub mod elements;
pub mod endings;
mod endless;
pub mod ends;
pub mod farthest;
pub mod flat;
pub mod free;
pub mod groups;
mod inside;
pub mod least;
pub mod lengths;
pub mod lexeme;
pub mod likely;
pub(crate) mod object;
mod object_key;
mod parts;
mod pen;
pub mod program;
mod prospects;
pub mod repeat;
pub mod room;
pub mod saturate;
mod scarce;
mod seen_keys;
pub mod size;
mod soon;
pub mod steps;
pub mod text;
pub mod unique;
mod unused;
mod varied;
pub mod variety;
mod wellformed;
