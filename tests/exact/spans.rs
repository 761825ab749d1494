//! Spans of the interval, and all events of a span together.

#![allow(
    clippy::duration_suboptimal_units,
    reason = "a test says its times in the units that it compares them in"
)]
#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use testkit::{Finish, at, clock_at, ms, ns, window};
use windrow::clock::Manual;
use windrow::{
    Event, Events, SlidingWindow, Stats, Timestamp,
    snapshot::{OutOfRangeError, Totals},
};

windrow::events! {
    /// Both kinds.
    enum Seen { Pass: Count, Rt: Value, Block: Count }
}

const EVENTS: [Event<Seen>; 3] =
    [Event::at(Seen::Pass.index()), Event::at(Seen::Rt.index()), Event::at(Seen::Block.index())];

type Window = SlidingWindow<Seen, Manual>;

/// Ten buckets of 100 ms up to 51 000 ms: the k-th has k passes, and k records from k to 2 k - 1.
fn filled() -> (Manual, Window) {
    let clock = clock_at(50_000);
    let window = window(ms(100), 10, &clock);
    for k in 1..=10 {
        if k > 1 {
            clock.advance(ms(100));
        }
        window.add(Seen::Pass, k);
        (k..2 * k).for_each(|value| window.record(Seen::Rt, value));
    }
    (clock, window)
}

/// Returns what `filled` adds to the buckets of these numbers.
fn expected(numbers: std::ops::RangeInclusive<u64>) -> [Stats; 3] {
    let passed = numbers.clone().sum();
    let pass = Stats { count: passed, sum: passed, min: None, max: None };
    let values = || numbers.clone().flat_map(|k| k..2 * k);
    let (min, max) = (values().min(), values().max());
    let rt = Stats { count: passed, sum: values().sum(), min, max };
    [pass, rt, Stats::default()]
}

fn all<E: Events>(totals: &Totals<E>, events: [Event<E>; 3]) -> [Stats; 3] {
    events.map(|event| totals.stats(event))
}

#[test]
fn totals_are_every_event_of_the_interval() {
    let (clock, window) = filled();
    for gone in 0..=10 {
        let now = window.totals();
        assert_eq!(all(&now, EVENTS), expected(1 + gone..=10), "{gone} buckets have left");
        assert_eq!(all(&now, EVENTS), EVENTS.map(|event| window.stats(event)));
        assert_eq!((now.at(), now.interval()), (at(50_900 + gone * 100), ms(1_000)));
        assert_eq!(now.rate(Seen::Rt), expected(1 + gone..=10)[1].count as f64);
        clock.advance(ms(100));
    }
}

/// Totals of an interval with back-dated adds, with a bucket not opened, and after a change of
/// geometry.
#[test]
fn totals_are_every_event_where_it_takes_a_walk() {
    let (clock, window) = filled();
    window.add_at(at(50_350), Seen::Block, 3).expect("in the ring");
    window.record_at(at(50_350), Seen::Rt, 1_000).expect("in the ring");
    let totals = window.totals();
    assert_eq!(all(&totals, EVENTS), EVENTS.map(|event| window.stats(event)));
    assert_eq!((totals.sum(Seen::Block), totals.stats(Seen::Rt).max), (3, Some(1_000)));
    clock.advance(ms(250)); // buckets 11 and 12 are not there
    let totals = window.totals();
    assert_eq!(all(&totals, EVENTS), EVENTS.map(|event| window.stats(event)));
    window.reconfigure(ms(2_000), 8).expect("a valid geometry");
    let totals = window.totals();
    assert_eq!(all(&totals, EVENTS), EVENTS.map(|event| window.stats(event)));
    assert_eq!((totals.sum(Seen::Block), totals.interval()), (3, ms(2_000)));
}

