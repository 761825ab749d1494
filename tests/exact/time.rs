//! Moments, clocks that are functions, and the wall clock.

#![allow(
    clippy::duration_suboptimal_units,
    reason = "a test says its times in the units that it compares them in"
)]

use std::cell::Cell;
use std::time::{Duration, SystemTime};

use windrow::clock::{Manual, Precise, Ticker};
use windrow::export::AnyWindow;
use windrow::{BuildError, Clock, SlidingWindow, Timestamp, WindowBuilder};

use testkit::{at, at_ns, clock_at, ms, ns, window};

windrow::events! {
    /// One of each kind.
    enum Seen { Pass: Count, Rt: Value }
}

#[test]
fn a_moment_in_units() {
    assert_eq!(Timestamp::from_secs(3), at(3_000));
    assert_eq!(Timestamp::from_secs(u64::MAX), at_ns(u64::MAX), "saturates");
    let moment = at_ns(3_999_999_999);
    assert_eq!(
        (moment.as_nanos() / 1_000_000_000, moment.as_nanos() / 1_000_000),
        (3, 3_999),
        "rounded down"
    );
    assert_eq!(moment.to_string(), "3.999999999 s");
    assert_eq!(at_ns(1).to_string(), "0.000000001 s");
    assert_eq!(at_ns(u64::MAX).to_string(), "18446744073.709551615 s");
}

#[test]
fn moments_and_durations() {
    assert_eq!(at(5) - at(3), ms(2));
    assert_eq!(at(3) - at(5), Duration::ZERO, "saturates");
    assert_eq!(at_ns(u64::MAX) - at(0), ns(u64::MAX));
    let mut moment = at(5);
    moment += ms(2);
    assert_eq!(moment, at(7));
    moment -= ms(3);
    assert_eq!(moment, at(4));
    moment -= ms(5);
    assert_eq!(moment, at(0), "saturates");
    moment += ns(u64::MAX) + ns(6);
    assert_eq!(moment, at_ns(u64::MAX), "saturates");
}

#[test]
fn a_window_shows_its_clock_and_its_buckets() {
    let clock = clock_at(1_234);
    let window = window::<Seen>(ms(100), 4, &clock);
    assert_eq!((window.clock().now(), window.bucket_length()), (at(1_234), ms(100)));
    window.clock().advance(ms(1));
    assert_eq!((window.clock().now(), clock.now()), (at(1_235), at(1_235)));
    window.reconfigure(ms(900), 3).expect("a valid geometry");
    assert_eq!(window.bucket_length(), ms(300));
}

/// Each reading is in a later bucket, so that each add leaves its quick path.
#[test]
fn an_add_reads_a_users_clock_once() {
    let reads = Cell::new(0);
    let next = || {
        reads.set(reads.get() + 1);
        at(10 * reads.get())
    };
    let clock = (next, ms(1));
    let window = SlidingWindow::<Seen>::builder().interval(ms(40)).buckets(4).clock(clock);
    let window = window.build().expect("a valid window");
    for n in 1..=20 {
        let before = reads.get();
        window.add(Seen::Pass, 1);
        assert_eq!(reads.get(), before + 1);
        window.record(Seen::Rt, n);
        assert_eq!(reads.get(), before + 2);
    }
}

#[test]
fn a_duration_is_recorded_in_nanoseconds() {
    let window = window::<Seen>(ms(100), 4, &clock_at(1_000));
    window.record(Seen::Rt, Duration::from_micros(7));
    window.record(Seen::Rt, Duration::ZERO);
    let stats = window.stats(Seen::Rt);
    assert_eq!((stats.count, stats.sum), (2, 7_000));
    assert_eq!((stats.min, stats.max), (Some(0), Some(7_000)));
    window.record(Seen::Rt, ns(u64::MAX) + ns(6));
    assert_eq!(window.stats(Seen::Rt).max, Some(u64::MAX), "saturates");
}

