//! Writing the samples of a series.

use std::fmt;

use prometheus_client::encoding::{
    EncodeLabel, EncodeLabelSet, LabelSetEncoder, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use windrow::export::{Part, PartKind, Reading, Sample, Series, Value};
use windrow::labels::LabelValue;

use crate::buckets::Buckets;

/// Returns Prometheus' type of a part.
pub(crate) const fn metric_type(kind: PartKind) -> MetricType {
    match kind {
        PartKind::Counter => MetricType::Counter,
        PartKind::Level | PartKind::Gauge | PartKind::RealGauge => MetricType::Gauge,
        PartKind::Histogram => MetricType::Histogram,
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
}

impl Pairs for Visited<'_> {
    fn any(&self) -> bool {
        let mut any = false;
        self.series.labels(&mut |_, _| any = true);
        any
    }

    fn each(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.series.labels(see);
    }
}

/// Labels that were copied: names and values.
pub(crate) struct Kept(Vec<(String, String)>);

impl Kept {
    pub(crate) const NONE: Kept = Kept(Vec::new());

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

/// Writes the samples of a part.
pub(crate) fn write<P: Pairs>(
    reading: &Reading,
    part: &Part,
    pairs: &P,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    let mut written = Ok(());
    reading.samples(part, &mut |sample| {
        if written.is_ok() {
            written = write_sample(&sample, pairs, buckets, encoder);
        }
    });
    written
}

fn write_sample<P: Pairs>(
    sample: &Sample<'_>,
    pairs: &P,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    if sample.labels().next().is_none() && !pairs.any() {
        return write_value(sample.value, buckets, encoder);
    }
    write_value(sample.value, buckets, &mut encoder.encode_family(&Labelled { pairs, sample })?)
}

fn write_value(
    value: Value<'_>,
    buckets: &Buckets,
    encoder: &mut MetricEncoder<'_>,
) -> fmt::Result {
    match value {
        Value::Count(count) => encoder.encode_counter::<NoLabelSet, _, u64>(&count, None),
        Value::Unsigned(number) => encoder.encode_gauge(&number),
        Value::Signed(number) => encoder.encode_gauge(&number),
        Value::Real(number) => encoder.encode_gauge(&number),
        Value::Distribution(values) => buckets.encode(values, encoder),
    }
}

/// All labels of a sample.
struct Labelled<'s, 'r, P> {
    pairs: &'s P,
    sample: &'s Sample<'r>,
}

impl<P: Pairs> EncodeLabelSet for Labelled<'_, '_, P> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let mut written = Ok(());
        self.pairs.each(&mut |name, value| {
            if written.is_ok() {
                written = encode_label(name, value, encoder);
            }
        });
        written?;
        self.sample.labels().try_for_each(|label| label.encode(encoder.encode_label()))
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
        LabelValue::Short(text) => (name, text.as_str()).encode(label),
        other => (name, other.to_string()).encode(label),
    }
}
