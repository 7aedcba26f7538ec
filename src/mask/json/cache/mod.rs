//! Caches of masks and of their ingredients, by the keys of `cache_key`.
//!
//! * [`masks`] holds, for each index, the `composition` of each configuration's mask: its ingredients.
//!   `composition_writer` makes compositions and writes rows from them.
//! * All indexes over a vocabulary share [`patches`] (allowed crossing tokens as sparse masks, see `row_patch`),
//!   `patch_base` (what patches have in common), [`rows`] (finished rows) and `member_values`.
//! * `suffix_sets` remembers which suffixes may follow, `spelled_names` what tokens spell of names, `forced_runs` which
//!   bytes were forced.
//! * `composition_identity` identifies masks by what they are made of, for rows that lie somewhere else already.
//! * `completion_facts` are for budgets: what completes a document behind tokens (`bounds_after_tokens`, among others).
//! * `guide_memo` is what a single guide knows, without a lock.
//!
//! `docs/internals/mask-caches.md` has all keys and bounds in one table.
pub(crate) mod bounds_after_tokens;
pub mod completion_facts;
pub(crate) mod composition;
pub(crate) mod composition_identity;
pub(crate) mod composition_writer;
pub(crate) mod forced_runs;
pub(crate) mod guide_memo;
pub(crate) mod masks;
pub(crate) mod member_values;
pub(crate) mod patch_base;
pub mod patches;
pub mod rows;
pub(crate) mod spelled_names;
pub(crate) mod suffix_sets;
