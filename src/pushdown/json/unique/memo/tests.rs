use super::*;

#[test]
fn lists_are_remembered_up_to_so_many_bytes() {
    let lists: ListMemo<u32, u32> = ListMemo::default();
    let made = std::cell::Cell::new(0);
    let get = |key: u32, bytes: usize| {
        lists.get_or(key, || {
            made.set(made.get() + 1);
            (key, bytes)
        })
    };
    for _ in 0..2 {
        (0..8).for_each(|key| assert_eq!(get(key, LISTS_BYTES / 8), key));
    }
    assert_eq!(made.get(), 8);
    // One more, and all of them are made again.
    get(8, 1);
    get(0, LISTS_BYTES / 8);
    assert_eq!(made.get(), 10);
    assert!(lists.0.lock().unwrap().1 <= LISTS_BYTES);
}
