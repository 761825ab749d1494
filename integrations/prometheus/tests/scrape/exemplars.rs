//! Exemplars, in the formats that have them.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windrow::clock::Manual;
use windrow::exemplar::TraceContext;
use windrow::{Counter, Gauge, Histogram, Maximum, SlidingWindow, events};
use windrow_prometheus::{Buckets, Exposition, Format, buckets};

use crate::spec::text::{Rules, parse};
use crate::spec::{Exemplar, Family, protobuf};

events! { enum Http { Pass: Count, Size: Value, Rt: Histogram } }

fn ids(value: u64) -> TraceContext {
    TraceContext { trace_id: u128::from(value) << 64 | 0xabc, span_id: value }
}

/// Returns a counter, a histogram in nanoseconds, and one in seconds with a bound at 2^28 ns.
pub(crate) fn metrics() -> Exposition {
    let (errors, rt) = (Arc::new(Counter::new()), Arc::new(Histogram::new()));
    let seconds = Arc::new(Histogram::new());
    errors.add_with_exemplar(3, ids(3));
    rt.record(1 << 30);
    for value in [250_000_000, 7, 1_000, 1_024, 1_025, 1 << 40] {
        rt.record_with_exemplar(value, ids(value));
        seconds.record_with_exemplar(value, ids(value));
    }
    let mut metrics = Exposition::new();
    metrics.register("errors", "", errors).unwrap();
    metrics.register("rt", "", rt).unwrap();
    let at = Buckets::at(&[1 << 28]).per(1_000_000_000);
    metrics.register_in("seconds", "rt", "", buckets(seconds, at)).unwrap();
    metrics
}

/// Checks ids and time of an exemplar of a value.
fn check(exemplar: &Exemplar, value: u64) {
    let TraceContext { trace_id, span_id } = ids(value);
    let labels = [("trace_id", format!("{trace_id:032x}")), ("span_id", format!("{span_id:016x}"))];
    assert_eq!(exemplar.labels, labels.map(|(name, id)| (name.to_owned(), id)).into());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((now - 600.0..=now + 1e-3).contains(&exemplar.time), "{exemplar:?}");
}

/// Checks the exemplars of all metrics. `total` is the name of the counter's sample.
fn check_all(families: &[Family], total: &str) {
    let [errors, rt, seconds] = families else { panic!("{families:?}") };
    let all: Vec<_> = errors.exemplars().collect();
    let [(sample, exemplar)] = all[..] else { panic!("{all:?}") };
    assert_eq!((sample.name.as_str(), sample.value, exemplar.value), (total, 3.0, 3.0));
    check(exemplar, 3);
    let found = |family: &Family| {
        let all = family.exemplars();
        let of = |(sample, exemplar): (&_, &Exemplar)| {
            let sample: &crate::spec::Sample = sample;
            (sample.labels["le"].clone(), exemplar.clone())
        };
        all.map(of).collect::<Vec<_>>()
    };
    // 1000 is in the octave of 1024, which came later.
    let expected = [7, 1_024, 1_025, 250_000_000, 1 << 40];
    let rts = found(rt);
    assert_eq!(rts.len(), expected.len());
    for ((_, exemplar), value) in rts.iter().zip(expected) {
        assert_eq!(exemplar.value, value as f64);
        check(exemplar, value);
    }
    // Of the values of one bucket the last.
    let seconds = found(seconds);
    assert_eq!(seconds.len(), 2);
    for ((_, exemplar), value) in seconds.iter().zip([1_025, 1 << 40]) {
        assert_eq!(exemplar.value, value as f64 / 1e9);
        check(exemplar, value);
    }
}

#[test]
fn openmetrics_has_them_behind_totals_and_buckets() {
    let text = String::from_utf8(metrics().encode(Format::OPENMETRICS)).unwrap();
    let families = parse(&text, Rules::OpenMetrics).unwrap_or_else(|why| panic!("{why}\n{text}"));
    check_all(&families, "errors_total");
    let id = "trace_id=\"00000000000000030000000000000abc\",span_id=\"0000000000000003\"";
    assert!(text.contains(&format!("\nerrors_total 3 # {{{id}}} 3.0 1")), "{text}");
}

