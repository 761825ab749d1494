//! Tiers: cases with names. `tests/oracle` has histories of windows with tiers, beside maps from
//! times to numbers.

mod levels;
mod missed;
mod overtaken;

use testkit::pinned::while_another_is_pinned;
use testkit::{alone, at_ns, is_empty, ns};
use windrow::clock::Manual;
use windrow::{BuildError, SlidingWindow, Timestamp, events, snapshot::OutOfRangeError};

events! {
    enum Seen { Pass: Count, Rt: Value }
}

/// Returns a window of ten buckets of 10 ns, with these tiers.
fn window(clock: &Manual, tiers: &[(u64, usize)]) -> SlidingWindow<Seen, Manual> {
    window_of(clock, (100, 10), tiers)
}

/// Returns a window of an interval in nanoseconds and a number of buckets, with these tiers.
fn window_of(
    clock: &Manual,
    (interval, buckets): (u64, usize),
    tiers: &[(u64, usize)],
) -> SlidingWindow<Seen, Manual> {
    let builder = SlidingWindow::<Seen>::builder().interval(ns(interval)).buckets(buckets);
    let mut builder = builder.clock(clock.clone());
    for (length, buckets) in tiers {
        builder = builder.tier(ns(*length), *buckets);
    }
    builder.build().expect("the tiers nest")
}

