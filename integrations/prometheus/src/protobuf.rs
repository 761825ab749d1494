//! Prometheus' protobuf.

use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};
use windrow::exemplar::Exemplar;
use windrow::export::Series;
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::buckets::Buckets;
use crate::collect::{Number, Writer};
use crate::described::{Named, Type};
use crate::escaping::{Escaping, NameKind};
use crate::exemplars::ids;
use crate::number::{push_signed, push_unsigned};
use message::{Bucket, Counter, Gauge, Histogram, LabelPair, MetricFamily, MetricType};

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
    /// The message of a sample, or the digits of a label, before they are written.
    scratch: Vec<u8>,
}

/// The tag of the field of `MetricFamily` that is written without a message of its own.
const METRIC: u32 = 4;

/// The tags of `Metric`.
const LABEL: u32 = 1;
const GAUGE: u32 = 2;
const COUNTER: u32 = 3;
pub(crate) const HISTOGRAM: u32 = 7;

/// The tags of `LabelPair`.
const LABEL_NAME: u32 = 1;
const LABEL_VALUE: u32 = 2;

impl Protobuf {
    /// Makes a writer, with room for this many bytes.
    pub(crate) fn new(escaping: Escaping, expected: usize) -> Protobuf {
        let family = MetricFamily::default();
        let [written, common, labels, scratch] = [(); 4].map(|()| Vec::new());
        let samples = Vec::with_capacity(expected);
        Protobuf { written, escaping, family, samples, common, labels, scratch }
    }

    /// Returns the messages.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.write();
        self.written
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

    /// Adds a counter's sample.
    pub(crate) fn count(
        &mut self,
        total: Number,
        start: Option<SystemTime>,
        exemplar: Option<&Exemplar>,
    ) {
        let exemplar = exemplar.map(|exemplar| message_of(exemplar, exemplar.value as f64));
        let (value, created_timestamp) = (Some(total.double()), start.and_then(timestamp));
        self.put(COUNTER, &Counter { value, exemplar, created_timestamp });
    }

    /// Sets the labels of the next sample: those of a series.
    fn set_series(&mut self, series: &dyn Series) {
        self.labels.clone_from(&self.common);
        push_all(&mut self.labels, &mut self.scratch, self.escaping, series);
    }

    /// Adds a sample with the labels that were set, whose message has this tag.
    pub(crate) fn put(&mut self, tag: u32, sample: &impl Message) {
        self.scratch.clear();
        sample.encode_raw(&mut self.scratch);
        let length = self.labels.len() + field_len(tag, &self.scratch);
        self.samples.reserve(16 + length);
        encode_key(METRIC, WireType::LengthDelimited, &mut self.samples);
        encode_varint(length as u64, &mut self.samples);
        self.samples.extend_from_slice(&self.labels);
        push_field(&mut self.samples, tag, &self.scratch);
    }
}

/// Appends a message `LabelPair`.
fn push_label(labels: &mut Vec<u8>, escaping: Escaping, name: &str, value: &[u8]) {
    let name = escaping.name(NameKind::Label, name);
    let name = name.as_bytes();
    if name.len().max(value.len()) < 60 {
        // Each length is one byte.
        let (of_name, of_value) = (name.len() as u8, value.len() as u8);
        let delimited = WireType::LengthDelimited as u8;
        labels.reserve(128);
        labels.extend_from_slice(&[
            (LABEL as u8) << 3 | delimited,
            of_name + of_value + 4,
            (LABEL_NAME as u8) << 3 | delimited,
            of_name,
        ]);
        labels.extend_from_slice(name);
        labels.extend_from_slice(&[(LABEL_VALUE as u8) << 3 | delimited, of_value]);
        labels.extend_from_slice(value);
        return;
    }
    let length = field_len(LABEL_NAME, name) + field_len(LABEL_VALUE, value);
    encode_key(LABEL, WireType::LengthDelimited, labels);
    encode_varint(length as u64, labels);
    push_field(labels, LABEL_NAME, name);
    push_field(labels, LABEL_VALUE, value);
}

/// Returns the length of a field of bytes.
fn field_len(tag: u32, bytes: &[u8]) -> usize {
    key_len(tag) + encoded_len_varint(bytes.len() as u64) + bytes.len()
}

/// Appends a field of bytes.
fn push_field(to: &mut Vec<u8>, tag: u32, bytes: &[u8]) {
    encode_key(tag, WireType::LengthDelimited, to);
    encode_varint(bytes.len() as u64, to);
    to.extend_from_slice(bytes);
}

/// Appends the labels of a series.
fn push_all(labels: &mut Vec<u8>, digits: &mut Vec<u8>, escaping: Escaping, series: &dyn Series) {
    series.labels(&mut |name, value| {
        digits.clear();
        match value {
            LabelValue::Text(text) => return push_label(labels, escaping, name, text.as_bytes()),
            LabelValue::Unsigned(number) => push_unsigned(digits, number),
            LabelValue::Signed(number) => push_signed(digits, number),
            other => *digits = other.to_string().into_bytes(),
        }
        push_label(labels, escaping, name, digits);
    });
}

