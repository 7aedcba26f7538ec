//! Analyses of expressions: facts that are read off an expression before any automaton exists.
//!
//! Lengths in bytes and in characters, the number of members, the sets of characters of which any string may pass
//! ([`slice`](mod@slice)), and counts that no token can exhaust ([`saturate_counts`]). No analysis looks at a stack.

pub(crate) mod branching;
pub mod byte_lengths;
pub mod cardinality;
pub mod char_groups;
pub mod char_lengths;
pub(crate) mod completes_without;
pub mod farthest_end;
pub(crate) mod last_bytes;
pub mod most_texts;
pub(crate) mod postorder;
pub mod saturate_counts;
pub(crate) mod shortest_text;
pub mod slice;
pub(crate) mod slice_class;
pub mod slice_exit;
pub(crate) mod utf8_wellformed;