#[test]
fn a_span_is_its_newest_buckets() {
    let (_, window) = filled();
    for millis in 1..=1_000 {
        let (span, buckets) = (ms(millis), millis.div_ceil(100));
        let over = window.over(span).expect("within the interval");
        let expected = expected(11 - buckets..=10);
        assert_eq!(over.totals().interval(), ms(100 * buckets));
        assert_eq!(EVENTS.map(|event| over.stats(event)), expected, "{span:?}");
        let sums = [over.sum(Seen::Pass), over.sum(Seen::Rt), over.sum(Seen::Block)];
        assert_eq!(sums, expected.map(|stats| stats.sum));
        assert_eq!(all(&over.totals(), EVENTS), expected, "{span:?}");
        let per_second = |stats: Stats| stats.count as f64 / over.totals().interval().as_secs_f64();
        let rates = [over.rate(Seen::Pass), over.rate(Seen::Rt), over.rate(Seen::Block)];
        assert_eq!(rates, expected.map(per_second));
        let totals = over.totals();
        let rates = [totals.rate(Seen::Pass), totals.rate(Seen::Rt), totals.rate(Seen::Block)];
        assert_eq!(rates, expected.map(per_second));
    }
}

#[test]
fn a_span_moves_with_the_clock_and_back() {
    let (clock, window) = filled();
    let over = window.over(ms(250)).expect("within the interval");
    clock.advance(ms(150)); // one bucket that has no add
    assert_eq!(over.sum(Seen::Pass), 10 + 9);
    clock.advance(ms(5_000));
    assert_eq!((over.sum(Seen::Pass), over.stats(Seen::Rt)), (0, Stats::default()));
    clock.set(at(50_599));
    assert_eq!(over.sum(Seen::Pass), 6 + 5 + 4);
    assert_eq!(all(&over.totals(), EVENTS), expected(4..=6));
}

#[test]
fn spans_that_no_interval_covers() {
    let (_, window) = filled();
    assert_eq!(window.over(Duration::ZERO).unwrap_err(), OutOfRangeError::ZeroSpan);
    for span in [ms(1_000) + ns(1), Duration::from_secs(u64::MAX), Duration::MAX] {
        let expected = OutOfRangeError::SpanTooLong { span, interval: ms(1_000) };
        assert_eq!(window.over(span).unwrap_err(), expected);
    }
    assert!(window.over(ms(1_000)).is_ok());
    let shown = format!("{:?}", window.over(ms(30)).expect("within the interval"));
    assert!(shown.contains("30ms"), "{shown}");
}

#[test]
fn a_span_is_resolved_at_each_read() {
    let (_, window) = filled();
    let over = window.over(ms(300)).expect("within the interval");
    window.reconfigure(ms(1_000), 4).expect("a valid geometry"); // 50 750 and 50 500
    assert_eq!(over.totals().interval(), ms(500));
    let [older, newer] = [50_500, 50_750].map(|start| {
        let snapshot = window.snapshot();
        let bucket = snapshot.buckets().iter().find(|bucket| bucket.start() == at(start));
        bucket.expect("in the ring").sum(Seen::Pass)
    });
    assert_eq!(
        (over.sum(Seen::Pass), over.totals().sum(Seen::Pass)),
        (older + newer, older + newer)
    );
    window.reconfigure(ms(200), 2).expect("a valid geometry");
    assert_eq!(over.totals().interval(), ms(200), "all that there is");
    assert_eq!(over.sum(Seen::Pass), window.sum(Seen::Pass));
    assert_eq!(over.complete().interval(), ms(100));
}

#[test]
fn a_span_as_it_ended_earlier() {
    let (clock, window) = filled();
    clock.advance(ms(30)); // 50 930
    let over = window.over(ms(200)).expect("within the interval");
    for k in 2..=10 {
        for millis in [0, 99] {
            let then = at(49_900 + 100 * k + millis);
            let totals = over.totals_at(then).expect("in the ring");
            assert_eq!(all(&totals, EVENTS), expected(k - 1..=k), "as it ended at {then:?}");
            assert_eq!((totals.at(), totals.interval()), (then, ms(200)));
        }
    }
    let refused =
        OutOfRangeError::SpanBeforeRing { at: at(50_099), from: at(49_900), oldest: at(50_000) };
    assert_eq!(over.totals_at(at(50_099)).unwrap_err(), refused);
    let sentence = refused.to_string();
    for nanos in [at(50_099), at(49_900), at(50_000)].map(Timestamp::as_nanos) {
        assert!(sentence.contains(&nanos.to_string()), "{sentence}");
    }
    let refused = OutOfRangeError::AfterNow { at: at(51_000), now: at(50_930) };
    assert_eq!(over.totals_at(at(51_000)).unwrap_err(), refused);
    assert!(over.totals_at(at(50_999)).is_ok(), "ahead, in the same bucket");
    assert!(over.totals_at(at(0)).is_err());
    assert!(over.totals_at(Timestamp::from_nanos(u64::MAX)).is_err());

    // The clock decides which buckets are in the ring, whether or not an add was made since.
    clock.advance(ms(100));
    assert!(over.totals_at(at(50_199)).is_err());
    assert_eq!(over.totals_at(at(50_200)).expect("in the ring").sum(Seen::Pass), 2 + 3);
    // And the ring, if it is ahead of the clock.
    clock.set(at(50_300));
    assert_eq!(over.totals_at(at(50_300)).expect("in the ring").sum(Seen::Pass), 3 + 4);
    assert!(over.totals_at(at(50_400)).is_err());
    assert!(over.totals_at(at(50_000)).is_err());
}

