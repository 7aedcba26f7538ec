//! How an output of a grammar is completed: whether it can be, and by which bytes.
//!
//! ```text
//! terminal_ways --> obligation_relations --> search    whether a branch can be completed at all
//!       |
//!       +---------> plan <-- stack_costs <-- symbol_costs    by what it is, shortest first
//!                     |<--- longest_ends <-- separated_texts    bounds of that, whatever was read before
//!                     ^---- terminal_texts <-- line_texts    the texts of its terminals, and how lines are indented
//!                     +---> behind_document    what follows an open document
//! ```

mod behind_document;
pub mod leaf_costs;
mod line_texts;
pub mod longest_ends;
pub mod obligation_relations;
pub mod place_costs;
pub mod plan;
pub mod prospects;
pub mod search;
pub mod separated_texts;
pub mod stack_costs;
pub mod symbol_costs;
pub mod terminal_texts;
pub mod terminal_ways;
