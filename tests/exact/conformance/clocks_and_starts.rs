//! Clocks that step back, windows younger than their events, and where buckets start.

use windrow::snapshot::OutOfRangeError;

use super::{Http, starts, sums};
use testkit::{at, clock_at, ms, window};

/// Defect: when the clock steps back, Java drops the counts into a detached bucket while reads
/// freeze, Go logs an error for each call, and resilience4j rotates once a call and never recovers.
#[test]
fn b01_clock_steps_back() {
    let clock = clock_at(10_000);
    let window = window::<Http>(ms(100), 10, &clock);
    window.add(Http::Pass, 1);

    clock.set(at(9_500));
    window.add(Http::Pass, 2);
    assert_eq!(window.sum(Http::Pass), 2, "back-dated, and the future is ignored");
    assert_eq!(starts(&window.snapshot())[9], 9_500);
    clock.set(at(10_000));
    assert_eq!(window.sum(Http::Pass), 3);
    assert_eq!(sums(&window.snapshot(), Http::Pass), [0, 0, 0, 0, 2, 0, 0, 0, 0, 1]);

    clock.set(at(9_099));
    window.add(Http::Pass, 4);
    assert_eq!(window.sum(Http::Pass), 0, "that bucket has left the ring");
    assert_eq!(window.late(Http::Pass).count, 4);
    clock.set(at(9_100));
    window.add(Http::Pass, 8);
    assert_eq!(window.sum(Http::Pass), 8, "that one has not");
    assert_eq!(window.lifetime(Http::Pass).count, 15, "nothing is lost");
}

/// A step back of hours: adds are late while the clock is behind, and recovered once it has caught
/// up.
#[test]
fn b01_clock_steps_back_for_hours() {
    let hours = 3_600_000;
    let clock = clock_at(10 * hours);
    let window = window::<Http>(ms(100), 10, &clock);
    (0..500).for_each(|_| window.add(Http::Pass, 1));
    clock.set(at(7 * hours));
    for step in 0..500 {
        clock.set(at(7 * hours + step * 10));
        window.add(Http::Pass, 1);
        window.record(Http::Rt, step);
    }
    assert_eq!(window.sum(Http::Pass), 0);
    assert_eq!((window.late(Http::Pass).count, window.lifetime(Http::Pass).count), (500, 1000));
    let late = window.late(Http::Rt);
    assert_eq!((late.count, late.sum, late.min, late.max), (500, 124_750, Some(0), Some(499)));
    clock.set(at(10 * hours + 50));
    assert_eq!(window.sum(Http::Pass), 500, "the earlier counts are back");
    (0..500).for_each(|_| window.add(Http::Pass, 1));
    assert_eq!(window.sum(Http::Pass), 1000);
}

/// Defect: `t - start > interval` lets one bucket too many in before the first write.
#[test]
fn b02_never_one_bucket_too_many() {
    let clock = clock_at(10_000);
    let window = window::<Http>(ms(1000), 2, &clock);
    window.add(Http::Pass, 1);
    clock.set(at(11_999));
    assert_eq!(window.sum(Http::Pass), 1);
    clock.set(at(12_000));
    assert_eq!(window.sum(Http::Pass), 0, "at the very start of a bucket");
    assert_eq!(starts(&window.snapshot()), [11_000, 12_000]);
}

/// Defect: the previous bucket is the current one when n = 1, or judged by another clock.
#[test]
fn b09_previous_is_exact_with_one_bucket() {
    let clock = clock_at(10_000);
    let window = window::<Http>(ms(1000), 1, &clock);
    window.add(Http::Pass, 5);
    let previous = window.previous();
    assert_eq!((previous.start(), previous.sum(Http::Pass)), (at(9_000), 0));

    clock.set(at(11_000));
    assert_eq!(window.sum(Http::Pass), 0);
    let previous = window.previous();
    assert_eq!((previous.start(), previous.sum(Http::Pass)), (at(10_000), 5), "still in the ring");
    window.add(Http::Pass, 7);
    assert_eq!(window.previous().sum(Http::Pass), 0, "out of the ring of one");
    assert_eq!(window.sum(Http::Pass), 7);
}

