//! Prometheus' protobuf.

use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};
use windrow::exemplar::Exemplar;
use windrow::export::{Series, Value};
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::buckets::Buckets;
use crate::collect::Writer;
use crate::described::{Named, Type};
use crate::escaping::{Escaping, NameKind};
use crate::exemplars::ids;
use message::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};

pub(crate) mod message;

/// Writes messages `MetricFamily`, each with its length before it.
///
/// A family is put together as bytes: labels are written to them from where they are.
pub(crate) struct Protobuf {
    written: Vec<u8>,
    escaping: Escaping,
    /// The metric that began last, without its samples.
    family: MetricFamily,
    /// The samples so far.
    samples: Vec<u8>,
    /// The labels of all its series.
    common: Vec<u8>,
    /// The labels of the next sample.
    labels: Vec<u8>,
}

/// The tags of fields that are written without a message of their own.
const METRIC: u32 = 4;
const LABEL: u32 = 1;
const LABEL_NAME: u32 = 1;
const LABEL_VALUE: u32 = 2;

impl Protobuf {
    /// Makes a writer to an empty vector.
    pub(crate) fn new(samples: Vec<u8>, escaping: Escaping) -> Protobuf {
        let family = MetricFamily::default();
        let [written, common, labels] = [(); 3].map(|()| Vec::new());
        Protobuf { written, escaping, family, samples, common, labels }
    }

    /// Writes the metric, if it has samples.
    fn write(&mut self) {
        if self.samples.is_empty() {
            return;
        }
        let mut head = Vec::new();
        let length = self.family.encoded_len() + self.samples.len();
        encode_varint(length as u64, &mut head);
        self.family.encode_raw(&mut head);
        if self.written.is_empty() {
            // The greatest of most programs' metrics is alone, so its samples stay where they are.
            self.samples.splice(..0, head);
            self.written = std::mem::take(&mut self.samples);
        } else {
            self.written.append(&mut head);
            self.written.append(&mut self.samples);
        }
    }

    /// Begins a metric whose samples have this name, without labels that all its series have.
    pub(crate) fn begin_as(&mut self, name: &str, help: &str, unit: &str, kind: MetricType) {
        self.write();
        self.family.name = self.escaping.name(NameKind::Metric, name).into_owned();
        help.clone_into(&mut self.family.help);
        unit.clone_into(&mut self.family.unit);
        self.family.r#type = Some(kind.into());
        self.common.clear();
    }

    /// Adds labels to those that are set.
    pub(crate) fn push_pairs<'l>(&mut self, pairs: impl Iterator<Item = (&'l str, &'l str)>) {
        for (name, value) in pairs {
            push_label(&mut self.labels, self.escaping, name, value);
        }
    }

    /// Adds a counter's sample.
    pub(crate) fn count(
        &mut self,
        total: f64,
        start: Option<SystemTime>,
        exemplar: Option<&Exemplar>,
    ) {
        let exemplar = exemplar.map(|exemplar| message_of(exemplar, exemplar.value as f64));
        let created_timestamp = start.and_then(timestamp);
        let counter = Counter { value: Some(total), exemplar, created_timestamp };
        self.put(&Metric { counter: Some(counter), ..Metric::default() });
    }

    /// Adds a gauge's sample.
    pub(crate) fn gauge(&mut self, number: f64) {
        let gauge = Gauge { value: Some(number) };
        self.put(&Metric { gauge: Some(gauge), ..Metric::default() });
    }

    /// Adds a histogram's sample.
    pub(crate) fn put_histogram(&mut self, histogram: Histogram) {
        self.put(&Metric { histogram: Some(histogram), ..Metric::default() });
    }

    /// Adds a sample with the labels that were set.
    fn put(&mut self, metric: &Metric) {
        begin(METRIC, self.labels.len() + metric.encoded_len(), &mut self.samples);
        self.samples.extend_from_slice(&self.labels);
        metric.encode_raw(&mut self.samples);
    }
}

/// Appends the key and the length of a field; its content comes next.
fn begin(tag: u32, length: usize, to: &mut Vec<u8>) {
    if length < 0x80 && tag < 0x10 {
        to.extend_from_slice(&[(tag << 3) as u8 | WireType::LengthDelimited as u8, length as u8]);
    } else {
        encode_key(tag, WireType::LengthDelimited, to);
        encode_varint(length as u64, to);
    }
}

