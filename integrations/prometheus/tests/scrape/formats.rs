//! All formats, read back by parsers of their own: each has the same series and the same values.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windrow::clock::Manual;
use windrow::export::{from_fn, total_fn};
use windrow::{
    Counter, Family, Gauge, Histogram, Maximum, SlidingWindow, events, histogram::Scale, labels,
};
use windrow_prometheus::{Buckets, Escaping, Exposition, Format, buckets};

use crate::spec::text::{Rules, parse};
use crate::spec::{Family as Found, Sample, protobuf};

labels! {
    struct Route { route: str }
    struct Overflow { overflow: str }
}

events! { enum Upload { Started: Count, Bytes: Histogram(Scale::fixed::<2, 1, { 1 << 20 }>()) } }

/// Values of a label that are hard to read.
pub(crate) fn hostile() -> Vec<String> {
    let mut values: Vec<String> = [
        "",
        " ",
        "\"",
        "\\",
        "\n",
        "\\n",
        "\\\"",
        "\"} 1\n# EOF\nevil_total 1",
        "# HELP a b",
        "{a=\"b\"}, ,= \t\r",
        "é\u{1F600}\u{2028}\u{7f}\u{0}",
    ]
    .map(str::to_owned)
    .into();
    values.push("x\"\\\n".repeat(250)); // as long as a family keeps
    values
}

fn since() -> SystemTime {
    UNIX_EPOCH + Duration::new(1_700_000_000, 250_000_000)
}

/// Returns metrics of all types, and the samples of which some must be found: by their names in the
/// text 1.0.0.
pub(crate) fn metrics() -> (Exposition, Vec<Sample>) {
    let mut metrics =
        Exposition::new().since(since()).with_prefix("my.shop").with_label("zone", "e\"u");
    let mut expected = Vec::new();
    let mut expect = |name: &str, labels: &[(&str, &str)], value: f64| {
        let labels = [&[("zone", "e\"u")], labels].concat();
        expected.push(Sample::of(name, &labels, value));
    };
    let requests = Arc::new(Family::<_, Counter>::with_names(["http.route", "b"]).unwrap());
    for (value, times) in hostile().iter().zip(1..) {
        requests.with(&[value, "y"]).add(times);
        expect("my.shop_requests_total", &[("http.route", value), ("b", "y")], times as f64);
    }
    metrics.register("requests", "By \"route\" \\ and\nmore", requests).unwrap();
    let open = Arc::new(Gauge::new());
    open.add(-5);
    metrics.register("open", "", open).unwrap();
    expect("my.shop_open", &[], -5.0);
    metrics.register("load", "", from_fn(|| 1_234_567.5)).unwrap();
    expect("my.shop_load", &[], 1_234_567.5);
    metrics.register_in("seconds", "cpu", "", total_fn(|| 0.75)).unwrap();
    expect("my.shop_cpu_seconds_total", &[], 0.75);
    metrics.register("none", "Nothing", Arc::new(Maximum::new())).unwrap();
    let rts = Arc::new(Family::<Route, Histogram>::new().with_max_series(1));
    rts.with(Route { route: "a" }).record(1);
    rts.with(Route { route: "a" }).record(250_000_000);
    rts.with(Route { route: "b" }).record(u64::MAX / 2);
    let seconds = buckets(rts, Buckets::at(&[1 << 28, 1 << 30]).per(1_000_000_000));
    metrics.register_in("seconds", "rt", "Times", seconds).unwrap();
    expect("my.shop_rt_seconds_bucket", &[("route", "a"), ("le", "0.268435456")], 2.0);
    expect("my.shop_rt_seconds_bucket", &[("route", "a"), ("le", "+Inf")], 2.0);
    expect("my.shop_rt_seconds_sum", &[("route", "a")], 0.250_000_001);
    expect("my.shop_rt_seconds_bucket", &[("overflow", "true"), ("le", "1.073741824")], 0.0);
    expect("my.shop_rt_seconds_count", &[("overflow", "true")], 1.0);
    expect("my.shop_rt_overflow_total", &[], 1.0);
    let clock = Manual::default();
    let window = SlidingWindow::<Upload>::builder().clock(clock.clone()).build().unwrap();
    window.add(Upload::Started, 2);
    (1..=100).for_each(|_| window.record(Upload::Bytes, 1 << 19));
    clock.advance(Duration::from_millis(500));
    metrics.register_in("bytes", "up", "Uploads", Arc::new(window)).unwrap();
    expect("my.shop_up_total", &[("event", "Started")], 2.0);
    expect("my.shop_up_per_second", &[("event", "Started")], 4.0);
    expect("my.shop_up_values_per_second", &[("event", "Bytes")], 200.0);
    expect("my.shop_up_values_bytes_sum", &[("event", "Bytes")], 100.0 * 524_288.0);
    expect("my.shop_up_mean_bytes", &[("event", "Bytes")], 524_288.0);
    expect("my.shop_up_percentile_bytes", &[("event", "Bytes"), ("q", "0.99")], 524_288.0);
    expect("my.shop_up_values_bytes_bucket", &[("event", "Bytes"), ("le", "524288.0")], 100.0);
    expect("my.shop_up_values_bytes_bucket", &[("event", "Bytes"), ("le", "1.048576e+06")], 100.0);
    metrics.info("build", "What runs", &[("version", "1.0"), ("v.é", "\n")]).unwrap();
    expect("my.shop_build_info", &[("version", "1.0"), ("v.é", "\n")], 1.0);
    (metrics, expected)
}

