use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, Hasher};

use rustc_hash::FxBuildHasher;

use crate::util::seeded_hash::Seeded;

/// A key that counts how often it is compared with another.
struct Counted<'a, T> {
    key: T,
    compared: &'a Cell<usize>,
}

impl<T: Hash> Hash for Counted<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl<T: PartialEq> PartialEq for Counted<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.compared.set(self.compared.get() + 1);
        self.key == other.key
    }
}

impl<T: Eq> Eq for Counted<'_, T> {}

/// How many keys are compared while each is added to a set, and looked up in it.
// The counter is no part of the key.
#[allow(clippy::mutable_key_type)]
fn compared<T: Eq + Hash + Clone>(keys: &[T], hashing: impl BuildHasher) -> usize {
    let compared = Cell::new(0);
    let counted = |key: &T| Counted { key: key.clone(), compared: &compared };
    let mut set = HashSet::with_hasher(hashing);
    for key in keys {
        assert!(set.insert(counted(key)));
    }
    assert!(keys.iter().all(|key| set.contains(&counted(key))));
    compared.get()
}

/// Keys that differ, all of one hash where there is no seed, make work that grows with their square there and with
/// their number here.
fn resists<T: Eq + Hash + Clone>(keys: &[T]) {
    let n = keys.len();
    let hash = FxBuildHasher.hash_one(&keys[0]);
    assert!(keys.iter().all(|key| FxBuildHasher.hash_one(key) == hash));
    assert!(compared(keys, FxBuildHasher) > n * n / 2);
    // A look-up compares what it finds, and rarely another.
    let few = compared(keys, Seeded);
    assert!((n..2 * n).contains(&few), "{few}");
}

/// Texts in which a block cancels what was read before it, so that nothing is left of the one beside it.
fn texts(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("aaaaaaaa00000539bbbbbbbbcccccccc$MB]nDt7{i:08}")).collect()
}

#[test]
fn texts_that_collide_without_a_seed() {
    resists(&texts(3_000));
}

#[test]
fn numbers_that_collide_without_a_seed() {
    // What the first adds to the hash is a multiple of the constant, which the second takes away.
    const K: u64 = 0xf135_7aea_2e62_a9c5;
    let pairs: Vec<(u64, u64)> = (0..3_000u64).map(|i| (i, 0u64.wrapping_sub(i.wrapping_mul(K)))).collect();
    resists(&pairs);
}

#[test]
fn one_number_of_a_row_needs_no_seed() {
    // The worst of 2^22 numbers that were given out: those of one place in a table for 2^11.
    let place = |n: &u32| FxBuildHasher.hash_one(n) & 0xFFF == 77;
    let numbers: Vec<u32> = (0..1 << 22).filter(place).collect();
    assert!((900..1_200).contains(&numbers.len()), "{}", numbers.len());
    assert!(compared(&numbers, FxBuildHasher) < 20 * numbers.len());
}
