//! The documented answers, one thread at a time.

use std::mem::{forget, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use testkit::{clock_at, ms, window};
use windrow::clock::Manual;
use windrow::{
    AtMost, Family, InFlight, SlidingWindow,
    in_flight::{InFlightGuard, LevelOwner, Peaks},
    labels,
};

use crate::Pool;

type Window = SlidingWindow<Pool, Manual>;

/// Returns the maximum of each bucket of the interval, the oldest first.
fn maxima(window: &Window) -> Vec<Option<u64>> {
    window.snapshot().buckets().iter().map(|bucket| bucket.stats(Pool::Busy).max).collect()
}

#[test]
fn the_level_is_what_has_entered_and_not_left() {
    static OPEN: InFlight = InFlight::new();
    let one = OPEN.enter(1);
    let many = OPEN.enter(700);
    let nothing = OPEN.enter(0);
    assert_eq!(OPEN.level(), 701);
    drop(one);
    assert_eq!((OPEN.level(), OPEN.to_string().as_str()), (700, "700"));
    assert_eq!(format!("{OPEN:?}, {many:?}"), "InFlight(700), InFlightGuard(700)");
    drop((many, nothing));
    assert_eq!(OPEN.level(), 0);
}

#[test]
fn a_guard_may_be_dropped_by_another_thread_or_by_a_panic() {
    static OPEN: InFlight = InFlight::new();
    let guard = OPEN.enter(2);
    thread::spawn(move || drop(guard)).join().unwrap();
    assert_eq!(OPEN.level(), 0);

    let window = window::<Pool>(ms(500), 2, &clock_at(0));
    let peaks = OPEN.record_peaks(&window, Pool::Busy);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _guard = peaks.enter(3);
        panic!("of the caller");
    }));
    assert!(panicked.is_err());
    assert_eq!((OPEN.level(), window.stats(Pool::Busy).max), (0, Some(3)));
}

#[test]
fn what_is_forgotten_stays() {
    let open = InFlight::new();
    forget(open.enter(3));
    drop(open.enter(2));
    assert_eq!(open.level(), 3);
}

/// The state of a connection.
struct Connection {
    open: InFlightGuard<Arc<InFlight>>,
}

#[test]
fn a_guard_that_owns_its_level_leaves_once_wherever_it_is_dropped() {
    let open = Arc::new(InFlight::new());
    let connect = || {
        let inside = open.try_enter(2, AtMost(4))?;
        Some(Connection { open: inside.owned_by(Arc::clone(&open)) })
    };
    let (one, other) = (connect().unwrap(), connect().unwrap());
    assert!(connect().is_none(), "to be handed over is to stay");
    assert_eq!((open.level(), one.open.owner().level()), (4, 4));
    thread::spawn(move || drop(one)).join().unwrap();
    assert_eq!(open.level(), 2);
    drop(other);
    assert_eq!((open.level(), Arc::strong_count(&open)), (0, 1));
    let alone = open.enter(7).owned_by(Arc::clone(&open));
    drop(open);
    assert_eq!(alone.owner().level(), 7, "it owns the level that it leaves");
}

#[test]
fn a_guard_is_not_handed_to_another_level() {
    let (one, other) = (InFlight::new(), InFlight::new());
    let act = AssertUnwindSafe(|| drop(one.enter(5).owned_by(&other)));
    assert!(catch_unwind(act).is_err());
    assert_eq!((one.level(), other.level()), (0, 0));
}

/// A level and its window, as users have them.
struct Endpoint {
    window: Window,
    busy: InFlight,
}

impl LevelOwner for Endpoint {
    fn in_flight(&self) -> &InFlight {
        &self.busy
    }

    fn left(&self, before: u64) {
        self.window.record(Pool::Busy, before);
    }
}

#[test]
fn a_guard_that_owns_both_tells_the_window_when_it_leaves() {
    let clock = clock_at(0);
    let (window, busy) = (window::<Pool>(ms(100), 4, &clock), InFlight::new());
    let endpoint = Arc::new(Endpoint { window, busy });
    let enter = |weight| {
        let inside = endpoint.busy.record_peaks(&endpoint.window, Pool::Busy).enter(weight);
        inside.owned_by(Arc::clone(&endpoint))
    };
    let (one, two) = (enter(1), enter(2));
    clock.advance(ms(100));
    drop(one);
    clock.advance(ms(100));
    drop(two);
    assert_eq!(maxima(&endpoint.window), [Some(3), Some(3), Some(2)]);
}

#[test]
fn a_limit_is_reached_and_never_passed() {
    let open = InFlight::new();
    assert!(open.try_enter(5, AtMost(4)).is_none());
    let four = open.try_enter(4, AtMost(4)).unwrap();
    assert!(open.try_enter(1, AtMost(4)).is_none());
    assert!(open.try_enter(0, AtMost(4)).is_some());
    assert!(open.try_enter(0, AtMost(3)).is_none());
    let urgent = open.try_enter(1, AtMost(5)).unwrap();
    assert_eq!(open.level(), 5);
    drop((four, urgent));
    assert!(open.try_enter(1, AtMost(1)).is_some());
    assert!(open.try_enter(1, AtMost(0)).is_none());
    assert_eq!(open.level(), 0);
}

#[test]
fn what_is_refused_writes_nothing() {
    let window = window::<Pool>(ms(500), 2, &clock_at(0));
    let open = InFlight::new();
    let peaks = open.record_peaks(&window, Pool::Busy);
    assert!(peaks.try_enter(2, AtMost(1)).is_none());
    assert_eq!((open.level(), window.lifetime(Pool::Busy).max), (0, None));
    let one = open.enter(1);
    assert!(peaks.try_enter(1, AtMost(1)).is_none());
    assert_eq!((open.level(), window.lifetime(Pool::Busy).max), (1, None));
    drop(one);
}

