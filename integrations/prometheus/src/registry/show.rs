//! Writing the samples of a series.

use std::fmt;

use prometheus_client::encoding::{
    EncodeLabel, EncodeLabelSet, LabelSetEncoder, MetricEncoder, NativeHistogram,
    NativeHistogramBuckets, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use windrow::export::{Reading, Sample, Value};
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::buckets::Buckets;
use crate::described::{Shown, Type};

/// Returns the type of a metric as `prometheus-client` names it.
pub(crate) fn metric_type(kind: Type) -> MetricType {
    match kind {
        Type::Counter => MetricType::Counter,
        Type::Gauge => MetricType::Gauge,
        Type::Histogram => MetricType::Histogram,
        Type::Info => MetricType::Info,
    }
}

/// Calls a function with each label of a series.
pub(crate) type Pairs<'p> = &'p dyn Fn(&mut dyn FnMut(&str, LabelValue<'_>));

/// Writes the samples of a metric.
pub(crate) fn write(
    reading: &Reading,
    shown: &Shown,
    pairs: Pairs<'_>,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    let mut written = Ok(());
    shown.samples(reading, &mut |sample, value, buckets| {
        if written.is_ok() {
            written = write_sample(sample, value, pairs, buckets, encoder);
        }
    });
    written
}

fn write_sample(
    sample: &Sample<'_>,
    value: Value<'_>,
    pairs: Pairs<'_>,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    let mut has_labels = sample.labels().next().is_some();
    pairs(&mut |_, _| has_labels = true);
    if has_labels {
        write_value(value, buckets, &mut encoder.encode_family(&Labelled { pairs, sample })?)
    } else {
        write_value(value, buckets, encoder)
    }
}

/// The labels of a sample: those of its series, and its own.
struct Labelled<'s> {
    pairs: Pairs<'s>,
    sample: &'s Sample<'s>,
}

impl EncodeLabelSet for Labelled<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let mut written = Ok(());
        (self.pairs)(&mut |name, value| {
            if written.is_ok() {
                let label = encoder.encode_label();
                written = match value {
                    LabelValue::Text(text) => (name, text).encode(label),
                    LabelValue::Unsigned(number) => (name, number).encode(label),
                    other => (name, other.to_string()).encode(label),
                };
            }
        });
        written?;
        self.sample.labels().try_for_each(|label| label.encode(encoder.encode_label()))
    }
}

/// Writes the number or the histogram of a sample.
pub(crate) fn write_value(
    value: Value<'_>,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    match value {
        Value::Count(count) => encoder.encode_counter::<NoLabelSet, _, u64>(&count, None),
        Value::RealTotal(total) => encoder.encode_counter::<NoLabelSet, _, f64>(&total, None),
        Value::Unsigned(number) => encoder.encode_gauge(&number),
        Value::Signed(number) => encoder.encode_gauge(&number),
        Value::Real(number) => encoder.encode_gauge(&number),
        Value::Distribution(values) => write_histogram(values, buckets, encoder),
    }
}

fn write_histogram(
    values: &Distribution,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    let (sum, count) = (buckets.shown(values.sum()), values.count());
    let (mut classic, mut before) = (Vec::new(), 0_u64);
    buckets.each(values, |bound, up_to| {
        classic.push((bound, up_to.wrapping_sub(before)));
        before = up_to;
    });
    let Some(native) = buckets.native(values) else {
        return encoder.encode_histogram::<NoLabelSet>(sum, count, &classic, None);
    };
    let native = NativeHistogram {
        schema: native.schema,
        zero_threshold: native.zero_threshold,
        zero_count: native.zero_count,
        negative: NativeHistogramBuckets { spans: &[], deltas: &[] },
        positive: NativeHistogramBuckets { spans: &native.spans, deltas: &native.deltas },
        created: None,
    };
    encoder.encode_histogram_with_native::<NoLabelSet>(sum, count, &classic, None, native)
}
