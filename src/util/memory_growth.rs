//! Counts the bytes that lexemes and their masks have taken since the process began.
//!
//! Caches of lexemes are bounded in bytes, but what they hold grows where it is used, in compiles and in masks alike.
//! Measuring a whole cache takes a millisecond, so each part says here what it takes, and a cache is measured when
//! enough was taken since it was measured last. The count never falls, and it is one for all vocabularies: it says when
//! to measure, not how much there is.

use std::sync::atomic::{AtomicUsize, Ordering};

static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Counts bytes that a lexeme or its masks take from now on.
#[inline]
pub fn grow(bytes: usize) {
    TAKEN.fetch_add(bytes, Ordering::Relaxed);
}

/// A place from which growth is measured.
#[derive(Default)]
pub struct GrowthMark(AtomicUsize);

impl GrowthMark {
    /// Whether more than `most` bytes were taken since this was true last.
    #[inline]
    pub fn has_passed(&self, most: usize) -> bool {
        let (now, before) = (TAKEN.load(Ordering::Relaxed), self.0.load(Ordering::Relaxed));
        // Of threads that see it at once, one takes it up.
        now.wrapping_sub(before) > most
            && self.0.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_once() {
        let mark = GrowthMark::default();
        // Other tests grow as well, so no bound is exact here but the lower one.
        mark.has_passed(0);
        grow(1 << 40);
        assert!(mark.has_passed(1 << 39));
        assert!(!mark.has_passed(1 << 39));
        grow(1 << 40);
        assert!(mark.has_passed(1 << 39));
    }
}
