//! Histograms, and windows' events with percentiles.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_sdk::metrics::Temporality;
use windrow::clock::Manual;
use windrow::{Family, Histogram, SlidingWindow, events, histogram::Scale};
use windrow_opentelemetry::ObserveError;

use crate::{Sdk, User, points};

events! { enum Upload { Started: Count, Bytes: Histogram(Scale::fixed::<2, 1_000, 4_000>()) } }

#[test]
fn a_histogram_is_exported_as_counters_of_its_octaves() {
    let scale = Scale::new(3, 1_000, 2_000).unwrap();
    let rt = Arc::new(Histogram::with_scale(scale));
    let sdk = Sdk::new(Temporality::Cumulative, None);
    sdk.observer().observe("rt", "Response times", Arc::downgrade(&rt)).unwrap();
    for value in [0, 512, 1_024, 1_025, 2_048, 2_049] {
        rt.record(value);
    }
    _ = rt.take(); // a drain does not change an export
    assert_eq!(
        sdk.collect(),
        points(&[
            ("rt.bucket{le=+Inf}", 6.0),
            ("rt.bucket{le=1024}", 3.0),
            ("rt.bucket{le=2048}", 5.0),
            ("rt.bucket{le=512}", 2.0),
            ("rt.sum{}", 6_658.0),
            ("rt{}", 6.0),
        ])
    );
}

#[test]
fn buckets_of_all_series_are_exported_as_deltas_that_add_up() {
    let rts = Arc::new(Family::<User, Histogram>::new().with_max_series(29));
    let sdk = Sdk::new(Temporality::Delta, None);
    sdk.observer().observe("rt", "", Arc::downgrade(&rts)).unwrap();
    for round in 1..=3_u64 {
        (0..40).for_each(|user| rts.with(User { user }).record_many(700 * round, round));
        let points = sdk.collect();
        let infinite = points.iter().filter(|(name, _)| name.contains("le=+Inf"));
        assert_eq!(infinite.map(|(_, count)| count).sum::<f64>(), 40.0 * round as f64);
        assert_eq!(points.len(), 30 * (28 + 1) + 30 + 30 + 1, "29 users and the overflow series");
        assert_eq!(points["rt.bucket{le=1024,user=7}"], if round == 1 { 1.0 } else { 0.0 });
        assert!(!points.keys().any(|point| point.contains("otel")), "the SDK's own overflow");
    }
    // The limit is too small for the buckets of one series beside the overflow series.
    let error = ObserveError::TooManySets { name: "more".to_owned(), sets: 130, limit: 129 };
    assert_eq!(sdk.observer().observe_up_to(129, "more", "", Arc::downgrade(&rts)), Err(error));
}

#[test]
fn no_scale_has_more_buckets_than_are_reckoned_with() {
    let rt = Arc::new(Histogram::with_scale(Scale::new(0, 1, u64::MAX).unwrap()));
    let sdk = Sdk::new(Temporality::Cumulative, None);
    sdk.observer().observe("rt", "", Arc::downgrade(&rt)).unwrap();
    rt.record(u64::MAX);
    let points = sdk.collect();
    let buckets = points.keys().filter(|name| name.starts_with("rt.bucket")).count();
    assert_eq!(buckets, 65);
    assert_eq!(points["rt.bucket{le=+Inf}"], 1.0);
}

#[test]
fn a_windows_histogram_is_exported_by_its_buckets_and_percentiles() {
    let clock = Manual::default();
    let window = SlidingWindow::<Upload>::builder().clock(clock.clone()).build().unwrap();
    let window = Arc::new(window);
    let sdk = Sdk::new(Temporality::Cumulative, None);
    sdk.observer().observe("upload", "", Arc::downgrade(&window)).unwrap();
    (0..100).for_each(|_| window.record(Upload::Bytes, 3_000));
    clock.advance(Duration::from_millis(500));
    window.record(Upload::Bytes, 1_000);
    let points = sdk.collect();
    let percentile = |q: &str| points[&format!("upload.percentile{{event=Bytes,q={q}}}")];
    assert_eq!(["0.5", "0.9", "0.99"].map(percentile), [3_000.0; 3]);
    let bucket = |le: &str| points[&format!("upload.values.bucket{{event=Bytes,le={le}}}")];
    assert_eq!(["512", "1024", "2048", "4096", "+Inf"].map(bucket), [0.0, 1.0, 1.0, 101.0, 101.0]);
    assert_eq!(
        (points["upload.values{event=Bytes}"], points["upload.values.sum{event=Bytes}"]),
        (101.0, 301_000.0)
    );
    assert_eq!(points["upload{event=Started}"], 0.0);
    clock.advance(Duration::from_secs(3_600));
    assert!(!sdk.collect().keys().any(|point| point.starts_with("upload.percentile")));
}
