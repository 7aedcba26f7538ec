//! What the extension module needs of its process: the allocator, threads, forks, cancelling, and a register of
//! vocabularies.

pub(crate) mod allocator;
pub(crate) mod cancel;
pub(crate) mod fork;
pub(crate) mod process_caches;
pub(crate) mod thread_pool;
