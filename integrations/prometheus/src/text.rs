//! The text formats: Prometheus' own, and `OpenMetrics`.

use std::ops::Range;
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
pub(crate) struct Text<'t> {
    written: &'t mut Vec<u8>,
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
#[derive(Default)]
struct Metric {
    /// Its name without the suffix of its samples, escaped.
    name: Vec<u8>,
    /// True if the name stands in quotes.
    is_quoted: bool,
    /// The labels of all its series.
    labels: Vec<u8>,
    /// The beginning of the line of a series' only sample, up to its labels, and that of the line
    /// with its start time.
    heads: [Vec<u8>; 2],
    /// Its description, until it is written.
    described: Option<Box<Named>>,
}

impl Text<'_> {
    pub(crate) fn new(text: &mut Vec<u8>, dialect: Dialect, escaping: Escaping) -> Text<'_> {
        let (metric, labels, bounds) = (Metric::default(), Vec::new(), Bounds::default());
        let [names, more] = [(); 2].map(|()| LabelNames::new(escaping));
        Text { written: text, dialect, escaping, metric, labels, names, more, bounds }
    }

    /// Ends the text.
    pub(crate) fn finish(self) {
        if self.dialect == Dialect::OpenMetrics {
            self.written.extend_from_slice(b"# EOF\n");
        }
    }

    /// Writes the description of the metric, before its first sample.
    #[inline]
    fn describe(&mut self) {
        if let Some(named) = self.metric.described.take() {
            self.write_description(*named);
        }
    }

    #[cold]
    fn write_description(&mut self, named: Named) {
        let Named { help, unit, kind, .. } = named;
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
                Dialect::OpenMetrics => push_quoted(self.written, &help),
            }
            self.written.push(b'\n');
        }
        self.comment("TYPE", suffix);
        put(self.written, &[shown.as_bytes(), b"\n"]);
        // An escape may take the unit from the end of the name, where it must be.
        let name = str::from_utf8(&self.metric.name).unwrap_or_default(); // it was one
        let has_unit = !unit.is_empty() && ends_in(name, &unit);
        if self.dialect == Dialect::OpenMetrics && has_unit {
            self.comment("UNIT", suffix);
            put(self.written, &[unit.as_bytes(), b"\n"]);
        }
    }

    /// Writes the beginning of a line that describes the metric.
    fn comment(&mut self, what: &str, suffix: &str) {
        let quote: &[u8] = if self.metric.is_quoted { b"\"" } else { b"" };
        let (what, name, suffix) = (what.as_bytes(), &self.metric.name, suffix.as_bytes());
        put(self.written, &[b"# ", what, b" ", quote, name, suffix, quote, b" "]);
    }

    /// Writes the name and the labels of a sample, and the blank behind them.
    fn series(&mut self, suffix: &[u8]) {
        let Text { written: text, metric: Metric { name, is_quoted, .. }, labels, .. } = self;
        match (*is_quoted, labels.is_empty()) {
            (false, false) => put(text, &[name, suffix, b"{", labels, b"} "]),
            (false, true) => put(text, &[name, suffix, b" "]),
            (true, false) => put(text, &[b"{\"", name, suffix, b"\",", labels, b"} "]),
            (true, true) => put(text, &[b"{\"", name, suffix, b"\"} "]),
        }
    }

    /// Writes name and labels of the only sample of a series, and the blank behind them. Returns
    /// where the labels of the series stand in the text.
    #[inline]
    fn only_sample(&mut self, series: &dyn Series) -> Range<usize> {
        self.describe();
        let Text { written: text, metric, names, .. } = self;
        text.extend_from_slice(&metric.heads[0]);
        let begin = text.len();
        names.push_all(text, metric.first_label_at(begin), series);
        let end = text.len();
        self.end_labels(begin == end);
        begin..end
    }

    /// Ends the labels of a line that began with one of the heads.
    #[inline]
    fn end_labels(&mut self, is_without_own: bool) {
        let Metric { labels, is_quoted, .. } = &self.metric;
        if is_without_own && labels.is_empty() && !is_quoted {
            self.written.pop(); // the brace
        } else {
            self.written.push(b'}');
        }
        self.written.push(b' ');
    }

    /// Returns what stands before the bound of a bucket in its line.
    fn before_bound(&self) -> Vec<u8> {
        let Text { metric: Metric { name, is_quoted, .. }, labels, .. } = self;
        let mut text = Vec::with_capacity(name.len() + labels.len() + 24);
        match is_quoted {
            true => put(&mut text, &[b"{\"", name, b"_bucket\","]),
            false => put(&mut text, &[name, b"_bucket{"]),
        }
        put(&mut text, &[labels, if labels.is_empty() { b"le=\"" } else { b",le=\"" }]);
        text
    }

    /// Writes a number.
    fn number(&mut self, number: Number) {
        match number {
            Number::Unsigned(number) => push_unsigned(self.written, number),
            Number::Signed(number) => push_signed(self.written, number),
            Number::Real(number) => push_real(self.written, number),
        }
    }

    /// Writes a line with a number.
    fn line(&mut self, suffix: &[u8], number: Number) {
        self.series(suffix);
        self.number(number);
        self.written.push(b'\n');
    }

    /// Writes an exemplar, whose value is shown so, behind the number of a line.
    fn exemplar(&mut self, exemplar: Option<(f64, &Exemplar)>) {
        if let Some((value, exemplar)) = exemplar.filter(|_| self.dialect == Dialect::OpenMetrics) {
            self.written.extend_from_slice(b" # {");
            let ids = ids(exemplar.trace).map(|(name, id)| format!("{name}=\"{id}\""));
            self.written.extend_from_slice(ids.collect::<Vec<_>>().join(",").as_bytes());
            self.written.extend_from_slice(b"} ");
            push_real(self.written, value);
            self.written.push(b' ');
            push_time(self.written, exemplar.time);
        }
    }

    /// Writes the line with the start time of a counter or a histogram.
    fn created(&mut self, start: SystemTime) {
        if self.dialect == Dialect::OpenMetrics {
            self.series(b"_created");
            push_time(self.written, start);
            self.written.push(b'\n');
        }
    }
}

