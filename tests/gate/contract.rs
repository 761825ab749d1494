//! The statistics of a gate, and the calls that it refuses.

use std::time::Duration;

use windrow::clock::Manual;
use windrow::{BuildError, Gate, LimitError, Timestamp, gate::Admission};

fn gate(limit: u64, buckets: u64) -> (Gate<Manual>, Manual) {
    let clock = Manual::default();
    let builder = Gate::builder(limit).interval(Duration::from_nanos(10 * buckets));
    (builder.buckets(buckets as usize).clock(clock.clone()).build().unwrap(), clock)
}

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

#[test]
fn bad_arguments_are_named() {
    let texts = [
        (Gate::builder(0).build(), "the limit is 0; it must be at least 1"),
        (
            Gate::builder(u64::MAX).build(),
            "the limit is 18446744073709551615; it must be 1099511627776 or less",
        ),
        (
            Gate::builder(1).buckets(7).build(),
            "7 buckets do not divide the interval of 1s into whole nanoseconds",
        ),
        (
            Gate::builder(1).interval(Duration::from_secs(1 << 32)).buckets(1 << 60).build(),
            "1152921504606846976 buckets do not divide the interval of 4294967296s into whole \
             nanoseconds",
        ),
    ];
    for (built, text) in texts {
        assert_eq!(built.unwrap_err().to_string(), text);
    }
    let many = Gate::builder(1).interval(nanos(1 << 50)).buckets(1 << 50).allow_coarse_clock();
    let error = many.build().unwrap_err();
    assert_eq!(error, LimitError::Buckets(BuildError::TooManyBuckets { buckets: 1 << 50 }));
}

#[test]
fn a_refused_change_changes_nothing() {
    let (gate, _) = gate(3, 2);
    assert!(gate.try_admit(2));
    assert_eq!(gate.set_limit(0), Err(LimitError::ZeroLimit));
    assert!(gate.reconfigure(Duration::ZERO, 1).is_err());
    assert!(gate.reconfigure(nanos(1 << 50), 1 << 50).is_err());
    assert_eq!((gate.limit(), gate.buckets(), gate.granted()), (3, 2, 2));
    assert!(gate.try_admit(1) && !gate.try_admit(1));
}

#[test]
fn a_gate_is_retired_once_nothing_counts_that_it_has_granted() {
    let (gate, clock) = gate(2, 2);
    assert!(gate.try_admit(2) && !gate.retire());
    assert_eq!(gate.admit(2, nanos(20)), Admission::After(nanos(20)));
    clock.set(Timestamp::from_nanos(19));
    assert!(!gate.retire());
    clock.set(Timestamp::from_nanos(20)); // the reservation counts now
    assert!(!gate.retire());
    clock.set(Timestamp::from_nanos(39));
    assert!(!gate.retire());
    assert_eq!(gate.limit(), 2);
    clock.set(Timestamp::from_nanos(40));
    assert!(gate.retire() && gate.retire());
    assert_eq!((gate.limit(), gate.left(), gate.granted(), gate.waiting()), (0, 0, 0, 0));
}

#[test]
fn a_gate_is_not_retired_while_anything_waits() {
    let (gate, clock) = gate(2, 2);
    assert!(gate.try_admit(1) && gate.admit(2, nanos(20)).is_granted());
    clock.set(Timestamp::from_nanos(10));
    gate.reconfigure(nanos(10), 1).unwrap();
    clock.set(Timestamp::from_nanos(15));
    let granted = gate.granted();
    assert_eq!(gate.waiting(), 2);
    assert!(!gate.retire(), "{granted} granted");
}

