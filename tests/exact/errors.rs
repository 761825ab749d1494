//! Bad input: a typed error that names the value and the rule, and nothing lost or changed.

#![allow(
    clippy::duration_suboptimal_units,
    reason = "a test says its times in the units that it compares them in"
)]

use std::time::Duration;

use windrow::Event;
use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow::{BuildError, Clock, SlidingWindow, Stats, Timestamp, snapshot::OutOfRangeError};

use testkit::{at, at_ns, clock_at, ms, ns, window};

windrow::events! {
    /// One of each kind.
    enum Seen { Pass: Count, Rt: Value }
}

fn build(interval: Duration, buckets: usize, clock: impl Clock) -> Result<(), BuildError> {
    SlidingWindow::<Seen>::builder().interval(interval).buckets(buckets).clock(clock).build()?;
    Ok(())
}

fn refused(interval: Duration, buckets: usize) -> BuildError {
    let error = build(interval, buckets, Manual::default()).expect_err("not a valid geometry");
    // The same geometry is refused for a window that exists, and leaves it as it was.
    let clock = clock_at(50_000);
    let window = window::<Seen>(ms(100), 10, &clock);
    fill(&window, &clock);
    let before = everything(&window);
    assert_eq!(window.reconfigure(interval, buckets), Err(error.clone()));
    assert_eq!(everything(&window), before);
    error
}

/// Gives each part of a window something: buckets, gaps, back-dated and late adds.
fn fill(window: &SlidingWindow<Seen, Manual>, clock: &Manual) {
    for step in 0..15 {
        clock.set(at(50_000 + step * 170));
        window.add(Seen::Pass, step);
        window.record(Seen::Rt, 1000 - step);
    }
    let now = clock.now();
    clock.set(at(1));
    window.add(Seen::Pass, 3);
    window.record(Seen::Rt, 3);
    clock.set(now);
}

type Everything = (Vec<(Timestamp, Stats)>, [Stats; 6], Duration, usize);

/// Returns all that a window can be asked.
fn everything<C: Clock>(window: &SlidingWindow<Seen, C>) -> Everything {
    let snapshot = window.snapshot();
    let buckets = snapshot.buckets().iter();
    let both = |bucket: &windrow::snapshot::BucketSnapshot<Seen>| {
        [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()]
            .map(|event| (bucket.start(), bucket.stats(event)))
    };
    let mut stats = [Stats::default(); 6];
    for (event, stats) in
        [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].into_iter().zip(stats.chunks_mut(3))
    {
        stats.copy_from_slice(&[window.stats(event), window.lifetime(event), window.late(event)]);
    }
    (buckets.flat_map(both).collect(), stats, window.interval(), window.buckets())
}

/// An error's sentence, which must be one line and contain each of `parts`.
fn names(error: &dyn std::error::Error, parts: &[&str]) {
    let sentence = error.to_string();
    for part in parts {
        assert!(sentence.contains(part), "{sentence:?} does not name {part:?}");
    }
    assert!(!sentence.contains('\n'));
}

#[test]
fn an_interval_of_zero() {
    let error = refused(Duration::ZERO, 3);
    assert_eq!(error, BuildError::ZeroInterval);
    names(&error, &["interval", "0"]);
}

#[test]
fn no_buckets() {
    let error = refused(ms(1000), 0);
    assert_eq!(error, BuildError::NoBuckets);
    names(&error, &["buckets", "0"]);
    refused(Duration::ZERO, 0); // either of the two errors will do
}

#[test]
fn buckets_that_are_no_whole_nanoseconds() {
    let error = refused(ms(10_000), 30);
    assert_eq!(error, BuildError::UnevenBuckets { interval: ms(10_000), buckets: 30 });
    names(&error, &["30 ", "10s", "whole nanoseconds"]);
    // More buckets than nanoseconds.
    let error = refused(ns(5), 6);
    assert_eq!(error, BuildError::UnevenBuckets { interval: ns(5), buckets: 6 });
    refused(ns(u64::MAX), 2);
    refused(ms(1000), usize::MAX);
}