/// There are no buckets before time zero: nothing of the span is missing.
#[test]
fn spans_that_begin_before_time_zero() {
    let clock = clock_at(150);
    let window: Window = window(ms(100), 10, &clock);
    window.add(Seen::Pass, 4);
    let over = window.over(ms(500)).expect("within the interval");
    assert_eq!((over.sum(Seen::Pass), over.totals().interval()), (4, ms(500)));
    assert_eq!(over.totals_at(at(150)).expect("in the ring").sum(Seen::Pass), 4);
    assert_eq!(over.totals_at(at(50)).expect("in the ring").sum(Seen::Pass), 0);
    let whole = window.over(ms(1_000)).expect("the interval");
    assert_eq!(whole.totals_at(at(50)).expect("in the ring").sum(Seen::Pass), 0);
    assert_eq!(over.complete().sum(Seen::Pass), 0);
    assert_eq!(over.weighted_rate(Seen::Pass), 4.0 / 0.5);
    clock.set(at(50));
    let complete = over.complete();
    assert_eq!((complete.sum(Seen::Pass), complete.interval()), (0, ms(500)));
}

#[test]
fn complete_buckets_are_those_before_the_newest() {
    let (clock, window) = filled();
    for (millis, buckets) in [(1, 1), (100, 1), (101, 2), (900, 9), (901, 9), (1_000, 9)] {
        let complete = window.over(ms(millis)).expect("within the interval").complete();
        assert_eq!(all(&complete, EVENTS), expected(10 - buckets..=9), "{millis} ms");
        assert_eq!((complete.interval(), complete.at()), (ms(100 * buckets), at(50_900)));
    }
    clock.advance(ms(100)); // it is not open yet; the one before is complete
    let complete = window.over(ms(200)).expect("within the interval").complete();
    assert_eq!(all(&complete, EVENTS), expected(9..=10));

    let window: Window = testkit::window(ms(100), 1, &clock);
    window.add(Seen::Pass, 5);
    let over = window.over(ms(100)).expect("the interval");
    assert_eq!((over.complete().interval(), over.complete().rate(Seen::Pass)), (ms(0), 0.0));
    assert_eq!(over.weighted_rate(Seen::Pass), 0.0);
}

/// The n-th record is n. Each counted record is in sum and maximum too.
#[test]
fn totals_have_all_of_each_record_that_is_counted() {
    let clock = clock_at(1_000);
    let window: Window = window(ms(100), 2, &clock);
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish(&finished);
        scope.spawn(|| {
            let mut n = 0;
            while !finished.load(Ordering::Relaxed) {
                n += 1;
                window.record(Seen::Rt, n);
            }
        });
        let part = window.over(ms(100)).expect("within the interval");
        let mut last = 0;
        while last < 100_000 {
            for totals in [window.totals(), part.totals()] {
                let Stats { count, sum, min, max } = totals.stats(Seen::Rt);
                assert!(count >= last, "{count} after {last}");
                assert!(sum >= count * (count + 1) / 2, "{count} records, and a sum of {sum}");
                assert!(max.unwrap_or(0) >= count, "{count} records up to {max:?}");
                assert_eq!(min, (count > 0).then_some(1));
                last = count;
            }
        }
        drop(finish);
    });
    assert_eq!(window.totals().stats(Seen::Rt), window.stats(Seen::Rt));
}
