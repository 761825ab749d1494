//! The events of a window: a sum over the label `event` counts nothing twice.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]
#![allow(clippy::cast_sign_loss, reason = "ends of cells are positive")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Family, SlidingWindow, events, labels};
use windrow_prometheus::{Buckets, Exposition, Format, buckets};

use crate::formats::{read, samples};
use crate::spec::protobuf;
use crate::spec::text::Rules;

labels! { struct Route { route: str } }

events! {
    enum Http { Request: Count, Size: Value, Rt: Histogram, Wait: Histogram }
    enum Timed {
        Request: Count,
        Rt: Histogram in "ns",
        Wait: Value in "ms",
        Sent: Value in "By",
        Open: Maximum in "{request}",
        Score: Maximum,
    }
}

/// Returns the sums by `route` of the samples with this name, in each format.
fn sums_by_route(metrics: &Exposition, name: &str) -> [BTreeMap<String, f64>; 3] {
    let proto = protobuf::parse(&metrics.encode(Format::PROTOBUF));
    let proto: Vec<_> = proto.iter().map(|found| found.family.clone()).collect();
    let text = read(metrics, Format::TEXT, Rules::Old);
    let open = read(metrics, Format::OPENMETRICS, Rules::OpenMetrics);
    [text, open, proto].map(|found| {
        let mut sums = BTreeMap::new();
        for ((_, labels), value) in samples(&found).iter().filter(|((of, _), _)| of == name) {
            *sums.entry(labels["route"].clone()).or_default() += value;
        }
        sums
    })
}

#[test]
fn a_sum_by_route_over_all_events_is_the_number_of_requests() {
    let clock = Manual::default();
    let routes = Arc::new(Family::<Route, _, _>::with_constructor({
        let clock = clock.clone();
        move || SlidingWindow::<Http>::builder().clock(clock.clone()).build().unwrap()
    }));
    let mut metrics = Exposition::new();
    metrics.register("http", "Requests", Arc::clone(&routes)).unwrap();
    for (route, requests) in [("/cart", 3), ("/order", 4)] {
        for _ in 0..requests {
            let window = routes.with(Route { route });
            window.add(Http::Request, 1);
            window.record(Http::Size, 700);
            window.record(Http::Rt, 1_000);
            window.record(Http::Wait, 10);
        }
    }
    clock.advance(Duration::from_millis(500)); // all is in closed buckets
    let expected = |cart, order| {
        let by_route = [("/cart".to_owned(), cart), ("/order".to_owned(), order)];
        [(); 3].map(|()| BTreeMap::from(by_route.clone()))
    };
    assert_eq!(sums_by_route(&metrics, "http_total"), expected(3.0, 4.0));
    assert_eq!(sums_by_route(&metrics, "http_per_second"), expected(6.0, 8.0));
    // The values of an event are where its sum is.
    assert_eq!(sums_by_route(&metrics, "http_count_total"), expected(3.0, 4.0));
    assert_eq!(sums_by_route(&metrics, "http_sum_total"), expected(2_100.0, 2_800.0));
    assert_eq!(sums_by_route(&metrics, "http_values_count"), expected(6.0, 8.0));
    assert_eq!(sums_by_route(&metrics, "http_values_sum"), expected(3_030.0, 4_040.0));
}

/// Returns a window with a value of each event in a closed bucket.
fn timed() -> Arc<SlidingWindow<Timed, Manual>> {
    let clock = Manual::default();
    let window = SlidingWindow::<Timed>::builder().clock(clock.clone()).build().unwrap();
    window.add(Timed::Request, 1);
    window.record(Timed::Rt, Duration::from_millis(500));
    window.record(Timed::Wait, 250);
    window.record(Timed::Sent, 700);
    window.record(Timed::Open, 3);
    window.record(Timed::Score, 40);
    clock.advance(Duration::from_millis(500));
    Arc::new(window)
}

#[test]
fn values_are_in_the_unit_that_their_event_declares_and_times_in_seconds() {
    let mut metrics = Exposition::new();
    metrics.register("http", "Requests", timed()).unwrap();
    let open = read(&metrics, Format::OPENMETRICS, Rules::OpenMetrics);
    let unit = |name: &str| open.iter().find(|one| one.name == name).unwrap().unit.as_str();
    for (name, expected) in [
        ("http", ""),
        ("http_values_per_second", ""),
        ("http_count", ""),
        ("http_sum_seconds", "seconds"),
        ("http_sum_bytes", "bytes"),
        ("http_values_seconds", "seconds"),
        ("http_percentile_seconds", "seconds"),
        ("http_max_seconds", "seconds"),
        ("http_max_bytes", "bytes"),
        ("http_max", ""),
    ] {
        assert_eq!(unit(name), expected, "{name}");
    }
    let proto = protobuf::parse(&metrics.encode(Format::PROTOBUF));
    let proto: Vec<_> = proto.iter().map(|found| found.family.clone()).collect();
    for found in [read(&metrics, Format::TEXT, Rules::Old), open, proto] {
        let found = samples(&found);
        for (name, event, value) in [
            ("http_values_seconds_sum", "Rt", 0.5),
            ("http_max_seconds", "Rt", 0.5),
            ("http_max_seconds", "Wait", 0.25),
            ("http_mean_seconds", "Wait", 0.25),
            ("http_sum_seconds_total", "Wait", 0.25),
            ("http_sum_bytes_total", "Sent", 700.0),
            ("http_max_bytes", "Sent", 700.0),
            ("http_max", "Open", 3.0),
            ("http_max", "Score", 40.0),
        ] {
            let labels = BTreeMap::from([("event".to_owned(), event.to_owned())]);
            assert_eq!(found[&(name.to_owned(), labels)], value, "{name} of {event}");
        }
    }
}

