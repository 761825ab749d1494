//! A registry of `prometheus-client`, which shows what an exposition shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::{encoding::text::encode, registry::Registry};
use windrow::clock::Manual;
use windrow::export::{Catalog, from_fn};
use windrow::histogram::Scale;
use windrow::{Counter, Family, Gauge, Histogram, Maximum, SlidingWindow, events, labels};
use windrow_prometheus::registry::{Shared, register};
use windrow_prometheus::{Buckets, Exposition, Format, buckets};

use crate::spec::text::{Rules, parse};

labels! { struct Route { route: str } }

events! { enum Upload { Started: Count, Bytes: Histogram(Scale::fixed::<2, 1, { 1 << 20 }>()) } }

/// A sample: its name, its labels and its value.
type Shown = (String, BTreeMap<String, String>, String);

/// Returns the samples of a text, with bounds as numbers, and the types of its metrics.
fn read(text: &str) -> (Vec<Shown>, BTreeMap<String, String>) {
    let found = parse(text, Rules::OpenMetrics).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let samples = found.iter().flat_map(|family| &family.samples);
    let mut samples: Vec<_> = samples
        .filter(|sample| !sample.name.ends_with("_created"))
        .map(|sample| {
            let mut labels = sample.labels.clone();
            if let Some(bound) = labels.get_mut("le").filter(|bound| *bound != "+Inf") {
                *bound = bound.parse::<f64>().unwrap().to_string();
            }
            (sample.name.clone(), labels, sample.value.to_string())
        })
        .collect();
    samples.sort();
    let types = found.into_iter().filter(|family| !family.samples.is_empty());
    (samples, types.map(|family| (family.name, family.kind)).collect())
}

fn shown(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    text
}

#[test]
fn a_registry_and_an_exposition_show_the_same() {
    let clock = Manual::default();
    let (hits, open, most) = (Arc::new(Counter::new()), Arc::new(Gauge::new()), Maximum::new());
    let routes = Arc::new(Family::<Route, Counter>::new().with_max_series(1));
    let rt = Arc::new(Family::<Route, Histogram>::new());
    let window = SlidingWindow::<Upload>::builder().clock(clock.clone()).build().unwrap();
    window.add(Upload::Started, 3);
    window.record(Upload::Bytes, 1_000);
    clock.advance(Duration::from_millis(500));
    hits.add(5);
    open.add(-7);
    most.record(9);
    for (route, count) in [("/\"\\\n", 1), ("b", 2), ("c", 3)] {
        routes.with(Route { route }).add(count);
        rt.with(Route { route }).record(1 << (20 + count));
    }
    let mut catalog = Catalog::new();
    catalog.add("hits", "Hits", hits).unwrap();
    catalog.add("open", "", open).unwrap();
    catalog.add("most", "Most so far", Arc::new(most)).unwrap();
    catalog.add("load", "", from_fn(|| 0.25)).unwrap();
    catalog.add("routes", "Routes", routes).unwrap();
    catalog.add("upload", "Uploads", Arc::new(window)).unwrap();

    let mut registry = Registry::default();
    let mut metrics = Exposition::new();
    for listed in &catalog {
        register(&mut registry, &listed.name, &listed.help, Arc::clone(&listed.source)).unwrap();
    }
    metrics.register_all(&catalog).unwrap();
    let thousands = || Buckets::at(&[1 << 22, 1 << 24]).per(1_000);
    let times = || buckets(Arc::clone(&rt), thousands());
    let busy = Arc::new(Counter::new());
    busy.add(1_500);
    register(&mut registry, "busy", "", buckets(Arc::clone(&busy), thousands())).unwrap();
    metrics.register("busy", "", buckets(busy, thousands())).unwrap();
    register(&mut registry, "rt", "Times", times()).unwrap();
    metrics.register("rt", "Times", times()).unwrap();
    let of_registry = read(&shown(&registry));
    let of_metrics = String::from_utf8(metrics.encode(Format::OPENMETRICS)).unwrap();
    assert_eq!(of_registry, read(&of_metrics));
}

#[test]
fn a_histogram_stands_where_one_of_the_registrys_own_does() {
    let histogram = Shared::<Histogram>::default();
    let mut registry = Registry::default();
    registry.register("rt", "RT", histogram.clone());
    histogram.record(700);
    let text = shown(&registry);
    assert!(text.contains("# TYPE rt histogram\nrt_sum 700.0\nrt_count 1\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("rt_bucket{")).count(), 28 + 1);
}

#[test]
fn prefixes_and_labels_of_the_registry_stand_before_ours() {
    static HITS: Counter = Counter::new();
    let mut registry =
        Registry::with_prefix_and_labels("shop", [("zone".into(), "a\"b".into())].into_iter());
    register(registry.sub_registry_with_prefix("web"), "hits", "Hits", &HITS).unwrap();
    let text = shown(&registry);
    assert!(text.contains("\nshop_web_hits_total{zone=\"a\\\"b\"} 0\n"), "{text}");
}
