//! JSON documents as a pushdown automaton over lexemes.
//!
//! A [`program`] is a compiled [`Rules`](crate::json::rules::Rules). A configuration is a stack of frames over it;
//! frames ([`frame`]) live in an [`arena`]. [`machine`] steps a configuration by a byte, with [`object`] and
//! [`object_key`] for objects, [`contains`] for counted elements, [`shape_union`] for alternatives that go on alike,
//! [`literal_trie`] for constants and [`unique`] for elements that must differ. [`state_key`] writes down what the
//! future of a configuration depends on.

pub mod arena;
pub(crate) mod contains;
pub mod frame;
pub mod key_capacity;
pub mod literal_trie;
pub(crate) mod live_frames;
pub mod machine;
pub(crate) mod object;
pub(crate) mod object_key;
pub(crate) mod open_alternatives;
pub mod program;
pub(crate) mod seen_keys;
pub(crate) mod shape_union;
pub mod state_key;
pub(crate) mod string_run;
pub mod unique;
