//! Grammars: their notations, their masks against a slow twin, and grammars that strangers send.

mod budgets;
mod found_cases;
mod hard_grammars;
mod indentation;
mod random_grammar;
mod random_grammars;
mod recognizer;
mod searches;
mod stop_tokens;
mod syntax;
mod twin;