/// The first bucket has no bucket before it.
#[test]
fn b09_previous_before_there_was_one() {
    let clock = clock_at(999);
    let window = window::<Http>(ms(1000), 3, &clock);
    window.add(Http::Pass, 5);
    let previous = window.previous();
    assert_eq!((previous.start(), previous.end(), previous.sum(Http::Pass)), (at(0), at(0), 0));
}

/// Defect: borrowed counts are lost when the bucket that they were borrowed for has already rolled.
/// Here such a count names its bucket: it is counted there, or refused and counted nowhere.
#[test]
fn b10_reservations_are_counted_or_refused() {
    let clock = clock_at(10_000);
    let window = window::<Http>(ms(1000), 2, &clock);
    assert_eq!(window.add_at(at(10_999), Http::Pass, 1), Ok(()));
    let ahead = window.add_at(at(11_000), Http::Pass, 10);
    assert_eq!(ahead, Err(OutOfRangeError::AfterNow { at: at(11_000), now: at(10_000) }));

    clock.set(at(12_000));
    assert_eq!(window.add_at(at(11_500), Http::Pass, 100), Ok(()), "never opened, but in the ring");
    window.add(Http::Pass, 1000);
    let rolled = window.add_at(at(10_999), Http::Pass, 10_000);
    assert_eq!(rolled, Err(OutOfRangeError::BeforeRing { at: at(10_999), oldest: at(11_000) }));
    assert_eq!(sums(&window.snapshot(), Http::Pass), [100, 1000]);
    assert_eq!((window.lifetime(Http::Pass).count, window.late(Http::Pass).count), (1101, 0));
}

/// Defect: a ring pre-filled with future starts refuses times before its own creation.
#[test]
fn b14_times_before_creation_are_accepted() {
    let clock = clock_at(10_000);
    let window = window::<Http>(ms(1000), 5, &clock);
    for back in 0..5 {
        let when = at(10_000 - back * 1000);
        assert_eq!(window.add_at(when, Http::Pass, 1 + back), Ok(()));
    }
    assert_eq!(sums(&window.snapshot(), Http::Pass), [5, 4, 3, 2, 1]);
    assert!(window.add_at(at(5_999), Http::Pass, 1).is_err());
    clock.set(at(7_000));
    window.add(Http::Pass, 6);
    assert_eq!(window.sum(Http::Pass), 5 + 4 + 6);
}

/// Defect (Hystrix): adds to a bucket already folded vanish from the cumulative sum.
#[test]
fn b15_back_dated_adds_reach_the_lifetime() {
    let clock = clock_at(10_000);
    let window = window::<Http>(ms(1000), 3, &clock);
    window.add(Http::Pass, 1);
    for step in 1..50_u64 {
        clock.set(at(10_000 + step * 1000));
        window.add(Http::Pass, 1);
        // A caller that wants `previous` final closes it; then it changes all the same.
        assert_eq!(window.previous().sum(Http::Pass), 1);
        window.add_at(at(10_000 + step * 1000 - 1), Http::Pass, 1).expect("in the ring");
        window.record_at(at(10_000 + step * 1000 - 1), Http::Rt, step).expect("in the ring");
        assert_eq!(window.previous().sum(Http::Pass), 2);
        assert_eq!(window.lifetime(Http::Pass).count, 1 + 2 * step);
        let rt = window.lifetime(Http::Rt);
        assert_eq!((rt.count, rt.sum, rt.min), (step, step * (step + 1) / 2, Some(1)));
        assert_eq!(rt.max, Some(step));
    }
}

/// Defect: windows that rotate on the time of their first event cannot be compared between
/// processes. Here every start is a multiple of the length.
#[test]
fn b16_starts_are_multiples_of_the_length() {
    for first in [0, 1, 249, 250, 251, 1_577_017_699_235] {
        let clock = clock_at(first);
        let window = window::<Http>(ms(250), 4, &clock);
        for _ in 0..10 {
            window.add(Http::Pass, 1);
            assert!(starts(&window.snapshot()).iter().all(|start| start % 250 == 0));
            clock.advance(ms(137));
        }
    }
}
