//! Clocks that show the time in steps, and clocks that step back: a caller that sleeps for as long
//! as it was told is admitted then, and not before.

use std::time::Duration;

use testkit::{at_ns, ms, ns};
use windrow::clock::Manual;
use windrow::{
    Clock, Gate, Timestamp,
    gate::{Admission, GateBuilder},
};

/// Returns a clock that shows the time of `real` as of its last step, 4 ms apart.
fn in_steps(real: &Manual) -> (impl Fn() -> Timestamp + Clone + use<>, Duration) {
    let real = real.clone();
    (move || Timestamp::from_millis(real.now().as_nanos() / 1_000_000 / 4 * 4), ms(4))
}

/// Returns a manual clock, and a builder of gates on it.
fn on_a_manual_clock(
    limit: u64,
    interval: Duration,
    buckets: usize,
) -> (Manual, GateBuilder<Manual>) {
    let clock = Manual::default();
    let builder = Gate::builder(limit).interval(interval).buckets(buckets).clock(clock.clone());
    (clock, builder)
}

fn refused(after: Duration) -> Admission {
    Admission::Refused { retry_after: Some(after) }
}

/// Asks in each phase of the clock until a call is refused, then sleeps exactly as told. Returns
/// the number of phases in which the call is refused again.
fn refused_again<C: Clock>(
    real: &Manual,
    mut admit: impl FnMut(u64, Duration) -> Admission,
    weight: u64,
    clock: &C,
) -> usize {
    let mut again = 0;
    for phase in 0..400 {
        real.advance(ms(1_000 + phase * 97 % 1_009));
        let told = loop {
            match admit(weight, Duration::ZERO) {
                Admission::Now => real.advance(ms(phase % 3)),
                Admission::After(wait) => panic!("a wait of {wait:?}"),
                Admission::Refused { retry_after } => break retry_after.expect("a time"),
            }
        };
        let shown = clock.now();
        real.advance(told);
        again += usize::from(admit(weight, Duration::ZERO) != Admission::Now);
        assert!(clock.now() > shown);
    }
    again
}

#[test]
fn a_caller_that_sleeps_as_told_is_admitted_on_a_clock_of_steps() {
    let real = Manual::default();
    let clock = in_steps(&real);
    let interval = ms(333);
    let builder = || Gate::builder(5).interval(interval).buckets(3).clock(clock.clone());
    let permits = builder().build().unwrap();
    assert_eq!(refused_again(&real, |n, wait| permits.admit(n, wait), 1, &clock), 0, "permits");
    let sheets = builder().preallocate().build().unwrap();
    assert_eq!(refused_again(&real, |n, wait| sheets.admit(n, wait), 1, &clock), 0, "sheets");
    assert_eq!(refused_again(&real, |n, wait| sheets.admit(n, wait), 4, &clock), 0, "weights");
    let strict = builder().strict().build().unwrap();
    assert_eq!(refused_again(&real, |n, wait| strict.admit(n, wait), 2, &clock), 0, "strict");
    let rationed = builder().build_rationed(2).unwrap();
    assert_eq!(refused_again(&real, |n, wait| rationed.admit(n, wait), 1, &clock), 0, "rations");
}

/// By the end of a wait, the clock shows the bucket in which the grant counts.
#[test]
fn a_wait_ends_when_the_clock_shows_it() {
    let real = Manual::default();
    let clock = in_steps(&real);
    let gate = Gate::builder(1).interval(ms(333)).buckets(3).clock(clock.clone()).build().unwrap();
    let mut early = 0;
    for phase in 0..400 {
        real.advance(ms(1_000 + phase * 97 % 1_009));
        assert_eq!(gate.admit(1, Duration::ZERO), Admission::Now);
        real.advance(ms(phase % 11));
        let (answer, start) = windrow::gate::admit_and_tell(&gate, 1, Duration::MAX);
        let Admission::After(wait) = answer else { panic!("{answer:?}") };
        real.advance(wait);
        early += usize::from(clock.now() < start.unwrap());
        assert!(clock.now() < start.unwrap() + ms(8), "no later than needed");
    }
    assert_eq!(early, 0, "of 400 waits");
}