impl Writer for Protobuf {
    /// Encoded.
    type Labels = Vec<u8>;

    fn begin(&mut self, named: &Named, labels: &[(String, String)]) {
        let name = format!("{}{}", named.name, named.kind.suffix());
        let kind = match named.kind {
            Type::Counter => MetricType::Counter,
            Type::Gauge | Type::Info => MetricType::Gauge,
            Type::Histogram => MetricType::Histogram,
        };
        self.begin_as(&name, &named.help, &named.unit, kind);
        for (name, value) in labels {
            push_label(&mut self.common, self.escaping, name, value.as_bytes());
        }
    }

    fn labels(&mut self, series: &dyn Series, labels: &mut Vec<u8>) {
        labels.clear();
        push_all(labels, &mut self.scratch, self.escaping, series);
    }

    fn set_labels<'l>(&mut self, labels: &Vec<u8>, more: impl Iterator<Item = (&'l str, &'l str)>) {
        self.labels.clone_from(&self.common);
        self.labels.extend_from_slice(labels);
        for (name, value) in more {
            push_label(&mut self.labels, self.escaping, name, value.as_bytes());
        }
    }

    fn counter_of(
        &mut self,
        series: &dyn Series,
        total: Number,
        start: impl FnOnce() -> SystemTime,
        exemplar: Option<&Exemplar>,
    ) {
        self.set_series(series);
        self.count(total, Some(start()), exemplar);
    }

    fn gauge_of(&mut self, series: &dyn Series, number: Number) {
        self.set_series(series);
        self.gauge(number);
    }

    fn counter(&mut self, total: Number, start: SystemTime, exemplar: Option<&Exemplar>) {
        self.count(total, Some(start), exemplar);
    }

    fn gauge(&mut self, number: Number) {
        self.put(GAUGE, &Gauge { value: Some(number.double()) });
    }

    fn histogram(
        &mut self,
        values: &Distribution,
        buckets: &Buckets,
        start: SystemTime,
        exemplars: &[Exemplar],
    ) {
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
        self.put(HISTOGRAM, &histogram);
    }

    fn info(&mut self) {
        self.set_labels(&Vec::new(), std::iter::empty());
        self.gauge(Number::Unsigned(1));
    }
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
    use std::time::Duration;

    use super::*;

    #[derive(Clone, PartialEq, Message)]
    struct Metric {
        #[prost(message, optional, tag = "2")]
        gauge: Option<Gauge>,
        #[prost(message, optional, tag = "3")]
        counter: Option<Counter>,
    }

    /// The samples are those of prost, and labels too, which are written byte by byte.
    #[test]
    fn counters_gauges_and_labels_are_those_of_the_messages() {
        let times = [(0, 0), (1, 0), (0, 1), (1_800_000_000, 999_999_999), (i64::MAX as u64, 5)];
        for number in [0.0, -0.0, 1.0, u64::MAX as f64, f64::NAN, f64::INFINITY, 5e-324] {
            let (value, mut writer) = (Some(number), Protobuf::new(Escaping::Underscores, 0));
            let mut expected = Vec::new();
            let mut expect = |metric: &Metric, labels: &[u8]| {
                encode_key(METRIC, WireType::LengthDelimited, &mut expected);
                encode_varint((labels.len() + metric.encoded_len()) as u64, &mut expected);
                expected.extend_from_slice(labels);
                metric.encode_raw(&mut expected);
            };
            for length in [1, 59, 60, 127, 128, 1_000, 20_000] {
                let (name, value) = ("n".repeat(length.min(300)), "v".repeat(length));
                writer.labels.clear();
                push_label(&mut writer.labels, Escaping::Underscores, &name, value.as_bytes());
                let mut labels = Vec::new();
                prost::encoding::message::encode(LABEL, &LabelPair { name, value }, &mut labels);
                assert_eq!(writer.labels, labels);
            }
            let mut empty = Vec::new();
            push_label(&mut empty, Escaping::Underscores, "n", b"");
            assert_eq!(empty, [10, 5, 10, 1, b'n', 18, 0]); // prost would leave the value out
            for (seconds, nanos) in times {
                let start = UNIX_EPOCH.checked_add(Duration::new(seconds, nanos));
                let created_timestamp = start.and_then(timestamp);
                let counter = Some(Counter { value, exemplar: None, created_timestamp });
                expect(&Metric { counter, gauge: None }, &writer.labels);
                writer.count(Number::Real(number), start, None);
            }
            expect(&Metric { gauge: Some(Gauge { value }), counter: None }, &writer.labels);
            writer.gauge(Number::Real(number));
            assert_eq!(writer.samples, expected);
        }
    }
}
