use super::*;
use crate::mask::row_patch::patch;

fn ids(n: u64) -> IngredientIds {
    smallvec::smallvec![n << 2, 3]
}

#[test]
fn a_row_is_found_by_its_parts() {
    let finished = RowCache::default();
    let parts = [Ingredient::Allow(patch(vec![1, 40])), Ingredient::Blanks(2)];
    assert!(finished.get(&ids(1)).is_none());
    let kept = finished.keep(ids(1), &parts, &[2, 256]);
    assert_eq!(kept.row(), [2, 256]);
    assert!(Arc::ptr_eq(&finished.get(&ids(1)).unwrap(), &kept));
    assert!(finished.get(&ids(2)).is_none());
}

#[test]
fn parts_are_due_when_they_were_put_together_often() {
    let finished = RowCache::default();
    let due = |n: u64| finished.is_due(&ids(n));
    assert!(!due(1) && !due(1));
    assert!(due(1) && due(1));
    // Others are counted apart, however often that one was asked for.
    for n in 2..40 {
        assert!(!due(n), "{n}");
    }
    // One of them may have taken its slot.
    let _ = (due(1), due(1));
    assert!((0..1_000).all(|_| due(1)), "a count does not run over");
}
