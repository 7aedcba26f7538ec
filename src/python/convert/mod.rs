//! Arguments that come from Python: arrays, ids, limits and sources.

pub(crate) mod argument;
pub(crate) mod buffer;
pub(crate) mod ids;
pub(crate) mod limits;
pub(crate) mod pickle_recipe;
pub(crate) mod source;
