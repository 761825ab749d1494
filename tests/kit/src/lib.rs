//! The code that tests, litmus programs and the fuzzer share: times, windows on a manual clock,
//! threads, random numbers, ledgers of writers, interruptions, and the oracle.
#![allow(clippy::missing_panics_doc, reason = "a test fails by a panic")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::snapshot::{BucketSnapshot, ByRow, Snapshot};
use windrow::{Event, Events, SlidingWindow, Stats, Timestamp, Typed};

pub mod alone;
pub mod heap;
#[cfg(target_os = "linux")]
pub mod held;
#[cfg(target_os = "linux")]
pub mod interrupts;
pub mod ledger;
#[cfg(feature = "oracle")]
pub mod oracle;
pub mod pinned;
pub mod traced;

/// A generator of random numbers: equal seeds give equal numbers.
pub use fastrand::Rng;

/// Returns the number of rounds of a long test: `all`, or the part of them that the environment
/// variable `TEST_PERCENT` asks for.
pub fn rounds(all: u64) -> u64 {
    let told = std::env::var("TEST_PERCENT").ok();
    let percent = told.map_or(100, |told| told.parse().expect("TEST_PERCENT is a whole number"));
    (all * percent / 100).max(1)
}

/// Returns whether a snapshot's buckets are all empty.
pub fn is_empty<E: Events>(snapshot: &Snapshot<E>) -> bool {
    snapshot.buckets().iter().all(has_nothing)
}

/// Returns whether no event was counted in a bucket.
pub fn has_nothing<E: Events>(bucket: &BucketSnapshot<E>) -> bool {
    let is_zero = |stats: Stats| stats.count == 0 && stats.min.or(stats.max).is_none();
    (0..E::EVENTS.len()).all(|event| is_zero(bucket.stats(Event::<E>::at(event))))
}

/// Returns the sum of a number's parts.
pub fn sum_of(parts: &ByRow) -> u64 {
    parts.rows.iter().fold(parts.shared, |all, row| all.wrapping_add(*row))
}

/// Returns a moment, in milliseconds.
pub fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Returns a moment, in nanoseconds.
pub fn at_ns(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

/// Returns a span, in milliseconds.
pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns a span, in nanoseconds.
pub fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Returns a manual clock that shows `millis`.
pub fn clock_at(millis: u64) -> Manual {
    let clock = Manual::default();
    clock.set(at(millis));
    clock
}

/// Returns a window of `buckets` buckets of `length` each, on a clone of `clock`.
pub fn window<E: Events>(
    length: Duration,
    buckets: u32,
    clock: &Manual,
) -> SlidingWindow<E, Manual> {
    SlidingWindow::<E>::builder()
        .interval(length * buckets)
        .buckets(buckets as usize)
        .clock(clock.clone())
        .build()
        .expect("a valid window")
}

/// Adds or records a number, as the event's kind demands.
pub fn count<E: Events>(window: &SlidingWindow<E, Manual>, event: Event<E>, n: u64) {
    match event.typed() {
        Typed::Count(event) => window.add(event, n),
        Typed::Signed(event) => window.add(event, n.cast_signed()),
        Typed::Value(event) => window.record(event, n),
        Typed::Maximum(event) => window.record(event, n),
        Typed::Minimum(event) => window.record(event, n),
        Typed::Histogram(event) => window.record(event, n),
        other => unreachable!("{other:?}"),
    }
}

/// Runs `body(0)` to `body(threads - 1)` on threads of their own, all started at once.
pub fn race(threads: usize, body: impl Fn(usize) + Sync) {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        for index in 0..threads {
            let (barrier, body) = (&barrier, &body);
            scope.spawn(move || {
                barrier.wait();
                body(index);
            });
        }
    });
}

/// Says that the others may stop, when it goes: also when a panic takes it away, so that a failed
/// test ends.
pub struct Finish<'a>(pub &'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
