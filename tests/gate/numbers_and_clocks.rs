//! The limits of numbers and clocks: the longest intervals, the most buckets, the first and the
//! last nanosecond, and clocks that step back at the wrong moment.

use std::time::Duration;

use windrow::clock::Manual;
use windrow::{BuildError, Gate, LimitError, Timestamp, gate::Admission};

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn at(clock: &Manual, time: u64) {
    clock.set(Timestamp::from_nanos(time));
}

fn gate(limit: u64, length: u64, buckets: u64) -> (Gate<Manual>, Manual) {
    let clock = Manual::default();
    let builder = Gate::builder(limit).interval(nanos(length * buckets));
    (builder.buckets(buckets as usize).clock(clock.clone()).build().unwrap(), clock)
}

/// There must be room for two intervals: twice a number of buckets that may be too much to be
/// doubled.
#[test]
fn more_buckets_than_there_is_memory_for_are_refused() {
    let (gate, _) = gate(1, 10, 2);
    for buckets in [1_u64 << 62, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX] {
        let Ok(count) = usize::try_from(buckets) else { continue };
        let refused = LimitError::Buckets(BuildError::TooManyBuckets { buckets: count });
        let builder = Gate::builder(1).interval(nanos(buckets)).clock(Manual::default());
        assert_eq!(builder.buckets(count).build().unwrap_err(), refused);
        assert_eq!(gate.reconfigure(nanos(buckets), count).unwrap_err(), refused);
    }
    assert_eq!((gate.buckets(), gate.try_admit(1), gate.try_admit(1)), (2, true, false));
}

#[test]
fn the_longest_interval_is_one_of_the_gates() {
    for buckets in [1, 3, 5, 15, 17, 255] {
        let (gate, clock) = gate(2, u64::MAX / buckets, buckets);
        assert!(gate.try_admit(1));
        at(&clock, u64::MAX - 1);
        // With one bucket, the last nanosecond begins another one.
        assert_eq!((gate.granted(), gate.left()), (1, 1));
        assert_eq!(gate.admit(1, Duration::MAX), Admission::Now);
        assert!(!gate.try_admit(1));
        at(&clock, u64::MAX);
        let stays = u64::from(buckets > 1);
        assert_eq!((gate.granted(), gate.try_admit(1)), (stays, true), "{buckets}");
        assert_eq!(gate.interval(), Duration::from_nanos(u64::MAX));
    }
    let builder = Gate::builder(1).interval(Duration::from_nanos(u64::MAX)).buckets(1).strict();
    assert!(matches!(
        builder.build(),
        Err(LimitError::Buckets(BuildError::IntervalTooLong { .. }))
    ));
}

/// A leap over 2^64 buckets is not a leap back into those that count.
#[test]
fn a_leap_over_all_of_time_forgets_all() {
    let (gate, clock) = gate(5, 1, 3);
    for time in 0..3 {
        at(&clock, time);
        assert!(gate.try_admit(1));
    }
    at(&clock, u64::MAX);
    assert_eq!((gate.granted(), gate.left()), (0, 5));
    assert!(gate.try_admit(5) && !gate.try_admit(1));
    gate.reconfigure(nanos(6), 2).unwrap();
    assert_eq!((gate.granted(), gate.left()), (5, 0));
    assert_eq!(gate.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
}

/// A change is as good a witness of the time as a request.
#[test]
fn time_that_a_change_has_seen_does_not_go_back() {
    let (gate, clock) = gate(2, 10, 2);
    at(&clock, 1_000);
    gate.reconfigure(nanos(30), 3).unwrap();
    at(&clock, 3);
    assert_eq!((gate.granted(), gate.waiting(), gate.left()), (0, 0, 2));
    assert_eq!(gate.admit(1, Duration::ZERO), Admission::Now);
    assert_eq!((gate.granted(), gate.waiting(), gate.left()), (1, 0, 1));
    // At 1030, by a clock that shows 3.
    let refused = Admission::Refused { retry_after: Some(nanos(1_027)) };
    assert_eq!(gate.admit(2, Duration::ZERO), refused);
}

/// A change to shorter buckets, which lie within one that has begun, does not either.
#[test]
fn time_does_not_go_back_within_a_bucket_that_is_cut_into_shorter_ones() {
    let (gate, clock) = gate(2, 1_000, 2);
    at(&clock, 999);
    assert!(gate.try_admit(1));
    gate.reconfigure(nanos(20), 2).unwrap();
    at(&clock, 500);
    assert_eq!((gate.granted(), gate.waiting(), gate.left()), (1, 0, 1));
    assert!(gate.try_admit(1) && !gate.try_admit(1));
}

/// Weights beside the limit, at its highest, and around where numbers end.
#[test]
fn no_weight_overflows() {
    const MOST: u64 = 1 << 40;
    let (gate, clock) = gate(MOST, 10, 3);
    for weight in [MOST + 1, 1 << 62, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX] {
        assert!(!gate.try_admit(weight));
        let answer = gate.admit(weight, Duration::MAX);
        assert_eq!(answer, Admission::Refused { retry_after: None });
    }
    for bucket in 0..1_000 {
        at(&clock, 30 * bucket);
        assert!(gate.try_admit(MOST - bucket) && gate.try_admit(bucket));
        assert!(!gate.try_admit(1) && gate.try_admit(0));
        assert_eq!((gate.granted(), gate.left()), (MOST, 0));
        gate.set_limit(1).unwrap();
        assert_eq!((gate.granted(), gate.left(), gate.try_admit(1)), (MOST, 0, false));
        gate.set_limit(MOST).unwrap();
    }
}
