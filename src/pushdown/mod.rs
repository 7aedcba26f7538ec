//! Pushdown automata: configurations that are stepped by bytes.
//!
//! A *configuration* is a stack of frames over lexemes. `json` steps JSON documents. JSON is visibly pushdown: `{ [`
//! push and `} ]` pop for all alternatives at once, so one stack serves every alternative. [`completion`] writes bytes
//! from a configuration to the end of the output.
//!
//! What a token does *inside* a lexeme does not depend on what follows it, so lexemes are automata of their own (see
//! [`crate::lexeme`]). Where all configurations are few, [`crate::dfa`] makes one minimal automaton of them.
//! `docs/internals/pushdown.md` has an example.

pub mod completion;
pub mod grammar;
pub mod json;
