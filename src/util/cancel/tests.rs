use super::*;
use crate::error::{Error, ErrorKind};

#[test]
fn work_is_limited_as_a_whole() {
    let many = || -> Result<()> { (0..1_000).try_for_each(|_| checkpoint()) };
    let error = limited(500, many).unwrap_err();
    assert_eq!((error.kind(), error.limit_values().map(|l| l.0)), (ErrorKind::Limit, Some(500)));
    assert!(many().is_ok() && limited(2_000, many).is_ok() && limited(500, || limited(2_000, many)).is_ok());
}

#[test]
fn a_watch_ends_what_it_watches_and_nothing_else() {
    let stop = || -> Result<()> { (0..1_000).try_for_each(|_| checkpoint()) };
    let watch: Watch = Arc::new(|| Err(Error::new(ErrorKind::Cancelled, "stopped")));
    assert!(stop().is_ok());
    assert_eq!(watched(watch.clone(), stop).unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(watched(watch.clone(), || uninterruptible(stop)).is_ok());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| watched(watch, || panic!("x")))).is_err());
    assert!(stop().is_ok());
}
