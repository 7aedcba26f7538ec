//! What masks are remembered by, and what is remembered.
//!
//! * A *key* says what one token can see of a configuration: `config_key`, with `visible_keys`, `declared_order`,
//!   `object_class`, `rule_signature` and `partial_name` for its parts.
//! * A *value* is a `recipe`: the ingredients of a mask. `masks` holds the recipes of each index.
//! * Shared by all indexes over a vocabulary: [`patches`] (allowed crossing tokens, as sparse masks), `patch_base`
//!   (what patches have in common) and [`rows`] (finished rows). `suffix_sets` remembers viable suffixes for an index.
//! * `forced_runs` are the forced bytes that guides of one index found.
//!
//! `docs/internals/mask-caches.md` has all keys and bounds in one table.

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
