//! The exports of the real SDK, collection by collection: each count is exported once, to every
//! reader, with both temporalities and through Views.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

mod exemplars;
mod fields;
mod histograms;
mod identity;
mod refused;
mod windows;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ScopeMetrics};
use opentelemetry_sdk::metrics::{
    InMemoryMetricExporter, InMemoryMetricExporterBuilder, Instrument, PeriodicReader,
    SdkMeterProvider, Stream, Temporality,
};
use windrow::clock::Manual;
use windrow::export::{Catalog, field_fn, from_fn, total_fn};
use windrow::{
    Counter, Family, Gate, Gauge, Histogram, InFlight, Maximum, Minimum, SlidingWindow, Timestamp,
    events, labels,
};
use windrow_opentelemetry::{ObserveError, Observer};

labels! {
    struct User { user: u64 }
    struct Request { route: str, status: u16 }
    struct Flag { on: bool }
}

events! { enum Queue { Pushed: Count, Waited: Value } }
events! { enum Cart { Items: Signed } }
events! { enum Depth { Deepest: Maximum, Flattest: Minimum } }

/// A number by the name of its instrument and its attributes.
type Points = BTreeMap<String, f64>;

struct Sdk {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

impl Sdk {
    fn new(temporality: Temporality, limit: Option<usize>) -> Sdk {
        let exporter = InMemoryMetricExporterBuilder::new().with_temporality(temporality).build();
        // Collects on request.
        let reader = PeriodicReader::builder(exporter.clone())
            .with_interval(Duration::from_secs(3_600))
            .build();
        let view = move |_: &Instrument| {
            limit.and_then(|limit| Stream::builder().with_cardinality_limit(limit).build().ok())
        };
        let provider = SdkMeterProvider::builder().with_reader(reader).with_view(view).build();
        Sdk { provider, exporter }
    }

    fn observer(&self) -> Observer {
        Observer::new(self.provider.meter("test"))
    }