/// Returns the metrics of a text.
pub(crate) fn read(metrics: &Exposition, format: Format, rules: Rules) -> Vec<Found> {
    let text = String::from_utf8(metrics.encode(format)).unwrap();
    parse(&text, rules).unwrap_or_else(|why| panic!("{why}\n{text:.5000}"))
}

/// Returns the samples of metrics, with bounds as numbers, by name and labels.
pub(crate) fn samples(families: &[Found]) -> BTreeMap<(String, BTreeMap<String, String>), f64> {
    let of = |sample: &Sample| {
        let mut labels = sample.labels.clone();
        if let Some(bound) = labels.get_mut("le") {
            let number = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
            *bound = number.to_string();
        }
        ((sample.name.clone(), labels), sample.value)
    };
    families.iter().flat_map(|family| &family.samples).map(of).collect()
}

fn has_all(found: &[Found], expected: &[Sample]) {
    let found: Vec<_> = found.iter().flat_map(|family| &family.samples).collect();
    for sample in expected {
        let same = |one: &&&Sample| one.name == sample.name && one.labels == sample.labels;
        let value = found
            .iter()
            .find(same)
            .unwrap_or_else(|| panic!("no {:.300}", format!("{sample:?}")))
            .value;
        assert_eq!(value, sample.value, "{:.300}", format!("{sample:?}"));
    }
}

const UTF_8: Escaping = Escaping::AllowUtf8;

#[test]
fn the_text_1_0_0_has_what_was_counted() {
    let (metrics, expected) = metrics();
    let found = read(&metrics, Format::TEXT_1_0_0.with_escaping(UTF_8), Rules::New);
    has_all(&found, &expected);
    let of = |name: &str| {
        let found = found.iter().find(|family| family.name == name);
        let Found { kind, help, unit, .. } = found.unwrap_or_else(|| panic!("no {name}"));
        (kind.as_str(), help.as_str(), unit.as_str())
    };
    assert_eq!(of("my.shop_requests_total"), ("counter", "By \"route\" \\ and\nmore", ""));
    assert_eq!(of("my.shop_build_info"), ("gauge", "What runs", ""));
    assert_eq!(of("my.shop_rt_seconds"), ("histogram", "Times", ""));
    assert!(!found.iter().any(|family| family.name.contains("none")), "it has no sample");
}

