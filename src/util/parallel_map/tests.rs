use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::{current, sleep};
use std::time::Duration;

use crate::util::parallel_map::in_order;

#[test]
fn things_come_in_order_whoever_made_them() {
    for threads in [1, 2, 3, 8] {
        for count in [0, 1, 7, 8, 9, 1_000] {
            let made_by = Mutex::new(HashSet::new());
            let squares = in_order(threads, count, |i| {
                made_by.lock().unwrap().insert(current().id());
                sleep(Duration::from_micros((i % 7) as u64));
                i * i
            });
            assert_eq!(squares, (0..count).map(|i| i * i).collect::<Vec<_>>());
            assert!(made_by.lock().unwrap().len() <= threads);
            assert!(threads == 1 || count < 1_000 || made_by.lock().unwrap().len() > 1);
        }
    }
}

#[test]
fn a_maker_that_panics_hangs_nobody() {
    for threads in [1, 2, 8] {
        let work = || in_order(threads, 1_000, |i| assert!(i != 30, "on purpose"));
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
