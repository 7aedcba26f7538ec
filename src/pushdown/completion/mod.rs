//! Completions: bytes that lead from a configuration to the end of the output.
//!
//! [`shortest`] writes short ones, by the costs of [`min_cost`] and `remaining_cost`; `unused_ends` keeps elements
//! apart that must differ. [`sample_documents`] writes what a model may write, so that masks can be made before it
//! does. Both write with a `writer`, which steps every byte. [`completion_bounds`] says without writing by how many
//! tokens a configuration is completed at most.

pub mod completion_bounds;
pub(crate) mod distinct_elements;
mod frame_bounds;
pub mod min_cost;
mod name_sums;
pub(crate) mod remaining_cost;
pub mod sample_documents;
pub mod shortest;
mod unique_bounds;
mod unused_ends;
pub(crate) mod writer;
