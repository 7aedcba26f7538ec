use std::collections::HashSet;
use std::sync::Mutex;

use super::in_order;
use crate::error::{Error, ErrorKind};

#[test]
fn things_are_taken_in_order_whoever_made_them() {
    for threads in [1, 2, 3, 8] {
        for count in [0, 1, 7, 8, 9, 1_000] {
            let made_by = Mutex::new(HashSet::new());
            let mut taken = Vec::new();
            let make = |calls: &mut usize, i: usize| {
                *calls += 1;
                made_by.lock().unwrap().insert(std::thread::current().id());
                std::thread::sleep(std::time::Duration::from_micros((i % 7) as u64));
                i * i
            };
            in_order(
                threads,
                count,
                || 0,
                make,
                |i, square| {
                    taken.push((i, square));
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(taken, (0..count).map(|i| (i, i * i)).collect::<Vec<_>>());
            assert!(made_by.lock().unwrap().len() <= threads);
            assert!(threads == 1 || count < 1_000 || made_by.lock().unwrap().len() > 1);
        }
    }
}

#[test]
fn a_taker_that_fails_ends_the_work() {
    for threads in [1, 2, 8] {
        let refuse = |i, _| if i == 20 { Err(Error::new(ErrorKind::Cancelled, "enough")) } else { Ok(()) };
        let made = Mutex::new(0);
        let ended = in_order(threads, 1_000_000, || (), |(), _| *made.lock().unwrap() += 1, refuse);
        assert!(ended.is_err() && *made.lock().unwrap() < 10_000);
    }
}

#[test]
fn a_maker_that_panics_hangs_nobody() {
    for threads in [2, 8] {
        let make = |(): &mut (), i: usize| assert!(i != 30, "on purpose");
        let work = || in_order(threads, 1_000, || (), make, |_, ()| Ok(()));
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
