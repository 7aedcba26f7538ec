//! Grammars.

mod recognizer;
mod searches;
mod syntax;