impl Writer for Text<'_> {
    /// With commas between them.
    type Labels = Vec<u8>;

    fn begin(&mut self, named: &Named, labels: &[(String, String)]) {
        let name = &named.escaped(self.escaping);
        let metric = &mut self.metric;
        metric.name.clear();
        metric.is_quoted = !NameKind::Metric.is_plain(name);
        push_quoted(&mut metric.name, name);
        metric.described = Some(Box::new(named.clone()));
        metric.labels.clear();
        for (position, (name, value)) in labels.iter().enumerate() {
            self.names.push(&mut metric.labels, 0, position, name, LabelValue::Text(value));
        }
        metric.heads = [named.kind.suffix(), "_created"].map(|suffix| metric.head(suffix));
    }

    fn labels(&mut self, series: &dyn Series, labels: &mut Vec<u8>) {
        labels.clear();
        self.names.push_all(labels, 0, series);
    }

    fn set_labels<'l>(&mut self, labels: &Vec<u8>, more: impl Iterator<Item = (&'l str, &'l str)>) {
        self.labels.clone_from(&self.metric.labels);
        if !self.labels.is_empty() && !labels.is_empty() {
            self.labels.push(b',');
        }
        self.labels.extend_from_slice(labels);
        for (position, (name, value)) in more.enumerate() {
            self.more.push(&mut self.labels, 0, position, name, LabelValue::Text(value));
        }
    }

    fn counter_of(
        &mut self,
        series: &dyn Series,
        total: Number,
        start: impl FnOnce() -> SystemTime,
        exemplar: Option<&Exemplar>,
    ) {
        let labels = self.only_sample(series);
        self.number(total);
        self.exemplar(exemplar.map(|exemplar| (exemplar.value as f64, exemplar)));
        self.written.push(b'\n');
        if self.dialect == Dialect::OpenMetrics {
            self.written.extend_from_slice(&self.metric.heads[1]);
            let is_without = labels.is_empty();
            self.written.extend_from_within(labels);
            self.end_labels(is_without);
            push_time(self.written, start());
            self.written.push(b'\n');
        }
    }

    fn gauge_of(&mut self, series: &dyn Series, number: Number) {
        self.only_sample(series);
        self.number(number);
        self.written.push(b'\n');
    }

    fn counter(&mut self, total: Number, start: SystemTime, exemplar: Option<&Exemplar>) {
        self.describe();
        self.series(b"_total");
        self.number(total);
        self.exemplar(exemplar.map(|exemplar| (exemplar.value as f64, exemplar)));
        self.written.push(b'\n');
        self.created(start);
    }

    fn gauge(&mut self, number: Number) {
        self.describe();
        self.line(b"", number);
    }

    fn histogram(
        &mut self,
        values: &Distribution,
        buckets: &Buckets,
        start: SystemTime,
        exemplars: &[Exemplar],
    ) {
        self.describe();
        let before = self.before_bound();
        self.bounds.rewind();
        buckets.each_with(values, exemplars, |bound, up_to, exemplar| {
            put(self.written, &[&before, self.bounds.text(bound)]);
            push_unsigned(self.written, up_to);
            self.exemplar(exemplar.map(|exemplar| (buckets.shown(exemplar.value), exemplar)));
            self.written.push(b'\n');
        });
        self.line(b"_sum", Number::Real(buckets.shown(values.sum())));
        self.line(b"_count", Number::Unsigned(values.count()));
        self.created(start);
    }

    fn info(&mut self) {
        self.describe();
        self.set_labels(&Vec::new(), std::iter::empty());
        self.line(b"_info", Number::Unsigned(1));
    }
}

impl Metric {
    /// Returns what stands before the labels of a series, in lines of samples with this suffix.
    fn head(&self, suffix: &str) -> Vec<u8> {
        let Metric { name, is_quoted, labels, .. } = self;
        let (mut head, suffix) = (Vec::new(), suffix.as_bytes());
        match (*is_quoted, labels.is_empty()) {
            (false, _) => put(&mut head, &[name, suffix, b"{", labels]),
            (true, true) => put(&mut head, &[b"{\"", name, suffix, b"\""]),
            (true, false) => put(&mut head, &[b"{\"", name, suffix, b"\",", labels]),
        }
        head
    }

    /// Returns the place of a label that has no comma before it, where one may begin at `here`.
    #[inline]
    fn first_label_at(&self, here: usize) -> usize {
        if self.is_quoted || !self.labels.is_empty() { usize::MAX } else { here }
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
