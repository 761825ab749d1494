//! The text formats: Prometheus' own, and `OpenMetrics`.

use std::time::SystemTime;

use windrow::exemplar::Exemplar;
use windrow::export::{Series, Value};
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::buckets::Buckets;
use crate::collect::Writer;
use crate::described::{Named, Type, ends_in};
use crate::escaping::{Escaping, NameKind, push_quoted};
use crate::exemplars::ids;
use crate::label_names::LabelNames;
use crate::number::{push_real, push_signed, push_time, push_unsigned};

/// The two kinds of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Prometheus' own: a counter is described by the name of its samples, an info is a gauge, and
    /// there are no units and no times of creation.
    Prometheus,
    OpenMetrics,
}

/// Writes a text.
pub(crate) struct Text {
    written: Vec<u8>,
    dialect: Dialect,
    escaping: Escaping,
    metric: Metric,
    /// The labels of the sample, with commas between them.
    labels: Vec<u8>,
    names: LabelNames,
    /// The names of the labels that samples have beside those of their series.
    more: LabelNames,
    bounds: Bounds,
}

/// The metric that began last.
struct Metric {
    /// Its name without the suffix of its samples, escaped.
    name: Vec<u8>,
    /// True if the name stands in quotes.
    is_quoted: bool,
    kind: Type,
    /// The labels of all its series, with commas between them.
    labels: Vec<u8>,
    /// Its description, until it is written.
    described: Option<Named>,
}

impl Text {
    /// Makes a writer to an empty vector.
    pub(crate) fn new(written: Vec<u8>, dialect: Dialect, escaping: Escaping) -> Text {
        let [labels, name, common] = [(); 3].map(|()| Vec::new());
        let [names, more] = [(); 2].map(|()| LabelNames::new(escaping));
        let metric =
            Metric { name, is_quoted: false, kind: Type::Gauge, labels: common, described: None };
        Text { written, dialect, escaping, metric, labels, names, more, bounds: Bounds::default() }
    }

    /// Writes the description of the metric, before its first sample.
    fn describe(&mut self) {
        let Some(Named { help, unit, kind, .. }) = self.metric.described.take() else { return };
        let (suffix, shown) = match (self.dialect, kind) {
            (Dialect::Prometheus, Type::Counter) => ("_total", "counter"),
            (Dialect::Prometheus, Type::Info) => ("_info", "gauge"),
            (Dialect::OpenMetrics, Type::Counter) => ("", "counter"),
            (Dialect::OpenMetrics, Type::Info) => ("", "info"),
            (_, Type::Gauge) => ("", "gauge"),
            (_, Type::Histogram) => ("", "histogram"),
        };
        if !help.is_empty() {
            self.comment("HELP", suffix);
            match self.dialect {
                // It escapes no quotes there.
                Dialect::Prometheus => {
                    let help = help.replace('\\', "\\\\").replace('\n', "\\n");
                    self.written.extend_from_slice(help.as_bytes());
                }
                Dialect::OpenMetrics => push_quoted(&mut self.written, &help),
            }
            self.written.push(b'\n');
        }
        self.comment("TYPE", suffix);
        put(&mut self.written, &[shown.as_bytes(), b"\n"]);
        // An escape may take the unit from the end of the name, where it must be.
        let name = str::from_utf8(&self.metric.name).unwrap_or_default(); // it was one
        let has_unit = !unit.is_empty() && ends_in(name, &unit);
        if self.dialect == Dialect::OpenMetrics && has_unit {
            self.comment("UNIT", suffix);
            put(&mut self.written, &[unit.as_bytes(), b"\n"]);
        }
    }

    /// Writes the beginning of a line that describes the metric.
    fn comment(&mut self, what: &str, suffix: &str) {
        let quote: &[u8] = if self.metric.is_quoted { b"\"" } else { b"" };
        let (what, name, suffix) = (what.as_bytes(), &self.metric.name, suffix.as_bytes());
        put(&mut self.written, &[b"# ", what, b" ", quote, name, suffix, quote, b" "]);
    }

    /// Writes the name and the labels of a sample, and the blank behind them.
    fn series(&mut self, suffix: &str) {
        let Text { written: text, metric: Metric { name, is_quoted, .. }, labels, .. } = self;
        let suffix = suffix.as_bytes();
        match (*is_quoted, labels.is_empty()) {
            (false, false) => put(text, &[name, suffix, b"{", labels, b"} "]),
            (false, true) => put(text, &[name, suffix, b" "]),
            (true, false) => put(text, &[b"{\"", name, suffix, b"\",", labels, b"} "]),
            (true, true) => put(text, &[b"{\"", name, suffix, b"\"} "]),
        }
    }

    /// Returns what stands before the bound of a bucket in its line.
    fn before_bound(&self) -> Vec<u8> {
        let Text { metric: Metric { name, is_quoted, .. }, labels, .. } = self;
        let mut text = Vec::new();
        match is_quoted {
            true => put(&mut text, &[b"{\"", name, b"_bucket\","]),
            false => put(&mut text, &[name, b"_bucket{"]),
        }
        put(&mut text, &[labels, if labels.is_empty() { b"le=\"" } else { b",le=\"" }]);
        text
    }

