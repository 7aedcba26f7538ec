//! TODO.

pub(crate) mod config_key;
pub(crate) mod declared_order;
pub(crate) mod forced_runs;
pub(crate) mod masks;
pub(crate) mod object_class;
pub(crate) mod partial_name;
pub(crate) mod patch_base;
pub mod patches;
pub(crate) mod recipe;
pub mod rows;
pub(crate) mod rule_signature;
pub(crate) mod suffix_sets;
pub(crate) mod visible_keys;
