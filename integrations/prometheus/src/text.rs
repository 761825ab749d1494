//! The text formats: Prometheus' own, and `OpenMetrics`.

use std::time::SystemTime;

use windrow::exemplar::Exemplar;
use windrow::export::Series;
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::buckets::Buckets;
use crate::collect::{Number, Writer};
use crate::described::{Named, Type, ends_in};
use crate::escaping::{Escaping, NameKind, push_quoted};
use crate::exemplars::ids;
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
pub(crate) struct Text<'t> {
    written: &'t mut String,
    dialect: Dialect,
    escaping: Escaping,
    metric: Metric,
    /// The labels of the sample, with commas between them.
    labels: String,
    bounds: Bounds,
}

/// The metric that began last.
#[derive(Default)]
struct Metric {
    /// Its name without the suffix of its samples, escaped.
    name: String,
    /// True if the name stands in quotes.
    is_quoted: bool,
    /// The labels of all its series.
    labels: String,
    /// Its description, until it is written.
    described: Option<Box<Named>>,
}

impl Text<'_> {
    pub(crate) fn new(text: &mut String, dialect: Dialect, escaping: Escaping) -> Text<'_> {
        let (metric, labels, bounds) = (Metric::default(), String::new(), Bounds::default());
        Text { written: text, dialect, escaping, metric, labels, bounds }
    }

    /// Ends the text.
    pub(crate) fn finish(self) {
        if self.dialect == Dialect::OpenMetrics {
            self.written.push_str("# EOF\n");
        }
    }

    /// Writes the description of the metric, before its first sample.
    fn describe(&mut self) {
        let Some(named) = self.metric.described.take() else { return };
        let Named { help, unit, kind, .. } = *named;
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
                    self.written.push_str(&help.replace('\\', "\\\\").replace('\n', "\\n"));
                }
                Dialect::OpenMetrics => push_quoted(self.written, &help),
            }
            self.written.push('\n');
        }
        self.comment("TYPE", suffix);
        self.written.extend([shown, "\n"]);
        // An escape may take the unit from the end of the name, where it must be.
        let has_unit = !unit.is_empty() && ends_in(&self.metric.name, &unit);
        if self.dialect == Dialect::OpenMetrics && has_unit {
            self.comment("UNIT", suffix);
            self.written.extend([&unit, "\n"]);
        }
    }

    /// Writes the beginning of a line that describes the metric.
    fn comment(&mut self, what: &str, suffix: &str) {
        let quote = if self.metric.is_quoted { "\"" } else { "" };
        self.written.extend(["# ", what, " ", quote, &self.metric.name, suffix, quote, " "]);
    }

    /// Writes the name and the labels of a sample; `bound` is that of a bucket.
    fn series(&mut self, suffix: &str, bound: Option<f64>) {
        let Text { written: text, metric, labels, .. } = self;
        let mut between = "";
        if metric.is_quoted {
            text.extend(["{\"", &metric.name, suffix, "\""]);
            between = ",";
        } else {
            text.extend([&metric.name, suffix]);
            if !labels.is_empty() || bound.is_some() {
                text.push('{');
            }
        }
        if !labels.is_empty() {
            text.extend([between, labels]);
            between = ",";
        }
        if let Some(bound) = bound {
            text.extend([between, "le=\"", self.bounds.text(bound), "\""]);
        }
        if metric.is_quoted || !labels.is_empty() || bound.is_some() {
            text.push('}');
        }
        text.push(' ');
    }

    /// Writes a line with a whole number.
    fn whole(&mut self, suffix: &str, bound: Option<f64>, number: u64) {
        self.line(suffix, bound, Number::Unsigned(number), None);
    }

    /// Writes a line with a number and an exemplar, whose value is shown so.
    fn line(
        &mut self,
        suffix: &str,
        bound: Option<f64>,
        number: Number,
        exemplar: Option<(f64, &Exemplar)>,
    ) {
        self.series(suffix, bound);
        match number {
            Number::Unsigned(number) => push_unsigned(self.written, number),
            Number::Signed(number) => push_signed(self.written, number),
            Number::Real(number) => push_real(self.written, number),
        }
        if let Some((value, exemplar)) = exemplar.filter(|_| self.dialect == Dialect::OpenMetrics) {
            self.written.push_str(" # {");
            let ids = ids(exemplar.trace).map(|(name, id)| format!("{name}=\"{id}\""));
            self.written.push_str(&ids.collect::<Vec<_>>().join(","));
            self.written.push_str("} ");
            push_real(self.written, value);
            self.written.push(' ');
            push_time(self.written, exemplar.time);
        }
        self.written.push('\n');
    }

    /// Writes the line with the start time of a counter or a histogram.
    fn created(&mut self, start: SystemTime) {
        if self.dialect == Dialect::OpenMetrics {
            self.series("_created", None);
            push_time(self.written, start);
            self.written.push('\n');
        }
    }
}

