//! Sentences of the pages about other crates, run: the calls that they name, and what these do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use contatori::adapters::Resettable;
use contatori::counters::Observable;
use contatori::counters::average::Average;
use contatori::counters::maximum::Maximum;
use contatori::counters::rate::Rate;
use contatori::counters::signed::Signed;
use contatori::counters::unsigned::Unsigned;
use fast_counter::ConcurrentCounter;
use prometheus::{Histogram, HistogramOpts, IntCounter, IntGauge};

/// Drains a number while two threads add, and returns the sum of all drains.
fn drained(add: impl Fn() + Sync, drain: impl Fn() -> u64 + Sync) -> u64 {
    let is_done = AtomicBool::new(false);
    let found = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut found = 0;
            while !is_done.load(Ordering::Acquire) {
                found += drain();
            }
            found
        });
        let writers = [0, 1].map(|_| scope.spawn(|| (0..200_000).for_each(|_| add())));
        for writer in writers {
            writer.join().expect("a writer");
        }
        is_done.store(true, Ordering::Release);
        reader.join().expect("the reader")
    });
    found + drain()
}

/// The guide from other striped counters has these calls.
#[test]
fn contatori_drains_by_the_value_of_a_resettable() {
    let counter = Resettable::new(Unsigned::new());
    assert_eq!(drained(|| counter.add(1), || counter.value().as_u64()), 400_000);
    let plain = Unsigned::new();
    plain.add(3);
    assert_eq!([plain.value().as_u64(), plain.value().as_u64()], [3, 3]);
    let signed = Signed::new();
    signed.sub(2);
    assert_eq!(signed.value().as_i64(), -2);
    let maximum = Maximum::new();
    maximum.observe(7);
    maximum.observe(5);
    assert_eq!(maximum.value().as_u64(), 7);
    let average = Average::new();
    average.observe(4);
    average.observe(8);
    assert_eq!(average.average(), Some(6));
    let rate = Rate::new();
    rate.add(5);
    assert_eq!(rate.rate().to_bits(), 0, "the first reading has none before it");
}

#[test]
fn a_fast_counter_adds_and_sums() {
    let counter = ConcurrentCounter::new(4);
    counter.add(5);
    counter.add(-1);
    assert_eq!(counter.sum(), 4);
}

#[test]
fn prometheus_adds_sets_and_times() {
    let counter = IntCounter::new("c", "a counter").expect("valid");
    counter.inc();
    counter.inc_by(4);
    let gauge = IntGauge::new("g", "a gauge").expect("valid");
    gauge.set(9);
    gauge.sub(3);
    gauge.inc();
    assert_eq!((counter.get(), gauge.get()), (5, 7));
    let histogram = Histogram::with_opts(HistogramOpts::new("h", "times")).expect("valid");
    histogram.observe(0.00125);
    assert_eq!(histogram.observe_closure_duration(|| 6 * 7), 42);
    histogram.start_timer().stop_and_record();
    histogram.start_timer().stop_and_discard();
    assert_eq!(histogram.get_sample_count(), 3);
}

/// A `Maximum` stands for a counter that is set.
#[test]
fn an_absolute_counter_of_metrics_only_rises() {
    let number = Arc::new(AtomicU64::new(0));
    let counter = metrics::Counter::from_arc(Arc::clone(&number));
    counter.absolute(9);
    counter.absolute(4);
    assert_eq!(number.load(Ordering::Relaxed), 9);
    counter.increment(2);
    assert_eq!(number.load(Ordering::Relaxed), 11);
}

/// The documentation of `windrow-hdrhistogram` says so.
#[test]
fn hdrhistogram_answers_the_greatest_value_of_a_cell() {
    let mut histogram = hdrhistogram::Histogram::<u64>::new(2).expect("two digits");
    histogram.record(10_000).expect("any number");
    histogram.record(1_000_000).expect("any number");
    assert_eq!(histogram.value_at_quantile(0.5), histogram.highest_equivalent(10_000));
    assert!(histogram.value_at_quantile(0.5) > 10_000);
}

/// The guide about paces counts these bytes.
#[cfg(feature = "limits")]
#[test]
fn governor_keeps_eight_bytes_beside_a_key() {
    assert_eq!(size_of::<governor::state::InMemoryState>(), 8);
}

/// The README of `windrow-tower` says so.
#[cfg(feature = "limits")]
#[tokio::test(start_paused = true)]
async fn towers_limits_let_requests_wait_and_refuse_none() {
    use std::convert::Infallible;
    use std::time::Duration;

    use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
    use tower::{Layer, ServiceExt, service_fn};

    let service = service_fn(async |(): ()| Ok::<_, Infallible>(()));
    let room = ConcurrencyLimitLayer::new(1).layer(service);
    let (mut first, mut second) = (room.clone(), room);
    first.ready().await.expect("ready"); // and holds the place
    let wait = tokio::time::timeout(Duration::from_mins(1), second.ready());
    assert!(wait.await.is_err(), "it waits");
    let mut rate = RateLimitLayer::new(1, Duration::from_secs(90)).layer(service);
    rate.ready().await.expect("ready");
    tower::Service::call(&mut rate, ()).await.expect("an answer");
    let wait = tokio::time::timeout(Duration::from_mins(1), rate.ready());
    assert!(wait.await.is_err(), "it waits");
}

/// The README of `windrow-tower` says so.
#[cfg(feature = "limits")]
#[tokio::test(start_paused = true)]
async fn towers_rate_limit_admits_twice_its_limit_across_an_edge() {
    use std::convert::Infallible;
    use std::time::Duration;

    use tower::limit::RateLimitLayer;
    use tower::{Layer, Service, ServiceExt, service_fn};

    let limit = RateLimitLayer::new(5, Duration::from_secs(1));
    let mut service = limit.layer(service_fn(async |(): ()| Ok::<_, Infallible>(())));
    let begun = tokio::time::Instant::now();
    let mut times = Vec::new();
    for number in 0..10 {
        if number == 1 {
            tokio::time::advance(Duration::from_millis(990)).await;
        }
        service.ready().await.expect("ready").call(()).await.expect("an answer");
        times.push(begun.elapsed().as_millis());
    }
    let (first, last) = (times[1], times[9]);
    assert!(last - first < 20, "nine requests within 20 ms: {times:?}");
}
