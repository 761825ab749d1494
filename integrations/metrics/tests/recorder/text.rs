//! The export: the text, its names and labels, its order.

#![allow(clippy::float_cmp, reason = "exact is what these numbers are")]

use std::process::{Command, Stdio};

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use proptest::prelude::*;
use windrow_metrics::{Builder, Kind, Problem, Recorder, Snapshot, Value};

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
fn each_kind_is_rendered_as_prometheus_wants_it() {
    let all = || {
        counter!("basic_counter").increment(42);
        gauge!("basic_gauge", "wutang" => "forever").set(-1.25);
        histogram!("basic_histogram").record(12.0);
    };
    let expected = "\
# TYPE basic_counter counter
basic_counter 42

# TYPE basic_gauge gauge
basic_gauge{wutang=\"forever\"} -1.25

# TYPE basic_histogram histogram
basic_histogram_bucket{le=\"10\"} 0
basic_histogram_bucket{le=\"20\"} 1
basic_histogram_bucket{le=\"+Inf\"} 1
basic_histogram_sum 12
basic_histogram_count 1

";
    assert_eq!(text(Recorder::builder().buckets(&[10.0, 20.0]), all), expected);
}

#[test]
fn nothing_counted_is_nothing_rendered() {
    assert_eq!(text(Recorder::builder(), || ()), "");
    assert_eq!(text(Recorder::builder(), || describe_gauge!("x", "Of no metric.")), "");
}

#[test]
fn a_metric_that_was_only_named_is_zero() {
    let text = text(Recorder::builder(), || {
        drop((counter!("c"), gauge!("g"), histogram!("h")));
    });
    let read = strict_reader::read(&text).unwrap();
    assert_eq!(read.get("c", &[]), Some(0.0));
    assert_eq!(read.get("g", &[]), Some(0.0));
    assert_eq!(read.get("h_count", &[]), Some(0.0));
    assert_eq!(read.get("h_bucket", &[("le", "5.12e-7")]), Some(0.0));
}

#[test]
fn the_order_is_by_kind_and_name_and_labels_whatever_came_first() {
    let one = || {
        counter!("b", "x" => "2").increment(1);
        gauge!("a").set(1);
        counter!("b", "x" => "1", "w" => "9").increment(1);
        counter!("a_b").increment(1);
    };
    let other = || {
        counter!("a_b").increment(1);
        counter!("b", "w" => "9", "x" => "1").increment(1);
        gauge!("a").set(1);
        counter!("b", "x" => "2").increment(1);
    };
    let expected = "# TYPE a_b counter\na_b 1\n\n\
                    # TYPE b counter\nb{w=\"9\",x=\"1\"} 1\nb{x=\"2\"} 1\n\n\
                    # TYPE a gauge\na 1\n\n";
    assert_eq!(text(Recorder::builder(), one), expected);
    assert_eq!(text(Recorder::builder(), other), expected);
}

#[test]
fn global_labels_are_on_every_series_unless_its_key_has_them() {
    let builder = Recorder::builder().global_label("foo", "foo").global_label("foo", "bar");
    let expected = "# TYPE basic_counter counter\nbasic_counter{foo=\"bar\"} 42\n\n";
    assert_eq!(text(builder.clone(), || counter!("basic_counter").increment(42)), expected);
    let overridden = || counter!("overridden", "foo" => "overridden").increment(1);
    let expected = "# TYPE overridden counter\noverridden{foo=\"overridden\"} 1\n\n";
    assert_eq!(text(builder, overridden), expected);
}

#[test]
fn names_are_made_valid_and_values_and_help_are_escaped() {
    let builder = Recorder::builder().global_label("foo:", "foo");
    let text = text(builder, || {
        describe_counter!("yee_haw:lets go", "\"Simplë stuff.\nRëally.\\\"");
        counter!("yee_haw:lets go", "øhno" => "\"yeet\nies\\\"").increment(1);
    });
    let expected = "# HELP yee_haw:lets_go \"Simplë stuff.\\nRëally.\\\\\"\n\
                    # TYPE yee_haw:lets_go counter\n\
                    yee_haw:lets_go{_hno=\"\\\"yeet\\nies\\\\\\\"\",foo_=\"foo\"} 1\n\n";
    assert_eq!(text, expected);
}

#[test]
fn values_that_differ_in_backslashes_alone_stay_apart() {
    let snapshot = snapshot(Recorder::builder(), || {
        counter!("x", "path" => "\\").increment(1);
        counter!("x", "path" => "\\\\").increment(2);
    });
    let read = strict_reader::read(&snapshot.to_string()).unwrap();
    assert_eq!(read.get("x", &[("path", "\\")]), Some(1.0));
    assert_eq!(read.get("x", &[("path", "\\\\")]), Some(2.0));
}

#[test]
fn the_first_description_of_a_name_counts() {
    let text = text(Recorder::builder(), || {
        describe_histogram!("other", Unit::Seconds, "Another's.");
        describe_counter!("x", Unit::Bytes, "First.");
        describe_counter!("x", Unit::Count, "Second.");
        describe_counter!("x", "Third.");
        counter!("x").increment(1);
        counter!("y").increment(1);
        describe_counter!("y", "After its first count.");
    });
    let expected = "# HELP x First.\n# TYPE x counter\nx 1\n\n\
                    # HELP y After its first count.\n# TYPE y counter\ny 1\n\n";
    assert_eq!(text, expected);
}

#[test]
fn names_without_suffixes_are_the_default() {
    let text = text(Recorder::builder(), || {
        describe_counter!("sent", Unit::Bytes, "What was sent.");
        counter!("sent").increment(1);
        counter!("got_total").increment(2);
    });
    let read = strict_reader::read(&text).unwrap();
    assert_eq!((read.get("sent", &[]), read.get("got_total", &[])), (Some(1.0), Some(2.0)));
}

#[test]
fn a_late_description_takes_no_metric_its_name() {
    let recorder = Recorder::builder().recommended_naming(true).build().expect("sound settings");
    let handle = recorder.handle();
    let name_of = |count: f64| {
        let text = handle.render();
        let line = text.lines().find(|line| line.ends_with(&format!(" {count}")));
        line.expect("a line").split(' ').next().expect("a name").to_owned()
    };
    metrics::with_local_recorder(&recorder, || {
        counter!("sent").increment(1);
        counter!("sent_bytes").increment(2);
    });
    let before = [name_of(1.0), name_of(2.0)];
    assert_eq!(before, ["sent_total", "sent_bytes_total"]);
    metrics::with_local_recorder(&recorder, || {
        describe_counter!("sent", Unit::Bytes, "What was sent.");
    });
    assert_eq!([name_of(1.0), name_of(2.0)], before);
    assert!(handle.render().contains("# HELP sent_total What was sent.\n"));
    // A metric that is new now, and described, has the name that it would have.
    metrics::with_local_recorder(&recorder, || {
        describe_counter!("got", Unit::Bytes, "What was got.");
        counter!("got").increment(3);
    });
    assert_eq!(name_of(3.0), "got_bytes_total");
}

#[test]
fn recommended_names_have_units_and_totals() {
    let text = text(Recorder::builder().recommended_naming(true), || {
        describe_counter!("foo_total", Unit::Bytes, "Some help");
        counter!("foo_total").increment(42);
        describe_gauge!("gauge_bytes", Unit::Bytes, "A gauge");
        gauge!("gauge_bytes").set(42.0);
        describe_histogram!("rt", Unit::Seconds, "Response times");
        histogram!("rt").record(1);
    });
    let read = strict_reader::read(&text).unwrap();
    let names: Vec<&str> = read.kinds.keys().map(String::as_str).collect();
    assert_eq!(names, ["foo_bytes_total", "gauge_bytes", "rt_seconds"]);
    assert_eq!(read.help["foo_bytes_total"], "Some help");
}

#[test]
fn names_that_are_one_for_prometheus_are_added_up_and_told() {
    let snapshot = snapshot(Recorder::builder().buckets(&[1.0]), || {
        counter!("http.requests").increment(1);
        counter!("http_requests").increment(2);
        counter!("http requests", "a.b" => "1").increment(4);
        counter!("http_requests", "a_b" => "1").increment(8);
        histogram!("r.t").record(1);
        histogram!("r_t").record(2);
        gauge!("o.pen").set(1);
        gauge!("o_pen").increment(2);
    });
    assert_eq!(snapshot.get("http_requests", &[]), Some(&Value::Counter(3)));
    assert_eq!(snapshot.get("http_requests", &[("a_b", "1")]), Some(&Value::Counter(12)));
    let Some(Value::Histogram(rt)) = snapshot.get("r_t", &[]) else { panic!("{snapshot}") };
    assert_eq!((rt.count(), rt.sum()), (2, 3.0));
    assert_eq!(snapshot.get("o_pen", &[]), Some(&Value::Gauge(3.0)));
    let merged = |one: &str, other: &str, exported: &str| Problem::Merged {
        names: [one.into(), other.into()],
        exported: exported.into(),
    };
    assert_eq!(
        snapshot.problems(),
        [
            merged("http.requests", "http_requests", "http_requests"),
            merged("r.t", "r_t", "r_t"),
            merged("o.pen", "o_pen", "o_pen"),
        ]
    );
}

#[test]
fn labels_that_are_one_for_prometheus_are_added_up_and_told() {
    let snapshot = snapshot(Recorder::builder().global_label("zone", "eu").buckets(&[1.0]), || {
        gauge!("open", "a" => "").set(3);
        gauge!("open").set(4);
        gauge!("held", "a.b" => "1").increment(3);
        gauge!("held", "a_b" => "1").increment(4);
        counter!("hits", "a" => "").increment(1);
        counter!("hits", "b" => "").increment(2);
        histogram!("rt").record(1);
        histogram!("rt", "zone" => "eu").record(2);
        // These are others, or the same key again.
        gauge!("one", "a" => "1", "b" => "").set(5);
        gauge!("one", "b" => "", "a" => "1").set(6);
        gauge!("one", "a" => "2", "b" => "").set(7);
        gauge!("one").set(8);
    });
    let zone = ("zone", "eu");
    assert_eq!(snapshot.get("open", &[zone]), Some(&Value::Gauge(4.0)), "the last one set");
    assert_eq!(snapshot.get("held", &[("a_b", "1"), zone]), Some(&Value::Gauge(7.0)));
    assert_eq!(snapshot.get("hits", &[zone]), Some(&Value::Counter(3)));
    let Some(Value::Histogram(rt)) = snapshot.get("rt", &[zone]) else { panic!("{snapshot}") };
    assert_eq!((rt.count(), rt.sum()), (2, 3.0));
    assert_eq!(snapshot.get("one", &[("a", "1"), zone]), Some(&Value::Gauge(6.0)));
    let mut problems: Vec<_> = snapshot.problems().iter().map(ToString::to_string).collect();
    problems.sort();
    let merged = |series: &str| format!("two keys are both exported as `{series}`");
    let expected = [
        r#"held{a_b="1",zone="eu"}"#,
        r#"hits{zone="eu"}"#,
        r#"open{zone="eu"}"#,
        r#"rt{zone="eu"}"#,
    ];
    assert_eq!(problems, expected.map(merged));
}

#[test]
fn absolutes_of_merged_names_are_added_up_too() {
    let snapshot = snapshot(Recorder::builder(), || {
        counter!("a.b").absolute(100);
        counter!("a_b").absolute(50);
        counter!("a.b").absolute(70);
        counter!("a_b").absolute(60);
    });
    assert_eq!(snapshot.get("a_b", &[]), Some(&Value::Counter(160)));
}

#[test]
fn one_name_of_several_kinds_is_exported_as_several_names() {
    let snapshot = snapshot(Recorder::builder(), || {
        gauge!("x").set(1);
        counter!("x").increment(2);
        histogram!("x").record(3);
        counter!("x_histogram_count").increment(4);
        counter!("windrow_metrics_refused_total").increment(5);
    });
    let kinds = strict_reader::read(&snapshot.to_string()).unwrap().kinds;
    let names: Vec<(&str, &str)> = kinds.iter().map(|(name, kind)| (&**name, &**kind)).collect();
    assert_eq!(
        names,
        [
            ("windrow_metrics_refused_total_counter", "counter"),
            ("x", "gauge"),
            ("x_counter", "counter"),
            ("x_histogram", "histogram"),
            ("x_histogram_count_counter", "counter"),
        ]
    );
    assert_eq!(snapshot.get("x_histogram_count_counter", &[]), Some(&Value::Counter(4)));
    let renamed =
        Problem::Renamed { kind: Kind::Counter, name: "x".into(), exported: "x_counter".into() };
    assert_eq!(snapshot.problems()[0], renamed);
    assert_eq!(snapshot.problems().len(), 4);
}

#[test]
fn a_label_given_twice_is_exported_once_and_told() {
    let snapshot = snapshot(Recorder::builder(), || {
        counter!("x", "a" => "2", "a" => "1").increment(1);
        counter!("x", "a" => "1", "a" => "2").increment(2);
        counter!("y", "a.b" => "1", "a_b" => "2", "a-b" => "3").increment(4);
    });
    assert_eq!(snapshot.get("x", &[("a", "2")]), Some(&Value::Counter(3)));
    assert_eq!(snapshot.get("y", &[("a_b", "3")]), Some(&Value::Counter(4)));
    let repeated =
        |name: &str, label: &str| Problem::RepeatedLabel { name: name.into(), label: label.into() };
    assert_eq!(snapshot.problems(), [repeated("x", "a"), repeated("y", "a_b")]);
}

#[test]
fn labels_that_prometheus_keeps_to_itself_get_another_name() {
    let snapshot = snapshot(Recorder::builder().buckets(&[1.0]).global_label("le", "g"), || {
        histogram!("h", "le" => "mine").record(1);
        histogram!("h").record(1);
        counter!("c", "__name__" => "d", "empty" => "").increment(1);
    });
    assert!(snapshot.get("h", &[("exported_le", "mine")]).is_some(), "{snapshot}");
    assert!(snapshot.get("h", &[("exported_le", "g")]).is_some(), "{snapshot}");
    let labels = [("exported__name__", "d"), ("le", "g")];
    assert_eq!(snapshot.get("c", &labels), Some(&Value::Counter(1)));
}

#[test]
fn a_snapshot_tells_names_kinds_units_and_labels() {
    let snapshot = snapshot(Recorder::builder(), || {
        describe_counter!("sent", Unit::Bytes, "What was sent.");
        counter!("sent", "to" => "b", "by" => "a").increment(7);
    });
    let [family] = snapshot.families() else { panic!("{snapshot}") };
    assert_eq!((family.name.as_str(), family.kind), ("sent", Kind::Counter));
    assert_eq!((family.unit, family.help.as_deref()), (Some(Unit::Bytes), Some("What was sent.")));
    let [series] = &family.series[..] else { panic!("{snapshot}") };
    assert_eq!(series.labels().collect::<Vec<_>>(), [("by", "a"), ("to", "b")]);
    assert_eq!((series.label("to"), series.label("from")), (Some("b"), None));
    assert_eq!(series.value, Value::Counter(7));
    assert_eq!(snapshot.get("sent", &[("to", "b")]), None);
}

/// Names and values that a program should never use, and some that are alike.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c_.:0]{0,3}", "\\PC{0,6}", "[\\\\\"\n\t{}=, #]{0,5}"]
}

proptest! {
    #[test]
    fn whatever_metrics_are_called_the_text_is_sound_and_complete(
        metrics in prop::collection::vec(
            (0..3_u8, any_text(), prop::collection::vec((any_text(), any_text()), 0..4)),
            1..20,
        ),
        help in prop::collection::vec((any_text(), any_text()), 0..5),
        naming in any::<bool>(),
    ) {
        let builder = Recorder::builder().recommended_naming(naming).buckets(&[1.0]);
        let snapshot = snapshot(builder, || {
            for (name, text) in help.clone() {
                describe_counter!(name, Unit::Seconds, text);
            }
            for (kind, name, labels) in metrics.clone() {
                match kind {
                    0 => counter!(name, &labels).increment(1),
                    1 => gauge!(name, &labels).increment(1),
                    _ => histogram!(name, &labels).record(1),
                }
            }
        });
        let mut found = [0.0; 3];
        for ((name, _), value) in strict_reader::read(&snapshot.to_string()).unwrap().samples {
            let kind = |kind| {
                let of_kind = |family: &&windrow_metrics::Family| family.kind == kind;
                let has = |family: &windrow_metrics::Family| {
                    let part = if kind == Kind::Histogram { "_sum" } else { "" };
                    format!("{}{part}", family.name) == name
                };
                snapshot.families().iter().filter(of_kind).any(has)
            };
            for (n, k) in [Kind::Counter, Kind::Gauge, Kind::Histogram].into_iter().enumerate() {
                found[n] += if kind(k) { value } else { 0.0 };
            }
        }
        for (n, found) in found.into_iter().enumerate() {
            let counted = metrics.iter().filter(|(kind, ..)| usize::from(*kind) == n).count();
            prop_assert_eq!(found, counted as f64, "{}", snapshot);
        }
    }
}

#[test]
#[ignore = "needs python3 with prometheus-client"]
fn the_parser_of_prometheus_client_reads_the_text() {
    let snapshot = snapshot(Recorder::builder().global_label("z", "1"), || {
        describe_counter!("sent_total", Unit::Bytes, "a \\ \n \" b");
        counter!("sent_total", "path" => "a\\b\"c\nd").increment(3);
        gauge!("open").set(f64::NEG_INFINITY);
        gauge!("sent_total").set(1e-9);
        histogram!("rt", "le" => "x").record(0.3);
        histogram!("rt").record(f64::NAN);
    });
    let program = "
import sys
from prometheus_client.parser import text_string_to_metric_families as parse
for family in parse(sys.stdin.read()):
    for sample in family.samples:
        print(family.type, sample.name, sorted(sample.labels.items()), float(sample.value))
";
    let mut python = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut input = python.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, snapshot.to_string().as_bytes()).expect("it reads");
    drop(input);
    let output = python.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let read = String::from_utf8(output.stdout).expect("text");
    let expected = [
        "counter sent_total [('path', 'a\\\\b\"c\\nd'), ('z', '1')] 3.0",
        "gauge open [('z', '1')] -inf",
        "gauge sent_total_gauge [('z', '1')] 1e-09",
        "histogram rt_count [('exported_le', 'x'), ('z', '1')] 1.0",
        "histogram rt_sum [('exported_le', 'x'), ('z', '1')] 0.3",
        "counter windrow_metrics_unrecorded_total [('histogram', 'rt'), ('z', '1')] 1.0",
    ];
    for line in expected {
        assert!(read.lines().any(|read| read == line), "{line} is not in\n{read}");
    }
}
