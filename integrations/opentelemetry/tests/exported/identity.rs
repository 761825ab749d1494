//! Series that leave and come back, Views that drop attributes, readers beside each other: each
//! count is exported once.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ScopeMetrics, SumDataPoint};
use opentelemetry_sdk::metrics::{
    InMemoryMetricExporterBuilder, Instrument, PeriodicReader, SdkMeterProvider, Stream,
    Temporality,
};
use windrow::{Counter, Family, Gauge, Histogram, InFlight};
use windrow_opentelemetry::Observer;

use crate::{Flag, Request, Sdk, User, sum};

const BOTH: [Temporality; 2] = [Temporality::Cumulative, Temporality::Delta];

#[test]
fn a_set_that_comes_back_as_another_series_counts_on_from_what_was_exported() {
    for temporality in BOTH {
        let users = Arc::new(Family::<User, Counter>::new());
        let sdk = Sdk::new(temporality, None);
        sdk.observer().observe("requests", "Requests", Arc::downgrade(&users)).unwrap();
        let is_delta = temporality == Temporality::Delta;
        users.with(User { user: 1 }).add(1_000);
        assert_eq!(sdk.collect()["requests{user=1}"], 1_000.0);
        // Between two collections.
        users.remove(User { user: 1 });
        users.with(User { user: 1 }).add(1);
        let expected = if is_delta { 1.0 } else { 1_001.0 };
        assert_eq!(sdk.collect()["requests{user=1}"], expected, "{temporality:?}");
        // Over a collection.
        users.remove(User { user: 1 });
        sdk.collect();
        users.with(User { user: 1 }).add(2);
        let expected = if is_delta { 2.0 } else { 1_003.0 };
        assert_eq!(sdk.collect()["requests{user=1}"], expected, "{temporality:?}");
    }
}

#[test]
fn a_set_of_enums_that_is_removed_and_used_again_is_exported_once() {
    for temporality in BOTH {
        let flags = Arc::new(Family::<Flag, Counter>::new());
        let sdk = Sdk::new(temporality, None);
        sdk.observer().observe("flags", "Flags", Arc::downgrade(&flags)).unwrap();
        let is_delta = temporality == Temporality::Delta;
        flags.with(Flag { on: true }).add(5);
        assert_eq!(sdk.collect()["flags{on=true}"], 5.0);
        for round in 1..4_u64 {
            flags.remove(Flag { on: true });
            sdk.collect();
            flags.with(Flag { on: true }).add(round);
            let ever = 5 + round * (round + 1) / 2;
            let expected = if is_delta { round } else { ever };
            assert_eq!(sdk.collect()["flags{on=true}"], expected as f64, "{temporality:?}");
        }
    }
}

#[test]
fn levels_of_series_that_leave_are_taken_back_and_put_again_when_they_return() {
    for temporality in BOTH {
        let open = Arc::new(Family::<User, Gauge>::new());
        let busy = Arc::new(Family::<Flag, InFlight>::new());
        let sdk = Sdk::new(temporality, None);
        let mut observer = sdk.observer();
        observer.observe("open", "Open", Arc::downgrade(&open)).unwrap();
        observer.observe("busy", "Busy", Arc::downgrade(&busy)).unwrap();
        // The SDK exports levels as they are, not as deltas.
        let look = |expected: [f64; 2], when: &str| {
            let points = sdk.collect();
            let levels = [sum(&points, "open{"), sum(&points, "busy{")];
            assert_eq!(levels, expected, "{when}, {temporality:?}");
        };
        open.with(User { user: 1 }).add(-4);
        open.with(User { user: 2 }).add(1);
        let flag = busy.handle(Flag { on: true });
        let (one, _two) = (flag.enter(1), flag.enter(2));
        look([-3.0, 3.0], "at first");
        open.remove(User { user: 1 });
        busy.remove(Flag { on: true });
        look([1.0, 0.0], "removed");
        open.with(User { user: 1 }).add(7);
        drop(busy.with(Flag { on: true })); // used again
        drop(one);
        look([8.0, 2.0], "back");
        drop(open);
        look([0.0, 2.0], "dropped");
    }
}

