//! Writing the samples of a series.

use std::fmt;

use prometheus_client::encoding::{
    MetricEncoder, NativeHistogram, NativeHistogramBuckets, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use windrow::export::{Reading, Sample, Series, Value};
use windrow::histogram::Distribution;

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

/// The labels of a series: names and values.
pub(crate) type Pairs = Vec<(String, String)>;

/// Returns the labels of a series.
pub(crate) fn pairs(series: &dyn Series) -> Pairs {
    let mut pairs = Vec::new();
    series.labels(&mut |name, value| pairs.push((name.to_owned(), value.to_string())));
    pairs
}

/// Writes the samples of a metric.
pub(crate) fn write(
    reading: &Reading,
    shown: &Shown,
    pairs: &Pairs,
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
    pairs: &Pairs,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    let own = pairs.iter().map(|(name, value)| (&**name, &**value));
    let mut labels: Vec<(&str, &str)> = own.collect();
    sample.labels().for_each(|label| labels.push(label));
    if labels.is_empty() {
        return write_value(value, buckets, encoder);
    }
    write_value(value, buckets, &mut encoder.encode_family(&labels)?)
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
