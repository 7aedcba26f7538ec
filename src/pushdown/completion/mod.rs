//! TODO.

pub mod min_cost;
pub(crate) mod remaining_cost;
pub mod sample;
pub mod shortest;
pub(crate) mod writer;
