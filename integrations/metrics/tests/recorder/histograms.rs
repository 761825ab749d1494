//! The export of histograms: their buckets, their percentiles, and the problems of values out of
//! range.

#![allow(clippy::float_cmp, reason = "exact is what these numbers are")]

use std::time::Duration;

use metrics::{gauge, histogram};
use windrow::histogram::Scale;
use windrow_metrics::{BuildError, Builder, Matcher, Problem, Recorder, Snapshot, Value};

use crate::strict_reader;

/// Returns what a recorder with these settings makes of `work`.
fn snapshot(builder: Builder, work: impl FnOnce()) -> Snapshot {
    let recorder = builder.build().expect("sound settings");
    metrics::with_local_recorder(&recorder, work);
    let snapshot = recorder.handle().snapshot();
    assert_eq!(recorder.handle().render(), snapshot.to_string());
    if let Err(why) = strict_reader::read(&snapshot.to_string()) {
        panic!("{why} in\n{snapshot}");
    }
    snapshot
}

fn text(builder: Builder, work: impl FnOnce()) -> String {
    let snapshot = snapshot(builder, work);
    assert_eq!(snapshot.problems(), []);
    snapshot.to_string()
}

#[test]
fn each_histogram_has_the_buckets_that_were_set_for_it() {
    let builder = Recorder::builder()
        .buckets_for(Matcher::Full("metrics.testing foo".into()), &[25.0, 115.0, 1015.0])
        .buckets_for(Matcher::Prefix("metrics.testing".into()), &[15.0, 105.0, 1005.0])
        .buckets_for(Matcher::Suffix("foo".into()), &[20.0, 110.0, 1010.0])
        .buckets(&[10.0, 100.0, 1000.0]);
    let text = text(builder, || {
        histogram!("metrics.testing_foo").record(25.0);
        histogram!("metrics.testing_bar").record(105.0);
        histogram!("metrics_testin_foo").record(1010.0);
        histogram!("metrics.wee").record(1001.0);
    });
    let read = strict_reader::read(&text).unwrap();
    let buckets = |name: &str, bounds: [&str; 4]| {
        bounds.map(|le| read.get(&format!("{name}_bucket"), &[("le", le)]).expect("this bound"))
    };
    let full = buckets("metrics_testing_foo", ["25", "115", "1015", "+Inf"]);
    let prefix = buckets("metrics_testing_bar", ["15", "105", "1005", "+Inf"]);
    let suffix = buckets("metrics_testin_foo", ["20", "110", "1010", "+Inf"]);
    let default = buckets("metrics_wee", ["10", "100", "1000", "+Inf"]);
    assert_eq!(full, [1.0, 1.0, 1.0, 1.0]);
    assert_eq!(prefix, [0.0, 1.0, 1.0, 1.0]);
    assert_eq!(suffix, [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(default, [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(read.get("metrics_wee_sum", &[]), Some(1001.0));
}

#[test]
fn a_histogram_that_nothing_is_said_about_is_in_seconds_with_a_bucket_for_each_octave() {
    let snapshot = snapshot(Recorder::builder(), || {
        for micros in 1..=1_000_u64 {
            histogram!("rt").record(Duration::from_micros(micros));
        }
    });
    let read = strict_reader::read(&snapshot.to_string()).unwrap();
    let bucket = |le| read.get("rt_bucket", &[("le", le)]);
    assert_eq!(bucket("5.12e-7"), Some(0.0));
    assert_eq!(bucket("1.024e-6"), Some(1.0));
    assert_eq!(bucket("0.000524288"), Some(524.0));
    assert_eq!(bucket("0.001048576"), Some(1_000.0));
    assert_eq!(bucket("68.719476736"), Some(1_000.0));
    let buckets = read.samples.keys().filter(|(name, _)| name == "rt_bucket").count();
    assert_eq!((buckets, read.get("rt_sum", &[])), (29, Some(0.5005)));
    let Some(Value::Histogram(rt)) = snapshot.get("rt", &[]) else { panic!("{snapshot}") };
    let p99 = rt.quantile(0.99).unwrap();
    assert!((p99 - 990e-6).abs() <= 990e-6 * Scale::DEFAULT.error_bound() + 1e-9, "{p99}");
    assert_eq!(rt.cells().map(windrow::histogram::Distribution::max), Some(Some(1_000_000)));
    assert_eq!(rt.quantile(99.0), None);
}

#[test]
fn each_histogram_has_the_cells_or_the_buckets_of_the_narrowest_matcher() {
    let bytes = Scale::new(2, 64, 1 << 12).unwrap();
    let builder = Recorder::builder()
        .buckets(&[1.0])
        .cells_for(Matcher::Suffix("_bytes".into()), bytes, 1)
        .buckets_for(Matcher::Full("sent_bytes".into()), &[1_000.0])
        .cells_for(Matcher::Prefix("x".into()), bytes, 10);
    let snapshot = snapshot(builder, || {
        for name in ["got_bytes", "sent_bytes", "x", "y"] {
            histogram!(name).record(100.0);
        }
    });
    let buckets = |name| {
        let Some(Value::Histogram(values)) = snapshot.get(name, &[]) else { panic!("{name}") };
        (values.buckets().map(|(bound, _)| bound).collect::<Vec<_>>(), values.quantile(0.5))
    };
    let octaves = [32.0, 64.0, 128.0, 256.0, 512.0, 1_024.0, 2_048.0, 4_096.0];
    let with_infinity = |bounds: &[f64]| [bounds, &[f64::INFINITY]].concat();
    assert_eq!(buckets("got_bytes"), (with_infinity(&octaves), Some(100.0)));
    assert_eq!(buckets("sent_bytes"), (with_infinity(&[1_000.0]), None));
    assert_eq!(buckets("x"), (with_infinity(&octaves.map(|end| end / 10.0)), Some(100.0)));
    assert_eq!(buckets("y"), (with_infinity(&[1.0]), None));
    let no_steps = Recorder::builder().cells(Scale::DEFAULT, 0).build();
    assert_eq!(no_steps.err(), Some(BuildError::NoSteps));
}

#[test]
fn values_below_zero_in_cells_are_told() {
    let snapshot = snapshot(Recorder::builder(), || {
        histogram!("h").record(-2.0);
        histogram!("h", "a" => "b").record_many(-0.5, 3);
        histogram!("h").record(f64::NAN);
        histogram!("other").record(0.0);
    });
    let unrecorded = Problem::Unrecorded { name: "h".into(), values: 1 };
    let below_zero = Problem::BelowZero { name: "h".into(), values: 4 };
    assert_eq!(snapshot.problems(), [unrecorded, below_zero]);
    let Some(Value::Histogram(h)) = snapshot.get("h", &[("a", "b")]) else { panic!("{snapshot}") };
    assert_eq!((h.count(), h.sum(), h.quantile(0.5)), (3, -1.5, Some(0.0)));
}

#[test]
fn what_cannot_be_summed_is_told_and_the_rest_stays_exact() {
    let snapshot = snapshot(Recorder::builder().buckets(&[0.0]).global_label("z", "1"), || {
        for value in [f64::NAN, -1.5, f64::INFINITY, 0.1, f64::NEG_INFINITY, f64::MAX] {
            histogram!("h").record(value);
        }
        histogram!("h").record_many(0.25, 1_000_000_000);
        gauge!("g").set(f64::NAN);
        gauge!("i").set(f64::NEG_INFINITY);
    });
    let Some(Value::Histogram(h)) = snapshot.get("h", &[("z", "1")]) else { panic!("{snapshot}") };
    assert_eq!(h.count(), 1_000_000_002);
    assert_eq!(h.sum(), 249_999_998.6);
    assert_eq!(snapshot.problems(), [Problem::Unrecorded { name: "h".into(), values: 4 }]);
    let told = [("histogram", "h"), ("z", "1")];
    assert_eq!(snapshot.get("windrow_metrics_unrecorded_total", &told), Some(&Value::Counter(4)));
    assert!(snapshot.to_string().contains("\ng{z=\"1\"} NaN\n"), "{snapshot}");
    assert!(snapshot.to_string().contains("\ni{z=\"1\"} -Inf\n"), "{snapshot}");
}
