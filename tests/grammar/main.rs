//! Grammars.

mod recognizer;
mod syntax;
