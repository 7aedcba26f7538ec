//! The allocator of the extension module, and how long it keeps what is free.
//!
//! Compiling a schema makes and drops thousands of small nodes; the C library's allocator took a third of its time.
//! Built without transparent huge pages (`no_thp`): the first touch of one clears two megabytes at once, which stalled
//! single masks for milliseconds where the host had to find the memory first.
//!
//! Pages that are free go back to the system after some seconds without use. mimalloc's own second is shorter than the
//! time between two large schemas: each then had to touch its megabytes anew, which took a third of its compile.

use std::ffi::{c_int, c_long};

use crate::util::free_pages;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc's `mi_option_e`.
const PURGE_DELAY: c_int = 15;

/// Milliseconds for which free pages are kept.
const KEPT: c_long = 10_000;

// SAFETY: the signatures are those of the header of mimalloc that is compiled in, where an option is an int and its
// value a long.
unsafe extern "C" {
    /// Hands the free pages of this thread, and those of threads that ended, back to the system.
    safe fn mi_collect(force: bool);
    /// Writes one word of mimalloc's table of options, after looking at its index.
    safe fn mi_option_set(option: c_int, value: c_long);
}

/// Hands free pages back to the system now.
pub fn release_free_pages() {
    mi_collect(true);
}

/// Sets the time for which free pages are kept, and who hands them back where many are. Called once, when the module is
/// loaded.
pub fn keep_free_pages() {
    free_pages::release_with(release_free_pages);
    mi_option_set(PURGE_DELAY, KEPT);
}
