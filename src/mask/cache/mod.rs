//! Caches of masks and of their parts, by the keys of [`cache_key`](crate::mask::cache_key).
//!
//! * [`masks`] holds, for each index, the [`recipe`] of each configuration's mask: its ingredients. [`recipe_writer`] makes
//!   recipes and writes masks from them.
//! * All indexes over a vocabulary share [`patches`] (finished parts of masks, see [`row_patch`]), [`patch_base`] (what
//!   patches have in common), [`rows`] (finished masks), and [`member_values`].
//! * [`suffix_sets`] says which suffixes may follow, [`spelled_names`] what tokens spell of names, [`forced_runs`] which
//!   bytes were forced.
//! * [`guide_memo`] is what a single guide knows, without a lock.
pub(crate) mod forced_runs;
pub(crate) mod guide_memo;
pub(crate) mod masks;
pub(crate) mod member_values;
pub(crate) mod patch_base;
pub mod patches;
pub(crate) mod recipe;
pub(crate) mod recipe_writer;
pub(crate) mod row_patch;
pub mod rows;
pub(crate) mod spelled_names;
pub(crate) mod suffix_sets;
