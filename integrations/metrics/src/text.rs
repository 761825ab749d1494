//! The text that Prometheus reads, in its classic format.

use std::fmt::{self, Display, Formatter, Write};

use crate::names::Labels;
use crate::snapshot::{Snapshot, Value};

/// Displays the Prometheus text, which is the same whenever the numbers are the same.
impl Display for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

/// Returns the text of all metrics.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for family in &snapshot.families {
        let (name, kind) = (&family.name, family.kind);
        if let Some(help) = &family.help {
            text.extend(["# HELP ", name, " "]);
            escape(&mut text, help, b"\\\n");
            text.push('\n');
        }
        write(&mut text, format_args!("# TYPE {name} {kind}\n"));
        for series in &family.series {
            let mut line = |suffix: &str, bound, value: &dyn Display| {
                text.extend([name.as_str(), suffix]);
                put_labels(&mut text, &series.labels, bound);
                write(&mut text, format_args!(" {value}\n"));
            };
            match &series.value {
                Value::Counter(n) => line("", None, n),
                Value::Gauge(value) => line("", None, &Number(*value)),
                Value::Histogram(values) => {
                    for (bound, below) in values.buckets() {
                        line("_bucket", Some(bound), &below);
                    }
                    line("_sum", None, &Number(values.sum()));
                    line("_count", None, &values.count());
                }
            }
        }
        text.push('\n');
    }
    text
}

/// Appends the labels of a series, and the bound of a bucket.
fn put_labels(text: &mut String, labels: &Labels, bound: Option<f64>) {
    let mut before = '{';
    for (name, label) in labels.iter() {
        text.push(before);
        text.extend([name, "=\""]);
        escape(text, label, b"\\\n\"");
        text.push('"');
        before = ',';
    }
    if let Some(bound) = bound.map(Number) {
        write(text, format_args!("{before}le=\"{bound}\""));
        before = ',';
    }
    if before == ',' {
        text.push('}');
    }
}

fn write(text: &mut String, what: fmt::Arguments<'_>) {
    let _never_fails = text.write_fmt(what);
}

/// Appends `plain` with a backslash before each of the `special` bytes; the end of a line becomes
/// an `n`.
fn escape(text: &mut String, plain: &str, special: &[u8]) {
    let mut rest = plain;
    // None of these bytes is ever part of another character.
    while let Some(at) = rest.bytes().position(|byte| special.contains(&byte)) {
        let (before, found) = rest.split_at(at);
        text.extend([before, "\\", if found.starts_with('\n') { "n" } else { &found[..1] }]);
        rest = &found[1..];
    }
    text.push_str(rest);
}

/// A number as Prometheus writes it, with the fewest digits that tell it from every other.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            f64::INFINITY => f.write_str("+Inf"),
            f64::NEG_INFINITY => f.write_str("-Inf"),
            value if value == 0.0 || value.is_nan() || (1e-5..1e17).contains(&value.abs()) => {
                write!(f, "{value}")
            }
            value => write!(f, "{value:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_as_themselves() {
        let cases = [
            (0.0, "0"),
            (42.0, "42"),
            (-1.25, "-1.25"),
            (0.005, "0.005"),
            (1e-7, "1e-7"),
            (1e300, "1e300"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ];
        for (value, text) in cases {
            assert_eq!(Number(value).to_string(), text);
        }
    }
}
