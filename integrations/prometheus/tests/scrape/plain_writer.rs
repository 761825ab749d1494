//! The writers are quick in several ways: each scrape is compared, byte by byte, with that of a
//! writer that is as plain as can be.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use windrow::export::{Source, from_fn, total_fn};
use windrow::{Counter, Family, Gauge};
use windrow_prometheus::{Escaping, Exposition, Format};

/// Returns a text as it stands between quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the labels of a sample, with the name of the metric where that needs quotes.
fn braces(name: &str, pairs: &[(String, String)]) -> String {
    let is_plain = |name: &str| name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
    let mut all = Vec::new();
    if !is_plain(name) {
        all.push(format!("\"{}\"", quoted(name)));
    }
    for (name, value) in pairs {
        let name = if is_plain(name) { name.clone() } else { format!("\"{}\"", quoted(name)) };
        all.push(format!("{name}=\"{}\"", quoted(value)));
    }
    let outside = if is_plain(name) { name } else { "" };
    if all.is_empty() { outside.to_owned() } else { format!("{outside}{{{}}}", all.join(",")) }
}

/// Returns the lines of the samples, those of a series after those of another.
fn naive(name: &str, common: &[(&str, &str)], source: &dyn Source, created: bool) -> Vec<String> {
    let mut lines = Vec::new();
    source.visit(&mut |series| {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut pairs: Vec<_> = common.iter().map(owned).collect();
        series.labels(&mut |name, value| pairs.push((name.to_owned(), value.to_string())));
        let reading = series.metric().read();
        let part = reading.form.parts().next().unwrap();
        reading.samples(part, &mut |sample| match sample.value {
            windrow::export::Value::Count(count) => {
                lines.push(format!("{} {count}", braces(&format!("{name}_total"), &pairs)));
                if created {
                    let since = series.created().unwrap().duration_since(UNIX_EPOCH).unwrap();
                    let nanos = format!("{:09}", since.subsec_nanos());
                    let nanos = nanos.trim_end_matches('0');
                    let nanos = if nanos.is_empty() { "0" } else { nanos };
                    let labels = braces(&format!("{name}_created"), &pairs);
                    lines.push(format!("{labels} {}.{nanos}", since.as_secs()));
                }
            }
            windrow::export::Value::Signed(level) => {
                lines.push(format!("{} {level}", braces(name, &pairs)));
            }
            other => panic!("{other:?}"),
        });
    });
    lines
}

/// Compares the scrapes of a source with the plain writer's, in each text format.
fn compare(name: &str, common: &[(&str, &str)], source: impl Source + Clone + 'static) {
    let label = |metrics: Exposition, (name, value): &(&str, &str)| metrics.with_label(name, value);
    let mut metrics = common.iter().fold(Exposition::new(), label);
    metrics.register(name, "", source.clone()).unwrap();
    let utf8 = Escaping::AllowUtf8;
    for format in [Format::TEXT_1_0_0, Format::OPENMETRICS] {
        let is_openmetrics = format == Format::OPENMETRICS;
        for turn in 0..2 {
            // The second time, there is room for it from the beginning.
            let text = String::from_utf8(metrics.encode(format.with_escaping(utf8))).unwrap();
            let mut lines = text.lines();
            assert!(lines.next().unwrap().starts_with("# TYPE "));
            let end = is_openmetrics.then(|| lines.next_back().unwrap());
            assert_eq!(end, is_openmetrics.then_some("# EOF"));
            let mut samples: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
            samples.retain(|line| !line.contains("_overflow_"));
            let expected = naive(name, common, &source, is_openmetrics);
            assert_eq!(samples, expected, "{name} in turn {turn}");
        }
    }
}

#[test]
fn series_with_hostile_labels_are_written_as_a_plain_writer_writes_them() {
    let long = "0123456789\"\\\n\u{e9}".repeat(70);
    let plain = "x".repeat(1_000);
    let values = [
        "",
        "a",
        "\"",
        "\\",
        "\n",
        "ab",
        "a\\",
        "abc",
        "abcd",
        "abc\n",
        "1234567",
        "12345678",
        "1234567\"",
        "\\2345678",
        "a text of some length",
        "\u{1F600}",
        "}, le=\"",
        "\0\t\r",
        &long,
        &plain,
    ];
    let names = [
        vec![],
        vec!["a"],
        vec!["route", "status"],
        vec!["a_name_of_more_than_sixteen_bytes", "größe", "b"],
        vec!["http.route", "d"],
    ];
    let totals = [0, 1, 9, 10, 99, 100, 999, 1_000, 123_456_789, u64::MAX];
    for names in names {
        let width = names.len();
        let counts = Arc::new(Family::<_, Counter>::with_names(&names).unwrap());
        let levels = Arc::new(Family::<_, Gauge>::with_names(names).unwrap());
        for first in 0..values.len() {
            let labels: Vec<&str> =
                (0..width).map(|at| values[(first + 7 * at) % values.len()]).collect();
            counts.with(&labels).add(totals[first % totals.len()]);
            levels.with(&labels).add(totals[first % totals.len()].cast_signed());
        }
        for common in [&[][..], &[("zone", "e\"u")], &[("zone", "eu"), ("höhe", "1\\2")]] {
            for name in ["requests", "http.requests", "r\"q"] {
                compare(name, common, Arc::clone(&counts));
                compare(name, common, Arc::clone(&levels));
            }
        }
    }
}

#[test]
fn numbers_of_the_program_are_written_as_prometheus_writes_them() {
    let table = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-7.0, "-7.0"),
        (99_999.0, "99999.0"),
        (999_999.0, "999999.0"),
        (-999_999.5, "-999999.5"),
        (1e6, "1e+06"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e300, "1e+300"),
        (5e-324, "5e-324"),
        (2.5e-310, "2.5e-310"),
        (f64::MAX, "1.7976931348623157e+308"),
        (9_007_199_254_740_993.0, "9.007199254740992e+15"),
    ];
    for (number, expected) in table {
        let mut metrics = Exposition::new();
        metrics.register("level", "", from_fn(move || number)).unwrap();
        metrics.register("ever", "", total_fn(move || number.abs())).unwrap();
        let ever = expected.trim_start_matches('-');
        let levels = format!("# TYPE level gauge\nlevel {expected}\n");
        let text = format!("{levels}# TYPE ever_total counter\never_total {ever}\n");
        assert_eq!(metrics.to_string(), text);
    }
    for absent in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut metrics = Exposition::new();
        metrics.register("level", "", from_fn(move || absent)).unwrap();
        assert_eq!(metrics.to_string(), "");
    }
}
