//! The generated messages of a source, made as values: slowly, and in the plainest way.

use std::collections::HashMap;

use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Exemplar, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge,
    Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum, exemplar,
};
use windrow::exemplar::Exemplar as Kept;
use windrow::export::{Part, PartKind, Sample, Series, Value};
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::clock::nanos;
use crate::histograms::HistogramForm;
use crate::rules::Described;
use crate::temporality::Temporality;

/// Makes the messages that a first collection sends.
pub(super) struct Naive {
    pub(super) temporality: Temporality,
    pub(super) form: HistogramForm,
    /// The time of each metric's points.
    pub(super) times: HashMap<String, u64>,
    /// The start of the uses of an overflow series.
    pub(super) since: u64,
}

/// The times and the attributes of a point.
struct Frame {
    attributes: Vec<KeyValue>,
    start: u64,
    time: u64,
}

impl Naive {
    /// Returns the metrics of a source in the order in which their first points come.
    pub(super) fn metrics(&self, described: &Described) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Vec::new();
        let mut put = |index: usize, data: Data| {
            let name = described.name(index);
            let there = metrics.iter_mut().find(|metric| metric.name == name.full);
            match there {
                Some(metric) => append(metric.data.as_mut().unwrap(), data),
                None => metrics.push(Metric {
                    name: name.full.clone(),
                    description: name.description.clone(),
                    unit: name.unit.clone(),
                    data: Some(data),
                    ..Metric::default()
                }),
            }
        };
        described.source.visit(&mut |series| {
            let metric = series.metric();
            let start = nanos(described.starts.of(series, metric));
            let reading = metric.read();
            for (index, (part, name)) in described.parts.iter().enumerate() {
                reading.samples(part, &mut |sample| {
                    let mut attributes = labels(series);
                    let more = sample.labels().map(|(name, value)| text(name, value));
                    attributes.extend(more);
                    let time = self.times.get(&name.full).copied().unwrap_or_default();
                    if let Some(data) = self.data(part, &sample, Frame { attributes, start, time })
                    {
                        put(index, data);
                    }
                });
            }
        });
        if let Some((name, uses)) = described.uses.as_ref().zip(described.source.refused()) {
            let time = self.times.get(&name.full).copied().unwrap_or_default();
            let frame = Frame { attributes: Vec::new(), start: self.since, time };
            if self.temporality == Temporality::Cumulative || uses > 0 {
                put(described.parts.len(), self.sum(point(int(uses), frame, &[])));
            }
        }
        metrics
    }

    fn data(&self, part: &Part, sample: &Sample<'_>, frame: Frame) -> Option<Data> {
        let sends_zeros = self.temporality == Temporality::Cumulative;
        let level = |number: Number, frame: Frame| {
            if part.kind == PartKind::Level {
                Data::Sum(Sum {
                    data_points: vec![point(number, frame, &[])],
                    aggregation_temporality: AggregationTemporality::Cumulative.into(),
                    is_monotonic: false,
                })
            } else {
                let data_points = vec![point(number, Frame { start: 0, ..frame }, &[])];
                Data::Gauge(Gauge { data_points })
            }
        };
        let aggregation_temporality = self.aggregation();
        let is_zero = match sample.value {
            Value::Count(count) => count == 0,
            Value::RealTotal(total) => total == 0.0,
            Value::Distribution(values) => values.count() == 0,
            _ => false,
        };
        if is_zero && !sends_zeros {
            return None;
        }
        Some(match sample.value {
            Value::Count(count) => self.sum(point(int(count), frame, sample.exemplars)),
            Value::RealTotal(total) => self.sum(point(Number::AsDouble(total), frame, &[])),
            Value::Unsigned(number) => level(int(number), frame),
            Value::Signed(number) => level(Number::AsInt(number), frame),
            Value::Real(number) => level(Number::AsDouble(number), frame),
            Value::Distribution(values) => match self.form {
                HistogramForm::Exponential => {
                    let data_points = vec![exponential(values, frame, sample.exemplars)];
                    let message = ExponentialHistogram { data_points, aggregation_temporality };
                    Data::ExponentialHistogram(message)
                }
                HistogramForm::Octaves => {
                    let data_points = vec![octaves(values, frame, sample.exemplars)];
                    Data::Histogram(Histogram { data_points, aggregation_temporality })
                }
            },
        })
    }

    fn aggregation(&self) -> i32 {
        match self.temporality {
            Temporality::Cumulative => AggregationTemporality::Cumulative.into(),
            Temporality::Delta => AggregationTemporality::Delta.into(),
        }
    }

    fn sum(&self, point: NumberDataPoint) -> Data {
        let aggregation_temporality = self.aggregation();
        Data::Sum(Sum { data_points: vec![point], aggregation_temporality, is_monotonic: true })
    }
}

fn append(data: &mut Data, more: Data) {
    match (data, more) {
        (Data::Sum(sum), Data::Sum(more)) => sum.data_points.extend(more.data_points),
        (Data::Gauge(gauge), Data::Gauge(more)) => gauge.data_points.extend(more.data_points),
        (Data::Histogram(of), Data::Histogram(more)) => of.data_points.extend(more.data_points),
        (Data::ExponentialHistogram(of), Data::ExponentialHistogram(more)) => {
            of.data_points.extend(more.data_points);
        }
        (data, more) => panic!("{data:?} and {more:?}"),
    }
}

