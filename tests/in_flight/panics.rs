//! A call that panics has entered nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use testkit::ns;
use windrow::{AtMost, InFlight, SlidingWindow, Timestamp};

use crate::Pool;

#[test]
fn a_clock_that_panics_lets_nothing_enter_and_all_leave() {
    static IS_BROKEN: AtomicBool = AtomicBool::new(false);
    let clock = || {
        assert!(!IS_BROKEN.load(Ordering::Relaxed), "a clock without time");
        Timestamp::from_nanos(0)
    };
    let builder = SlidingWindow::<Pool>::builder().clock((clock, ns(1)));
    let window = builder.build().unwrap();
    let open = InFlight::new();
    let peaks = open.record_peaks(&window, Pool::Busy);
    let panics = |act: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(act)).is_err();
    let mut one = Some(peaks.enter(1));
    IS_BROKEN.store(true, Ordering::Relaxed);
    assert!(panics(&mut || drop(peaks.enter(5))));
    assert_eq!(open.level(), 1, "it has not entered");
    assert!(panics(&mut || drop(peaks.try_enter(5, AtMost(9)))));
    assert_eq!(open.level(), 1, "it has not entered");
    assert!(panics(&mut || drop(one.take())));
    assert_eq!(open.level(), 0, "it has left");
}
