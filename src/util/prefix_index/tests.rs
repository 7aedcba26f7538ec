use super::*;
use crate::util::rng::Rng;

#[test]
fn what_begins_alike_is_found_however_it_was_added() {
    let mut random = Rng(7);
    let mut index: PrefixIndex<Vec<u8>> = PrefixIndex::default();
    let mut all: Vec<Vec<u8>> = Vec::new();
    for round in 0..12 {
        // A few are put among the others, many are sorted.
        let new: Vec<Vec<u8>> = (0..if round % 3 == 0 { 3 * NEAR } else { NEAR / 2 })
            .map(|_| (0..random.below(4)).map(|_| b'a' + random.below(3) as u8).collect())
            .collect();
        all.extend(new.iter().cloned());
        index.add(round, new.into_iter(), Ord::cmp);
        assert_eq!(index.from(), round);
        assert!(index.items().is_sorted());
        for prefix in [&b""[..], b"a", b"b", b"ca", b"cc", b"abc", b"d"] {
            let found = index.beginning(|text| **text < *prefix, |text| text.starts_with(prefix));
            assert!(found.iter().all(|text| text.starts_with(prefix)));
            assert_eq!(found.len(), all.iter().filter(|text| text.starts_with(prefix)).count());
        }
    }
    index.truncate(12);
    assert_eq!(index.items().len(), all.len());
    index.truncate(11);
    assert_eq!((index.items().len(), index.from()), (0, u32::MAX));
}
