use super::*;

#[test]
fn a_text_has_one_number_and_those_below_come_first() {
    let (mut below, mut above) = (Names::default(), Names::default());
    assert!(below.is_empty());
    assert_eq!(["a", "b", "a", ""].map(|n| below.intern(n)), [0, 1, 0, 2]);
    assert_eq!(["c", "b", "c", "d"].map(|n| above.intern_above(&below, n)), [3, 1, 3, 4]);
    assert_eq!((below.len(), above.len()), (3, 2));
    assert_eq!(above.get(1).map(|n| &**n), Some("d"));
    for i in 0..10_000 {
        assert_eq!(above.intern_above(&below, &format!("n{i}")), 5 + i);
    }
    assert_eq!(above.intern_above(&below, "n77"), 82);
}

#[test]
fn names_that_collide_without_a_seed_have_hashes_of_their_own() {
    let text = |i: u32| format!("aaaaaaaa00000539bbbbbbbbcccccccc$MB]nDt7{i:08}");
    let hashes: std::collections::HashSet<u64> = (0..10_000).map(|i| hash_of(&text(i))).collect();
    assert_eq!(hashes.len(), 10_000);
}
