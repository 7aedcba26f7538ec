use super::*;

fn row_of(composition: &Composition, words: usize) -> Vec<u32> {
    let mut row = vec![0; words];
    for part in &composition.parts {
        match part {
            Part::Patch(p) => p.iter().for_each(|&(w, bits)| row[w as usize] |= bits),
            Part::Row(r) => row.copy_from_slice(r),
            Part::Inner(_) | Part::Blanks(_) => panic!("not made here"),
        }
    }
    composition.tokens.iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
    row
}

#[test]
fn a_mask_comes_back_whatever_it_is_kept_as() {
    let memo = Memo::default();
    let few: Vec<u32> = (0..2_000).map(|i| (i % 700 == 3) as u32).collect();
    let many: Vec<u32> = (0..2_000u32).map(|i| i.wrapping_mul(0x9E37_79B9) | 1).collect();
    memo.keep(b"few", Composition::of(&few));
    memo.keep(b"many", Composition::of(&many));
    let single = |n: u32| (0..n).map(|i| i * 33).collect::<Vec<u32>>();
    for n in [3, 100] {
        memo.keep(&[n as u8], Composition { parts: SmallVec::new(), tokens: single(n) });
        let mut row = vec![0; 2_000];
        single(n).iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
        assert_eq!(row_of(&memo.read(&[n as u8]).unwrap(), 2_000), row);
    }
    assert_eq!(row_of(&memo.read(b"few").unwrap(), 2_000), few);
    assert_eq!(row_of(&memo.read(b"many").unwrap(), 2_000), many);
    assert!(memo.read(b"none").is_none());
    // Only what has many words costs a row.
    assert!((8_000..10_000).contains(&memo.memory_bytes()), "{}", memo.memory_bytes());
}

#[test]
fn a_full_memo_is_emptied_and_goes_on() {
    let memo = Memo::default();
    let row: Vec<u32> = (1..=4_096).collect();
    let mut emptied = 0;
    let mut before = 0;
    for i in 0..2 * MEMO_BYTES / (4 * row.len()) {
        memo.keep(&i.to_le_bytes(), Composition::of(&row));
        let bytes = memo.memory_bytes();
        assert!(bytes <= MEMO_BYTES);
        emptied += (bytes < before) as u32;
        before = bytes;
        assert!(memo.read(&i.to_le_bytes()).is_some());
    }
    assert!(emptied > 0);
    assert!(memo.read(&0usize.to_le_bytes()).is_none());
}