/// Buckets that could not be closed in time are no longer noted; but while they are in the ring, a
/// later thread can derive their contents.
#[test]
fn what_was_missed_is_derived() {
    alone::run("tiers::derived", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn derived() {
    let clock = Manual::default();
    clock.set(at_ns(1_003));
    let window = window(&clock, &[(50, 6), (100, 6)]);
    let add = |at: u64, n: u64| {
        clock.set(at_ns(at));
        window.add(Seen::Pass, n);
    };
    while_another_is_pinned(|| {
        [(1_003, 1), (1_013, 2), (1_023, 4), (1_053, 8)].map(|(at, n)| add(at, n))
    });
    for (at, n) in [(1_063, 16), (1_073, 32), (1_083, 64), (1_093, 128)] {
        add(at, n);
    }
    for _ in 0..5 {
        window.drain_closed(|_| ()); // closes what can be closed
    }
    add(1_103, 256);
    let sums = |tier: usize| -> Vec<u64> {
        let series = window.series(tier).expect("there is such a tier");
        series.buckets().iter().map(|bucket| bucket.sum(Seen::Pass)).collect()
    };
    assert_eq!(sums(0), [0, 0, 0, 7, 248, 256]);
    assert_eq!(sums(1), [0, 0, 0, 0, 255, 256]);
}

/// It says its extremes where its coarse bucket was, but not over the one that stands there by
/// then.
#[test]
fn a_bucket_that_is_closed_late_leaves_newer_coarse_buckets_alone() {
    alone::run("tiers::closed_late", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn closed_late() {
    let clock = Manual::default();
    clock.set(at_ns(1_003));
    let window = window(&clock, &[(50, 6)]);
    while_another_is_pinned(|| {
        window.record(Seen::Rt, 7);
        for at in [1_013, 1_303, 1_313] {
            clock.set(at_ns(at));
            window.add(Seen::Pass, 1);
        }
        window.add_at(at_ns(1_303), Seen::Pass, 2).expect("in the ring");
    });
    for _ in 0..20 {
        window.drain_closed(|_| ()); // closes what can be closed
    }
    let series = window.series(0).expect("there is such a tier");
    let newest = series.buckets().last().expect("six");
    // Adds through blocks count in the bucket before, because this one was missed.
    assert_eq!((newest.start(), newest.sum(Seen::Pass)), (at_ns(1_300), 2));
    assert_eq!(newest.stats(Seen::Rt).max, None);
}

/// However far back the clock has stepped.
#[test]
fn a_series_of_long_before_the_live_bucket_is_empty_and_ends() {
    let clock = Manual::default();
    let window = window(&clock, &[(50, 6)]);
    clock.set(Timestamp::from_nanos(u64::MAX / 2));
    window.add(Seen::Pass, 1);
    clock.set(at_ns(1_003));
    let series = window.series(0).expect("there is such a tier");
    assert_eq!((series.buckets().len(), is_empty(&series)), (6, true));
    assert_eq!(window.over(ns(300)).expect("a valid span").sum(Seen::Pass), 0);
}

#[test]
fn a_span_that_began_before_the_tier_does_is_refused() {
    let clock = Manual::default();
    clock.set(at_ns(1_003));
    let window = window(&clock, &[(50, 6)]);
    window.add(Seen::Pass, 1);
    let span = window.over(ns(200)).expect("the tier reaches so far back");
    let [whole, cut] = [900, 899].map(at_ns);
    assert_eq!(span.totals_at(whole).map(|totals| totals.interval()), Ok(ns(200)));
    let refused = OutOfRangeError::SpanBeforeRing { at: cut, from: at_ns(700), oldest: at_ns(750) };
    assert_eq!(span.totals_at(cut).map(|totals| totals.interval()), Err(refused));
}

/// If no boundary is known from its start back to the tier's oldest, the span begins with the next
/// known one.
#[test]
fn a_span_covers_no_more_than_from_the_boundary_that_is_known() {
    alone::run("tiers::unknown", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn unknown() {
    let clock = Manual::default();
    clock.set(at_ns(53));
    let window = window(&clock, &[(50, 3)]);
    while_another_is_pinned(|| {
        window.add(Seen::Pass, 1);
        let span = window.over(ns(150)).expect("a valid span");
        assert_eq!((span.totals().interval(), span.sum(Seen::Pass)), (ns(150), 1));
        for (at, n) in [(63, 2), (103, 4), (153, 8), (203, 16)] {
            clock.set(at_ns(at));
            window.add(Seen::Pass, n);
        }
        // Those at 100 and 150 are missed, and the one at 50 has left the tier.
        assert_eq!((span.totals().interval(), span.sum(Seen::Pass)), (ns(50), 16));
    });
}

/// A noted boundary stays noted, even if later ones in the same coarse bucket are missed.
#[test]
fn a_boundary_that_is_noted_remains_known() {
    alone::run("tiers::still_known", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn still_known() {
    let clock = Manual::default();
    clock.set(at_ns(53));
    let window = window(&clock, &[(50, 6)]);
    while_another_is_pinned(|| {
        window.add(Seen::Pass, 1);
        let span = window.over(ns(300)).expect("a valid span");
        (0..2).for_each(|_| window.clear().expect("there is memory"));
        assert_eq!((span.totals().interval(), span.sum(Seen::Pass)), (ns(300), 1));
    });
}

#[test]
fn tiers_that_do_not_nest_are_refused() {
    let build = |tiers: &[(u64, usize)]| {
        let mut builder =
            SlidingWindow::<Seen>::builder().interval(ns(100)).buckets(10).clock(Manual::default());
        for (length, buckets) in tiers {
            builder = builder.tier(ns(*length), *buckets);
        }
        builder.build().map(drop)
    };
    assert_eq!(build(&[(100, 2), (200, 3)]), Ok(()));
    let uneven = BuildError::UnevenTier { length: ns(25), finer: ns(10) };
    assert_eq!(build(&[(25, 4)]), Err(uneven));
    let gap = BuildError::TierTooCoarse { length: ns(110), interval: ns(100) };
    assert_eq!(build(&[(110, 4)]), Err(gap.clone()));
    assert_eq!(
        gap.to_string(),
        "the tier's buckets of 110ns are longer than the interval of 100ns below"
    );
    assert_eq!(build(&[(0, 4)]), Err(BuildError::ZeroInterval));
    assert_eq!(build(&[(100, 0)]), Err(BuildError::NoBuckets));
    let above = BuildError::TierTooCoarse { length: ns(300), interval: ns(200) };
    assert_eq!(build(&[(100, 2), (300, 3)]), Err(above));
    assert!(matches!(build(&[(100, usize::MAX)]), Err(BuildError::IntervalTooLong { .. })));
}
