//! Hands free pages back to the system where much memory was taken for a while.
//!
//! An allocator keeps what is freed for the allocations to come, which a process that compiles all the time needs. A
//! compile that took hundreds of megabytes is another matter: nothing as large follows, and each thread keeps its own.
//! So whoever ends a compile [hands free pages back](release_grown) where lexemes have grown much.

use std::sync::OnceLock;

use crate::util::memory_growth::GrowthMark;

/// Bytes that are worth the time, some ten milliseconds, that the system takes for the pages.
const MANY: usize = 64 << 20;

static RELEASED: GrowthMark = GrowthMark::new();
static RELEASE: OnceLock<fn()> = OnceLock::new();

/// Says how the allocator hands free pages back. The first caller decides.
pub fn release_with(release: fn()) {
    let _ = RELEASE.set(release);
}

/// Hands free pages back if lexemes and masks took much since this was done last.
pub fn release_grown() {
    if RELEASED.has_passed(MANY) {
        RELEASE.get().inspect(|release| release());
    }
}
