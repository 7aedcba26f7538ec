//! TODO.

pub(crate) mod allocator;
pub(crate) mod cancel;
pub(crate) mod fork;
pub(crate) mod registry;
pub(crate) mod thread_pool;
