//! Reading sources into a writer: metric by metric, because the samples of a name stand together.

use std::time::SystemTime;

use windrow::exemplar::Exemplar;
use windrow::export::{Reading, Series, StartTimes, Value};

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
    /// Begins a metric whose series all have these labels. It is written with its first sample.
    fn begin(&mut self, named: &Named, labels: &[(String, String)]);

    /// Appends the labels of a series, in the form in which they are written.
    fn push_labels(&mut self, series: &dyn Series, labels: &mut Vec<u8>);

    /// Sets the labels of the next sample: those of a series, and more.
    fn set_labels<'l>(&mut self, labels: &[u8], more: impl Iterator<Item = (&'l str, &'l str)>);

    /// Writes a sample: a counter or a histogram with its start time and its exemplars, which are
    /// in the order of their values; or a gauge.
    fn sample(
        &mut self,
        value: Value<'_>,
        buckets: &Buckets,
        start: SystemTime,
        exemplars: &[Exemplar],
    );

    /// Returns what was written.
    fn finish(self) -> Vec<u8>;
}

/// Writes all samples of a source. Each series is read once: its samples are of one moment.
pub(crate) fn collect(registered: &Registered, writer: &mut impl Writer) {
    let Described { source, outline, parts, uses } = &registered.described;
    let read = |series: &dyn Series| {
        let metric = series.metric();
        (registered.starts.of(series, metric), metric.read())
    };
    if let [shown] = &parts[..] {
        // A series is read, written and released while it is in the processor's cache.
        writer.begin(&shown.named, &registered.labels);
        let mut labels = Vec::new();
        source.visit(&mut |series| {
            labels.clear();
            writer.push_labels(series, &mut labels);
            let (start, reading) = read(series);
            write(writer, shown, &labels, &reading, start);
        });
    } else {
        let mut all = Vec::new();
        source.visit(&mut |series| {
            let mut labels = Vec::new();
            writer.push_labels(series, &mut labels);
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
        write_one(writer, named, &registered.labels, Value::Count(uses), registered.since);
    }
}

/// Writes a metric of one sample, without labels of a series.
pub(crate) fn write_one(
    writer: &mut impl Writer,
    named: &Named,
    labels: &[(String, String)],
    value: Value<'_>,
    start: SystemTime,
) {
    writer.begin(named, labels);
    writer.set_labels(&[], std::iter::empty());
    writer.sample(value, &Buckets::DEFAULT, start, &[]);
}

/// Writes the samples of a metric.
fn write(
    writer: &mut impl Writer,
    shown: &Shown,
    labels: &[u8],
    reading: &Reading,
    start: SystemTime,
) {
    shown.samples(reading, &mut |sample, value, buckets| {
        writer.set_labels(labels, sample.labels());
        writer.sample(value, buckets, start, sample.exemplars);
    });
}
