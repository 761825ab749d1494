//! Clocks: those of the library, of a user, borrowed and shared.

use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow::kind::HasSum;
use windrow::snapshot::{BucketSnapshot, Snapshot};
use windrow::{BuildError, Clock, Event, Events, SlidingWindow, Stats, Timestamp};

use crate::One;
use crate::endpoint::Http;

/// A user's clock: the time of a log that is being replayed.
struct Replay {
    line: Timestamp,
}

impl Clock for Replay {
    fn now(&self) -> Timestamp {
        self.line
    }

    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }
}

/// Returns a user's function, over any events and any clock.
fn busiest<E: Events, C: Clock>(
    window: &SlidingWindow<E, C>,
    event: Event<E, impl HasSum<Number = u64>>,
) -> u64 {
    let snapshot: Snapshot<E> = window.snapshot();
    snapshot.buckets().iter().map(|bucket| bucket.sum(event)).max().unwrap_or(0)
}

#[test]
fn a_users_clock_and_a_users_function() -> Result<(), Box<dyn Error>> {
    let clock = Replay { line: Timestamp::from_millis(123_456) };
    let window = SlidingWindow::<One>::builder()
        .interval(Duration::from_secs(1))
        .buckets(2)
        .clock(clock)
        .build()?;
    window.record(One::Only, 4);
    window.record_at(Timestamp::from_millis(122_500), One::Only, 6)?;
    assert_eq!(busiest(&window, One::Only), 6);
    assert_eq!(window.stats(One::Only).mean(), Some(5.0));
    let previous: BucketSnapshot<One> = window.previous();
    assert_eq!((previous.sum(One::Only), previous.stats(One::Only).count), (6, 1));
    Ok(())
}

#[test]
fn a_borrowed_clock_and_a_shared_one_are_that_clock() {
    fn reads(clock: &impl Clock) -> (Timestamp, Duration) {
        (clock.now(), clock.resolution())
    }
    let line = Timestamp::from_millis(7);
    let read = (line, Duration::from_millis(1));
    assert_eq!(reads(&&Replay { line }), read);
    assert_eq!(reads(&Arc::new(Replay { line })), read);
}

/// Returns whether a clock shows a later time before long.
fn runs(clock: &impl Clock) -> bool {
    let (first, patience) = (clock.now(), Instant::now() + Duration::from_secs(20));
    while clock.now() == first && Instant::now() < patience {
        thread::sleep(Duration::from_millis(1));
    }
    clock.now() > first
}

#[test]
fn clocks_run() {
    assert!(runs(&Coarse::default()));
    assert!(Coarse::default().resolution() > Duration::ZERO);
    assert!(runs(&Precise::default()));
    assert!(Precise::default().resolution() > Duration::ZERO);
    let ticker = Ticker::start(Duration::from_millis(2));
    assert_eq!(ticker.resolution(), Duration::from_millis(2));
    assert!(runs(&ticker));
    drop(Ticker::start(Duration::MAX)); // which sleeps: the drop wakes it
}

#[test]
fn the_default_clock_needs_no_mention() -> Result<(), Box<dyn Error>> {
    let window: SlidingWindow<Http> =
        SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(6).build()?;
    assert_eq!((window.interval(), window.buckets()), (Duration::from_secs(60), 6));
    let window = Arc::new(window);
    let elsewhere = Arc::clone(&window);
    thread::spawn(move || elsewhere.add(Http::Pass, 2)).join().expect("adds never panic");
    window.record(Http::Rt, 5);
    assert_eq!(window.lifetime(Http::Pass).sum, 2);
    // The minute may have turned since, but not ten times.
    assert_eq!(window.sum(Http::Pass), 2);
    assert!((window.rate(Http::Pass) - 2.0 / 60.0).abs() < 1e-12);
    assert_eq!(window.late(Http::Rt), Stats { count: 0, sum: 0, min: None, max: None });

    let newest = window.over(Duration::from_secs(25))?.totals();
    // Three of ten seconds, unless the machine's clock began later.
    assert_eq!(newest.interval(), Duration::from_secs(30));
    assert!(newest.end() > newest.at() && newest.at() + Duration::from_secs(10) >= newest.end());
    window.reconfigure(Duration::from_secs(120), 12)?;
    assert_eq!((window.interval(), window.buckets()), (Duration::from_secs(120), 12));
    assert_eq!(window.snapshot().totals().stats(Http::Rt).max, Some(5));
    Ok(())
}

#[test]
fn every_clock_builds_a_window() -> Result<(), BuildError> {
    fn counts(window: &SlidingWindow<Http, impl Clock>) {
        window.add(Http::Block, 3);
        window.add(Http::Exception, 4);
        assert_eq!(busiest(window, Http::Block), 3);
        assert_eq!(window.snapshot().totals().sum(Http::Exception), 4);
    }
    fn minute<C: Clock>(clock: C) -> Result<SlidingWindow<Http, C>, BuildError> {
        let minute = Duration::from_secs(60);
        SlidingWindow::<Http>::builder().interval(minute).buckets(60).clock(clock).build()
    }
    counts(&minute(Coarse::default())?);
    counts(&minute(Precise::default())?);
    counts(&minute(Ticker::start(Duration::from_millis(1)))?);
    counts(&minute(Manual::default())?);
    Ok(())
}
