use super::*;

#[test]
fn going_back_forgets_what_was_found_since() {
    let mut log = RollbackLog::default();
    for (at, found) in [(3, 'a'), (3, 'b'), (8, 'c'), (9, 'd')] {
        log.push(at, found, 3);
    }
    let left = |log: &RollbackLog<char>| log.latest().map(|entry| entry.1).collect::<String>();
    // The first one had to go.
    assert_eq!((left(&log), log.last()), ("dcb".to_owned(), Some(9)));
    assert_eq!(log.pop(10), None);
    assert_eq!(log.pop(9), Some('d'));
    log.truncate(4);
    assert_eq!(left(&log), "b");
    log.truncate(3);
    assert_eq!(log.last(), None);
}