#[test]
fn an_interval_that_64_bits_of_nanoseconds_do_not_hold() {
    let longest = ns(u64::MAX);
    assert_eq!(build(longest, 1, Manual::default()), Ok(()));
    assert_eq!(build(longest, 15, Manual::default()), Ok(()));
    for interval in [longest + ns(1), Duration::from_secs(u64::MAX), Duration::MAX] {
        let error = refused(interval, 1);
        assert_eq!(error, BuildError::IntervalTooLong { interval });
        names(&error, &[&format!("{interval:?}"), "64 bits"]);
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_ring_that_no_memory_holds() {
    let all = usize::MAX;
    for buckets in [all, all / 3, all / 5, all / 15, 1 << 62, 1 << 60, 1 << 56, 1 << 48] {
        let error = refused(ns(buckets as u64), buckets);
        assert_eq!(error, BuildError::TooManyBuckets { buckets });
        names(&error, &["memory", &buckets.to_string()]);
    }
}

#[test]
fn a_large_ring_that_memory_does_hold() {
    let clock = clock_at(0);
    let window = window::<Seen>(ns(1), 100_000, &clock);
    for nanos in (0..200_000).step_by(1000) {
        clock.set(at_ns(nanos));
        window.add(Seen::Pass, 1);
    }
    assert_eq!(window.sum(Seen::Pass), 100);
    assert_eq!(window.snapshot().buckets().len(), 100_000);
}

/// A clock that claims a given resolution.
#[derive(Clone)]
struct Claims(Duration);

impl Clock for Claims {
    fn now(&self) -> Timestamp {
        at(1000)
    }

    fn resolution(&self) -> Duration {
        self.0
    }
}

/// Refused below ten times the resolution, accepted from there on.
fn a_tenth_of_a_bucket(clock: impl Clock + Clone) {
    let resolution = clock.resolution();
    let shortest = resolution * 10;
    for buckets in [1, 3] {
        let interval = shortest.max(ns(1)) * buckets;
        assert_eq!(build(interval, buckets as usize, clock.clone()), Ok(()), "{interval:?}");
    }
    if resolution.is_zero() {
        return;
    }
    let bucket = shortest.saturating_sub(ns(1));
    let expected = BuildError::ClockTooCoarse { resolution, bucket };
    assert_eq!(build(bucket * 3, 3, clock.clone()), Err(expected.clone()));
    names(&expected, &[&format!("{resolution:?}"), &format!("{bucket:?}"), "tenth"]);
    assert!(build(ns(1), 1, clock.clone()).is_err());

    let window = SlidingWindow::<Seen>::builder()
        .interval(shortest * 6)
        .buckets(2)
        .clock(clock)
        .build()
        .expect("thirty times the resolution");
    window.add(Seen::Pass, 2);
    assert_eq!(window.reconfigure(bucket * 3, 3), Err(expected));
    assert_eq!((window.interval(), window.buckets()), (shortest * 6, 2));
    assert_eq!(window.reconfigure(shortest * 3, 3), Ok(()));
    assert_eq!(window.lifetime(Seen::Pass).count, 2);
}

#[test]
fn a_clock_too_coarse_for_the_buckets() {
    a_tenth_of_a_bucket(Manual::default());
    a_tenth_of_a_bucket(Coarse::default());
    a_tenth_of_a_bucket(Precise::default());
    a_tenth_of_a_bucket(Ticker::start(ms(1)));
    a_tenth_of_a_bucket(Ticker::start(ms(7)));
    a_tenth_of_a_bucket(Claims(Duration::ZERO));
    a_tenth_of_a_bucket(Claims(ns(1)));
    a_tenth_of_a_bucket(Claims(ms(250)));
}

#[test]
fn a_clock_too_coarse_for_any_bucket() {
    for resolution in [Duration::from_secs(60), Duration::from_secs(u64::MAX), Duration::MAX] {
        let bucket = ms(1000);
        let error = build(bucket, 1, Claims(resolution)).expect_err("coarser than the bucket");
        assert_eq!(error, BuildError::ClockTooCoarse { resolution, bucket });
        names(&error, &[&format!("{resolution:?}"), "1s"]);
    }
}

#[test]
fn spans_of_zero_or_longer_than_the_interval() {
    let clock = clock_at(50_000);
    let window = window::<Seen>(ms(100), 10, &clock);
    fill(&window, &clock);
    let before = everything(&window);
    let error = window.over(Duration::ZERO).expect_err("no span");
    assert_eq!(error, OutOfRangeError::ZeroSpan);
    names(&error, &["span", "0"]);

    for span in [ms(1000) + ns(1), ms(1001), Duration::from_secs(u64::MAX), Duration::MAX] {
        let error = window.over(span).expect_err("longer than the interval");
        assert_eq!(error, OutOfRangeError::SpanTooLong { span, interval: ms(1000) });
        names(&error, &[&format!("{span:?}"), "1s", "interval"]);
    }
    assert_eq!(everything(&window), before);

    window.reconfigure(ms(300), 3).expect("a valid geometry");
    let shorter = OutOfRangeError::SpanTooLong { span: ms(301), interval: ms(300) };
    assert_eq!(window.over(ms(301)).expect_err("longer than the new interval"), shorter);
}

#[test]
fn timestamps_ahead_of_the_clock() {
    let clock = clock_at(50_000);
    let window = window::<Seen>(ms(100), 10, &clock);
    fill(&window, &clock); // the clock says 52 380
    let before = everything(&window);
    let now = clock.now();
    for ahead in [at(52_400), at(52_401), at(60_000), at_ns(u64::MAX)] {
        let expected = OutOfRangeError::AfterNow { at: ahead, now };
        assert_eq!(window.add_at(ahead, Seen::Pass, 7), Err(expected.clone()));
        assert_eq!(window.record_at(ahead, Seen::Rt, 7), Err(expected.clone()));
        let (at, now) = (ahead.as_nanos().to_string(), now.as_nanos().to_string());
        names(&expected, &[&at, &now, "after"]);
        assert_eq!(everything(&window), before, "nothing was counted, no bucket opened");
    }
    assert_eq!(window.add_at(at_ns(52_399_999_999), Seen::Pass, 7), Ok(()), "ahead, same bucket");
}

#[test]
fn timestamps_before_the_ring() {
    let clock = clock_at(50_000);
    let window = window::<Seen>(ms(100), 10, &clock);
    fill(&window, &clock); // the newest bucket is 52 300, so the oldest is 51 400
    let before = everything(&window);
    for early in [at_ns(51_399_999_999), at(51_399), at(50_000), at(0)] {
        let expected = OutOfRangeError::BeforeRing { at: early, oldest: at(51_400) };
        assert_eq!(window.add_at(early, Seen::Pass, 7), Err(expected.clone()));
        assert_eq!(window.record_at(early, Seen::Rt, 7), Err(expected.clone()));
        let (at, oldest) = (early.as_nanos().to_string(), at(51_400).as_nanos().to_string());
        names(&expected, &[&at, &oldest, "before"]);
        assert_eq!(everything(&window), before, "nothing was counted, not even as late");
    }
    assert_eq!(window.add_at(at(51_400), Seen::Pass, 7), Ok(()), "the oldest bucket");

    // The ring's place is that of its newest bucket, not of the clock: stepping back opens nothing.
    clock.set(at(51_000));
    assert!(matches!(
        window.add_at(at(51_000), Seen::Pass, 7),
        Err(OutOfRangeError::BeforeRing { .. })
    ));
    assert!(matches!(
        window.add_at(at(52_300), Seen::Pass, 7),
        Err(OutOfRangeError::AfterNow { .. })
    ));
}
