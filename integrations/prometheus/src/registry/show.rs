//! Writing the samples of a series.

use std::fmt;

use prometheus_client::encoding::{
    EncodeLabel, EncodeLabelSet, LabelSetEncoder, MetricEncoder, NativeHistogram,
    NativeHistogramBuckets, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use windrow::export::{Part, Reading, Sample, Series, Value};
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::buckets::Buckets;
use crate::described::{Shown, Type};

/// Returns the type of a metric as `prometheus-client` names it.
pub(crate) const fn metric_type(kind: Type) -> MetricType {
    match kind {
        Type::Counter => MetricType::Counter,
        Type::Gauge => MetricType::Gauge,
        Type::Histogram => MetricType::Histogram,
        Type::Info => MetricType::Info,
    }
}

/// The labels of a series.
pub(crate) trait Pairs {
    /// Returns whether there is a label.
    fn any(&self) -> bool;

    /// Calls `see` with each label.
    fn each(&self, see: &mut dyn FnMut(&str, LabelValue<'_>));
}

/// The labels of a series that is being visited.
pub(crate) struct Visited<'s> {
    pub(crate) series: &'s dyn Series,
    /// True if the source's series have labels.
    pub(crate) is_labelled: bool,
}

impl Pairs for Visited<'_> {
    fn any(&self) -> bool {
        let mut any = self.is_labelled;
        if !any {
            self.series.labels(&mut |_, _| any = true);
        }
        any
    }

    fn each(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.series.labels(see);
    }
}

/// Labels that were copied: names and values.
pub(crate) struct Kept(Vec<(String, String)>);

impl Kept {
    const NONE: Kept = Kept(Vec::new());

    pub(crate) fn of(series: &dyn Series) -> Kept {
        let mut pairs = Vec::new();
        series.labels(&mut |name, value| pairs.push((name.to_owned(), value.to_string())));
        Kept(pairs)
    }
}

impl Pairs for Kept {
    fn any(&self) -> bool {
        !self.0.is_empty()
    }

    fn each(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.0.iter().for_each(|(name, value)| see(name, LabelValue::Text(value)));
    }
}

/// Writes the samples of a metric.
pub(crate) fn write<P: Pairs>(
    reading: &Reading,
    shown: &Shown,
    pairs: &P,
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

/// Writes the one number of a series.
pub(crate) fn write_number(
    value: Value<'_>,
    pairs: &Visited<'_>,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    if pairs.any() {
        let labelled = Labelled { pairs, more: std::iter::empty };
        write_value(value, &Buckets::DEFAULT, &mut encoder.encode_family(&labelled)?)
    } else {
        write_value(value, &Buckets::DEFAULT, encoder)
    }
}

/// Writes the samples of a part as they are, without labels of a series.
pub(crate) fn write_plain(
    reading: &Reading,
    part: &Part,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    let mut written = Ok(());
    reading.samples(part, &mut |sample| {
        if written.is_ok() {
            let buckets = &Buckets::DEFAULT;
            written = write_sample(&sample, sample.value, &Kept::NONE, buckets, encoder);
        }
    });
    written
}

fn write_sample<P: Pairs>(
    sample: &Sample<'_>,
    value: Value<'_>,
    pairs: &P,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    if sample.labels().next().is_none() && !pairs.any() {
        return write_value(value, buckets, encoder);
    }
    let labelled = Labelled { pairs, more: || sample.labels() };
    write_value(value, buckets, &mut encoder.encode_family(&labelled)?)
}

fn write_value(
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

/// All labels of a sample.
struct Labelled<'s, P, M> {
    pairs: &'s P,
    /// Returns those beside the labels of the series.
    more: M,
}

impl<P, M, I> EncodeLabelSet for Labelled<'_, P, M>
where
    P: Pairs,
    M: Fn() -> I,
    I: Iterator<Item = (&'static str, &'static str)>,
{
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let mut written = Ok(());
        self.pairs.each(&mut |name, value| {
            if written.is_ok() {
                written = encode_label(name, value, encoder);
            }
        });
        written?;
        (self.more)().try_for_each(|label| label.encode(encoder.encode_label()))
    }
}

fn encode_label(
    name: &str,
    value: LabelValue<'_>,
    encoder: &mut LabelSetEncoder<'_>,
) -> fmt::Result {
    let label = encoder.encode_label();
    match value {
        LabelValue::Text(text) => (name, text).encode(label),
        LabelValue::Unsigned(number) => (name, number).encode(label),
        LabelValue::Signed(number) => (name, number).encode(label),
        LabelValue::Short(text) => (name, &*text).encode(label),
        other => (name, other.to_string()).encode(label),
    }
}
