//! Other parsers read our text: Prometheus' own parser of the classic format, both parsers of
//! Python's client, of which that of `OpenMetrics` is strict, and a Prometheus server that scrapes
//! while series come and go.
//!
//! `cargo test --test scrape -- --ignored` runs them, where the tools are there.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

mod exposed;
mod removed;
mod server;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use windrow_prometheus::{Escaping, Format};

use crate::exemplars;
use crate::formats::metrics;
use crate::spec::Family;
use crate::spec::text::{Rules, parse};

/// A series: the name of its samples, and its labels.
type Series = (String, BTreeMap<String, String>);

/// Samples as a parser gives them back.
type Samples = BTreeMap<Series, f64>;

/// Runs a tool on a text, and returns its output.
fn feed(tool: &mut Command, text: &str) -> (bool, String) {
    let shown = format!("{tool:?}");
    let piped = tool.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
#[ignore = "needs promtool"]
fn promtool_has_nothing_to_say_against_the_text() {
    let (_counts, metrics) = exposed::exposition();
    let text = exposed::text(&metrics, Format::TEXT);
    let (right, said) = feed(Command::new("promtool").args(["check", "metrics"]), &text);
    assert!(right, "{said}\n{text}");
    // It does notice.
    let broken = text.replace("# HELP shop_open", "# HELP shop-open");
    assert!(!feed(Command::new("promtool").args(["check", "metrics"]), &broken).0);
}

/// Prints all samples, each a list of the name, the labels and the value as an exact text.
const PARSE: &str = "
samples = [sample for family in parse(sys.stdin.read()) for sample in family.samples]
print(json.dumps([[sample.name, sample.labels, repr(sample.value)] for sample in samples]))
";

/// Returns the parser in a module of Python's client.
fn python(module: &str) -> Command {
    let import = format!(
        "import json, sys\nfrom prometheus_client.{module} import text_string_to_metric_families as parse\n"
    );
    let mut python = Command::new("python3");
    python.args(["-c", &(import + PARSE)]);
    python
}

/// Returns the samples that a parser of Python's client finds in a text.
fn read(module: &str, text: &str) -> Samples {
    let (right, said) = feed(&mut python(module), text);
    assert!(right, "{said}\n{text}");
    let samples: Vec<(String, BTreeMap<String, String>, String)> =
        serde_json::from_str(&said).unwrap();
    let sample = |(name, labels, value): (_, _, String)| ((name, labels), value.parse().unwrap());
    samples.into_iter().map(sample).collect()
}

#[test]
#[ignore = "needs python3 with prometheus-client"]
fn the_strict_openmetrics_parser_reads_what_was_counted() {
    let (_counts, metrics) = exposed::exposition();
    let text = exposed::text(&metrics, Format::OPENMETRICS);
    exposed::check(&read("openmetrics.parser", &text));
    assert!(!feed(&mut python("openmetrics.parser"), &text.replace("# EOF", "#")).0);
}

#[test]
#[ignore = "needs python3 with prometheus-client"]
fn the_parser_of_the_classic_format_reads_the_same_samples() {
    let (_counts, metrics) = exposed::exposition();
    let samples = read("parser", &exposed::text(&metrics, Format::TEXT));
    exposed::check(&samples);
    let mut open = read("openmetrics.parser", &exposed::text(&metrics, Format::OPENMETRICS));
    open.retain(|(name, _), _| !name.ends_with("_created"));
    assert_eq!(samples, open);
    assert!(!feed(&mut python("parser"), "shop_done_total\n").0);
}

/// Prints all exemplars, each a list of the value, the time and the trace id.
const EXEMPLARS: &str = "
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
samples = [sample for family in parse(sys.stdin.read()) for sample in family.samples]
exemplars = [sample.exemplar for sample in samples if sample.exemplar]
print(json.dumps([[it.value, float(it.timestamp), it.labels['trace_id']] for it in exemplars]))
";

#[test]
#[ignore = "needs python3 with prometheus-client"]
fn the_strict_openmetrics_parser_reads_exemplars() {
    let text = exposed::text(&exemplars::metrics(), Format::OPENMETRICS);
    let (right, said) = feed(Command::new("python3").args(["-c", EXEMPLARS]), &text);
    assert!(right, "{said}\n{text}");
    let theirs: Vec<(f64, f64, String)> = serde_json::from_str(&said).unwrap();
    let ours = parse(&text, Rules::OpenMetrics).unwrap();
    let ours: Vec<_> = ours.iter().flat_map(Family::exemplars).map(|(_, it)| it).collect();
    assert_eq!((theirs.len(), ours.len()), (8, 8));
    for ((value, time, trace_id), ours) in theirs.iter().zip(ours) {
        assert_eq!((value, trace_id), (&ours.value, &ours.labels["trace_id"]));
        assert!((time - ours.time).abs() < 1e-6, "{time} {ours:?}"); // a rounded sum there
    }
}

#[test]
#[ignore = "needs prometheus"]
fn a_server_keeps_exemplars() {
    for native in [false, true] {
        let target = server::Target::serve(exemplars::metrics());
        let features =
            if native { "exemplar-storage,native-histograms" } else { "exemplar-storage" };
        let options = [format!("--enable-feature={features}")];
        let prometheus =
            server::Prometheus::start(target.port(), &options.each_ref().map(|it| &**it));
        prometheus.wait_for("errors_total", |value| value == 3.0);
        let of = |value: u64| (value as f64, format!("{value:016x}0000000000000abc"));
        assert_eq!(prometheus.exemplars("errors_total"), [of(3)]);
        let expected = [7, 1_024, 1_025, 250_000_000, 1 << 40].map(of);
        if native {
            // Version 2.42 takes one exemplar of a native histogram from a scrape, that of the
            // lowest bucket.
            assert_eq!(prometheus.exemplars("rt"), expected[..1]);
            assert!(prometheus.query("{__name__=~\"rt_(bucket|sum|count)\"}").is_empty());
        } else {
            assert_eq!(prometheus.exemplars("rt_bucket"), expected);
        }
        let seconds = [1_025, 1 << 40].map(|value| (value as f64 / 1e9, of(value).1));
        assert_eq!(prometheus.exemplars("rt_seconds_bucket"), seconds);
    }
}

#[test]
#[ignore = "needs prometheus"]
fn a_server_reads_what_was_counted_and_no_scrape_fails_while_series_come_and_go() {
    let (counts, metrics) = exposed::exposition();
    let target = server::Target::serve(metrics);
    let prometheus = server::Prometheus::start(target.port(), &[]);
    prometheus.wait_for("up", |value| value == 1.0);
    let enough = target.scrapes() + 8;
    counts.come_and_go(|| target.scrapes() < enough);
    prometheus.wait_for("shop_done_total", |value| value == 1.0);
    let failed = prometheus.query("count_over_time(up[1m]) - sum_over_time(up[1m])");
    assert_eq!(failed.values().copied().collect::<Vec<_>>(), [0.0], "scrapes have failed");
    let samples = prometheus.query("{__name__=~\"shop_.*\"}");
    exposed::check(&samples);
    // Its own estimate of a percentile is in the bucket of the value, which is 0.5 or 0.99 s.
    for (q, bucket) in [(0.5, 0.268_435_456..=0.536_870_912), (0.99, 0.536_870_912..=1.073_741_824)]
    {
        let estimate = prometheus.query(&format!(
            "histogram_quantile({q}, shop_rt_seconds_bucket{{overflow!=\"true\"}})"
        ));
        let estimates: Vec<f64> = estimate.values().copied().collect();
        let [estimate] = estimates[..] else { panic!("{estimates:?}") };
        assert!(bucket.contains(&estimate), "{q}: {estimate}");
    }
    // All values that it has read of a series are in order: none has gone back.
    let resets = prometheus.query("sum(resets(shop_requests_total[1m]))");
    assert_eq!(resets.values().copied().collect::<Vec<_>>(), [0.0]);
}

#[test]
#[ignore = "needs prometheus"]
fn a_server_reads_native_histograms_and_all_counts_beside_them() {
    let (metrics, exact) = exposed::natives();
    let target = server::Target::serve(metrics);
    let native = ["--enable-feature=native-histograms"];
    let prometheus = server::Prometheus::start(target.port(), &native);
    let of = |query: &str| {
        let found: Vec<f64> = prometheus.query(query).values().copied().collect();
        let [value] = found[..] else { panic!("{query}: {found:?}") };
        value
    };
    prometheus.wait_for("histogram_count(rt{route=~\"(?s).*EOF.*\"})", |value| value == 1_001.0);
    // They are native: there are no series of buckets.
    assert!(prometheus.query("rt_bucket").is_empty());
    assert_eq!(of("histogram_sum(rt{route=~\"(?s).*EOF.*\"})"), 500_500_000_000.0);
    for q in [0.1, 0.5, 0.9, 0.99, 0.999] {
        let estimate = of(&format!("histogram_quantile({q}, rt{{route=~\"(?s).*EOF.*\"}})"));
        let value = exact.quantile(q).unwrap() as f64;
        // Both are in one cell, which is 9 % wide.
        assert!((estimate / value).ln().abs() < 0.09, "{q}: {estimate} for {value}");
    }
    // The half of the values below 0.5 s, but for those in the cell there.
    let half = of("histogram_fraction(0, 536870912, rt{route=~\"(?s).*EOF.*\"})");
    assert!((half - 537.0 / 1_001.0).abs() < 1e-9, "{half}");
    // Values outside of the scale's range.
    assert_eq!(of("histogram_count(rt{route=\"far\"})"), 3.0);
    assert_eq!(of("histogram_fraction(0, 512, rt{route=\"far\"})"), 1.0 / 3.0);
    let above = of("histogram_quantile(0.99, rt{route=\"far\"})");
    assert!((68.7e9..75e9).contains(&above), "{above}"); // the range ends at 2^36
    for q in [0.0, 0.1, 0.9] {
        let below = of(&format!("histogram_quantile({q}, rt{{route=\"near\"}})"));
        assert!((469.0..=512.0).contains(&below), "{q}: {below}"); // it begins at 2^9
    }
    // Without a value they are native, too.
    assert_eq!((of("histogram_count(empty)"), of("histogram_count(sizes)")), (0.0, 0.0));
    assert!(prometheus.query("{__name__=~\"(empty|sizes)_.*\"}").is_empty());
    // In seconds they have classic buckets, and those beside a window are native, too.
    assert_eq!(of("rt_seconds_bucket{le=\"0.536870912\",route=~\"(?s).*EOF.*\"}"), 537.0);
    assert_eq!(of("hits_total{zone=\"e\\\"u\"}"), 7.0);
    assert_eq!(of("build_info{version=\"1\"}"), 1.0);
    assert_eq!(of("up"), 1.0);
}

#[test]
#[ignore = "needs python3 with prometheus-client"]
fn other_parsers_find_what_ours_find_under_names_of_utf_8_and_escaped_ones() {
    let (metrics, _) = metrics();
    let schemes = [Escaping::AllowUtf8, Escaping::Underscores, Escaping::Dots, Escaping::Values];
    for escaping in schemes {
        for (format, rules, module) in [
            (Format::OPENMETRICS, Rules::OpenMetrics, "openmetrics.parser"),
            (Format::TEXT_1_0_0, Rules::New, "parser"),
        ] {
            let text = exposed::text(&metrics, format.with_escaping(escaping));
            let ours = parse(&text, rules).unwrap();
            let ours: Samples = ours
                .into_iter()
                .flat_map(|family| family.samples)
                .map(|sample| ((sample.name, sample.labels), sample.value))
                .collect();
            assert!(ours.len() > 50);
            let theirs = read(module, &text);
            let only = |these: &Samples, others: &Samples| {
                let only = these.iter().find(|(key, value)| others.get(key) != Some(value));
                format!("{:.300}", format!("{only:?}"))
            };
            let differences = [only(&ours, &theirs), only(&theirs, &ours)];
            assert_eq!(differences, ["None", "None"], "{escaping:?} in {module}");
        }
    }
}

#[test]
#[ignore = "needs prometheus"]
fn the_increases_by_times_of_creation_are_the_lifetime_of_removed_series_too() {
    let sums = removed::sums();
    assert_eq!(sums.by_creation, sums.lifetime, "{sums:?}");
    // Values alone hide a series that has begun anew and counts more than before.
    assert!(sums.by_value < sums.lifetime, "{sums:?}");
}

/// Returns the samples in an answer of the server's API.
fn samples(answer: &Value) -> Samples {
    let results = answer["data"]["result"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let sample =
        |result: &Value| (series(result), result["value"][1].as_str().unwrap().parse().unwrap());
    results.iter().map(sample).collect()
}

/// Returns the series of a result of the server's API, without the labels that it adds.
fn series(result: &Value) -> Series {
    let labels = result["metric"].as_object().unwrap().iter();
    let mut labels: BTreeMap<String, String> =
        labels.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
    let name = labels.remove("__name__").unwrap_or_default();
    for own in ["instance", "job"] {
        labels.remove(own);
    }
    (name, labels)
}
