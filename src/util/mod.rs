//! Utilities that every part uses and that know none of them: hashing, bounded caches, prefix indices, logs that roll
//! back, threads, mapped files, cancelling, meters of work.

pub mod append_vec;
pub(crate) mod bits;
pub(crate) mod bounded_cache;
pub mod cache_register;
pub mod cancel;
pub mod fork_guard;
pub mod free_pages;
pub(crate) mod idle_threads;
pub mod mapped;
pub mod memory_growth;
pub(crate) mod parallel_map;
pub(crate) mod prefix_index;
pub mod rng;
pub(crate) mod rollback_log;
pub mod seeded_hash;
pub mod work_meter;
