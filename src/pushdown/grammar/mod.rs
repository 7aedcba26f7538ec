//! Grammars: an LR parser over a stack that may branch, and a scanner over all terminals that may come.
//!
//! ```text
//! grammar --productions--> lr_automaton \
//!                                        program --machine--> positions (parse_stack)
//! terminals --------------> scanner     /
//! ```
//!
//! A position is a list of branches. A branch is a stack and a state of the scanner. A byte steps the scanner. Where a
//! terminal may end, the stack takes it, and the scanner begins with those that may come next.
//!
//! `docs/internals/grammars.md` has an example.

pub mod bnf_rules;
pub mod closure;
pub mod completion;
pub mod document;
pub mod events;
pub mod follow;
pub mod indenter;
mod line_ends;
pub mod longest_match_bytes;
pub mod lr_automaton;
pub mod machine;
pub mod obligations;
pub mod parse_stack;
pub mod program;
pub mod reachable_states;
pub mod right_recursion;
pub mod scanner;
pub mod stack_view;
pub mod succession;
pub mod terminal_token_bounds;
