//! TODO.

pub(crate) mod branching;
pub mod byte_lengths;
pub mod cardinality;
pub mod char_groups;
pub mod char_lengths;
pub(crate) mod postorder;
pub mod saturate_counts;
pub mod slice;
pub(crate) mod slice_class;
pub mod slice_exit;
pub(crate) mod utf8_wellformed;