/// The documented range.
#[test]
fn levels_are_exact_up_to_two_to_the_64() {
    const END: u64 = 1 << 63;
    let open = InFlight::new();
    let half = open.try_enter(END, AtMost(END)).unwrap();
    assert!(open.try_enter(1, AtMost(END)).is_none(), "a large weight lifts no limit");
    let beyond = open.enter(END - 1);
    assert_eq!(open.level(), u64::MAX);
    assert!(open.try_enter(1, AtMost(u64::MAX)).is_none());
    drop(half);
    assert_eq!(open.level(), END - 1);
    drop(beyond);
    assert_eq!(open.level(), 0);
    assert!(open.try_enter(u64::MAX, AtMost(u64::MAX)).is_some());
}

#[test]
fn a_bucket_that_sees_only_leaves_has_what_it_began_with() {
    let clock = clock_at(0);
    let window = window::<Pool>(ms(100), 4, &clock);
    let open = InFlight::new();
    let peaks = open.record_peaks(&window, Pool::Busy);
    let (one, two) = (peaks.enter(1), peaks.enter(2));
    clock.advance(ms(100));
    drop(one);
    clock.advance(ms(100));
    drop(two);
    assert_eq!(maxima(&window), [Some(3), Some(3), Some(2)]);
}

/// And other levels would have left the same maxima.
#[test]
fn a_quiet_bucket_has_no_maximum_unless_somebody_enters_with_nothing() {
    let run = |leaving: u64, mark: bool| {
        let clock = clock_at(0);
        let window = window::<Pool>(ms(100), 3, &clock);
        let open = InFlight::new();
        let peaks = open.record_peaks(&window, Pool::Busy);
        let inside = (peaks.enter(leaving), peaks.enter(5 - leaving));
        drop(inside.0);
        clock.advance(ms(100));
        if mark {
            drop(peaks.enter(0));
        }
        clock.advance(ms(100));
        drop((peaks.enter(leaving), inside.1));
        maxima(&window)
    };
    assert_eq!(run(3, false), [Some(5), None, Some(5)]);
    assert_eq!(run(1, false), [Some(5), None, Some(5)]);
    assert_eq!(run(3, true), [Some(5), Some(2), Some(5)]);
    assert_eq!(run(1, true), [Some(5), Some(4), Some(5)]);
}

#[test]
fn the_most_until_now_includes_what_has_lasted() {
    let clock = clock_at(0);
    let window = SlidingWindow::<Pool>::builder()
        .interval(ms(400))
        .buckets(4)
        .tier(ms(400), 10)
        .clock(clock.clone())
        .build()
        .unwrap();
    let open = InFlight::new();
    let peaks = open.record_peaks(&window, Pool::Busy);
    let long = peaks.enter(2);
    drop(peaks.enter(7));
    assert_eq!((peaks.in_flight().level(), peaks.peak()), (2, 9));
    clock.advance(ms(1_000));
    assert_eq!((window.stats(Pool::Busy).max, peaks.peak()), (None, 2));
    assert_eq!(peaks.peak_over(ms(100)), Ok(2));
    assert_eq!(peaks.peak_over(ms(4_000)), Ok(9));
    assert!(peaks.peak_over(ms(4_001)).is_err() && peaks.peak_over(ms(0)).is_err());
    drop(long);
    assert_eq!((peaks.in_flight().level(), peaks.peak()), (0, 2));
    let coarse = window.series(0).unwrap();
    let coarse: Vec<_> =
        coarse.buckets().iter().filter_map(|bucket| bucket.stats(Pool::Busy).max).collect();
    assert_eq!(coarse, [9, 2]);
}

#[test]
fn what_enters_without_the_window_is_in_the_next_maximum() {
    let window = window::<Pool>(ms(100), 2, &clock_at(0));
    let open = InFlight::new();
    let peaks = open.record_peaks(&window, Pool::Busy);
    let four = open.enter(4);
    assert_eq!((window.stats(Pool::Busy).max, peaks.peak()), (None, 4));
    drop((peaks.enter(1), four));
    assert_eq!(window.stats(Pool::Busy).max, Some(5));
}

labels! { struct Tenant { tenant: str } }

#[test]
fn a_family_has_a_level_for_each_set_of_labels() {
    let tenants = Family::<Tenant, InFlight>::new();
    let one = tenants.handle(Tenant { tenant: "one" });
    let other = tenants.handle(Tenant { tenant: "other" });
    let guards = (one.enter(1), other.try_enter(2, AtMost(2)).unwrap());
    assert_eq!((one.level(), other.level(), tenants.lifetime()), (1, 2, 3));
    drop(guards);
    assert_eq!(tenants.lifetime(), 0);
    let kept = one.enter(3).owned_by(one.clone());
    drop((one, other));
    assert_eq!(tenants.retain(|_, _| false), 1, "the other: a guard keeps its series");
    assert_eq!((kept.owner().level(), tenants.lifetime()), (3, 3));
}

#[test]
fn all_of_it_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<InFlight>();
    shared::<Peaks<'_, Pool, Manual>>();
    shared::<InFlightGuard<&InFlight>>();
    shared::<InFlightGuard<Arc<InFlight>>>();
    shared::<InFlightGuard<Peaks<'_, Pool, Manual>>>();
    assert_eq!(size_of::<InFlightGuard<&InFlight>>(), 16);
    let shared = Arc::new(InFlight::default());
    assert_eq!(shared.level(), 0);
}