#[test]
fn the_other_texts_have_none() {
    for format in [Format::TEXT, Format::TEXT_1_0_0] {
        let text = String::from_utf8(metrics().encode(format)).unwrap();
        assert!(!text.contains("trace_id") && !text.contains(" # "), "{text}");
    }
}

/// An exemplar of a gauge or a summary fails a whole scrape of Prometheus 2.42.
#[test]
fn counters_and_buckets_have_them_and_no_other_sample() {
    let clock = Manual::default();
    let window = Arc::new(SlidingWindow::<Http>::builder().clock(clock.clone()).build().unwrap());
    let (errors, rt) = (Arc::new(Counter::new()), Arc::new(Histogram::new()));
    for value in [1_000, 1_000_000] {
        window.record_with_exemplar(Http::Rt, value, ids(value));
        rt.record_with_exemplar(value, ids(value));
        errors.add_with_exemplar(1, ids(value));
    }
    window.add(Http::Pass, 1);
    window.record(Http::Size, 7);
    clock.advance(Duration::from_millis(500));
    let (open, most) = (Arc::new(Gauge::new()), Arc::new(Maximum::new()));
    most.record(3);
    let mut metrics = Exposition::new();
    metrics.register("http", "", window).unwrap();
    metrics.register("errors", "", errors).unwrap();
    metrics.register("rt", "", rt).unwrap();
    metrics.register("open", "", open).unwrap();
    metrics.register("most", "", most).unwrap();
    metrics.info("build", "", &[("version", "1")]).unwrap();
    let text = String::from_utf8(metrics.encode(Format::OPENMETRICS)).unwrap();
    let families = parse(&text, Rules::OpenMetrics).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let binary = protobuf::parse(&metrics.encode(Format::PROTOBUF));
    for families in [families, binary.into_iter().map(|found| found.family).collect()] {
        let gauges = families.iter().filter(|family| family.kind == "gauge").count();
        assert!(gauges >= 6, "{gauges} of {}", families.len());
        let mut found = 0;
        for family in &families {
            for (sample, exemplar) in family.exemplars() {
                let allowed = match family.kind.as_str() {
                    "counter" => sample.name.ends_with("_total"),
                    "histogram" => sample.name.ends_with("_bucket"),
                    _ => false,
                };
                assert!(allowed, "{} {sample:?} {exemplar:?}", family.kind);
                found += 1;
            }
        }
        assert_eq!(found, 5); // of the window, the counter and the histogram
    }
}

#[test]
fn protobuf_has_them_and_native_histograms_have_all() {
    let found = protobuf::parse(&metrics().encode(Format::PROTOBUF));
    let families: Vec<Family> = found.iter().map(|found| found.family.clone()).collect();
    check_all(&families, "errors_total");
    let natives = &found[1].natives.values().next().unwrap().exemplars;
    let values: Vec<f64> = natives.iter().map(|exemplar| exemplar.value).collect();
    assert_eq!(values, [250e6, 7.0, 1_024.0, 1_025.0, (1_u64 << 40) as f64]);
    assert!(natives.is_sorted_by(|one, next| one.time <= next.time));
    assert!(found[2].natives.is_empty()); // in seconds
}

#[test]
fn ids_of_zero_are_left_out() {
    let errors = Arc::new(Counter::new());
    let mut metrics = Exposition::new();
    metrics.register("errors", "", Arc::clone(&errors)).unwrap();
    for (trace_id, span_id, shown) in [
        (0, 0x1f, "{span_id=\"000000000000001f\"}"),
        (0xe << 124, 0, "{trace_id=\"e0000000000000000000000000000000\"}"),
        (0, 0, "{}"),
    ] {
        errors.add_with_exemplar(1, TraceContext { trace_id, span_id });
        let text = String::from_utf8(metrics.encode(Format::OPENMETRICS)).unwrap();
        assert!(text.contains(&format!(" # {shown} 1.0 1")), "{text}");
        parse(&text, Rules::OpenMetrics).unwrap();
    }
}
