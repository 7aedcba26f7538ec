//! Hash tables whose keys strangers choose.
//!
//! Schemas, patterns and outputs come from anybody. Who knows how keys are hashed can write keys that all fall into one
//! place of a table, and then every look-up passes all of them: a megabyte of property names took seconds that way. So
//! what is hashed with text, with lists, or with several numbers is hashed with a seed of the process, which nobody
//! can know: [`SeededMap`], [`SeededSet`], or [`seeded`] where the table is a [`HashTable`](hashbrown::HashTable).
//!
//! [`FxHashMap`](rustc_hash::FxHashMap) has no seed, and one would not help: its hash of several numbers is a
//! polynomial, so keys that collide do it under every seed. It is for keys that are *one number that we gave out*, in
//! order: a node, a state, a rule, a name. They may be followed by one of a few constants. Of `n` such numbers, in a
//! table for `k`, about `n / k` fall into one place, so that even who chooses the `k` takes no more than `n` steps in
//! all. `tests/layering.rs` knows these keys and takes no others.
//!
//! The order of seeded tables differs from process to process, so it may not reach a result: what comes out of one is
//! looked up, or sorted. The hash is foldhash's, which resists whoever cannot see the seed; it is no cryptography.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;

/// A map whose keys strangers choose.
pub type SeededMap<K, V> = HashMap<K, V, Seeded>;

/// A set whose members strangers choose.
pub type SeededSet<K> = HashSet<K, Seeded>;

/// Makes hashers with the seed of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seeded;

struct Seed {
    shared: SharedSeed,
    own: u64,
}

/// From the randomness that the standard library asks the system for; foldhash's own would be of addresses and time.
static SEED: LazyLock<Seed> = LazyLock::new(|| {
    let random = || RandomState::new().hash_one(0u8);
    Seed { shared: SharedSeed::from_u64(random()), own: random() }
});

impl BuildHasher for Seeded {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> FoldHasher<'static> {
        let seed = &*SEED;
        FoldHasher::with_seed(seed.own, &seed.shared)
    }
}

/// A hasher with the seed of the process.
#[inline]
pub fn seeded() -> FoldHasher<'static> {
    Seeded.build_hasher()
}

#[cfg(test)]
mod tests;
