use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use crate::mask::row_patch::patch;
use crate::util::rng::Rng;

fn row_of(tokens: impl IntoIterator<Item = u32>) -> RowPatch {
    patch(tokens.into_iter().collect())
}

fn tokens_of(patch: &[(u32, u32)]) -> BTreeSet<u32> {
    patch
        .iter()
        .flat_map(|&(word, bits)| (0..32).filter(move |b| bits >> b & 1 == 1).map(move |b| word * 32 + b))
        .collect()
}

/// All tokens of a split patch, none of them twice.
fn joined(split: &SharedPatch) -> BTreeSet<u32> {
    let mut all = split.core.as_deref().map(tokens_of).unwrap_or_default();
    assert!(tokens_of(&split.rest).into_iter().all(|t| all.insert(t)), "a token of the core is in the rest as well");
    all
}

#[test]
fn few_tokens_are_their_own() {
    let cores = PatchBases::default();
    let few = row_of((0..64).map(|i| i * 32));
    assert_eq!(cores.split(1, few.clone()), SharedPatch { core: None, rest: few });
}

#[test]
fn patches_that_differ_in_few_tokens_have_one_core() {
    let cores = PatchBases::default();
    let most = || (0..200).map(|i| i * 40);
    let first = cores.split(1, row_of(most()));
    assert!(first.rest.is_empty());
    let second = cores.split(1, row_of(most().chain([3, 7, 9_000])));
    assert!(Arc::ptr_eq(second.core.as_ref().unwrap(), first.core.as_ref().unwrap()));
    assert_eq!(tokens_of(&second.rest), BTreeSet::from([3, 7, 9_000]));
    // What lacks some of it has a smaller base, which later ones share.
    let third = cores.split(1, row_of(most().skip(5)));
    let fourth = cores.split(1, row_of(most()));
    assert!(third.rest.is_empty());
    assert!(Arc::ptr_eq(third.core.as_ref().unwrap(), fourth.core.as_ref().unwrap()));
    assert_eq!(joined(&fourth), most().collect());
    // Other crossing tokens have bases of their own.
    let other = cores.split(2, row_of(most()));
    assert!(!Arc::ptr_eq(other.core.as_ref().unwrap(), fourth.core.as_ref().unwrap()));
}

#[test]
fn a_split_patch_is_the_patch() {
    let mut random = Rng(5);
    let cores = PatchBases::default();
    let (mut split, mut shared) = (0, 0);
    for _ in 0..3_000 {
        let span = 1 + random.below(12_000) as u32;
        let tokens: BTreeSet<u32> = match random.below(3) {
            // Some of all.
            0 => (0..span).filter(|_| random.below(40) == 0).collect(),
            // Nearly all of a few families.
            family => (0..12_000).step_by(20 + 3 * family).filter(|_| random.below(500) != 0).collect(),
        };
        let made = cores.split(random.below(3) as u64, row_of(tokens.iter().copied()));
        assert_eq!(joined(&made), tokens);
        split += made.core.is_some() as u32;
        shared += (made.core.is_some() && !made.rest.is_empty()) as u32;
    }
    assert!(split > 1_000 && shared > 500, "{split} {shared}");
}

#[test]
fn cores_are_bounded() {
    let cores = PatchBases::default();
    for cross in 0..2_000 {
        cores.split(cross, row_of((0..200).map(|i| i * 40 + cross as u32)));
    }
    let found = cores.0.lock().unwrap();
    let held: usize = found.of.values().flatten().map(|core| size_of_val(&**core)).sum();
    assert!(held <= found.bytes && held <= BYTES + 200 * 8, "{held}");
}