    /// One collection.
    fn collect(&self) -> Points {
        self.exporter.reset();
        self.provider.force_flush().unwrap();
        let mut points = Points::new();
        for resource in self.exporter.get_finished_metrics().unwrap() {
            for metric in resource.scope_metrics().flat_map(ScopeMetrics::metrics) {
                let name = metric.name();
                match metric.data() {
                    AggregatedMetrics::U64(data) => take(&mut points, name, data, |n| n as f64),
                    AggregatedMetrics::I64(data) => take(&mut points, name, data, |n| n as f64),
                    AggregatedMetrics::F64(data) => take(&mut points, name, data, |n| n),
                }
            }
        }
        points
    }
}

fn take<T: Copy>(points: &mut Points, name: &str, data: &MetricData<T>, number: impl Fn(T) -> f64) {
    let mut put = |attributes: Vec<String>, value| {
        let mut attributes = attributes;
        attributes.sort_unstable();
        let point = format!("{name}{{{}}}", attributes.join(","));
        assert!(points.insert(point.clone(), number(value)).is_none(), "{point} twice");
    };
    let show = |pair: &opentelemetry::KeyValue| format!("{}={}", pair.key, pair.value);
    match data {
        MetricData::Sum(sum) => sum
            .data_points()
            .for_each(|point| put(point.attributes().map(show).collect(), point.value())),
        MetricData::Gauge(gauge) => gauge
            .data_points()
            .for_each(|point| put(point.attributes().map(show).collect(), point.value())),
        _ => panic!("{name} is neither"),
    }
}

fn points(expected: &[(&str, f64)]) -> Points {
    expected.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn sum(points: &Points, instrument: &str) -> f64 {
    points.iter().filter(|(name, _)| name.starts_with(instrument)).map(|(_, value)| value).sum()
}

#[test]
fn a_catalogs_units_are_those_of_the_instruments() {
    static RT: Histogram = Histogram::new();
    let mut catalog = Catalog::new();
    catalog.add("rt", "Response times", &RT).unwrap().unit = "ns".into();
    let sdk = Sdk::new(Temporality::Cumulative, None);
    let mut observer = sdk.observer();
    observer.observe_all(&catalog).unwrap();
    RT.record(5);
    sdk.collect();
    let units: BTreeMap<String, String> = sdk.exporter.get_finished_metrics().unwrap()[0]
        .scope_metrics()
        .flat_map(ScopeMetrics::metrics)
        .map(|metric| (metric.name().to_owned(), metric.unit().to_owned()))
        .collect();
    let expected = [("rt", ""), ("rt.bucket", ""), ("rt.sum", "ns")]; // numbers of values have none
    assert_eq!(units, expected.map(|(name, unit)| (name.to_owned(), unit.to_owned())).into());
}

#[test]
fn each_metric_is_exported_as_the_instrument_of_its_kind() {
    static HITS: Counter = Counter::new();
    let (open, greatest, least) =
        (Arc::new(Gauge::new()), Arc::new(Maximum::new()), Arc::new(Minimum::new()));
    let busy = Arc::new(InFlight::new());
    let sdk = Sdk::new(Temporality::Cumulative, None);
    let mut observer = sdk.observer();
    observer.observe("hits", "Hits", &HITS).unwrap();
    observer.observe("open", "Open", Arc::downgrade(&open)).unwrap();
    observer.observe("busy", "Busy", Arc::downgrade(&busy)).unwrap();
    observer.observe("greatest", "Greatest", Arc::downgrade(&greatest)).unwrap();
    observer.observe("least", "Least", Arc::downgrade(&least)).unwrap();
    HITS.add(3);
    _ = HITS.take();
    HITS.add(4);
    open.add(-2);
    let three = busy.enter(3);
    assert_eq!(sdk.collect(), points(&[("busy{}", 3.0), ("hits{}", 7.0), ("open{}", -2.0)]));
    drop(three);
    greatest.record(0);
    least.record(9);
    assert_eq!(
        sdk.collect(),
        points(&[
            ("busy{}", 0.0),
            ("greatest{}", 0.0),
            ("hits{}", 7.0),
            ("least{}", 9.0),
            ("open{}", -2.0)
        ])
    );
}

/// Adds to 1999 users and some beyond the limit, in several rounds, and compares the export each
/// time.
fn exported_sums_are_what_was_added(temporality: Temporality) {
    let users = Arc::new(Family::<User, Counter>::new().with_max_series(1_999));
    let sdk = Sdk::new(temporality, None);
    sdk.observer().observe("requests", "Requests", Arc::downgrade(&users)).unwrap();
    let (mut exported, mut added) = (0.0, 0.0);
    for round in 1..=5_u64 {
        for user in 0..2_100 {
            users.with(User { user }).add(round * user);
            added += (round * user) as f64;
        }
        let points = sdk.collect();
        assert_eq!(points.len(), 2_001, "1999 users, the overflow, and how often");
        assert!(points.contains_key("requests{overflow=true}"));
        assert!(!points.keys().any(|point| point.contains("otel")), "the SDK's own overflow");
        let now = sum(&points, "requests{");
        exported = if temporality == Temporality::Delta { exported + now } else { now };
        assert_eq!(exported, added, "in round {round}");
        let refused = sum(&points, "requests.overflow{");
        assert_eq!(
            refused,
            if temporality == Temporality::Delta { 101.0 } else { 101.0 * round as f64 }
        );
    }
    assert_eq!(users.lifetime() as f64, added);
}

#[test]
fn exported_sums_are_what_was_added_cumulatively() {
    exported_sums_are_what_was_added(Temporality::Cumulative);
}

#[test]
fn exported_sums_are_what_was_added_as_deltas() {
    exported_sums_are_what_was_added(Temporality::Delta);
}

#[test]
fn series_beyond_what_the_sdk_takes_are_added_up_unless_a_view_allows_more() {
    for (view, limit) in [(None, 2_000), (Some(3_001), 3_001)] {
        let users = Arc::new(Family::<User, Counter>::new().with_max_series(3_000));
        let sdk = Sdk::new(Temporality::Cumulative, view);
        sdk.observer().observe_up_to(limit, "requests", "", Arc::downgrade(&users)).unwrap();
        for round in 1..=3 {
            (0..4_000).for_each(|user| users.with(User { user }).add(2));
            let points = sdk.collect();
            assert_eq!(sum(&points, "requests{"), f64::from(8_000 * round));
            assert_eq!(points.len(), limit + 1, "the sets, and the uses of the overflow series");
            let beyond = 2.0 * (4_001 - limit) as f64;
            assert_eq!(points["requests{overflow=true}"], beyond * f64::from(round));
            assert!(!points.keys().any(|point| point.contains("otel")), "the SDK's own overflow");
        }
    }
}

#[test]
fn told_of_a_view_that_is_not_there_the_sdk_still_adds_up() {
    let users = Arc::new(Family::<User, Counter>::new().with_max_series(3_000));
    let sdk = Sdk::new(Temporality::Cumulative, None);
    sdk.observer().observe_up_to(3_001, "requests", "", Arc::downgrade(&users)).unwrap();
    (0..3_000).for_each(|user| users.with(User { user }).add(2));
    let points = sdk.collect();
    assert_eq!(sum(&points, "requests{"), 6_000.0);
    assert_eq!(points["requests{otel.metric.overflow=true}"], 2_000.0);
}

#[test]
fn gauges_of_more_sets_than_the_sdk_takes_are_refused_unless_a_view_allows_them() {
    let deepest = Arc::new(Family::<User, Maximum>::new().with_max_series(3_000));
    let sdk = Sdk::new(Temporality::Cumulative, Some(3_001));
    let mut observer = sdk.observer();
    let too_many =
        |limit| Err(ObserveError::TooManySets { name: "deepest".to_owned(), sets: 3_001, limit });
    assert_eq!(observer.observe("deepest", "", Arc::downgrade(&deepest)), too_many(2_000));
    assert_eq!(
        observer.observe_up_to(3_000, "deepest", "", Arc::downgrade(&deepest)),
        too_many(3_000)
    );
    observer.observe_up_to(3_001, "deepest", "", Arc::downgrade(&deepest)).unwrap();
    (0..3_000).for_each(|user| deepest.with(User { user }).record(user));
    assert_eq!(sum(&sdk.collect(), "deepest{"), (0..3_000).sum::<u32>().into());
}

#[test]
fn nothing_is_lost_of_series_that_come_and_go() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let users = Arc::new(Family::<User, Counter>::new().with_max_series(1_999));
        let sdk = Sdk::new(temporality, None);
        sdk.observer().observe("requests", "Requests", Arc::downgrade(&users)).unwrap();
        let mut deltas = 0.0;
        for round in 0..5 {
            for user in 1_500 * round..1_500 * (round + 1) {
                users.with(User { user }).increment();
            }
            let now = sum(&sdk.collect(), "requests{");
            deltas += now;
            let exported = if temporality == Temporality::Delta { deltas } else { now };
            assert_eq!(exported, (1_500 * (round + 1)) as f64, "round {round}, {temporality:?}");
            users.retain(|_, _| false);
        }
        assert_eq!(users.lifetime(), 7_500);
    }
}