/// Between the wall clock's time before and its time after, moved by the difference.
#[test]
fn the_wall_clock_is_as_far_from_now() {
    let clock = clock_at(600_000);
    let window = window::<Seen>(ms(100), 4, &clock);
    let year = Duration::from_secs(365 * 86_400);
    let before = SystemTime::now();
    let times = [
        window.system_time(at(0)),
        window.system_time(at(600_000)),
        window.system_time(at(600_000) + year),
    ];
    let after = SystemTime::now();
    if before > after {
        return; // the wall clock was set
    }
    let moved = |time: SystemTime| [time - ms(600_000), time, time + year];
    for ((time, earliest), latest) in times.into_iter().zip(moved(before)).zip(moved(after)) {
        assert!((earliest..=latest).contains(&time), "{time:?} in {earliest:?} to {latest:?}");
    }
}

#[test]
fn every_moment_has_a_wall_clock_time() {
    let clock = Manual::default();
    let window = window::<Seen>(ms(100), 4, &clock);
    assert!(window.system_time(at_ns(u64::MAX)) > SystemTime::now());
    clock.set(at_ns(u64::MAX));
    assert!(window.system_time(at(0)) < SystemTime::now());
}

#[test]
fn a_function_is_a_clock() -> Result<(), BuildError> {
    let time = Cell::new(1_000);
    let clock = (|| at(time.get()), ms(7));
    assert_eq!((clock.now(), clock.quick(), clock.resolution()), (at(1_000), at(1_000), ms(7)));
    let builder = SlidingWindow::<Seen>::builder().buckets(10).clock(&clock);
    let too_coarse = BuildError::ClockTooCoarse { resolution: ms(7), bucket: ns(69_900_000) };
    assert_eq!(builder.clone().interval(ms(699)).build().unwrap_err(), too_coarse);
    let window = builder.interval(ms(700)).build()?;
    window.add(Seen::Pass, 2);
    time.set(1_700);
    assert_eq!((window.sum(Seen::Pass), window.lifetime(Seen::Pass).sum), (0, 2));
    Ok(())
}

#[test]
fn a_coarse_clock_that_is_allowed_loses_nothing() {
    let time = Cell::new(0);
    let clock = (|| at(time.get()), ms(250));
    let builder = SlidingWindow::<Seen>::builder().interval(ms(1_000)).buckets(10).clock(clock);
    let refused = builder.clone().build().unwrap_err();
    let too_coarse = BuildError::ClockTooCoarse { resolution: ms(250), bucket: ms(100) };
    assert_eq!(refused, too_coarse);
    // Allowed before the clock is chosen, or after; and no other rule is given up.
    let window = builder.clone().allow_coarse_clock().build().expect("allowed");
    let invalid = builder.clone().allow_coarse_clock().buckets(0).build();
    assert_eq!(invalid.unwrap_err(), BuildError::NoBuckets);
    let manual = builder.allow_coarse_clock().clock((|| at(0), ms(250)));
    assert!(manual.build().is_ok());
    for step in 0..8 {
        time.set(step * 250);
        window.add(Seen::Pass, 1);
    }
    assert_eq!((window.sum(Seen::Pass), window.lifetime(Seen::Pass).sum), (4, 8));
    let refused = window.reconfigure(ms(1_000), 5);
    let too_coarse = BuildError::ClockTooCoarse { resolution: ms(250), bucket: ms(200) };
    assert_eq!(refused, Err(too_coarse), "a change of geometry asks again");
    assert_eq!(window.reconfigure(ms(2_500), 1), Ok(()));
}

#[test]
fn a_builder_makes_the_clock_of_its_type() -> Result<(), BuildError> {
    let window: SlidingWindow<Seen, Manual> = WindowBuilder::default().build()?;
    assert_eq!((window.interval(), window.buckets(), window.clock().now()), (ms(1_000), 2, at(0)));
    WindowBuilder::<Seen, Ticker>::default().build()?;
    WindowBuilder::<Seen, Precise>::default().interval(ms(100)).buckets(10).build()?;
    let coarse: WindowBuilder<Seen> = WindowBuilder::default();
    coarse.build()?;
    // The clock that is begun with needs no mention where another is given.
    let _: SlidingWindow<Seen, Manual> =
        SlidingWindow::builder().clock(Manual::default()).build()?;
    Ok(())
}
