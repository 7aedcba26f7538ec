use super::*;
use crate::limits::Limits;

#[test]
fn bytes_are_those_of_the_pointer() {
    let tape = Tape::read(r#"{"a/b~":{"":1,"x":[0]},"":2}"#, &Limits::default()).unwrap();
    let keys: Vec<TapeId> = tape.keys(TapeId::ROOT).collect();
    let inner: Vec<TapeId> = tape.keys(TapeId(keys[0].0 + 1)).collect();
    let mut trail = Trail::default();
    let (above, _) = trail.add(&tape, Trail::ROOT, keys[0], PathStep::Key(inner[0]));
    let steps = [
        PathStep::None,
        PathStep::Key(inner[1]),
        PathStep::Item(0),
        PathStep::Item(9),
        PathStep::Item(10),
        PathStep::Item(1234),
    ];
    let found = steps.map(|step| trail.add(&tape, above, keys[1], step));
    let pointers = found.map(|(place, _)| trail.pointer(&tape, place));
    let ends = ["", "/x", "/0", "/9", "/10", "/1234"];
    assert_eq!(pointers, ends.map(|end| format!("/a~1b~0//{end}")));
    assert!(found.iter().zip(&pointers).all(|(f, p)| f.1 == p.len()));
    assert_eq!(trail.pointer(&tape, Trail::ROOT), "");
}