#[test]
fn openmetrics_has_the_same_samples_and_units_and_times_of_creation() {
    let (metrics, expected) = metrics();
    let found = read(&metrics, Format::OPENMETRICS.with_escaping(UTF_8), Rules::OpenMetrics);
    has_all(&found, &expected);
    let of = |name: &str| {
        let found = found.iter().find(|family| family.name == name);
        let Found { kind, help, unit, .. } = found.unwrap_or_else(|| panic!("no {name}"));
        (kind.as_str(), help.as_str(), unit.as_str())
    };
    assert_eq!(of("my.shop_requests"), ("counter", "By \"route\" \\ and\nmore", ""));
    assert_eq!(of("my.shop_build"), ("info", "What runs", ""));
    assert_eq!(of("my.shop_rt_seconds"), ("histogram", "Times", "seconds"));
    assert_eq!(of("my.shop_up_values_bytes").2, "bytes");
    let text = read(&metrics, Format::TEXT_1_0_0.with_escaping(UTF_8), Rules::New);
    let mut open = samples(&found);
    let mut created = open.clone();
    open.retain(|(name, _), _| !name.ends_with("_created"));
    created.retain(|(name, _), _| name.ends_with("_created"));
    assert_eq!(open, samples(&text));
    // Each counter and each histogram has one.
    let is_total = |(name, _): &&(String, _)| name.ends_with("_total") || name.ends_with("_count");
    assert_eq!(created.len(), open.keys().filter(is_total).count());
    for ((name, _), time) in created {
        // Those that do not know their own have the time since which the sources are shown.
        if name.ends_with("_overflow_created") || name == "my.shop_cpu_seconds_created" {
            assert_eq!(time, 1_700_000_000.25);
        } else {
            assert!(time > 1_700_000_001.0, "{name}: {time}");
        }
    }
}

#[test]
fn the_old_text_has_the_same_samples_under_escaped_names() {
    let (metrics, _) = metrics();
    let new = samples(&read(&metrics, Format::TEXT_1_0_0.with_escaping(UTF_8), Rules::New));
    for escaping in [Escaping::Underscores, Escaping::Dots, Escaping::Values] {
        let old = samples(&read(&metrics, Format::TEXT.with_escaping(escaping), Rules::Old));
        assert_eq!(old.len(), new.len());
        let open = read(&metrics, Format::OPENMETRICS.with_escaping(escaping), Rules::OpenMetrics);
        let mut open = samples(&open);
        open.retain(|(name, _), _| !name.ends_with("_created"));
        assert_eq!(open, old);
        let expected = match escaping {
            Escaping::Underscores => ("my_shop_requests_total", "http_route", "v__"),
            Escaping::Dots => ("my_dot_shop__requests__total", "http_dot_route", "v_dot___"),
            _ => ("U__my_2e_shop__requests__total", "U__http_2e_route", "U__v_2e__e9_"),
        };
        let requests = old.keys().filter(|(name, _)| name == expected.0);
        let labels: Vec<_> = requests.map(|(_, labels)| labels.contains_key(expected.1)).collect();
        assert_eq!(labels, vec![true; hostile().len()], "{old:#?}");
        assert!(old.keys().any(|(_, labels)| labels.contains_key(expected.2)));
    }
    // Without a word of the scraper, it is underscores; and so where it asks for what is not there.
    let plain = metrics.encode(Format::TEXT);
    assert!(plain == metrics.encode(Format::TEXT.with_escaping(Escaping::Underscores)));
    assert!(plain == metrics.encode(Format::TEXT.with_escaping(UTF_8)));
    assert!(plain == metrics.encode(Format::TEXT_1_0_0));
    assert!(plain == metrics.to_string().into_bytes());
}

