//! Snapshots, spans and running totals.

use windrow::{Timestamp, snapshot::OutOfRangeError};

use super::{Http, starts, sums};
use testkit::{at, clock_at, ms, ns, window};

/// Origin: Sentinel-Go's sliding view, 20 buckets of 500 ms seen through the last two seconds.
#[test]
fn a15_sentinel_go_sliding_view() {
    let clock = clock_at(1_578_416_556_900);
    let window = window::<Http>(ms(500), 20, &clock);
    for back in 0..5 {
        let when = at(1_578_416_556_900 - back * 500);
        window.add_at(when, Http::Pass, 10 + back).expect("inside the ring");
    }
    let view = window.over(ms(2000)).expect("shorter than the interval").totals();
    let expected = [1_578_416_555_000, 1_578_416_555_500, 1_578_416_556_000, 1_578_416_556_500];
    assert_eq!(starts(&window.snapshot())[16..], expected);
    assert_eq!(sums(&window.snapshot(), Http::Pass)[16..], [13, 12, 11, 10]);
    assert_eq!((view.sum(Http::Pass), view.interval()), (46, ms(2000)));
    assert!((view.rate(Http::Pass) - 23.0).abs() < 1e-9, "per second of the view");
}

/// Origin: Sentinel-Go's checks of a sliding view, which refuses any span that is no multiple of L.
/// Restated: such a span is rounded up to whole buckets.
#[test]
fn a16_sentinel_go_spans_that_are_refused() {
    let clock = clock_at(1_578_416_556_900);
    let window = window::<Http>(ms(500), 20, &clock);
    assert_eq!(window.over(ms(0)).unwrap_err(), OutOfRangeError::ZeroSpan);
    let too_long = OutOfRangeError::SpanTooLong { span: ms(10_001), interval: ms(10_000) };
    assert_eq!(window.over(ms(10_001)).unwrap_err(), too_long);
    assert!(window.over(ms(10_000) + ns(1)).is_err());

    let view = window.over(ms(2002)).expect("rounded up").totals();
    assert_eq!(view.interval(), ms(2500));
    assert_eq!(view.end() - view.interval(), at(1_578_416_554_500));
    let covered = |span| window.over(span).expect("rounded up").totals().interval();
    assert_eq!([ms(10_000), ns(1)].map(covered), [ms(10_000), ms(500)]);
}

/// Origin: `HystrixRollingNumberTest`, ten buckets of 20 ms.
#[test]
fn a18_hystrix_rolling_number_test_counts() {
    let t = 1_400_000_000_000;
    let clock = clock_at(t);
    let window = window::<Http>(ms(20), 10, &clock);
    let (success, failure, timeout) = (Http::Success, Http::Exception, Http::Block);
    let counts = || [window.sum(success), window.sum(failure), window.sum(timeout)];
    for (event, n) in [(success, 4), (failure, 2), (timeout, 2)] {
        (0..n).for_each(|_| window.add(event, 1));
    }
    clock.advance(ms(60));
    for (event, n) in [(success, 2), (failure, 3), (timeout, 1)] {
        (0..n).for_each(|_| window.add(event, 1));
    }
    assert_eq!(counts(), [6, 5, 3]);
    // Corrected: Hystrix has four buckets here, those made so far; this snapshot always has ten.
    let snapshot = window.snapshot();
    assert_eq!(sums(&snapshot, success), [0, 0, 0, 0, 0, 0, 4, 0, 0, 2]);
    assert_eq!(sums(&snapshot, failure), [0, 0, 0, 0, 0, 0, 2, 0, 0, 3]);
    assert_eq!(sums(&snapshot, timeout), [0, 0, 0, 0, 0, 0, 2, 0, 0, 1]);

    clock.advance(ms(200));
    window.add(success, 1);
    assert_eq!(counts(), [1, 0, 0]);
}

