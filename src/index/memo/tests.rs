use super::*;

#[test]
fn a_mask_comes_back_whatever_it_is_kept_as() {
    let memo = Memo::default();
    let base: Arc<[u32]> = (0..2_000u32).map(|i| i | 1).collect();
    let mut near = base.to_vec();
    near[7] = 0;
    near[1_999] = 5;
    let few: Vec<u32> = (0..2_000).map(|i| (i % 700 == 3) as u32).collect();
    let far: Vec<u32> = (0..2_000u32).map(|i| i.wrapping_mul(0x9E37_79B9) | 1).collect();
    for (key, row) in [(b"near", &near), (b"few ", &few), (b"far ", &far)] {
        memo.keep(key, row, std::slice::from_ref(&base));
    }
    for (key, row) in [(b"near", &near), (b"few ", &few), (b"far ", &far)] {
        let mut out = vec![9; 2_000];
        assert!(memo.read(key, &mut out));
        assert_eq!(&out, row);
    }
    assert!(!memo.read(b"none", &mut [0; 2_000]));
    // Only what lies far from every row costs a row.
    assert!((8_000..9_000).contains(&memo.memory_bytes()), "{}", memo.memory_bytes());
}

#[test]
fn a_full_memo_is_emptied_and_goes_on() {
    let memo = Memo::default();
    let row: Vec<u32> = (1..=4_096).collect();
    let mut emptied = 0;
    let mut before = 0;
    for i in 0..2 * MEMO_BYTES / (4 * row.len()) {
        memo.keep(&i.to_le_bytes(), &row, &[]);
        let bytes = memo.memory_bytes();
        assert!(bytes <= MEMO_BYTES);
        emptied += (bytes < before) as u32;
        before = bytes;
        assert!(memo.read(&i.to_le_bytes(), &mut vec![0; row.len()]));
    }
    assert!(emptied > 0);
    assert!(!memo.read(&0usize.to_le_bytes(), &mut vec![0; row.len()]));
}
