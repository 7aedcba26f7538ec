use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::util::fork_guard::{Working, after_in_child, after_in_parent, before};

/// Tests share the process's counters.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_fork_waits_for_work_and_holds_back_what_would_begin() {
    let _alone = ALONE.lock();
    let (is_done, begun) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let work = Working::begin();
        let fork = scope.spawn(|| {
            before();
            assert!(is_done.load(Ordering::SeqCst), "a thread works still");
            let other = scope.spawn(|| {
                let _work = Working::begin();
                begun.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(20));
            assert!(!begun.load(Ordering::SeqCst), "a thread began to work while the process forks");
            after_in_parent();
            other.join().unwrap();
        });
        thread::sleep(Duration::from_millis(20));
        is_done.store(true, Ordering::SeqCst);
        drop(work);
        fork.join().unwrap();
    });
    assert!(begun.load(Ordering::SeqCst));
}

#[test]
fn who_forks_from_within_work_does_not_wait_for_itself() {
    let _alone = ALONE.lock();
    let work = Working::begin();
    assert!(before());
    // What is asked for from within work goes on.
    drop(Working::begin());
    after_in_child();
    assert!(before());
    after_in_parent();
    drop(work);
    assert!(before());
    after_in_parent();
}

#[test]
fn who_rests_holds_still() {
    let _alone = ALONE.lock();
    let (forks, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let work = Working::begin();
            while !ended.load(Ordering::SeqCst) {
                work.rest();
                assert!(!forks.load(Ordering::SeqCst), "it goes on while the process forks");
            }
        });
        for _ in 0..50 {
            before();
            forks.store(true, Ordering::SeqCst);
            thread::sleep(Duration::from_micros(100));
            forks.store(false, Ordering::SeqCst);
            after_in_parent();
        }
        ended.store(true, Ordering::SeqCst);
    });
}