#[test]
fn protobuf_has_the_same_samples_and_times_of_creation() {
    let (metrics, expected) = metrics();
    let found = protobuf::parse(&metrics.encode(Format::PROTOBUF.with_escaping(UTF_8)));
    let families: Vec<Found> = found.iter().map(|found| found.family.clone()).collect();
    let expected: Vec<_> =
        expected.iter().filter(|one| !one.labels.contains_key("le")).cloned().collect();
    has_all(&families, &expected);
    let text = read(&metrics, Format::TEXT_1_0_0.with_escaping(UTF_8), Rules::New);
    assert_eq!(samples(&families), samples(&text));
    let shape = |families: &[Found]| -> Vec<[String; 3]> {
        let of = |one: &Found| [one.name.clone(), one.kind.clone(), one.help.clone()];
        families.iter().map(of).collect()
    };
    assert_eq!(shape(&families), shape(&text));
    let open = read(&metrics, Format::OPENMETRICS.with_escaping(UTF_8), Rules::OpenMetrics);
    let units = |families: &[Found]| -> Vec<String> {
        families.iter().map(|one| one.unit.clone()).collect()
    };
    assert_eq!(units(&families), units(&open));
    let created = samples(&open);
    for one in &found {
        let name = one.family.name.trim_end_matches("_total").to_owned() + "_created";
        for (labels, (seconds, nanos)) in &one.created {
            let time = created[&(name.clone(), labels.clone())];
            assert_eq!(*seconds as f64 + *nanos as f64 / 1e9, time);
        }
    }
    assert_eq!(
        found.iter().map(|one| one.created.len()).sum::<usize>(),
        created.keys().filter(|(name, _)| name.ends_with("_created")).count()
    );
    // Names are escaped there, too.
    let found = protobuf::parse(&metrics.encode(Format::PROTOBUF));
    assert_eq!(found[0].family.name, "my_shop_requests_total");
    assert!(found[0].family.samples[0].labels.contains_key("http_route"));
}

#[test]
fn all_numbers_in_a_unit_are_divided_and_counts_and_rates_are_not() {
    let clock = Manual::default();
    let window = SlidingWindow::<Upload>::builder().clock(clock.clone()).build().unwrap();
    window.add(Upload::Started, 2);
    (1..=100).for_each(|_| window.record(Upload::Bytes, 1 << 19));
    clock.advance(Duration::from_millis(500));
    let busy = Arc::new(Counter::new());
    busy.add(2_500);
    let thousands = || Buckets::at(&[1 << 20]).per(1_000);
    let mut metrics = Exposition::new();
    let up = buckets(Arc::new(window), thousands());
    metrics.register_in("kilobytes", "up", "", up).unwrap();
    metrics.register_in("seconds", "busy", "", buckets(busy, thousands())).unwrap();
    let open = buckets(Arc::new(Gauge::from(-1_500)), thousands());
    metrics.register("open", "", open).unwrap();
    metrics.register("load", "", buckets(from_fn(|| 250.0), thousands())).unwrap();
    let bytes = |name: &str, value| Sample::of(name, &[("event", "Bytes")], value);
    let mut expected = vec![
        Sample::of("up_total", &[("event", "Started")], 2.0),
        bytes("up_values_per_second", 200.0),
        bytes("up_mean_kilobytes", 524.288),
        bytes("up_min_kilobytes", 524.288),
        bytes("up_max_kilobytes", 524.288),
        bytes("up_values_kilobytes_sum", 52_428.8),
        bytes("up_values_kilobytes_count", 100.0),
        Sample::of("busy_seconds_total", &[], 2.5),
        Sample::of("open", &[], -1.5),
        Sample::of("load", &[], 0.25),
    ];
    for (label, value, count) in [("q", "0.5", 524.288), ("le", "1048.576", 100.0)] {
        let name =
            if label == "q" { "up_percentile_kilobytes" } else { "up_values_kilobytes_bucket" };
        expected.push(Sample::of(name, &[("event", "Bytes"), (label, value)], count));
    }
    has_all(&read(&metrics, Format::OPENMETRICS, Rules::OpenMetrics), &expected);
}

