use super::*;
use crate::util::cache_register::STACK_NUMBERS;
use std::sync::Arc;

type Small = BoundedCache<Box<[u8]>, Arc<u32>, STACK_NUMBERS>;

const MOST_BYTES: usize = CACHES[STACK_NUMBERS].most_bytes;

#[test]
fn what_is_kept_is_found_and_counted_once() {
    let store = Small::default();
    assert!(store.get(&b"a"[..]).is_none());
    store.keep(b"a"[..].into(), Arc::new(1), 100);
    store.keep(b"b"[..].into(), Arc::new(2), 100);
    // Another thread was quicker.
    store.keep(b"b"[..].into(), Arc::new(2), 100);
    assert_eq!(store.get(&b"a"[..]).as_deref(), Some(&1));
    assert_eq!(store.get(&b"b"[..]).as_deref(), Some(&2));
    assert_eq!(store.memory_bytes(), 200);
    store.clear();
    assert!(store.get(&b"a"[..]).is_none());
    assert_eq!(store.memory_bytes(), 0);
}

#[test]
fn a_full_store_is_emptied_and_goes_on() {
    let store = Small::default();
    let held = Arc::new(0);
    store.keep([0][..].into(), held.clone(), MOST_BYTES / 10 * 3);
    let mut emptied = 0;
    for n in 1..20u8 {
        let before = store.memory_bytes();
        store.keep([n][..].into(), Arc::new(n.into()), MOST_BYTES / 10 * 3);
        let bytes = store.memory_bytes();
        assert!(bytes <= MOST_BYTES);
        assert_eq!(store.get(&[n][..]).as_deref(), Some(&u32::from(n)));
        emptied += u32::from(bytes < before);
    }
    assert_eq!(emptied, 6);
    assert!(store.get(&[0][..]).is_none());
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn what_was_full_leaves_by_and_by() {
    let store = BoundedCache::<u32, Arc<()>, STACK_NUMBERS>::default();
    let held = Arc::new(());
    let left = |from: u32, to: u32| {
        (from..to).for_each(|n| store.keep(n, held.clone(), MOST_BYTES / 256));
        Arc::strong_count(&held) - 1
    };
    assert_eq!(left(0, 256), 256);
    // The one that comes too much puts all aside, and nothing of it is found.
    assert!((200..=256).contains(&left(256, 257)));
    assert!(store.get(&0).is_none() && store.get(&255).is_none() && store.get(&256).is_some());
    let half = left(257, 384);
    assert!((200..=256).contains(&half), "{half}");
    // No more than one is left for each that came.
    assert_eq!(left(384, 512), 256);
    assert!(left(512, 513) <= 256);
    store.clear();
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn what_fits_nowhere_empties_nothing() {
    let store = Small::default();
    store.keep(b"a"[..].into(), Arc::new(1), MOST_BYTES);
    store.keep(b"b"[..].into(), Arc::new(2), MOST_BYTES + 1);
    assert!(store.get(&b"a"[..]).is_some());
    assert!(store.get(&b"b"[..]).is_none());
}
