//! Histograms: which reads allocate nothing, and what a ring that is full still allocates for
//! values of new sizes.

use std::hint::black_box;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::kind::HasSum;
use windrow::{
    Clock, Event, Histogram, SlidingWindow,
    snapshot::{Moment, Totals},
};

use crate::counting::{allocations, while_adding};
use testkit::alone::in_each_strategy;
use testkit::{at_ns, ns};

windrow::events! {
    enum Mixed { Pass: Count, Rt: Histogram, Size: Histogram, Wait: Value }
}

const LENGTH: u64 = 10;
const BUCKETS: u32 = 20;

type Window = SlidingWindow<Mixed, Manual>;

/// Returns the number of allocations in `act`.
fn made<T>(act: impl FnOnce() -> T) -> u64 {
    let before = allocations();
    black_box(while_adding(act));
    allocations() - before
}

fn built(clock: &Manual) -> Window {
    clock.set(at_ns(1_000_000));
    SlidingWindow::<Mixed>::builder()
        .interval(ns(LENGTH * u64::from(BUCKETS)))
        .buckets(BUCKETS as usize)
        .tier(ns(LENGTH * 10), 10)
        .clock(clock.clone())
        .build()
        .expect("the tier nests")
}

fn record(window: &Window, value: u64) {
    window.add(Mixed::Pass, 1);
    window.record(Mixed::Wait, value);
    window.record(Mixed::Rt, value * 1_000);
    window.record(Mixed::Size, value * 5_000);
}

/// Every read that is no distribution, percentile or list of buckets.
fn reads(window: &Window) -> f64 {
    let moment = window.moment();
    reads_of(window, &moment, Mixed::Pass)
        + reads_of(window, &moment, Mixed::Rt)
        + reads_of(window, &moment, Mixed::Size)
        + reads_of(window, &moment, Mixed::Wait)
}

fn reads_of<K: HasSum<Number = u64>>(
    window: &Window,
    moment: &Moment<Mixed>,
    event: Event<Mixed, K>,
) -> f64 {
    let (part, tier) = (ns(LENGTH * 5), ns(LENGTH * 60));
    let mut all = 0.0;
    let (stats, lifetime) = (window.stats(event), window.lifetime(event));
    all += window.sum(event) as f64 + window.rate(event) + stats.mean().unwrap_or_default();
    all += lifetime.sum as f64;
    all += window.late(event).sum as f64;
    for span in [part, tier, ns(LENGTH * u64::from(BUCKETS))] {
        let over = window.over(span).expect("in the ring, or in the tier");
        let totals = over.totals_at(window.clock().now()).expect("now");
        all += over.sum(event) as f64 + over.stats(event).sum as f64 + over.rate(event);
        all += over.weighted_rate(event);
        let mut add = |totals: &Totals<Mixed>| {
            all += totals.sum(event) as f64 + totals.rate(event);
            all += totals.stats(event).mean().unwrap_or_default();
        };
        add(&totals);
        add(&over.totals());
        add(&over.complete());
        add(&window.totals());
    }
    let since = window.moment().since(moment).expect("of this window");
    all += since.sum(event) as f64 + since.stats(event).count as f64;
    all
}

