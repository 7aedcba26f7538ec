use super::*;
use crate::index::share::patch;

fn names(n: u64) -> Names {
    smallvec::smallvec![n << 2, 3]
}

#[test]
fn a_row_is_made_when_its_parts_come_again() {
    let finished = Finished::default();
    let parts = [Part::Allow(patch(vec![1, 40])), Part::Blanks(2)];
    assert!(matches!(finished.ask(&names(1)), Asked::First));
    assert!(matches!(finished.ask(&names(1)), Asked::Again));
    let kept = finished.keep(&names(1), &parts, &[2, 256]);
    assert_eq!(kept.row(), [2, 256]);
    let Asked::Row(row) = finished.ask(&names(1)) else { panic!("it was kept") };
    assert!(Arc::ptr_eq(&row, &kept));
    assert!(matches!(finished.ask(&names(2)), Asked::First));
}

#[test]
fn a_full_store_is_emptied_and_goes_on() {
    let finished = Finished::default();
    let row = vec![1; 1 << 16];
    let first = finished.keep(&names(0), &[], &row);
    let (mut emptied, mut before) = (0, 0);
    for n in 1..2 * FINISHED_BYTES as u64 / (4 * row.len() as u64) {
        finished.keep(&names(n), &[], &row);
        let bytes = finished.memory_bytes();
        assert!(bytes <= FINISHED_BYTES);
        emptied += (bytes < before) as u32;
        before = bytes;
    }
    assert!(emptied > 0);
    assert!(matches!(finished.ask(&names(0)), Asked::First));
    // Who holds a row keeps it.
    assert_eq!(first.row(), row);
}