#[test]
fn what_a_program_says_of_a_metric_is_said_of_values_without_a_declared_unit() {
    let points = buckets(timed(), Buckets::at(&[1 << 28, 1 << 29]).per(10));
    let mut metrics = Exposition::new();
    metrics.register_in("points", "http", "Requests", points).unwrap();
    let text = metrics.to_string();
    let lines = [
        "http_max_points{event=\"Score\"} 4.0",
        "http_max{event=\"Open\"} 3",
        "http_max_seconds{event=\"Rt\"} 0.5",
        "http_values_seconds_bucket{event=\"Rt\",le=\"0.268435456\"} 0",
        "http_values_seconds_bucket{event=\"Rt\",le=\"0.536870912\"} 1",
    ];
    assert!(lines.iter().all(|line| text.lines().any(|it| it == *line)), "{text}");
}

/// By protobuf, too: a server with native histograms has no other.
#[test]
fn native_histograms_in_seconds_are_off_by_at_most_half_a_cell() {
    let window = timed();
    for exponent in 9..36 {
        (0..100).for_each(|step| window.record(Timed::Rt, (1 << exponent) * (100 + step) / 100));
    }
    let mut metrics = Exposition::new();
    metrics.register("http", "Requests", Arc::clone(&window)).unwrap();
    let found = protobuf::parse(&metrics.encode(Format::PROTOBUF));
    let values = found.iter().find(|one| one.family.name == "http_values_seconds").unwrap();
    let native = values.natives.values().next().unwrap();
    let ever = window.lifetime_distribution(Timed::Rt);
    let cells = f64::from(1 << native.schema);
    let mut cumulative = 0_u64;
    for (number, count) in &native.buckets {
        cumulative += count.unsigned_abs();
        let shown = (*number as f64 / cells).exp2();
        // The end of the cell whose count this is.
        let end = ever.buckets((9 * 8..=36 * 8).map(|at| (f64::from(at) / 8.0).exp2() as u64));
        let near = end.map(|(end, up_to)| ((end as f64 / 1e9 / shown).ln().abs(), up_to));
        let nearest = near.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
        assert!(nearest.0 <= 0.017, "{shown}: {nearest:?}");
        assert_eq!(nearest.1, cumulative, "{shown}");
    }
}

/// Values that are as large as can be, in a unit of the program's own that is also a declared one.
#[test]
fn the_greatest_values_break_no_scrape_and_one_name_has_all_events_of_its_unit() {
    let clock = Manual::default();
    let window = SlidingWindow::<Timed>::builder().clock(clock.clone()).build().unwrap();
    for event in [Timed::Wait, Timed::Sent] {
        window.record(event, u64::MAX);
        window.record(event, 0);
    }
    window.record(Timed::Rt, Duration::MAX);
    window.record(Timed::Score, u64::MAX);
    clock.advance(Duration::from_millis(500));
    let mut metrics = Exposition::new();
    metrics.register_in("seconds", "http", "Requests", Arc::new(window)).unwrap();
    let open = read(&metrics, Format::OPENMETRICS, Rules::OpenMetrics);
    assert_eq!(open.iter().filter(|one| one.name == "http_max_seconds").count(), 1);
    let found = samples(&open);
    let of = |name: &str, event: &str| {
        found[&(name.to_owned(), BTreeMap::from([("event".to_owned(), event.to_owned())]))]
    };
    let greatest = u64::MAX as f64;
    assert_eq!(of("http_max_seconds", "Score"), greatest);
    assert_eq!(of("http_max_seconds", "Wait"), greatest / 1e3);
    assert_eq!(of("http_max_seconds", "Rt"), greatest / 1e9);
    assert_eq!(of("http_max_bytes", "Sent"), greatest);
    assert_eq!(of("http_sum_seconds_total", "Wait"), 0.0, "no sum of what is never");
    assert_eq!(of("http_values_seconds_count", "Rt"), 1.0);
    assert!(!protobuf::parse(&metrics.encode(Format::PROTOBUF)).is_empty());
    read(&metrics, Format::TEXT, Rules::Old);
}

#[test]
fn a_registry_of_prometheus_client_has_the_same_names_and_numbers() {
    let mut registry = prometheus_client::registry::Registry::default();
    windrow_prometheus::registry::register(&mut registry, "http", "Requests", timed()).unwrap();
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    for line in [
        "http_total{event=\"Request\"} 1",
        "http_max_seconds{event=\"Rt\"} 0.5",
        "http_max{event=\"Open\"} 3",
        "http_values_seconds_sum{event=\"Rt\"} 0.5",
    ] {
        assert!(text.lines().any(|it| it == line), "no {line} in {text}");
    }
    assert!(!text.contains("http_total{event=\"Rt\"}"), "{text}");
}