/// Appends a message `LabelPair`.
fn push_label(labels: &mut Vec<u8>, escaping: Escaping, name: &str, value: &str) {
    let name = escaping.name(NameKind::Label, name);
    let length =
        |tag, text: &str| key_len(tag) + encoded_len_varint(text.len() as u64) + text.len();
    begin(LABEL, length(LABEL_NAME, &name) + length(LABEL_VALUE, value), labels);
    for (tag, text) in [(LABEL_NAME, &*name), (LABEL_VALUE, value)] {
        begin(tag, text.len(), labels);
        labels.extend_from_slice(text.as_bytes());
    }
}

impl Writer for Protobuf {
    fn begin(&mut self, named: &Named, labels: &[(String, String)]) {
        let name = format!("{}{}", named.name, named.kind.suffix());
        let kind = match named.kind {
            Type::Counter => MetricType::Counter,
            Type::Gauge | Type::Info => MetricType::Gauge,
            Type::Histogram => MetricType::Histogram,
        };
        self.begin_as(&name, &named.help, &named.unit, kind);
        for (name, value) in labels {
            push_label(&mut self.common, self.escaping, name, value);
        }
        self.labels.clone_from(&self.common);
    }

    fn set_series(&mut self, series: &dyn Series) {
        self.labels.clone_from(&self.common);
        series.labels(&mut |name, value| match value {
            LabelValue::Text(text) => push_label(&mut self.labels, self.escaping, name, text),
            other => push_label(&mut self.labels, self.escaping, name, &other.to_string()),
        });
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
        let own = self.labels.len();
        self.push_pairs(more);
        match value {
            Value::Count(total) => self.count(total as f64, Some(start), exemplars.last()),
            Value::RealTotal(total) => self.count(total, Some(start), None),
            Value::Unsigned(number) => self.gauge(number as f64),
            Value::Signed(number) => self.gauge(number as f64),
            Value::Real(number) => self.gauge(number),
            Value::Distribution(values) => {
                self.put_histogram(histogram(values, buckets, start, exemplars));
            }
        }
        self.labels.truncate(own);
    }

    fn finish(mut self) -> Vec<u8> {
        self.write();
        self.written
    }
}

fn histogram(
    values: &Distribution,
    buckets: &Buckets,
    start: SystemTime,
    exemplars: &[Exemplar],
) -> Histogram {
    let message = |of: &Exemplar| message_of(of, buckets.shown(of.value));
    let mut histogram = Histogram {
        sample_count: Some(values.count()),
        sample_sum: Some(buckets.shown(values.sum())),
        created_timestamp: timestamp(start),
        ..Histogram::default()
    };
    buckets.each_with(values, exemplars, |bound, up_to, exemplar| {
        let (cumulative_count, upper_bound) = (Some(up_to), Some(bound));
        let exemplar = exemplar.map(message);
        histogram.bucket.push(Bucket { cumulative_count, upper_bound, exemplar });
    });
    if let Some(native) = buckets.native(values) {
        histogram.set_native(native);
        let mut by_time: Vec<&Exemplar> = exemplars.iter().collect();
        by_time.sort_by_key(|exemplar| exemplar.time);
        histogram.exemplars = by_time.into_iter().map(message).collect();
    }
    histogram
}

/// Returns the message of an exemplar, whose value is shown so.
fn message_of(exemplar: &Exemplar, value: f64) -> message::Exemplar {
    let pair = |(name, value): (&str, String)| LabelPair { name: name.to_owned(), value };
    message::Exemplar {
        label: ids(exemplar.trace).map(pair).collect(),
        value: Some(value),
        timestamp: timestamp(exemplar.time),
    }
}

/// Returns a time; `None` for one before 1970.
fn timestamp(time: SystemTime) -> Option<message::Timestamp> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    let seconds = since.as_secs().try_into().ok()?;
    Some(message::Timestamp { seconds, nanos: since.subsec_nanos().cast_signed() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels, which are written byte by byte, are those of prost.
    #[test]
    fn labels_are_those_of_the_messages() {
        let push = |name: &str, value: &str| {
            let mut labels = Vec::new();
            push_label(&mut labels, Escaping::AllowUtf8, name, value);
            labels
        };
        for length in [1, 59, 60, 127, 128, 1_000, 20_000] {
            let (name, value) = ("n".repeat(length.min(300)), "v".repeat(length));
            let ours = push(&name, &value);
            let mut theirs = Vec::new();
            prost::encoding::message::encode(LABEL, &LabelPair { name, value }, &mut theirs);
            assert_eq!(ours, theirs);
        }
        assert_eq!(push("n", ""), [10, 5, 10, 1, b'n', 18, 0]); // prost would leave the value out
    }
}