#[test]
fn a_retired_gate_refuses_everything_for_ever() {
    let (gate, clock) = gate(2, 2);
    assert!(gate.retire());
    for at in [0, 10, 1_000] {
        clock.set(Timestamp::from_nanos(at));
        assert!(!gate.try_admit(1));
        assert_eq!(gate.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    }
    assert_eq!(gate.set_limit(5), Err(LimitError::Retired));
    assert_eq!(gate.reconfigure(nanos(30), 3), Err(LimitError::Retired));
    assert_eq!(
        gate.set_limit(0).unwrap_err().to_string(),
        "the limit is retired; nothing about it can be changed"
    );
    assert_eq!((gate.limit(), gate.buckets()), (0, 2));
}

#[test]
fn what_was_granted_leaves_with_its_bucket() {
    let (gate, clock) = gate(3, 3);
    assert!(gate.try_admit(2));
    clock.set(Timestamp::from_nanos(19));
    assert!(gate.try_admit(1) && !gate.try_admit(1));
    clock.set(Timestamp::from_nanos(29));
    assert!(!gate.try_admit(1));
    clock.set(Timestamp::from_nanos(30));
    assert!(gate.try_admit(2) && !gate.try_admit(1));
    clock.set(Timestamp::from_nanos(1_000));
    assert_eq!((gate.granted(), gate.left()), (0, 3));
    assert!(gate.try_admit(3) && !gate.try_admit(1));
}

#[test]
fn who_comes_later_waits_behind() {
    let (gate, clock) = gate(4, 2);
    assert!(gate.try_admit(3));
    assert_eq!(gate.admit(4, Duration::MAX), Admission::After(nanos(20)));
    // One would fit into the current bucket, but that is over.
    assert_eq!(gate.admit(1, nanos(20)), Admission::Refused { retry_after: Some(nanos(40)) });
    assert!(!gate.try_admit(1));
    assert_eq!((gate.granted(), gate.waiting(), gate.left()), (3, 4, 0));
    clock.set(Timestamp::from_nanos(20));
    assert_eq!((gate.granted(), gate.waiting(), gate.left()), (4, 0, 0));
}

#[test]
fn no_wait_is_longer_than_the_interval() {
    let (gate, clock) = gate(1, 2);
    clock.set(Timestamp::from_nanos(5));
    assert!(gate.try_admit(1));
    assert_eq!(gate.admit(1, Duration::MAX), Admission::After(nanos(15)));
    let later = Admission::Refused { retry_after: Some(nanos(35)) };
    assert_eq!(gate.admit(1, Duration::MAX), later);
}

#[test]
fn a_clock_that_steps_back_finds_the_latest_bucket() {
    let (gate, clock) = gate(2, 2);
    clock.set(Timestamp::from_nanos(1_000));
    assert!(gate.try_admit(1));
    clock.set(Timestamp::from_nanos(3));
    assert_eq!(gate.admit(1, Duration::ZERO), Admission::Now);
    assert_eq!(gate.granted(), 2);
    let refused = Admission::Refused { retry_after: Some(nanos(1_017)) };
    assert_eq!(gate.admit(1, Duration::ZERO), refused);
    clock.set(Timestamp::from_nanos(1_019));
    assert!(!gate.try_admit(1));
    clock.set(Timestamp::from_nanos(1_020));
    assert!(gate.try_admit(2));
}

/// A bucket that was opened for a wait has begun for the gate, even if the clock then steps back.
#[test]
fn nor_is_a_bucket_ahead_again_once_it_has_begun() {
    let (gate, clock) = gate(3, 2);
    assert!(gate.try_admit(3));
    assert_eq!(gate.admit(1, nanos(20)), Admission::After(nanos(20)));
    clock.set(Timestamp::from_nanos(20));
    assert!(gate.try_admit(1));
    clock.set(Timestamp::from_nanos(0));
    assert!(gate.try_admit(1));
    assert_eq!((gate.granted(), gate.waiting()), (3, 0));
}

#[test]
fn at_the_end_of_time() {
    let (gate, clock) = gate(1, 2);
    clock.set(Timestamp::from_nanos(u64::MAX));
    assert_eq!(gate.admit(1, Duration::MAX), Admission::Now);
    assert_eq!(gate.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    assert_eq!((gate.granted(), gate.left()), (1, 0));
    gate.set_limit(2).unwrap();
    assert!(gate.try_admit(1) && !gate.try_admit(1));
}

#[test]
fn the_highest_limit_is_granted_whole() {
    let most = 1 << 40;
    let (gate, _) = gate(most, 2);
    assert!(gate.try_admit(most - 1) && !gate.try_admit(u64::MAX));
    assert!(gate.try_admit(1) && !gate.try_admit(1) && gate.try_admit(0));
    assert_eq!(gate.granted(), most);
}

#[test]
fn a_longer_history_is_kept_through_more_buckets() {
    let (gate, clock) = gate(5, 2);
    assert!(gate.try_admit(4));
    gate.reconfigure(nanos(1_000), 100).unwrap();
    clock.set(Timestamp::from_nanos(995));
    assert_eq!((gate.granted(), gate.left()), (4, 1));
    assert!(gate.try_admit(1) && !gate.try_admit(1));
    clock.set(Timestamp::from_nanos(1_000));
    assert!(gate.try_admit(4) && !gate.try_admit(1));
    gate.reconfigure(nanos(10), 1).unwrap();
    assert_eq!((gate.granted(), gate.interval(), gate.buckets()), (4, nanos(10), 1));
}

#[test]
fn a_gate_is_shown_and_shared() {
    fn shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
    let gate = Gate::builder(7).build().unwrap();
    shared(&gate);
    assert_eq!(format!("{gate:?}"), "Gate { limit: 7, interval: 1s, buckets: 2, .. }");
}

/// A wait may end within a bucket of the next geometry; of the one after that, it must be found
/// where it ends.
#[test]
fn a_wait_stays_where_it_is_through_all_changes() {
    let (gate, clock) = gate(1, 2);
    assert!(gate.try_admit(1));
    assert_eq!(gate.admit(1, Duration::MAX), Admission::After(nanos(20)));
    gate.reconfigure(nanos(45), 3).unwrap(); // it ends in the bucket from 15 to 30
    gate.reconfigure(nanos(4), 2).unwrap();
    clock.set(Timestamp::from_nanos(19));
    assert_eq!((gate.waiting(), gate.try_admit(1)), (1, false));
    clock.set(Timestamp::from_nanos(20));
    assert_eq!((gate.granted(), gate.try_admit(1)), (1, false));
    clock.set(Timestamp::from_nanos(24));
    assert!(gate.try_admit(1));
}

#[test]
fn waits_are_kept_through_fewer_and_then_more_buckets() {
    let clock = Manual::default();
    let gate =
        Gate::builder(7).interval(nanos(16)).buckets(4).clock(clock.clone()).build().unwrap();
    assert!(gate.try_admit(6));
    assert_eq!(gate.admit(4, Duration::MAX), Admission::After(nanos(16)));
    gate.reconfigure(nanos(4), 1).unwrap();
    gate.reconfigure(nanos(28), 7).unwrap();
    // Four and six are in each interval that ends before 28. The six count as of 12: where one
    // bucket could know of them.
    let refused = Admission::Refused { retry_after: Some(nanos(40)) };
    assert_eq!(gate.admit(3, Duration::MAX), refused);
}

#[test]
fn what_counts_now_is_kept_however_far_ahead_the_last_wait_ends() {
    let clock = Manual::default();
    let gate =
        Gate::builder(8).interval(nanos(20)).buckets(10).clock(clock.clone()).build().unwrap();
    assert!(gate.try_admit(7));
    assert_eq!(gate.admit(2, Duration::MAX), Admission::After(nanos(20)));
    gate.reconfigure(nanos(6), 3).unwrap();
    gate.reconfigure(nanos(128), 8).unwrap();
    assert_eq!(gate.admit(2, Duration::MAX), Admission::After(nanos(128)));
}

/// While others wait, too.
#[test]
fn a_weight_of_zero_always_fits() {
    let (gate, clock) = gate(2, 2);
    assert!(gate.try_admit(2) && gate.try_admit(0));
    assert_eq!(gate.admit(1, Duration::MAX), Admission::After(nanos(20)));
    assert_eq!(gate.admit(0, Duration::ZERO), Admission::Now);
    assert!(gate.try_admit(0) && !gate.try_admit(1));
    clock.set(Timestamp::from_nanos(100));
    assert!(gate.try_admit(0) && gate.retire() && gate.try_admit(0));
}

#[test]
fn a_strict_gate_stays_strict_when_its_geometry_changes() {
    let clock = Manual::default();
    let gate = Gate::builder(1).interval(nanos(20)).buckets(2).strict().clock(clock.clone());
    let gate = gate.build().unwrap();
    gate.reconfigure(nanos(30), 3).unwrap();
    assert_eq!((gate.interval(), gate.buckets()), (nanos(40), 4));
    clock.set(Timestamp::from_nanos(9));
    assert!(gate.try_admit(1));
    clock.set(Timestamp::from_nanos(38)); // 29 later
    assert!(!gate.try_admit(1));
    clock.set(Timestamp::from_nanos(40));
    assert!(gate.try_admit(1));
    let error = gate.reconfigure(nanos(u64::MAX), 1).unwrap_err();
    assert!(matches!(error, LimitError::Buckets(BuildError::IntervalTooLong { .. })));
    assert_eq!((gate.interval(), gate.buckets()), (nanos(40), 4));
}
