use super::*;

#[test]
fn going_back_forgets_what_was_found_since() {
    let mut apart = KnownDistinct::default();
    apart.note(9, 12);
    apart.note(4, 12);
    apart.note(15, 20);
    apart.note(2, 20);
    let known = |apart: &KnownDistinct| [2, 4, 9, 15].map(|array| apart.has(array));
    assert_eq!(known(&apart), [true; 4]);
    apart.truncate(21);
    assert_eq!(known(&apart), [true; 4]);
    // The arrays of both were open long before.
    apart.truncate(20);
    assert_eq!(known(&apart), [false, true, true, false]);
    apart.truncate(13);
    assert_eq!(known(&apart), [false, true, true, false]);
    apart.note(2, 13);
    apart.note(2, 30);
    apart.truncate(14);
    assert_eq!(known(&apart), [true, true, true, false]);
    apart.truncate(12);
    assert_eq!(known(&apart), [false; 4]);
    assert!(!apart.has(0));
}