impl Writer for Text<'_> {
    /// With commas between them.
    type Labels = String;

    fn begin(&mut self, named: &Named, labels: &[(String, String)]) {
        let name = &named.escaped(self.escaping);
        let metric = &mut self.metric;
        metric.name.clear();
        metric.is_quoted = !NameKind::Metric.is_plain(name);
        push_quoted(&mut metric.name, name);
        metric.described = Some(Box::new(named.clone()));
        metric.labels.clear();
        for (name, value) in labels {
            push_label(&mut metric.labels, self.escaping, name, LabelValue::Text(value));
        }
    }

    fn labels(&self, series: &dyn Series, labels: &mut String) {
        labels.clear();
        series.labels(&mut |name, value| push_label(labels, self.escaping, name, value));
    }

    fn set_labels<'l>(&mut self, labels: &String, more: impl Iterator<Item = (&'l str, &'l str)>) {
        self.labels.clone_from(&self.metric.labels);
        if !self.labels.is_empty() && !labels.is_empty() {
            self.labels.push(',');
        }
        self.labels.push_str(labels);
        for (name, value) in more {
            push_label(&mut self.labels, self.escaping, name, LabelValue::Text(value));
        }
    }

    fn counter(&mut self, total: Number, start: SystemTime, exemplar: Option<&Exemplar>) {
        self.describe();
        let exemplar = exemplar.map(|exemplar| (exemplar.value as f64, exemplar));
        self.line("_total", None, total, exemplar);
        self.created(start);
    }

    fn gauge(&mut self, number: Number) {
        self.describe();
        self.line("", None, number, None);
    }

    fn histogram(
        &mut self,
        values: &Distribution,
        buckets: &Buckets,
        start: SystemTime,
        exemplars: &[Exemplar],
    ) {
        self.describe();
        self.bounds.rewind();
        buckets.each_with(values, exemplars, |bound, up_to, exemplar| {
            let exemplar = exemplar.map(|exemplar| (buckets.shown(exemplar.value), exemplar));
            self.line("_bucket", Some(bound), Number::Unsigned(up_to), exemplar);
        });
        self.series("_sum", None);
        push_real(self.written, buckets.shown(values.sum()));
        self.written.push('\n');
        self.whole("_count", None, values.count());
        self.created(start);
    }

    fn info(&mut self) {
        self.describe();
        self.set_labels(&String::new(), std::iter::empty());
        self.whole("_info", None, 1);
    }
}

/// Appends a label.
fn push_label(labels: &mut String, escaping: Escaping, name: &str, value: LabelValue<'_>) {
    if !labels.is_empty() {
        labels.push(',');
    }
    if escaping.keeps(NameKind::Label, name) {
        labels.push_str(name);
    } else {
        let name = escaping.name(NameKind::Label, name);
        if NameKind::Label.is_plain(&name) {
            labels.push_str(&name);
        } else {
            labels.push('"');
            push_quoted(labels, &name);
            labels.push('"');
        }
    }
    labels.push_str("=\"");
    match value {
        LabelValue::Text(text) => push_quoted(labels, text),
        LabelValue::Unsigned(number) => push_unsigned(labels, number),
        LabelValue::Signed(number) => push_signed(labels, number),
        other => push_quoted(labels, &other.to_string()),
    }
    labels.push('"');
}

/// The texts of bounds, which most histograms have in common.
#[derive(Default)]
struct Bounds {
    /// The bounds of the last histogram, in their order.
    known: Vec<(f64, String)>,
    next: usize,
}

impl Bounds {
    /// Begins with the first bound of a histogram.
    fn rewind(&mut self) {
        self.next = 0;
    }

    /// Returns the text of the next bound.
    fn text(&mut self, bound: f64) -> &str {
        let at = self.next;
        self.next += 1;
        if self.known.len() == at {
            self.known.push((f64::NAN, String::new()));
        }
        let (known, text) = &mut self.known[at];
        if known.to_bits() != bound.to_bits() {
            *known = bound;
            text.clear();
            push_real(text, bound);
        }
        text
    }
}