/// Returns a metric's name, and the time of its first point.
pub(super) fn time(metric: &Metric) -> (String, u64) {
    let time = match metric.data.as_ref().unwrap() {
        Data::Sum(Sum { data_points, .. }) | Data::Gauge(Gauge { data_points }) => {
            data_points[0].time_unix_nano
        }
        Data::Histogram(histogram) => histogram.data_points[0].time_unix_nano,
        Data::ExponentialHistogram(histogram) => histogram.data_points[0].time_unix_nano,
        other @ Data::Summary(_) => panic!("{other:?}"),
    };
    (metric.name.clone(), time)
}

/// Returns the points of a sum, without their times.
pub(super) fn numbers(metric: &Metric) -> impl Iterator<Item = NumberDataPoint> {
    let Some(Data::Sum(sum)) = metric.data.clone() else { panic!("{metric:?}") };
    sum.data_points.into_iter().map(|point| NumberDataPoint { time_unix_nano: 0, ..point })
}

fn labels(series: &dyn Series) -> Vec<KeyValue> {
    if series.is_overflow() {
        return vec![attribute("otel.metric.overflow", Attribute::BoolValue(true))];
    }
    let mut labels = Vec::new();
    series.labels(&mut |name, value| {
        let shown = value.to_string();
        let number = match value {
            LabelValue::Unsigned(_) | LabelValue::Signed(_) => shown.parse().ok(),
            _ => None,
        };
        let value = number.map_or(Attribute::StringValue(shown), Attribute::IntValue);
        labels.push(attribute(name, value));
    });
    labels
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Attribute::StringValue(value.to_owned()))
}

fn attribute(key: &str, value: Attribute) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

fn int(number: u64) -> Number {
    i64::try_from(number).map_or(Number::AsDouble(number as f64), Number::AsInt)
}

fn exemplars(kept: &[Kept]) -> Vec<Exemplar> {
    let id =
        |bytes: &[u8]| if bytes.iter().any(|byte| *byte > 0) { bytes.to_vec() } else { vec![] };
    let message = |kept: &Kept| Exemplar {
        time_unix_nano: nanos(kept.time),
        value: Some(match int(kept.value) {
            Number::AsInt(value) => exemplar::Value::AsInt(value),
            Number::AsDouble(value) => exemplar::Value::AsDouble(value),
        }),
        span_id: id(&kept.trace.span_id.to_be_bytes()),
        trace_id: id(&kept.trace.trace_id.to_be_bytes()),
        ..Exemplar::default()
    };
    kept.iter().map(message).collect()
}

fn point(value: Number, frame: Frame, kept: &[Kept]) -> NumberDataPoint {
    NumberDataPoint {
        attributes: frame.attributes,
        start_time_unix_nano: frame.start,
        time_unix_nano: frame.time,
        exemplars: exemplars(kept),
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

/// Returns minimum or maximum, if it is known.
fn extreme(values: &Distribution, extreme: Option<u64>) -> Option<f64> {
    values.has_exact_extremes().then_some(extreme?).map(|value| value as f64)
}

fn exponential(values: &Distribution, of: Frame, kept: &[Kept]) -> ExponentialHistogramDataPoint {
    let scale = i32::from(values.scale().schema());
    let (zeros, buckets) = values.exponential_buckets();
    let buckets: Vec<_> = buckets.map(|(number, count)| (number - 1, count)).collect();
    let offset = buckets.first().map_or(0, |(index, _)| *index);
    let length = buckets.last().map_or(0, |(index, _)| index - offset + 1);
    let at = |index: i32| buckets.iter().find(|(found, _)| *found == index);
    let counts = (offset..offset + length).map(|index| at(index).map_or(0, |(_, count)| *count));
    ExponentialHistogramDataPoint {
        attributes: of.attributes,
        start_time_unix_nano: of.start,
        time_unix_nano: of.time,
        count: values.count(),
        sum: Some(values.sum() as f64),
        scale,
        zero_count: zeros,
        positive: Some(Buckets { offset, bucket_counts: counts.collect() }),
        exemplars: exemplars(kept),
        min: extreme(values, values.min()),
        max: extreme(values, values.max()),
        ..ExponentialHistogramDataPoint::default()
    }
}

fn octaves(values: &Distribution, of: Frame, kept: &[Kept]) -> HistogramDataPoint {
    let ends: Vec<u64> = values.scale().octaves().filter(|end| *end < u64::MAX).collect();
    let up_to: Vec<u64> = values.buckets(ends.iter().copied()).map(|(_, up_to)| up_to).collect();
    let ever = up_to.iter().copied().chain([values.count()]);
    let before = [0].into_iter().chain(up_to.iter().copied());
    HistogramDataPoint {
        attributes: of.attributes,
        start_time_unix_nano: of.start,
        time_unix_nano: of.time,
        count: values.count(),
        sum: Some(values.sum() as f64),
        bucket_counts: ever.zip(before).map(|(up_to, before)| up_to - before).collect(),
        explicit_bounds: ends.iter().map(|end| *end as f64).collect(),
        exemplars: exemplars(kept),
        min: extreme(values, values.min()),
        max: extreme(values, values.max()),
        ..HistogramDataPoint::default()
    }
}