/// A View that keeps one attribute: the SDK adds up the series that differ only in the dropped
/// ones.
#[test]
fn a_view_that_drops_attributes_adds_up_what_they_told_apart() {
    for temporality in BOTH {
        let view = |_: &Instrument| {
            let keys = [opentelemetry::Key::new("route"), opentelemetry::Key::new("le")];
            Stream::builder().with_allowed_attribute_keys(keys).build().ok()
        };
        let exporter = InMemoryMetricExporterBuilder::new().with_temporality(temporality).build();
        let hour = Duration::from_secs(3_600);
        let reader = PeriodicReader::builder(exporter.clone()).with_interval(hour).build();
        let provider = SdkMeterProvider::builder().with_reader(reader).with_view(view).build();
        let sdk = Sdk { provider, exporter };
        let requests = Arc::new(Family::<Request, Counter>::new());
        let rt = Arc::new(Family::<Request, Histogram>::new().with_max_series(9));
        let open = Arc::new(Family::<Request, Gauge>::new());
        let mut observer = sdk.observer();
        observer.observe("requests", "Requests", Arc::downgrade(&requests)).unwrap();
        observer.observe("rt", "Response times", Arc::downgrade(&rt)).unwrap();
        observer.observe("open", "Open", Arc::downgrade(&open)).unwrap();
        for (status, count) in [(200, 60), (404, 40), (500, 7)] {
            requests.with(Request { route: "/a", status }).add(count);
            rt.with(Request { route: "/a", status }).record_many(1_000, count);
            open.with(Request { route: "/a", status }).add(1);
        }
        let points = sdk.collect();
        assert_eq!(points["requests{route=/a}"], 107.0);
        assert_eq!(points["rt{route=/a}"], 107.0);
        assert_eq!(points["rt.bucket{le=1024,route=/a}"], 107.0);
        assert_eq!(points["rt.bucket{le=512,route=/a}"], 0.0);
        assert_eq!(points["open{route=/a}"], 3.0);
    }
}

#[test]
fn readers_of_both_kinds_beside_each_other_get_all_of_it() {
    let sdks = BOTH.map(|temporality| {
        let exporter = InMemoryMetricExporterBuilder::new().with_temporality(temporality).build();
        let hour = Duration::from_secs(3_600);
        (PeriodicReader::builder(exporter.clone()).with_interval(hour).build(), exporter)
    });
    let [(one, cumulative), (other, deltas)] = sdks;
    let provider = SdkMeterProvider::builder().with_reader(one).with_reader(other).build();
    let users = Arc::new(Family::<User, Counter>::new());
    let mut observer = Observer::new(provider.meter("test"));
    observer.observe("requests", "Requests", Arc::downgrade(&users)).unwrap();
    let (mut added, mut of_deltas) = (0, 0);
    for round in 1..=5_u64 {
        users.with(User { user: 1 }).add(round);
        added += round;
        for exporter in [&cumulative, &deltas] {
            exporter.reset();
        }
        provider.force_flush().unwrap();
        let read = |exporter: &opentelemetry_sdk::metrics::InMemoryMetricExporter| {
            let all = exporter.get_finished_metrics().unwrap();
            let metrics =
                all.iter().flat_map(|all| all.scope_metrics().flat_map(ScopeMetrics::metrics));
            let requests = metrics.filter(|metric| metric.name() == "requests");
            requests.fold(0, |sum, metric| match metric.data() {
                AggregatedMetrics::U64(MetricData::Sum(data)) => {
                    sum + data.data_points().map(SumDataPoint::value).sum::<u64>()
                }
                other => panic!("{other:?}"),
            })
        };
        of_deltas += read(&deltas);
        assert_eq!((read(&cumulative), of_deltas), (added, added), "round {round}");
        users.remove(User { user: 1 });
    }
}

#[test]
fn a_family_of_histograms_is_exported_whatever_its_limit_and_buckets_stay_whole() {
    for temporality in BOTH {
        let rts = Arc::new(Family::<Request, Histogram>::new()); // up to 1000 series
        let sdk = Sdk::new(temporality, None);
        sdk.observer().observe("rt", "", Arc::downgrade(&rts)).unwrap();
        for n in 0..300 {
            rts.with(Request { route: &format!("/{n}"), status: 200 }).record(700);
            rts.with(Request { route: &format!("/{n}"), status: 200 }).record(5_000);
        }
        let points = sdk.collect();
        assert!(!points.keys().any(|point| point.contains("otel")), "the SDK's own overflow");
        assert_eq!(sum(&points, "rt{"), 600.0);
        assert_eq!(sum(&points, "rt.sum{"), 300.0 * 5_700.0);
        let of_bound = |le: &str| {
            let of = format!("le={le}");
            let has = |name: &str| name.starts_with("rt.bucket") && name.contains(&of);
            points.iter().filter(|(name, _)| has(name)).map(|(_, value)| value).sum::<f64>()
        };
        assert_eq!(["1024", "4096", "8192", "+Inf"].map(of_bound), [300.0, 300.0, 600.0, 600.0]);
        let own = points.keys().filter(|name| name.contains("le=+Inf")).count();
        assert!((60..=68).contains(&own), "{own} of 2000 / 29");
        assert!(points["rt.bucket{le=+Inf,overflow=true}"] > 400.0);
    }
}
