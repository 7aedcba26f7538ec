use super::*;
use crate::mask::json::cache::composition::Ingredient;
use crate::mask::row_patch::patch;
use crate::util::cache_register::CACHES;

fn made_of(tokens: &[u32]) -> MaskComposition {
    let mut made = MaskComposition::default();
    made.share(Ingredient::Allow(patch(tokens.to_vec())));
    made
}

fn probe(key: &[u8]) -> CacheProbe {
    CacheProbe { key: key.to_vec(), whole: true, partial_name: false }
}

fn has(memo: &MaskCache, key: &[u8]) -> bool {
    memo.masks.with(key, |_| ()).is_some()
}

#[test]
fn a_full_memo_is_emptied_and_goes_on() {
    let memo = MaskCache::default();
    let tokens: Vec<u32> = (0..4_096).map(|t| t * 32).collect();
    let (mut emptied, mut before) = (0, 0);
    for i in 0..2 * CACHES[MASKS].most_bytes / (8 * tokens.len()) {
        assert!(memo.keep(&PatchCache::default(), &probe(&i.to_le_bytes()), made_of(&tokens)));
        let bytes = memo.memory_bytes();
        assert!(bytes <= CACHES[MASKS].most_bytes);
        emptied += (bytes < before) as u32;
        before = bytes;
        assert!(has(&memo, &i.to_le_bytes()));
    }
    assert!(emptied > 0);
    assert!(!has(&memo, &0usize.to_le_bytes()));
}

#[test]
fn what_was_not_described_is_not_kept() {
    let memo = MaskCache::default();
    let mut half = probe(b"half");
    half.clear();
    assert!(!memo.keep(&PatchCache::default(), &half, made_of(&[1])));
    assert_eq!(memo.memory_bytes(), 0);
}

#[test]
fn numbers_of_stacks_are_never_given_twice() {
    let memo = MaskCache::default();
    let first = memo.number(b"a");
    assert_eq!(memo.number(b"a"), first);
    let mut last = first;
    for i in 0..CACHES[STACK_NUMBERS].most_bytes / OVERHEAD {
        let number = memo.number(&i.to_le_bytes());
        assert!(number > last);
        last = number;
    }
    // The cache was emptied on the way: what had a number gets a new one.
    assert!(memo.number(b"a") > last);
}