#[test]
fn a_number_of_the_programs_own_is_a_gauge_or_a_counter() {
    let hour = Duration::from_secs(3_600); // the test ends before
    let gates = Family::<User, _, _>::with_constructor(move || {
        Gate::builder(5).interval(hour).build().unwrap()
    });
    let gates = Arc::new(gates.with_max_series(1_000));
    let sdk = Sdk::new(Temporality::Cumulative, None);
    let mut observer = sdk.observer();
    observer.observe("half", "Half", from_fn(|| -0.5)).unwrap();
    observer.observe("absent", "Absent", from_fn(|| f64::NAN)).unwrap();
    observer.observe("fails", "Fails", from_fn(|| panic!("for the test"))).unwrap();
    let left = field_fn(Arc::clone(&gates), |gate: &Gate| gate.left() as f64);
    observer.observe("left", "Left", left).unwrap();
    assert!(gates.with(User { user: 7 }).try_admit(2));
    observer.observe("seconds", "CPU", total_fn(|| 1.5)).unwrap();
    let expected =
        [("half{}", -0.5), ("seconds{}", 1.5), ("left.overflow{}", 0.0), ("left{user=7}", 3.0)];
    assert_eq!(sdk.collect(), points(&expected));
}

#[test]
fn labels_are_attributes_and_integers_stay_integers() {
    let requests = Arc::new(Family::<Request, Counter>::new());
    let users = Arc::new(Family::<User, Counter>::new());
    let sdk = Sdk::new(Temporality::Cumulative, None);
    let mut observer = sdk.observer();
    observer.observe("requests", "Requests", Arc::downgrade(&requests)).unwrap();
    observer.observe("users", "Users", Arc::downgrade(&users)).unwrap();
    requests.with(Request { route: "/\"\n", status: 404 }).increment();
    users.with(User { user: u64::MAX }).increment();
    let points = sdk.collect();
    assert_eq!(points["requests{route=/\"\n,status=404}"], 1.0);
    assert_eq!(points["users{user=18446744073709551615}"], 1.0);
}

