//! Several limits: threads that share them, the sets that can be built, and clocks that are set.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use windrow::LimitError;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::{Pace, Paces, Timestamp};

/// Threads share two limits: nothing is taken by what one of them refuses.
#[test]
fn threads_get_exactly_what_both_limits_permit() {
    const THREADS: usize = 4;
    let (clock, second) = (Manual::default(), Duration::from_secs(1));
    let builder = Paces::builder().limit(10, second).limit(200, 60 * second);
    let paces = builder.clock(clock.clone()).build().unwrap();
    let barrier = Barrier::new(THREADS);
    let work = &|| {
        let mut admitted = 0;
        for round in 0..60 {
            barrier.wait();
            clock.set(Timestamp::from_secs(round));
            barrier.wait();
            admitted += (0..20).filter(|_| paces.try_admit(1)).count();
        }
        admitted
    };
    let admitted: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 200 + 59 * 10 / 3);
}

/// Sixteen threads exchange at once, so more sheets are needed than there are at first.
#[test]
fn many_threads_get_each_moment_once() {
    let builder = Paces::builder().limit_with_burst(10, Duration::from_secs(1), 1);
    let paces = builder.limit(1_000_000, Duration::from_secs(60)).clock(Manual::default());
    let paces = paces.build().unwrap();
    let work = || {
        let reserve = || paces.reserve(1, Duration::MAX).unwrap();
        let turns = (0..500).map(|_| reserve());
        turns.map(|turn| (turn.wait(), turn.keep()).0).collect::<Vec<_>>()
    };
    let mut all: Vec<Duration> = thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert!(all.into_iter().eq((0..16 * 500).map(|at| at * Duration::from_millis(100))));
}

#[test]
fn what_limits_cannot_be_is_an_error() {
    let second = Duration::from_secs(1);
    let error = |builder: windrow::pace::PacesBuilder| builder.build().map(|_| ()).unwrap_err();
    assert_eq!(error(Paces::builder()), LimitError::NoLimits);
    assert_eq!(error(Paces::builder().limit(0, second)), LimitError::ZeroLimit);
    assert_eq!(error(Paces::builder().limit(1, Duration::ZERO)), LimitError::ZeroPeriod);
    assert_eq!(error(Paces::builder().limit_with_burst(1, second, 0)), LimitError::ZeroBurst);
    let five = (1..=5).fold(Paces::builder(), |builder, limit| builder.limit(limit, second));
    assert_eq!(error(five), LimitError::TooManyLimits { limits: 5, most: 4 });
    let long = Duration::from_nanos((1 << 62) + 1);
    let too_long = LimitError::TooLong { period: long, burst: 1 };
    assert_eq!(error(Paces::builder().limit(1, long)), too_long);
    let coarse = Paces::builder().limit(1, Duration::from_nanos(100));
    assert!(matches!(error(coarse), LimitError::ClockTooCoarse { .. }));
    // The clock is too coarse for the burst, not for the interval.
    let small = Paces::builder().limit_with_burst(1_000, second, 1);
    assert!(matches!(error(small), LimitError::ClockTooCoarse { .. }));
}

/// Every usual set of limits can be built: none depends on how numbers divide.
#[test]
fn limits_of_all_usual_sets_are_built() {
    let intervals = [1, 60, 3_600, 86_400].map(Duration::from_secs);
    let counts = [1, 2, 3, 7, 10, 997, 1_009, 200_000, 10_000_000, 999_999_937, 1_000_000_000];
    for first in counts {
        for second in counts {
            let limits = [first, second, second / 2 + 1, first / 2 + 1];
            for length in 1..=4 {
                let limits = limits.into_iter().zip(intervals).take(length);
                let add = |builder: windrow::pace::PacesBuilder, (count, interval)| {
                    builder.limit(count, interval)
                };
                let paces = limits.fold(Paces::builder(), add).build().unwrap();
                assert!(paces.try_admit(1));
            }
        }
    }
}

/// A clock that is behind the time of the building is like any other, and one that has leapt is,
/// too.
#[test]
fn a_clock_that_was_set_does_not_stop_limits() {
    let in_the_year = |year: u64| Timestamp::from_secs((year - 1970) * 31_556_952);
    for (built, set) in [(2026, 2025), (2026, 1970), (1970, 2026), (1970, 2500), (2026, 2027)] {
        let (clock, second) = (Manual::default(), Duration::from_secs(1));
        clock.set(in_the_year(built));
        let builder = Paces::builder().limit(10, second).limit(200, 60 * second);
        let paces = builder.clock(clock.clone()).build().unwrap();
        clock.set(in_the_year(set));
        let mut admitted = 0;
        for _ in 0..60 {
            admitted += (0..20).filter(|_| paces.try_admit(1)).count();
            clock.advance(second);
        }
        assert_eq!(admitted, 200 + 59 * 10 / 3, "built in {built}, set to {set}");
    }
}

/// At the end of time, no call is admitted that would go beyond it.
#[test]
fn the_end_of_time_admits_no_more() {
    let clock = Manual::default();
    clock.set(Timestamp::from_nanos(u64::MAX));
    let builder = Paces::builder().limit(10, Duration::from_secs(1)).clock(clock.clone());
    let paces = builder.limit(200, Duration::from_secs(60)).build().unwrap();
    assert_eq!(paces.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    clock.set(Timestamp::from_nanos(u64::MAX - 1));
    assert!(!paces.try_admit(1));
}

/// The documentation of the types says so.
#[cfg(target_pointer_width = "64")]
#[test]
fn a_pace_takes_32_bytes_and_several_limits_0_6_kilobytes() {
    assert_eq!(size_of::<Pace>(), 32);
    assert!((550..600).contains(&size_of::<Paces>()), "{}", size_of::<Paces>());
}
