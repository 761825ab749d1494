//! The result of `add_at` follows from the clock, and from one geometry.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use testkit::{Finish, at, at_ns, clock_at, ms, ns};
use windrow::clock::Manual;
use windrow::{SlidingWindow, Timestamp, snapshot::OutOfRangeError};

windrow::events! { enum Hits { Hit: Count } }

/// Defect: a time was accepted for as long as no add had been made since.
#[test]
fn a_time_out_of_the_interval_is_refused_though_nobody_has_added_since() {
    const BUILT: u64 = 1_000_000_001_538;
    let clock = Manual::default();
    clock.set(at_ns(BUILT));
    let window: SlidingWindow<Hits, _> = testkit::window(ns(7), 9, &clock);
    assert_eq!(window.add_at(at_ns(BUILT), Hits::Hit, 1), Ok(()));
    clock.advance(ns(60));
    let oldest = (BUILT + 60) / 7 * 7 - 8 * 7;
    let refused = OutOfRangeError::BeforeRing { at: at_ns(BUILT), oldest: at_ns(oldest) };
    assert_eq!(window.add_at(at_ns(BUILT), Hits::Hit, 1), Err(refused));
    assert_eq!(window.lifetime(Hits::Hit).count, 1);
}

/// Exactly `start(now) - interval < start(at) <= start(now)`, with adds in between or without.
#[test]
fn accepted_is_what_counts_at_the_clocks_now() {
    for others_add in [false, true] {
        for now in 63..200 {
            let clock = Manual::default();
            clock.set(at_ns(now / 2));
            let window: SlidingWindow<Hits, _> = testkit::window(ns(7), 9, &clock);
            clock.set(at_ns(now));
            if others_add {
                window.add(Hits::Hit, 1);
            }
            for at in 0..now + 20 {
                let (start, newest) = (at / 7 * 7, now / 7 * 7);
                let counts = start <= newest && newest - start < 63;
                let answer = window.add_at(at_ns(at), Hits::Hit, 1);
                assert_eq!(answer.is_ok(), counts, "{at} at {now}: {answer:?}");
            }
        }
    }
}

/// With a clock that has stepped back, the ring is ahead of it.
#[test]
fn what_has_left_the_ring_is_refused_though_the_clock_has_stepped_back() {
    let clock = clock_at(10_000);
    let window: SlidingWindow<Hits, _> = testkit::window(ms(500), 2, &clock);
    window.add(Hits::Hit, 1);
    clock.set(at(9_400));
    assert!(window.add_at(at(9_600), Hits::Hit, 1).is_err(), "after now");
    assert!(window.add_at(at(9_400), Hits::Hit, 1).is_err(), "the ring begins at 9 500");
    clock.set(at(9_600));
    assert_eq!(window.add_at(at(9_600), Hits::Hit, 1), Ok(()));
}

/// The check was made in one geometry and the add in another: a time in the current hour was taken
/// into a ring of seconds, and everything after it was late.
#[test]
fn a_change_of_geometry_does_not_take_the_ring_into_the_future() {
    const HOUR: Duration = Duration::from_hours(1);
    let clock = Manual::default();
    clock.set(Timestamp::from_millis(7_200_000));
    let window: SlidingWindow<Hits, _> = testkit::window(HOUR, 2, &clock);
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish(&finished);
        scope.spawn(|| {
            let ahead = Timestamp::from_millis(7_200_000) + Duration::from_mins(50);
            while !finished.load(Ordering::Relaxed) {
                let _ = window.add_at(ahead, Hits::Hit, 1);
            }
        });
        for _ in 0..20_000 {
            window.reconfigure(2 * Duration::from_secs(1), 2).expect("valid");
            window.add(Hits::Hit, 1);
            window.reconfigure(2 * HOUR, 2).expect("valid");
            assert_eq!(window.late(Hits::Hit).count, 0, "the ring is ahead of the clock");
        }
        drop(finish);
    });
}
