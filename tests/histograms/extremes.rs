//! The first and the last value, and distributions of more values than a `f64` or a `u64` counts.

use windrow::{
    Histogram, SlidingWindow, events,
    histogram::{Distribution, Scale},
};

use crate::{distribution, merged};

events! { enum Http { Rt: Histogram } }

/// Returns a distribution of these values, each with its count.
fn times(values: &[(u64, u64)]) -> Distribution {
    let histogram = Histogram::new();
    for (value, times) in values {
        histogram.record_many(*value, *times);
    }
    histogram.distribution()
}

#[test]
fn the_first_value_and_the_last_are_exact() {
    // All in one cell: from 940 to 1024.
    let found = distribution(Scale::DEFAULT, &[950, 960, 970, 1_000]);
    assert!(found.has_exact_extremes());
    assert_eq!([0.0, 0.25, 1.0].map(|q| found.quantile(q)), [Some(950), Some(950), Some(1_000)]);
    assert!((950..=1_000).contains(&found.quantile(0.5).unwrap()));
    assert_eq!(found.quantile(0.76), Some(1_000));
    // Far from each other, in cells with others, and outside of the range.
    let found = distribution(Scale::DEFAULT, &[3, 7, 950, 960, 1 << 40, 1 << 41]);
    assert_eq!([0.0, 1.0].map(|q| found.quantile(q)), [Some(3), Some(1 << 41)]);
}

#[test]
fn since_a_drain_the_first_and_the_last_are_known_by_their_cells() {
    let histogram = Histogram::new();
    histogram.record(950);
    histogram.record(1_020);
    assert!(histogram.take().has_exact_extremes());
    histogram.record(960);
    histogram.record(1_000);
    for found in [histogram.distribution(), histogram.take()] {
        assert!(!found.has_exact_extremes());
        assert_eq!((found.min(), found.max()), (Some(950), Some(1_020))); // 960 and 1000
        assert!((950..=1_020).contains(&found.quantile(0.0).unwrap()));
    }
    assert!(histogram.lifetime().has_exact_extremes());
    assert_eq!([0.0, 1.0].map(|q| histogram.lifetime().quantile(q)), [Some(950), Some(1_020)]);
}

#[test]
fn in_a_window_they_are_exact_but_since_a_moment() {
    let clock = windrow::clock::Manual::default();
    let window = SlidingWindow::<Http>::builder().clock(clock).build().unwrap();
    window.record(Http::Rt, 950);
    window.record(Http::Rt, 1_020);
    let moment = window.moment();
    window.record(Http::Rt, 960);
    window.record(Http::Rt, 1_000);
    let snapshot = window.snapshot();
    let exact = [
        window.distribution(Http::Rt),
        window.lifetime_distribution(Http::Rt),
        window.totals().distribution(Http::Rt),
        snapshot.totals().distribution(Http::Rt),
        snapshot.buckets().last().unwrap().distribution(Http::Rt),
    ];
    for found in exact {
        assert!(found.has_exact_extremes());
        assert_eq!([0.0, 1.0].map(|q| found.quantile(q)), [Some(950), Some(1_020)]);
    }
    let since = window.moment().since(&moment).unwrap().distribution(Http::Rt);
    assert!(!since.has_exact_extremes());
    assert!(since.min().unwrap() <= 960 && since.max().unwrap() >= 1_000);
}

#[test]
fn a_sum_has_exact_extremes_if_all_parts_have() {
    let drained = Histogram::new();
    drained.record(900);
    _ = drained.take();
    drained.record(1_000);
    let (exact, inexact) = (distribution(Scale::DEFAULT, &[2_000]), drained.distribution());
    for (parts, is_exact) in [
        ([&exact, &exact], true),
        ([&exact, &inexact], false),
        ([&inexact, &exact], false),
        ([&Distribution::default(), &inexact], false),
        ([&Distribution::default(), &exact], true),
    ] {
        assert_eq!(merged(parts).has_exact_extremes(), is_exact);
    }
    _ = drained.take();
    assert!(merged([&exact, &drained.distribution()]).has_exact_extremes(), "nothing is added");
}

/// With more values than a float counts, the last is still the last, and each other one has its
/// rank.
#[test]
fn of_more_values_than_a_float_counts_each_has_its_rank() {
    for count in [1 << 53, (1 << 53) + 1, (1 << 60) + 12_345, u64::MAX - 1] {
        let found = times(&[(1_000, count), (2_000_000, 1)]);
        assert_eq!(found.count(), count + 1);
        assert_eq!(found.quantile(1.0), Some(2_000_000), "{count}");
        assert!(found.quantile(0.999).unwrap() < 1_100, "{count}");
        let found = times(&[(1_000, 1), (2_000_000, count)]);
        assert_eq!(found.quantile(0.0), Some(1_000), "{count}");
        assert!(found.quantile(0.001).unwrap() > 1_900_000, "{count}");
        // The half of an even number, exactly: the lower median is the last of the lower ones.
        let half = count / 2;
        let found = times(&[(1_000, half), (2_000_000, half)]);
        assert!(found.quantile(0.5).unwrap() < 1_100, "{count}");
        let found = times(&[(1_000, half - 1), (2_000_000, half + 1)]);
        assert!(found.quantile(0.5).unwrap() > 1_900_000, "{count}");
    }
}

/// Counts stop at the largest number; percentiles and means go on.
#[test]
fn counts_that_do_not_fit_stop_and_nothing_is_infinite() {
    let most = times(&[(1_000, u64::MAX)]);
    for found in [
        times(&[(1_000, u64::MAX), (2_000_000, 1)]),
        times(&[(1_000, u64::MAX), (2_000_000, u64::MAX)]),
        merged([&most, &most]),
        merged([&most, &times(&[(1_000, 1)])]),
        merged([&most, &times(&[(2_000_000, 1)])]),
    ] {
        assert_eq!(found.count(), u64::MAX, "{found:?}");
        let last = found.max().unwrap();
        assert_eq!([0.0, 1.0].map(|q| found.quantile(q)), [found.min(), Some(last)], "{found:?}");
        let mean = found.mean().unwrap();
        assert!(mean.is_finite(), "{mean}");
        assert_eq!(found.count_above(last), 0..=0);
        let up_to: Vec<u64> =
            found.buckets(found.scale().octaves()).map(|(_, below)| below).collect();
        assert!(up_to.is_sorted(), "{up_to:?}");
    }
    let found = times(&[(1_000, u64::MAX), (2_000_000, u64::MAX)]);
    assert!(found.quantile(0.499).unwrap() < 1_100);
    assert!(found.quantile(0.501).unwrap() > 1_900_000);
}