    /// Writes a line with a number, and its exemplar.
    fn line(&mut self, suffix: &str, number: Value<'_>, exemplar: Option<&Exemplar>) {
        self.series(suffix);
        match number {
            Value::Count(number) | Value::Unsigned(number) => {
                push_unsigned(&mut self.written, number);
            }
            Value::Signed(number) => push_signed(&mut self.written, number),
            Value::Real(number) | Value::RealTotal(number) => push_real(&mut self.written, number),
            Value::Distribution(_) => {} // it has lines of its own
        }
        self.exemplar(exemplar.map(|exemplar| (exemplar.value as f64, exemplar)));
        self.written.push(b'\n');
    }

    /// Writes the lines of a histogram.
    fn histogram(&mut self, values: &Distribution, buckets: &Buckets, exemplars: &[Exemplar]) {
        let before = self.before_bound();
        self.bounds.rewind();
        buckets.each_with(values, exemplars, |bound, up_to, exemplar| {
            put(&mut self.written, &[&before, self.bounds.text(bound)]);
            push_unsigned(&mut self.written, up_to);
            self.exemplar(exemplar.map(|exemplar| (buckets.shown(exemplar.value), exemplar)));
            self.written.push(b'\n');
        });
        self.line("_sum", Value::Real(buckets.shown(values.sum())), None);
        self.line("_count", Value::Count(values.count()), None);
    }

    /// Writes an exemplar, whose value is shown so, behind the number of a line.
    fn exemplar(&mut self, exemplar: Option<(f64, &Exemplar)>) {
        if let Some((value, exemplar)) = exemplar.filter(|_| self.dialect == Dialect::OpenMetrics) {
            let ids = ids(exemplar.trace).map(|(name, id)| format!("{name}=\"{id}\""));
            let ids = ids.collect::<Vec<_>>().join(",");
            put(&mut self.written, &[b" # {", ids.as_bytes(), b"} "]);
            push_real(&mut self.written, value);
            self.written.push(b' ');
            push_time(&mut self.written, exemplar.time);
        }
    }
}

impl Writer for Text {
    fn begin(&mut self, named: &Named, labels: &[(String, String)]) {
        let escaped = named.escaped(self.escaping);
        let (mut name, mut common) = (Vec::new(), Vec::new());
        push_quoted(&mut name, &escaped);
        for (position, (name, value)) in labels.iter().enumerate() {
            self.names.push(&mut common, position, name, LabelValue::Text(value));
        }
        self.labels.clone_from(&common);
        self.metric = Metric {
            name,
            is_quoted: !NameKind::Metric.is_plain(&escaped),
            kind: named.kind,
            labels: common,
            described: Some(named.clone()),
        };
    }

    fn set_series(&mut self, series: &dyn Series) {
        self.labels.clone_from(&self.metric.labels);
        self.names.push_all(&mut self.labels, series);
    }

    fn labels(&self) -> &[u8] {
        &self.labels
    }

    fn set_labels(&mut self, labels: &[u8]) {
        labels.clone_into(&mut self.labels);
    }

    fn sample<'l>(
        &mut self,
        more: impl Iterator<Item = (&'l str, &'l str)>,
        value: Value<'_>,
        buckets: &Buckets,
        start: SystemTime,
        exemplars: &[Exemplar],
    ) {
        self.describe();
        let own = self.labels.len();
        for (position, (name, value)) in more.enumerate() {
            self.more.push(&mut self.labels, position, name, LabelValue::Text(value));
        }
        let kind = self.metric.kind;
        match value {
            Value::Distribution(values) => self.histogram(values, buckets, exemplars),
            Value::Count(_) => self.line(kind.suffix(), value, exemplars.last()),
            number => self.line(kind.suffix(), number, None),
        }
        let has_start = matches!(kind, Type::Counter | Type::Histogram);
        if has_start && self.dialect == Dialect::OpenMetrics {
            self.series("_created");
            push_time(&mut self.written, start);
            self.written.push(b'\n');
        }
        self.labels.truncate(own);
    }

    fn finish(mut self) -> Vec<u8> {
        if self.dialect == Dialect::OpenMetrics {
            self.written.extend_from_slice(b"# EOF\n");
        }
        self.written
    }
}

/// Appends parts, with room for all of them made at once.
#[inline]
fn put(text: &mut Vec<u8>, parts: &[&[u8]]) {
    text.reserve(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        text.extend_from_slice(part);
    }
}

/// The texts of bounds, which most histograms have in common.
#[derive(Default)]
struct Bounds {
    /// The bounds of the last histogram, in their order.
    known: Vec<(f64, Vec<u8>)>,
    next: usize,
}

impl Bounds {
    /// Begins with the first bound of a histogram.
    fn rewind(&mut self) {
        self.next = 0;
    }

    /// Returns the text of the next bound, and what stands behind it before the number.
    fn text(&mut self, bound: f64) -> &[u8] {
        let at = self.next;
        self.next += 1;
        if self.known.len() == at {
            self.known.push((f64::NAN, Vec::new()));
        }
        let (known, text) = &mut self.known[at];
        if known.to_bits() != bound.to_bits() {
            *known = bound;
            text.clear();
            push_real(text, bound);
            text.extend_from_slice(b"\"} ");
        }
        text
    }
}
