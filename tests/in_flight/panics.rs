//! A call that panics has entered nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use testkit::{clock_at, ms, ns, window};
use windrow::clock::from_fn;
use windrow::{Event, InFlight, Kind, SlidingWindow, Timestamp};

use crate::Pool;

/// An index that is said from outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Said;

static INDEX: AtomicUsize = AtomicUsize::new(0);

impl Event for Said {
    const EVENTS: &'static [(&'static str, Kind)] = &[("Busy", Kind::Maximum)];
    const ALL: &'static [Said] = &[Said];
    type Cells = [u64; 2];
    const ZERO: [u64; 2] = [0; 2];

    fn index(self) -> usize {
        INDEX.load(Ordering::Relaxed)
    }
}

/// "A method that is given an event whose index is not below the number of events panics, and
/// counts nothing."
#[test]
fn an_index_beyond_the_events_panics_and_enters_and_leaves_nothing() {
    let window = window::<Said>(ms(500), 2, &clock_at(0));
    let open = InFlight::new();
    let panics = |act: &dyn Fn()| catch_unwind(AssertUnwindSafe(act)).is_err();
    INDEX.store(1, Ordering::Relaxed);
    assert!(panics(&|| drop(open.peaks_in(&window, Said).enter(1))));
    assert_eq!(open.level(), 0);
    assert!(panics(&|| drop(open.peaks_in(&window, Said).try_enter(1, 1))));
    assert_eq!(open.level(), 0);
    INDEX.store(0, Ordering::Relaxed);
    let (peaks, one) = (open.peaks_in(&window, Said), open.peaks_in(&window, Said).enter(1));
    INDEX.store(1, Ordering::Relaxed);
    // What it is now does not matter to what was made when it was right.
    drop(one);
    let other = peaks.enter(3);
    assert_eq!(open.level(), 3);
    drop(other);
    INDEX.store(0, Ordering::Relaxed);
    assert_eq!((open.level(), window.lifetime(Said).max), (0, Some(3)));
}

#[test]
fn a_clock_that_panics_lets_nothing_enter_and_all_leave() {
    static IS_BROKEN: AtomicBool = AtomicBool::new(false);
    let clock = || {
        assert!(!IS_BROKEN.load(Ordering::Relaxed), "a clock without time");
        Timestamp::from_nanos(0)
    };
    let builder = SlidingWindow::<Pool>::builder().clock(from_fn(clock, ns(1)));
    let window = builder.build().unwrap();
    let open = InFlight::new();
    let peaks = open.peaks_in(&window, Pool::Busy);
    let panics = |act: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(act)).is_err();
    let mut one = Some(peaks.enter(1));
    IS_BROKEN.store(true, Ordering::Relaxed);
    assert!(panics(&mut || drop(peaks.enter(5))));
    assert_eq!(open.level(), 1, "it has not entered");
    assert!(panics(&mut || drop(peaks.try_enter(5, 9))));
    assert_eq!(open.level(), 1, "it has not entered");
    assert!(panics(&mut || drop(one.take())));
    assert_eq!(open.level(), 0, "it has left");
}
