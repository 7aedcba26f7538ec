use super::*;
use crate::index::share::patch;

fn names(n: u64) -> Names {
    smallvec::smallvec![n << 2, 3]
}

#[test]
fn a_row_is_found_by_its_parts() {
    let finished = Finished::default();
    let parts = [Part::Allow(patch(vec![1, 40])), Part::Blanks(2)];
    assert!(finished.get(&names(1)).is_none());
    let kept = finished.keep(names(1), &parts, &[2, 256]);
    assert_eq!(kept.row(), [2, 256]);
    assert!(Arc::ptr_eq(&finished.get(&names(1)).unwrap(), &kept));
    assert!(finished.get(&names(2)).is_none());
}
