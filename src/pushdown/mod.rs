//! Automata: from expressions and rules to states that step by bytes.
//!
//! Two levels, because what a token does *inside* a lexeme does not depend on what follows the lexeme:
//!
//! * [`lexeme`]: one lexeme is a lazily determinized automaton over bytes. A pattern is one raw lexeme; the scalars of
//!   a JSON value are raw lexemes (numbers, `true`, `null`) and text lexemes (strings seen through JSON's escapes).
//! * [`flat`]: all configurations as one minimal automaton, where there are few.
//! * [`program`] and [`machine`]: the frames. A program is a compiled [`Rules`](crate::json::rules::Rules); a configuration is
//!   a stack of frames over it, each a set of items that run side by side. JSON is visibly pushdown: `{ [` push and
//!   `} ]` pop for all items at once, so one stack serves every alternative. Nodes and items live in an [`arena`];
//!   what objects, arrays of counted and of unique elements, strings and constants ask of a step stands in a file each.
//! * What is written ahead of a model: the nearest ends ([`shortest`]), likely documents ([`sample`]), budgets'
//!   distances ([`max_distance`], [`byte_lengths`]).

pub mod completion;
pub mod json;
