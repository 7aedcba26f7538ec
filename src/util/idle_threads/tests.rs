use std::sync::mpsc::channel;
use std::thread::{ThreadId, current, sleep};
use std::time::Duration;

use crate::util::idle_threads::run;

/// The thread that a job ran on.
fn ran_on() -> ThreadId {
    let (tell, hear) = channel();
    run(move || tell.send(current().id()).unwrap_or_default()).unwrap();
    hear.recv_timeout(Duration::from_secs(60)).unwrap()
}

#[test]
fn a_thread_is_called_again() {
    // It needs a moment to offer itself, and other tests call threads as well.
    let again = (0..50).any(|_| {
        let first = ran_on();
        sleep(Duration::from_millis(20));
        first == ran_on()
    });
    assert!(again);
}

#[test]
fn a_panic_ends_one_thread_and_no_other() {
    run(|| panic!("meant to")).unwrap();
    for _ in 0..20 {
        ran_on();
    }
}

#[test]
fn all_jobs_run_at_once() {
    // More than are spare, each of which waits for the last.
    let barrier = std::sync::Arc::new(std::sync::Barrier::new(41));
    for _ in 0..40 {
        let barrier = barrier.clone();
        run(move || {
            barrier.wait();
        })
        .unwrap();
    }
    barrier.wait();
}
