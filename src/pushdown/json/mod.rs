//! TODO.

pub mod arena;
pub(crate) mod contains;
pub mod key_capacity;
pub mod literal_trie;
pub mod machine;
pub(crate) mod object;
pub(crate) mod object_key;
pub mod program;
pub(crate) mod seen_keys;
pub mod state_key;
pub(crate) mod string_run;
pub mod unique;
