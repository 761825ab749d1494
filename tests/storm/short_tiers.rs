//! Tiers whose buckets are shorter than a read: each number is of the span that it is said to be
//! of.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Finish, Rng, alone, ns};
use windrow::Event;
use windrow::clock::Precise;
use windrow::{Clock, SlidingWindow, events, histogram::Scale, snapshot::Totals};

events! {
    /// The histogram makes a read long.
    enum Times { Rt: Value, Most: Maximum, Least: Minimum, Took: Histogram(Scale::fixed::<2, 1, 10_000_000_000>()) }
}

/// The length of a bucket, in nanoseconds.
const LENGTH: u64 = 10_000;

#[test]
fn spans_of_short_buckets_hold_their_own() {
    alone::in_each_strategy("short_tiers::values_lie_in_their_spans");
}

/// Each value is its own time.
fn write(window: &SlidingWindow<Times, Precise>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let now = window.clock().now();
        let value = now.as_nanos();
        let _ = window.record_at(now, Times::Most, value);
        let _ = window.record_at(now, Times::Least, value);
        let _ = window.record_at(now, Times::Rt, value);
        let _ = window.record_at(now, Times::Took, value % 1_000_000);
    }
}

fn judge(totals: &Totals<Times>) {
    let end = totals.end().as_nanos();
    let span = end.saturating_sub(totals.interval().as_nanos() as u64)..end;
    for event in [Event::<Times>::from(Times::Rt), Times::Most.into(), Times::Least.into()] {
        let stats = totals.stats(event);
        let mut extremes = stats.min.into_iter().chain(stats.max);
        assert!(extremes.all(|at| span.contains(&at)), "{event:?}: {stats:?} in {span:?}");
        let least = stats.min.map_or(0, |min| min.wrapping_mul(stats.count));
        assert!(stats.sum >= least, "{event:?}: {stats:?} in {span:?}");
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn values_lie_in_their_spans() {
    let builder = SlidingWindow::<Times>::builder().interval(ns(4 * LENGTH)).buckets(4);
    let builder = builder.tier(ns(2 * LENGTH), 50).tier(ns(20 * LENGTH), 30);
    let builder = builder.clock(Precise::default()).allow_coarse_clock();
    let (window, is_over) = (&builder.build().expect("the tiers nest"), &AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| write(window, is_over));
        }
        let _finish = Finish(is_over);
        let (begin, mut random) = (Instant::now(), Rng::with_seed(1));
        while begin.elapsed() < Duration::from_millis(1_500) {
            let over = window.over(ns(random.u64(5..600) * LENGTH)).expect("a tier reaches so far");
            judge(&over.totals());
            judge(&over.complete());
            let at = window.clock().now() - ns(random.u64(0..40 * LENGTH));
            over.totals_at(at).iter().for_each(judge);
        }
    });
}
