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

/// A writer of a format. The samples that it is given are those of the metric that began last, and
/// of the series whose labels were set last.
pub(crate) trait Writer {
    /// Begins a metric whose series all have these labels, and sets them. It is written with its
    /// first sample.
    fn begin(&mut self, named: &Named, labels: &[(String, String)]);

    /// Sets the labels of a series.
    fn set_series(&mut self, series: &dyn Series);

    /// Returns the labels that are set, in the form in which they are written.
    fn labels(&self) -> &[u8];

    /// Sets labels that another metric of the same source had.
    fn set_labels(&mut self, labels: &[u8]);

    /// Writes a sample, which may have more labels: a counter or a histogram with its start time
    /// and its exemplars, which are in the order of their values; or a gauge.
    fn sample<'l>(
        &mut self,
        more: impl Iterator<Item = (&'l str, &'l str)>,
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
    if let Some((first, others)) = parts.split_first() {
        writer.begin(&first.named, &registered.labels);
        let mut all = Vec::new();
        source.visit(&mut |series| {
            writer.set_series(series);
            let metric = series.metric();
            let (start, reading) = (registered.starts.of(series, metric), metric.read());
            write(writer, first, &reading, start);
            if !others.is_empty() {
                all.push((writer.labels().to_owned(), reading, start));
            }
        });
        for shown in others {
            writer.begin(&shown.named, &registered.labels);
            for (labels, reading, start) in &all {
                writer.set_labels(labels);
                write(writer, shown, reading, *start);
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
    writer.sample(std::iter::empty(), value, &Buckets::DEFAULT, start, &[]);
}

/// Writes the samples of a metric.
fn write(writer: &mut impl Writer, shown: &Shown, reading: &Reading, start: SystemTime) {
    shown.samples(reading, &mut |sample, value, buckets| {
        writer.sample(sample.labels(), value, buckets, start, sample.exemplars);
    });
}
