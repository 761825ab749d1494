//! Prometheus' protobuf.

use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;
use windrow::export::Series;
use windrow::histogram::Distribution;

use crate::buckets::Buckets;
use crate::collect::{Number, Writer};
use crate::described::{Named, Type};
use crate::escaping::{Escaping, NameKind};
use message::{
    Bucket, BucketSpan, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType,
    Timestamp,
};

mod message;

/// Writes messages `MetricFamily`, each with its length before it.
pub(crate) struct Protobuf {
    written: Vec<u8>,
    escaping: Escaping,
    /// The metric that began last, with the samples so far.
    family: MetricFamily,
    /// The labels of all its series.
    common: Vec<LabelPair>,
    /// The labels of the next sample.
    labels: Vec<LabelPair>,
}

impl Protobuf {
    pub(crate) fn new(escaping: Escaping) -> Protobuf {
        Protobuf {
            written: Vec::new(),
            escaping,
            family: MetricFamily::default(),
            common: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Returns the messages.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.write();
        self.written
    }

    /// Writes the metric, if it has samples.
    fn write(&mut self) {
        if !self.family.metric.is_empty() {
            let encoded = self.family.encode_length_delimited(&mut self.written);
            encoded.expect("a vector grows");
            self.family.metric.clear();
        }
    }

    fn put(&mut self, metric: Metric) {
        let label = std::mem::take(&mut self.labels);
        self.family.metric.push(Metric { label, ..metric });
    }

    fn pair(&self, name: &str, value: String) -> LabelPair {
        let name = self.escaping.name(NameKind::Label, name).into_owned();
        LabelPair { name, value }
    }
}

impl Writer for Protobuf {
    type Labels = Vec<LabelPair>;

    fn begin(&mut self, named: &Named, labels: &[(String, String)]) {
        self.write();
        let name = format!("{}{}", named.name, named.kind.suffix());
        let kind = match named.kind {
            Type::Counter => MetricType::Counter,
            Type::Gauge | Type::Info => MetricType::Gauge,
            Type::Histogram => MetricType::Histogram,
        };
        self.family.name = self.escaping.name(NameKind::Metric, &name).into_owned();
        self.family.help.clone_from(&named.help);
        self.family.unit.clone_from(&named.unit);
        self.family.r#type = Some(kind.into());
        self.common = labels.iter().map(|(name, value)| self.pair(name, value.clone())).collect();
    }

    fn labels(&self, series: &dyn Series, labels: &mut Vec<LabelPair>) {
        labels.clear();
        series.labels(&mut |name, value| labels.push(self.pair(name, value.to_string())));
    }

    fn set_labels<'l>(
        &mut self,
        labels: &Vec<LabelPair>,
        more: impl Iterator<Item = (&'l str, &'l str)>,
    ) {
        self.labels = self.common.iter().chain(labels).cloned().collect();
        self.labels.extend(
            more.map(|(name, value)| LabelPair { name: name.to_owned(), value: value.to_owned() }),
        );
    }

    fn counter(&mut self, count: u64, start: SystemTime) {
        let counter = Counter { value: Some(count as f64), created_timestamp: timestamp(start) };
        self.put(Metric { counter: Some(counter), ..Metric::default() });
    }

    fn gauge(&mut self, number: Number) {
        let value = Some(match number {
            Number::Unsigned(number) => number as f64,
            Number::Signed(number) => number as f64,
            Number::Real(number) => number,
        });
        self.put(Metric { gauge: Some(Gauge { value }), ..Metric::default() });
    }

    fn histogram(&mut self, values: &Distribution, buckets: &Buckets, start: SystemTime) {
        let mut histogram = Histogram {
            sample_count: Some(values.count()),
            sample_sum: Some(buckets.shown(values.sum())),
            created_timestamp: timestamp(start),
            ..Histogram::default()
        };
        buckets.each(values, |bound, up_to| {
            let bucket = Bucket { cumulative_count: Some(up_to), upper_bound: Some(bound) };
            histogram.bucket.push(bucket);
        });
        if let Some(native) = buckets.native(values) {
            histogram.schema = Some(native.schema);
            histogram.zero_threshold = Some(native.zero_threshold);
            histogram.zero_count = Some(native.zero_count);
            let span = |(offset, length)| BucketSpan { offset: Some(offset), length: Some(length) };
            histogram.positive_span = native.spans.into_iter().map(span).collect();
            histogram.positive_delta = native.deltas;
        }
        self.put(Metric { histogram: Some(histogram), ..Metric::default() });
    }

    fn info(&mut self) {
        self.set_labels(&Vec::new(), std::iter::empty());
        self.gauge(Number::Unsigned(1));
    }
}

/// Returns a time; `None` for one before 1970.
fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    let seconds = since.as_secs().try_into().ok()?;
    Some(Timestamp { seconds, nanos: since.subsec_nanos().cast_signed() })
}