/// Origin: `HystrixRollingNumberTest`: only readers for the whole interval.
#[test]
fn a19_hystrix_rolling_number_test_reading_is_enough() {
    let clock = clock_at(1_400_000_000_000);
    let window = window::<Http>(ms(20), 10, &clock);
    window.add(Http::Pass, 3);
    window.record(Http::Rt, 3);
    for step in 1..=10 {
        clock.advance(ms(20));
        let expected = if step < 10 { 3 } else { 0 };
        assert_eq!(window.sum(Http::Pass), expected, "after {step} buckets");
        assert_eq!(window.stats(Http::Rt).sum, expected, "after {step} buckets");
    }
    assert_eq!(sums(&window.snapshot(), Http::Pass), [0; 10]);
    assert_eq!(window.stats(Http::Rt).min, None);
}

/// Origin: the article on `TimeWheelContainer`, ten buckets of two seconds and one event a second.
#[test]
fn a20_time_wheel_container_complete_buckets() {
    let clock = clock_at(0);
    let window = window::<Http>(ms(2000), 10, &clock);
    for second in 0..20_u64 {
        clock.set(at(second * 1000));
        window.add(Http::Pass, 1);
        let snapshot = window.snapshot();
        let (current, complete) = snapshot.buckets().split_last().expect("at least one bucket");
        let running: u64 = complete.iter().map(|bucket| bucket.sum(Http::Pass)).sum();
        assert_eq!(running, second / 2 * 2, "complete buckets at {second} s");
        assert_eq!(current.sum(Http::Pass), second % 2 + 1, "current bucket at {second} s");
        // Fewer buckets only where a start would lie before zero.
        assert_eq!(snapshot.buckets().len() as u64, second / 2 + 1);
    }
    assert_eq!(window.sum(Http::Pass), 20);
}

/// A bucket is live while it is the newest; a gap before it can never change but by back-dating.
#[test]
fn live_buckets_are_open_and_gaps_are_closed() {
    let clock = clock_at(10_000);
    let window = window::<Http>(ms(100), 10, &clock);
    window.add(Http::Pass, 1);
    clock.advance(ms(500));
    window.add(Http::Pass, 1);
    clock.advance(ms(100));
    let closed: Vec<bool> = window
        .snapshot()
        .buckets()
        .iter()
        .map(windrow::snapshot::BucketSnapshot::is_closed)
        .collect();
    assert_eq!(closed[..3], [true; 3], "gaps before the first");
    assert_eq!(closed[4..8], [true; 4], "gaps after the first");
    assert_eq!(closed[8..], [false; 2], "the live bucket, and one not yet opened");
}

/// The last bucket before the end of time is as short as it must be, and counts like any other.
#[test]
fn the_last_bucket_before_the_end_of_time() {
    let clock = clock_at(0);
    let window = window::<Http>(ns(10), 3, &clock);
    clock.set(Timestamp::from_nanos(u64::MAX)); // 2^64 - 1 ends in 5
    window.add(Http::Pass, 2);
    let snapshot = window.snapshot();
    let last = &snapshot.buckets()[2];
    assert_eq!(last.start(), Timestamp::from_nanos(u64::MAX - 5));
    assert_eq!(last.end(), Timestamp::from_nanos(u64::MAX));
    assert_eq!((last.sum(Http::Pass), window.sum(Http::Pass)), (2, 2));
}

/// It does not reach round the end of time: what comes just after zero is older than all of it.
#[test]
fn the_last_bucket_does_not_reach_past_the_end_of_time() {
    let clock = clock_at(0);
    let window = window::<Http>(ns(3), 1, &clock);
    clock.set(Timestamp::from_nanos(u64::MAX)); // the only nanosecond of its bucket
    window.add(Http::Pass, 1);
    clock.set(Timestamp::from_nanos(1));
    window.add(Http::Pass, 2);
    assert_eq!((window.late(Http::Pass).count, window.sum(Http::Pass)), (2, 0));
    clock.set(Timestamp::from_nanos(u64::MAX));
    assert_eq!(window.sum(Http::Pass), 1);
    let early = window.add_at(Timestamp::from_nanos(0), Http::Pass, 4);
    assert!(early.is_err(), "before the ring");
}
