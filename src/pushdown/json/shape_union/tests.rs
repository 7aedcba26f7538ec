use super::*;

/// Names 0 and 1; the first alternative needs both, the second forbids name 1, the third needs name 1.
fn union() -> ShapeUnion {
    let set = |bits: u64| -> Box<[u64]> { vec![bits].into() };
    let named = vec![
        RuleSets::from_iter([(RuleId(4), set(0b011)), (RuleId(5), set(0b100))]),
        RuleSets::from_iter([(RuleId(4), set(0b101))]),
    ];
    ShapeUnion::new(3, (named, vec![RuleSets::from_iter([(RuleId(0), set(0b111))])]), vec![0b11, 0b00, 0b10], 1)
}

#[test]
fn all_are_as_many_as_there_are() {
    assert_eq!(union().all().as_slice(), [0b111]);
    for len in [1, 63, 64, 65, 128, 130] {
        let union = ShapeUnion::new(len, Default::default(), Vec::new(), 0);
        assert_eq!(union.all().iter().map(|w| w.count_ones() as usize).sum::<usize>(), len);
        assert_eq!(union.nearest(&union.all(), &[]), [0u64; 0]);
    }
}

#[test]
fn names_that_no_open_alternative_allows_are_closed() {
    let union = union();
    let closed = |open: u64, seen: u64| {
        let mut seen = [seen];
        union.close_names(&[open], &mut seen, u64::MAX);
        seen[0]
    };
    assert_eq!(closed(0b111, 0), 0);
    assert_eq!(closed(0b010, 0), 0b10);
    assert_eq!(closed(0b010, 0b01), 0b11);
    assert_eq!(closed(0b100, 0), 0);
}

#[test]
fn the_nearest_lacks_the_fewest_names() {
    let union = union();
    assert_eq!(union.nearest(&[0b111], &[0]), [0b00]);
    assert_eq!(union.nearest(&[0b101], &[0]), [0b10]);
    assert_eq!(union.nearest(&[0b001], &[0b10]), [0b11]);
    assert_eq!(union.nearest(&[0b101], &[0b11]), [0b11], "of those that lack none, the first");
}

#[test]
fn little_room_is_for_what_is_needed() {
    let union = union();
    let closed = |open: u64, room: u64| {
        let mut seen = [0];
        union.close_names(&[open], &mut seen, room);
        seen[0]
    };
    // The first one lacks two names, the third one lacks name 1 and allows name 0.
    assert_eq!(closed(0b101, 2), 0);
    assert_eq!(closed(0b100, 2), 0);
    assert_eq!(closed(0b100, 1), 0b01);
    assert_eq!(union.with_room(&[0b111], &[0], 1).as_slice(), [0b110]);
    assert_eq!(union.with_room(&[0b111], &[0], 0).as_slice(), [0b010]);
    assert_eq!(union.with_room(&[0b111], &[0b11], 0).as_slice(), [0b111]);
}