#[test]
fn names_of_run_time_are_attributes_by_them() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let names = ["tenant", "cloud.region"];
        let requests = Family::<_, Counter>::with_names(names).unwrap().with_max_series(3);
        let open = Family::<_, Gauge>::with_names(names).unwrap().with_max_series(3);
        let (requests, open) = (Arc::new(requests), Arc::new(open));
        let jobs = Arc::new(Family::<_, Counter>::with_names([""; 0]).unwrap());
        let sdk = Sdk::new(temporality, None);
        let mut observer = sdk.observer();
        observer.observe("requests", "Requests", Arc::downgrade(&requests)).unwrap();
        observer.observe("open", "Open", Arc::downgrade(&open)).unwrap();
        observer.observe("jobs", "Jobs", Arc::downgrade(&jobs)).unwrap();
        for (key, n) in
            [(["acme", "eu"], 2), (["ab", "c"], 3), (["a", "bc\n\""], 4), (["x", "y"], 5)]
        {
            requests.with(&key).add(n);
        }
        requests.with(&["acme"]).add(6);
        open.with(&["acme", "eu"]).add(-2);
        jobs.with(&[]).add(7);
        assert_eq!(
            sdk.collect(),
            points(&[
                ("jobs.overflow{}", 0.0),
                ("jobs{}", 7.0),
                ("open.overflow{}", 0.0),
                ("open{cloud.region=eu,tenant=acme}", -2.0),
                ("requests.overflow{}", 2.0),
                ("requests{cloud.region=bc\n\",tenant=a}", 4.0),
                ("requests{cloud.region=c,tenant=ab}", 3.0),
                ("requests{cloud.region=eu,tenant=acme}", 2.0),
                ("requests{overflow=true}", 11.0),
            ])
        );
    }
}

#[test]
fn nothing_is_read_after_the_last_reference_is_dropped() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let users = Arc::new(Family::<User, Counter>::new());
        let greatest = Arc::new(Maximum::new());
        let sdk = Sdk::new(temporality, None);
        let mut observer = sdk.observer();
        observer.observe("requests", "Requests", Arc::downgrade(&users)).unwrap();
        observer.observe("greatest", "Greatest", Arc::downgrade(&greatest)).unwrap();
        users.with(User { user: 1 }).increment();
        greatest.record(7);
        let before = sdk.collect();
        assert_eq!(before.len(), 3);
        assert_eq!(Arc::strong_count(&users), 1);
        drop((users, greatest));
        let after = sdk.collect();
        let expected = points(&[("requests.overflow{}", 0.0), ("requests{user=1}", 1.0)]);
        let is_delta = temporality == Temporality::Delta;
        assert_eq!(after, if is_delta { Points::new() } else { expected });
    }
}

#[test]
fn a_panic_while_one_metric_is_read_costs_that_reading_and_no_other() {
    static FAILS: AtomicBool = AtomicBool::new(false);
    let time = || {
        assert!(!FAILS.load(Ordering::Relaxed), "for the test");
        Timestamp::from_millis(1)
    };
    let window =
        SlidingWindow::<Queue>::builder().clock((time, Duration::from_millis(1))).build().unwrap();
    let window = Arc::new(window);
    let hits = Arc::new(Counter::from(5));
    let sdk = Sdk::new(Temporality::Delta, None);
    let mut observer = sdk.observer();
    observer.observe("queue", "", Arc::downgrade(&window)).unwrap();
    observer.observe("hits", "", Arc::downgrade(&hits)).unwrap();
    window.add(Queue::Pushed, 4);
    let before = sdk.collect();
    assert_eq!((before["queue{event=Pushed}"], before["hits{}"]), (4.0, 5.0));
    FAILS.store(true, Ordering::Relaxed);
    // All-time totals need no clock.
    let expected =
        [("hits{}", 0.0), ("queue{event=Pushed}", 0.0), ("queue.count{event=Waited}", 0.0)];
    let without_gauges = sdk.collect();
    assert_eq!(without_gauges.len(), 4, "{without_gauges:?}"); // and the sum of what waited
    assert!(expected.iter().all(|(name, value)| without_gauges.get(*name) == Some(value)));
    FAILS.store(false, Ordering::Relaxed);
    window.add(Queue::Pushed, 2);
    let after = sdk.collect();
    assert_eq!((after["queue{event=Pushed}"], after["hits{}"]), (2.0, 0.0));
    assert!(after.contains_key("queue.per_second{event=Pushed}"));
}
