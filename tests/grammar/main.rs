//! Grammars: their notations, their masks against a slow twin, and grammars that strangers send.

mod budgets;
mod found_cases;
mod hard_grammars;
mod random_grammar;
mod random_grammars;
mod recognizer;
mod searches;
mod syntax;
mod twin;