#[test]
fn sums_rates_totals_and_stats_allocate_nothing() {
    in_each_strategy("histograms::reading");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn reading() {
    let clock = Manual::default();
    let window = built(&clock);
    record(&window, 1);
    reads(&window); // a thread's first pin
    let nothing = |what: &str| assert_eq!(made(|| reads(&window)), 0, "{what}");
    nothing("the first bucket");
    for value in 1..100 {
        clock.advance(ns(LENGTH));
        record(&window, value);
    }
    nothing("a full ring");
    let back = at_ns(window.clock().now().as_nanos() - 3 * LENGTH);
    window.record_at(back, Mixed::Rt, 7_000).expect("in the ring");
    nothing("behind an add to an older bucket");
    clock.advance(ns(5 * LENGTH));
    nothing("behind the live bucket");
    window.reconfigure(ns(LENGTH * 2 * u64::from(BUCKETS)), BUCKETS as usize).expect("sound");
    nothing("another geometry");
    record(&window, 9);
    nothing("of both");
}

#[test]
fn what_a_window_says_is_what_its_distribution_says() {
    in_each_strategy("histograms::the_same");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn the_same() {
    let clock = Manual::default();
    let window = built(&clock);
    let agree = |what: &str| {
        for event in [Mixed::Rt, Mixed::Size] {
            let (distribution, stats) = (window.distribution(event), window.stats(event));
            assert_eq!(
                (stats.count, stats.sum),
                (distribution.count(), distribution.sum()),
                "{what}"
            );
            assert_eq!((stats.min, stats.max), (distribution.min(), distribution.max()), "{what}");
            assert_eq!(window.sum(event), distribution.sum(), "{what}");
            assert_eq!(window.totals().stats(event), stats, "{what}");
            for span in [1, 5, 60].map(|buckets| ns(LENGTH * buckets)) {
                let over = window.over(span).expect("in the ring, or in the tier");
                let (distribution, stats) = (over.totals().distribution(event), over.stats(event));
                assert_eq!((stats.count, stats.sum), (distribution.count(), distribution.sum()));
                assert_eq!((stats.min, stats.max), (distribution.min(), distribution.max()));
                assert_eq!(over.sum(event), distribution.sum());
            }
        }
    };
    agree("of nothing");
    for value in 1..100 {
        record(&window, value);
        agree("a full ring");
        clock.advance(ns(LENGTH));
        if value % 7 == 0 {
            let back = at_ns(window.clock().now().as_nanos() - 3 * LENGTH);
            window.record_at(back, Mixed::Rt, value * 100_000).expect("in the ring");
            agree("behind an add to an older bucket");
        }
        if value % 31 == 0 {
            let length = LENGTH * (1 + value % 2);
            window.reconfigure(ns(length * u64::from(BUCKETS)), BUCKETS as usize).expect("sound");
            agree("another geometry");
        }
    }
}

#[test]
fn a_histograms_count_and_sum_allocate_nothing() {
    in_each_strategy("histograms::counting");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn counting() {
    let histogram = Histogram::new();
    assert_eq!((histogram.count(), histogram.sum()), (0, 0));
    for value in 1..1_000 {
        histogram.record(value * 100);
    }
    let is = |count: u64| {
        assert_eq!(made(|| assert_eq!(histogram.count(), count)), 0);
        assert_eq!(made(|| histogram.sum()), 0);
        let now = histogram.distribution();
        assert_eq!((now.count(), now.sum()), (count, histogram.sum()));
    };
    is(999);
    _ = histogram.take();
    is(0);
    histogram.record_many(5_000, 7);
    is(7);
}

/// Returns the number of allocations in rotations with values of `sizes`: one value in each group,
/// or none.
fn rings(window: &Window, clock: &Manual, sizes: &[u64]) -> u64 {
    made(|| {
        for _ in 0..30 * BUCKETS {
            // More than there are in the ring and in the tier.
            clock.advance(ns(LENGTH));
            window.add(Mixed::Pass, 1);
            for size in sizes {
                window.record(Mixed::Rt, *size);
            }
        }
    })
}

/// The promise of [`SlidingWindow`]: 256 bytes for each bucket of the ring and each sixteen places
/// that are new to it.
#[test]
fn a_full_ring_allocates_a_group_for_each_bucket_and_new_size() {
    in_each_strategy("histograms::sizes");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn sizes() {
    let clock = Manual::default();
    let window = built(&clock);
    // In the middle of the first sixteen places, of the third, and of the last but one.
    let [small, middle, large] = [10, 14, 32].map(|octave| Duration::from_nanos(3 << octave >> 1));
    let sizes = [small, middle, large].map(|size| size.as_nanos() as u64);
    rings(&window, &clock, &sizes[..1]);
    rings(&window, &clock, &sizes[..1]);
    if windrow::diagnostics::strategy() == windrow::diagnostics::Strategy::Epochs {
        return; // their own lists
    }
    assert_eq!(rings(&window, &clock, &sizes[..1]), 0, "sizes that each bucket has held");
    // The ring's and the tier's, and the spare ones.
    let most = u64::from(BUCKETS) + 5 + 10 + 10;
    let new = rings(&window, &clock, &sizes[..2]);
    assert!((u64::from(BUCKETS)..=most).contains(&new), "{new} for one new group");
    assert_eq!(rings(&window, &clock, &sizes[..2]), 0, "they are kept");
    let new = rings(&window, &clock, &sizes);
    assert!((u64::from(BUCKETS)..=most).contains(&new), "{new} for another");
    assert_eq!(rings(&window, &clock, &sizes), 0, "they are kept");
}