#[test]
fn native_histograms_have_the_cells() {
    let scale = Scale::new(3, 5, 1 << 20).unwrap();
    let sizes = Arc::new(Histogram::with_scale(scale));
    let values = [0, 4, 5, 6, 1_000, 1_001, 1 << 20, (1 << 20) + 1, u64::MAX];
    for value in values {
        sizes.record(value);
    }
    let mut metrics = Exposition::new();
    metrics.register("sizes", "", Arc::clone(&sizes)).unwrap();
    metrics
        .register("kib", "", buckets(Arc::clone(&sizes), Buckets::octaves().per(1 << 10)))
        .unwrap();
    let in_thousands = buckets(Arc::clone(&sizes), Buckets::octaves().per(1_000));
    metrics.register("thousands", "", in_thousands).unwrap();
    metrics.register("empty", "", Arc::new(Histogram::new())).unwrap();
    let found = protobuf::parse(&metrics.encode(Format::PROTOBUF));
    let [sizes, kib, thousands, empty] = &found[..] else { panic!("{found:?}") };
    let none = BTreeMap::new();
    let native = &sizes.natives[&none];
    let nothing_but_zero = 2.0_f64.powi(-128);
    assert_eq!((native.schema, native.zero, native.count), (3, (nothing_but_zero, 0), 9));
    // Bucket `n` holds the values above 2^((n - 1) / 8), up to 2^(n / 8). The buckets beside the
    // range hold the values below and above: 16 ends at 2^2, and 160 at 2^20.
    let number = |value: f64| (value.log2() * 8.0).ceil() as i64;
    let expected =
        [(16, 2), (number(5.0), 1), (number(6.0), 1), (number(1_000.0), 2), (160, 1), (161, 2)];
    assert_eq!(native.buckets, BTreeMap::from(expected));
    let kib = &kib.natives[&none];
    assert_eq!(kib.zero, (nothing_but_zero, 0));
    let moved = expected.map(|(number, count)| (number - 80, count));
    assert_eq!(kib.buckets, BTreeMap::from(moved));
    assert!(thousands.natives.is_empty(), "its cells do not end at powers of two");
    assert_eq!(thousands.family.samples.len(), 19 + 1 + 2); // 2^2 to 2^20, and infinity
    assert_eq!(empty.natives[&none].buckets, BTreeMap::new());
}

#[test]
fn the_parsers_notice_mistakes() {
    let right = "# HELP a b\n# TYPE a counter\na_total{c=\"d\"} 1\n# EOF\n";
    assert!(parse(right, Rules::OpenMetrics).is_ok());
    for (from, to) in [
        ("# EOF\n", ""),
        ("# EOF\n", "# EOF"),
        ("a_total", "b_total"),
        ("a_total", "a"),
        ("\"d\"", "\"\"d\""),
        ("\"d\"", "\"d"),
        ("\"d\"", "\"\\d\""),
        ("c=", "c.d="),
        ("} 1", "}  1"),
        ("} 1", "} -1"),
        ("} 1", "} one"),
        ("} 1\n", "} 1\na_total{c=\"d\"} 2\n"),
        ("c=\"d\"", "c=\"d\",c=\"e\""),
        ("counter", "count"),
        ("# HELP a", "# HELP a.b"),
        ("# TYPE a counter", "# TYPE a counter\n# UNIT a seconds"),
    ] {
        let wrong = right.replacen(from, to, 1);
        assert!(parse(&wrong, Rules::OpenMetrics).is_err(), "{wrong}");
    }
    let histogram =
        "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 2\na_sum 1\na_count 2\n";
    assert!(parse(histogram, Rules::Old).is_ok());
    for (from, to) in
        [("\"1\"} 1", "\"1\"} 3"), ("+Inf", "2"), ("_count 2", "_count 3"), ("_sum", "_mean")]
    {
        assert!(parse(&histogram.replacen(from, to, 1), Rules::Old).is_err(), "{from}");
    }
    let quoted = "# TYPE \"a.b\" gauge\n{\"a.b\",\"c.d\"=\"e\"} 1\n";
    assert!(parse(quoted, Rules::New).is_ok());
    assert!(parse(quoted, Rules::Old).is_err());
}