/// A refused call is told the least wait with which it would have been granted.
#[test]
fn a_wait_is_as_long_as_the_time_to_come_back_after() {
    let real = Manual::default();
    real.set(Timestamp::from_millis(1_003));
    let builder = || Gate::builder(1).interval(ms(300)).buckets(3).clock(in_steps(&real));
    for gate in [builder().build().unwrap(), builder().preallocate().build().unwrap()] {
        assert!(gate.try_admit(1)); // the clock shows 1.000 s
        let told = ms(304); // at the latest then it shows 1.300 s
        assert_eq!(gate.admit(1, Duration::ZERO), refused(told));
        assert_eq!(gate.admit(1, ns(303_999_999)), refused(told));
        assert_eq!(gate.admit(1, ms(3)), refused(told), "less than a step");
        assert_eq!(gate.admit(1, told), Admission::After(told));
    }
}

#[test]
fn a_clock_that_was_set_back_is_told_how_far() {
    for has_sheets in [false, true] {
        let (clock, builder) = on_a_manual_clock(1, ms(1_000), 2);
        let builder = if has_sheets { builder.preallocate() } else { builder };
        let gate = builder.build().unwrap();
        clock.set(Timestamp::from_secs(100));
        assert!(gate.try_admit(1));
        for second in 95..101 {
            clock.set(Timestamp::from_secs(second));
            assert_eq!(gate.admit(1, Duration::ZERO), refused(ms(1_000 * (101 - second))));
        }
        clock.set(at_ns(101_000_000_000 - 1));
        assert!(!gate.try_admit(1));
        clock.set(Timestamp::from_secs(101));
        assert!(gate.try_admit(1));
    }
}

/// The longest wait, and the interval, are compared with the whole wait by the clock.
#[test]
fn a_wait_includes_the_time_by_which_the_clock_was_set_back() {
    let (clock, builder) = on_a_manual_clock(2, ms(1_000), 10);
    let gate = builder.strict().build().unwrap();
    clock.set(Timestamp::from_millis(10_000_000));
    assert!(gate.try_admit(2));
    clock.set(Timestamp::from_millis(9_999_900));
    assert_eq!(gate.admit(2, Duration::MAX), refused(ms(1_200)), "longer than the interval");
    clock.set(Timestamp::from_millis(10_000_000));
    assert_eq!(gate.admit(2, ms(1_099)), refused(ms(1_100)));
    assert_eq!(gate.admit(2, ms(1_100)), Admission::After(ms(1_100)));
    clock.set(Timestamp::from_millis(9_999_200));
    assert_eq!(gate.admit(2, Duration::MAX), refused(ms(3_000)));
}

/// The rest of a bucket is granted although its start is ahead of the clock.
#[test]
fn the_rest_of_the_latest_bucket_is_granted_at_once() {
    for has_sheets in [false, true] {
        let (clock, builder) = on_a_manual_clock(3, ms(1_000), 2);
        let builder = if has_sheets { builder.preallocate() } else { builder };
        let gate = builder.build().unwrap();
        clock.set(Timestamp::from_secs(100));
        assert!(gate.try_admit(1));
        clock.set(Timestamp::from_millis(99_900));
        assert_eq!(gate.admit(1, Duration::ZERO), Admission::Now);
        assert_eq!(gate.admit(1, Duration::ZERO), Admission::Now);
        assert_eq!(gate.admit(1, ms(1_099)), refused(ms(1_100)));
        assert_eq!((gate.granted(), gate.waiting(), gate.left()), (3, 0, 0));
    }
}

/// Shorter buckets do not forget a grant from before the clock was set back.
#[test]
fn a_change_while_the_clock_is_behind_forgets_nothing_too_early() {
    let (clock, builder) = on_a_manual_clock(1, ms(2_000), 2);
    let gate = builder.strict().build().unwrap();
    clock.set(Timestamp::from_millis(100_999));
    assert!(gate.try_admit(1));
    clock.set(Timestamp::from_millis(99_000));
    gate.reconfigure(ms(200), 2).unwrap();
    clock.set(Timestamp::from_millis(100_010));
    gate.reconfigure(ms(20), 2).unwrap();
    for now in [99_000, 100_010, 100_040, 100_300, 100_999, 101_018] {
        clock.set(Timestamp::from_millis(now));
        assert!(!gate.try_admit(1), "at {now} ms");
    }
    clock.set(Timestamp::from_millis(101_020));
    assert!(gate.try_admit(1));
}
