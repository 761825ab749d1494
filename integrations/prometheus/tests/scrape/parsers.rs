//! Other parsers read our text: Prometheus' own parser of the classic format, both parsers of
//! Python's client, of which that of `OpenMetrics` is strict, and a Prometheus server that scrapes
//! while series come and go.
//!
//! `cargo xtask scrape` runs those whose tools are there.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

mod exposed;
mod server;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use windrow_prometheus::Format;

/// A sample as a parser gives it back: its value by its name and its labels.
type Samples = BTreeMap<(String, BTreeMap<String, String>), f64>;

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
#[ignore = "`cargo xtask scrape`: needs promtool"]
fn promtool_has_nothing_to_say_against_the_text() {
    let (_counts, metrics) = exposed::exposition();
    let text = exposed::text(&metrics, Format::TEXT);
    let (right, said) = feed(Command::new("promtool").args(["check", "metrics"]), &text);
    assert!(right, "{said}\n{text}");
    // It does notice.
    let broken = text.replace("# HELP shop_open", "# HELP shop-open");
    assert!(!feed(Command::new("promtool").args(["check", "metrics"]), &broken).0);
}

/// Prints all samples, each a list of the name, the labels and the value.
const PARSE: &str = "
samples = [sample for family in parse(sys.stdin.read()) for sample in family.samples]
print(json.dumps([[sample.name, sample.labels, sample.value] for sample in samples]))
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
    let samples: Vec<(String, BTreeMap<String, String>, f64)> =
        serde_json::from_str(&said).unwrap();
    samples.into_iter().map(|(name, labels, value)| ((name, labels), value)).collect()
}

#[test]
#[ignore = "`cargo xtask scrape`: needs python3 with prometheus-client"]
fn the_strict_openmetrics_parser_reads_what_was_counted() {
    let (_counts, metrics) = exposed::exposition();
    let text = exposed::text(&metrics, Format::OPENMETRICS);
    exposed::check(&read("openmetrics.parser", &text));
    assert!(!feed(&mut python("openmetrics.parser"), &text.replace("# EOF", "#")).0);
}

#[test]
#[ignore = "`cargo xtask scrape`: needs python3 with prometheus-client"]
fn the_parser_of_the_classic_format_reads_the_same_samples() {
    let (_counts, metrics) = exposed::exposition();
    let samples = read("parser", &exposed::text(&metrics, Format::TEXT));
    exposed::check(&samples);
    let mut open = read("openmetrics.parser", &exposed::text(&metrics, Format::OPENMETRICS));
    open.retain(|(name, _), _| !name.ends_with("_created"));
    assert_eq!(samples, open);
    assert!(!feed(&mut python("parser"), "shop_done_total\n").0);
}

#[test]
#[ignore = "`cargo xtask scrape`: needs prometheus"]
fn a_server_reads_what_was_counted_and_no_scrape_fails_while_series_come_and_go() {
    let (counts, metrics) = exposed::exposition();
    let target = server::Target::serve(metrics);
    let prometheus = server::Prometheus::start(target.port());
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

/// Returns the samples in an answer of the server's API.
fn samples(answer: &Value) -> Samples {
    let results = answer["data"]["result"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let sample = |result: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut labels: BTreeMap<String, String> = result["metric"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), text(value)))
            .collect();
        let name = labels.remove("__name__").unwrap_or_default();
        for own in ["instance", "job"] {
            labels.remove(own);
        }
        ((name, labels), text(&result["value"][1]).parse().unwrap())
    };
    results.iter().map(sample).collect()
}
