//! Counts the bytes that the states and masks of sources take in this process: how many were taken, and how many are
//! held.
//!
//! Caches of lexemes are bounded in bytes, but what they hold grows where it is used, in compiles and in masks alike.
//! Measuring a whole cache takes a millisecond, so each part says here what it takes, and a cache is measured when
//! enough was taken since it was measured last.
//!
//! What running sources hold is in no cache alone, so it has a bound of its own ([`most_held`]). Beyond it states and
//! masks of lexemes are found again instead of being kept ([`room_of_states`], [`room_of_masks`]), and whoever took
//! much is refused more: a compile that took more than [`compile_share`], a guide of a grammar that took more than
//! [`guide_share`], and at last [every guide](must_end) that did.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::error::{Error, ErrorCode};
use crate::limits::{LATE_MASK_BYTES, mask_cache_bytes};
use crate::util::work_meter;

/// Taken since the process began, by all.
static TAKEN: AtomicUsize = AtomicUsize::new(0);
/// Taken and not let go of.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// Held by the caches of vocabularies, as of when each was measured.
static KEPT: AtomicUsize = AtomicUsize::new(0);
/// 0 where all hold what they may; 1 where it is more; 2 where it is a quarter more; 3 where it is half as much again.
static CROWDING: AtomicU8 = AtomicU8::new(0);

/// Counts bytes that states or masks take from now on, as memory and as work.
pub fn grow(bytes: usize) {
    TAKEN.fetch_add(bytes, Ordering::Relaxed);
    let held = HELD.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    work_meter::take(bytes);
    if look(held) > 0 {
        work_meter::end_if_crowded(guide_share(held));
    }
}

/// Counts bytes that were let go of.
pub fn shrink(bytes: usize) {
    look(HELD.fetch_sub(bytes, Ordering::Relaxed).saturating_sub(bytes));
}

/// Looks how crowded it is where so much is held.
fn look(held: usize) -> u8 {
    let bound = most_held();
    let crowding = u8::from(held > bound) + u8::from(held > bound / 4 * 5) + u8::from(held > bound / 2 * 3);
    if CROWDING.load(Ordering::Relaxed) != crowding {
        CROWDING.store(crowding, Ordering::Relaxed);
    }
    crowding
}

/// Whether all hold more than they may: what may be left out is left out.
pub fn is_crowded() -> bool {
    CROWDING.load(Ordering::Relaxed) > 0
}

/// Whether all hold so much that a guide which took `taken` bytes must end, whatever its source: finding states again
/// instead of keeping them was not enough.
pub fn must_end(taken: usize) -> bool {
    CROWDING.load(Ordering::Relaxed) > 2 && taken > guide_share(held())
}

/// The bytes of states that a lexeme may have found before its guides go on in a copy: `most`, or less where it is
/// crowded.
#[inline]
pub fn room_of_states(most: usize) -> usize {
    match CROWDING.load(Ordering::Relaxed) {
        0 => most,
        1 => most.min(1 << 20),
        _ => most.min(256 << 10),
    }
}

/// The bytes of masks that a lexeme keeps beyond those that it keeps for good, and whether it keeps more for good.
pub fn room_of_masks() -> (usize, bool) {
    match CROWDING.load(Ordering::Relaxed) {
        0 => (LATE_MASK_BYTES, true),
        1 => (1 << 20, false),
        _ => (256 << 10, false),
    }
}

/// The bytes that states and masks of all sources hold.
pub fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// Bytes that some part holds as long as this lives.
#[derive(Default)]
pub struct HeldBytes(usize);

impl HeldBytes {
    /// Counts more.
    pub fn grow(&mut self, bytes: usize) {
        grow(bytes);
        self.0 += bytes;
    }

    /// How many they are.
    pub fn get(&self) -> usize {
        self.0
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        shrink(self.0);
    }
}

/// Bytes that the cache of a vocabulary holds, as long as this lives.
#[derive(Default)]
pub struct KeptBytes(AtomicUsize);

impl KeptBytes {
    /// Says how many they are now.
    pub fn set(&self, bytes: usize) {
        let before = self.0.swap(bytes, Ordering::Relaxed);
        KEPT.fetch_add(bytes, Ordering::Relaxed);
        KEPT.fetch_sub(before, Ordering::Relaxed);
        look(held());
    }
}

impl Drop for KeptBytes {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// The bytes that states and masks of all sources may hold: what caches keep, and as much as one of them may keep for
/// sources that run.
pub fn most_held() -> usize {
    /// Least bytes of sources that run: those of a large language.
    const LEAST_RUNNING: usize = 128 << 20;
    KEPT.load(Ordering::Relaxed).saturating_add(mask_cache_bytes().max(LEAST_RUNNING))
}

/// What is told where all sources together hold more memory than they may, to one that took much of it.
pub fn too_little_memory() -> Error {
    let name = "bytes of the states and masks of all sources in this process";
    Error::limit(name, most_held() as u64, held() as u64).coded(ErrorCode::TooLittleMemory).with_hint(
        "this source took many of them; try again when others have ended, or simplify it; \
         interlock.set_mask_cache_bytes raises the limit",
    )
}

/// What one guide may have taken: less and less from the bound on, until all hold a quarter more.
pub fn guide_share(held: usize) -> usize {
    /// The share where there is just no room any more, and the least: that of an everyday source.
    const SHARES: (usize, usize) = (16 << 20, 2 << 20);
    let bound = most_held();
    let room = (bound / 4).saturating_sub(held.saturating_sub(bound));
    if held <= bound { usize::MAX } else { (SHARES.0 * (room >> 10) / (bound >> 12)).max(SHARES.1) }
}

/// What one compile may have taken, which is over: that of a large language, or of an everyday source where all hold
/// half as much again as they may.
pub fn compile_share(held: usize) -> usize {
    const SHARES: (usize, usize) = (16 << 20, 4 << 20);
    let bound = most_held();
    match held.saturating_sub(bound) {
        0 => usize::MAX,
        over if over < bound / 2 => SHARES.0,
        _ => SHARES.1,
    }
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
        shrink(1 << 40);
        assert!(mark.has_passed(1 << 39));
        assert!(!mark.has_passed(1 << 39));
        grow(1 << 40);
        shrink(1 << 40);
        assert!(mark.has_passed(1 << 39));
    }

    #[test]
    fn shares_fall() {
        let bound = most_held();
        assert_eq!((guide_share(bound), compile_share(bound)), (usize::MAX, usize::MAX));
        assert!((15 << 20..=16 << 20).contains(&guide_share(bound + 1)) && compile_share(bound + 1) == 16 << 20);
        assert!((7 << 20..=8 << 20).contains(&guide_share(bound + bound / 8)));
        assert_eq!((guide_share(2 * bound), guide_share(usize::MAX)), (2 << 20, 2 << 20));
        assert_eq!(compile_share(2 * bound), 4 << 20);
    }

    #[test]
    fn what_is_kept_leaves_the_same_room() {
        let kept = KeptBytes::default();
        let before = most_held();
        kept.set(1 << 40);
        assert!(most_held() >= before + (1 << 39));
        drop(kept);
        assert!(most_held() < before + (1 << 39));
    }
}
