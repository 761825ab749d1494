//! Reading sources into a writer: metric by metric, because the samples of a name stand together.

use std::time::SystemTime;

use windrow::exemplar::Exemplar;
use windrow::export::{AnyMetric, Reading, Series, StartTimes, Value};
use windrow::histogram::Distribution;

use crate::buckets::Buckets;
use crate::described::{Described, Named, Shown};

/// Labels that all series of a metric have.
pub(crate) type Labels = Vec<(String, String)>;

/// A source that is registered.
pub(crate) struct Registered {
    pub(crate) described: Described,
    pub(crate) labels: Labels,
    /// The time since which the uses of its overflow series count.
    pub(crate) since: SystemTime,
    pub(crate) starts: StartTimes,
}

/// A writer of a format. The samples that it is given are those of the metric that began last.
pub(crate) trait Writer {
    /// The labels of a series, in the form in which they are written.
    type Labels: Default;

    /// Begins a metric whose series all have these labels. It is written with its first sample.
    fn begin(&mut self, named: &Named, labels: &[(String, String)]);

    /// Puts the labels of a series in the place of others.
    fn labels(&mut self, series: &dyn Series, labels: &mut Self::Labels);

    /// Sets the labels of the next sample: those of a series, and more.
    fn set_labels<'l>(
        &mut self,
        labels: &Self::Labels,
        more: impl Iterator<Item = (&'l str, &'l str)>,
    );

    /// Writes the one sample of a series: a counter, with its start time and its exemplar.
    fn counter_of(
        &mut self,
        series: &dyn Series,
        total: Number,
        start: impl FnOnce() -> SystemTime,
        exemplar: Option<&Exemplar>,
    );

    /// Writes the one sample of a series: a gauge.
    fn gauge_of(&mut self, series: &dyn Series, number: Number);

    /// Writes a counter, with its start time and its exemplar.
    fn counter(&mut self, total: Number, start: SystemTime, exemplar: Option<&Exemplar>);

    /// Writes a gauge.
    fn gauge(&mut self, number: Number);

    /// Writes a histogram, with its start time and its exemplars in the order of their values.
    fn histogram(
        &mut self,
        values: &Distribution,
        buckets: &Buckets,
        start: SystemTime,
        exemplars: &[Exemplar],
    );

    /// Writes an info, whose labels are those of its metric.
    fn info(&mut self);
}

/// The number of a counter or a gauge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Unsigned(u64),
    Signed(i64),
    Real(f64),
}

impl Number {
    /// Returns the nearest double.
    #[cfg(feature = "protobuf")]
    pub(crate) fn double(self) -> f64 {
        match self {
            Number::Unsigned(number) => number as f64,
            Number::Signed(number) => number as f64,
            Number::Real(number) => number,
        }
    }
}

/// Writes all samples of a source. Each series is read once: its samples are of one moment.
pub(crate) fn collect<W: Writer>(registered: &Registered, writer: &mut W) {
    let Described { source, outline, parts, uses } = &registered.described;
    let read = |series: &dyn Series| {
        let metric = series.metric();
        (registered.starts.of(series, metric), metric.read())
    };
    if let [shown] = &parts[..]
        && let Some(buckets) = shown.of_one_number(outline.form)
    {
        writer.begin(&shown.named, &registered.labels);
        source.visit(&mut |series| number(registered, writer, shown, buckets, series));
    } else if let [shown] = &parts[..] {
        // A series is read, written and released while it is in the processor's cache.
        writer.begin(&shown.named, &registered.labels);
        let mut labels = W::Labels::default();
        source.visit(&mut |series| {
            writer.labels(series, &mut labels);
            let (start, reading) = read(series);
            write(writer, shown, &labels, &reading, start);
        });
    } else {
        let mut all = Vec::new();
        source.visit(&mut |series| {
            let mut labels = W::Labels::default();
            writer.labels(series, &mut labels);
            all.push((labels, read(series)));
        });
        for shown in parts {
            writer.begin(&shown.named, &registered.labels);
            for (labels, (start, reading)) in &all {
                write(writer, shown, labels, reading, *start);
            }
        }
    }
    if !outline.series_return {
        registered.starts.forget_removed();
    }
    if let Some((named, uses)) = uses.as_ref().zip(source.refused()) {
        writer.begin(named, &registered.labels);
        writer.set_labels(&W::Labels::default(), std::iter::empty());
        writer.counter(Number::Unsigned(uses), registered.since, None);
    }
}

/// Writes a series whose metric has one number: without a [`Reading`], since there are many.
fn number<W: Writer>(
    registered: &Registered,
    writer: &mut W,
    shown: &Shown,
    buckets: &Buckets,
    series: &dyn Series,
) {
    let metric = series.metric();
    // Before the number, so that it is counted there.
    let exemplar = match metric {
        AnyMetric::Counter(counter) => counter.exemplar(),
        _ => None,
    };
    let Some(value) = metric.number() else { return };
    let start = || registered.starts.of(series, metric);
    match shown.number(value, buckets) {
        Value::Count(count) => {
            writer.counter_of(series, Number::Unsigned(count), start, exemplar.as_ref());
        }
        Value::RealTotal(total) => writer.counter_of(series, Number::Real(total), start, None),
        Value::Unsigned(number) => writer.gauge_of(series, Number::Unsigned(number)),
        Value::Signed(number) => writer.gauge_of(series, Number::Signed(number)),
        Value::Real(number) => writer.gauge_of(series, Number::Real(number)),
        Value::Distribution(_) => {} // not a number
    }
}

/// Writes the samples of a metric.
fn write<W: Writer>(
    writer: &mut W,
    shown: &Shown,
    labels: &W::Labels,
    reading: &Reading,
    start: SystemTime,
) {
    shown.samples(reading, &mut |sample, value, buckets| {
        writer.set_labels(labels, sample.labels());
        match value {
            Value::Count(count) => {
                writer.counter(Number::Unsigned(count), start, sample.exemplars.last());
            }
            Value::RealTotal(total) => writer.counter(Number::Real(total), start, None),
            Value::Unsigned(number) => writer.gauge(Number::Unsigned(number)),
            Value::Signed(number) => writer.gauge(Number::Signed(number)),
            Value::Real(number) => writer.gauge(Number::Real(number)),
            Value::Distribution(values) => {
                writer.histogram(values, buckets, start, sample.exemplars);
            }
        }
    });
}
