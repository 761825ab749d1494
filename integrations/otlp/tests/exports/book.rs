//! The book of what arrived, and what it adds up to.

use std::collections::BTreeMap;

use hyper::header::HeaderMap;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Exemplar, ExponentialHistogramDataPoint, HistogramDataPoint, Metric,
    NumberDataPoint, metric, number_data_point,
};

/// All that arrived, in order.
#[derive(Default)]
pub(crate) struct Book {
    requests: Vec<ExportMetricsServiceRequest>,
    /// The requests that were written down, as they came.
    pub(crate) messages: Vec<Vec<u8>>,
    /// Those that were turned away.
    pub(crate) turned_away: Vec<Vec<u8>>,
    /// The last request, whatever became of it.
    pub(crate) last: Vec<u8>,
    /// The headers of the last request.
    pub(crate) headers: HeaderMap,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    Number(f64),
    Exponential(ExponentialHistogramDataPoint),
    Explicit(HistogramDataPoint),
}

/// A data point.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) metric: String,
    /// All attributes: `key=value`, in the order of keys, with commas between.
    pub(crate) attributes: String,
    pub(crate) start: u64,
    pub(crate) time: u64,
    /// `None` for a gauge.
    pub(crate) temporality: Option<AggregationTemporality>,
    pub(crate) data: Data,
    pub(crate) exemplars: Vec<Exemplar>,
}

impl Point {
    /// Returns a number, or the count of a histogram.
    pub(crate) fn count(&self) -> f64 {
        match &self.data {
            Data::Number(number) => *number,
            Data::Exponential(point) => point.count as f64,
            Data::Explicit(point) => point.count as f64,
        }
    }

    pub(crate) fn sum(&self) -> f64 {
        match &self.data {
            Data::Number(number) => *number,
            Data::Exponential(point) => point.sum.unwrap(),
            Data::Explicit(point) => point.sum.unwrap(),
        }
    }
}

impl Book {
    pub(crate) fn write(&mut self, request: ExportMetricsServiceRequest, message: &[u8]) {
        self.requests.push(request);
        self.messages.push(message.to_vec());
    }

    pub(crate) fn turn_away(&mut self, message: &[u8]) {
        self.turned_away.push(message.to_vec());
    }

    /// Forgets what arrived.
    pub(crate) fn clear(&mut self) {
        *self = Book::default();
    }

    pub(crate) fn metrics(&self) -> impl Iterator<Item = &Metric> {
        let resources = self.requests.iter().flat_map(|request| &request.resource_metrics);
        resources.flat_map(|of| &of.scope_metrics).flat_map(|of| &of.metrics)
    }

    /// Returns the attributes of the resource of the last request.
    pub(crate) fn resource(&self) -> BTreeMap<String, String> {
        let last = &self.requests.last().expect("a request").resource_metrics[0];
        let attributes = &last.resource.as_ref().expect("a resource").attributes;
        attributes.iter().map(|it| (it.key.clone(), text(it.value.as_ref()))).collect()
    }

    pub(crate) fn points(&self) -> Vec<Point> {
        self.metrics().flat_map(points).collect()
    }

    /// Returns the points of a metric with these attributes.
    pub(crate) fn of(&self, metric: &str, attributes: &str) -> Vec<Point> {
        let mut points = self.points();
        points.retain(|point| point.metric == metric && point.attributes == attributes);
        points
    }

    /// Returns the last point of a metric with these attributes.
    pub(crate) fn last(&self, metric: &str, attributes: &str) -> Point {
        let found = self.of(metric, attributes).pop();
        found.unwrap_or_else(|| panic!("no {metric} {{{attributes}}}: {:?}", self.points()))
    }

    /// Returns what a backend adds up of a metric, by attributes: all counts, and all sums.
    ///
    /// It checks what a backend relies on. A total of one start never falls, in no part of it; a
    /// start lies after all that was there before. Changes follow each other without overlap.
    pub(crate) fn added_up(&self, metric: &str) -> BTreeMap<String, (f64, f64)> {
        let mut streams = BTreeMap::<String, Vec<Point>>::new();
        for point in self.points() {
            if point.metric == metric {
                streams.entry(point.attributes.clone()).or_default().push(point);
            }
        }
        streams.into_iter().map(|(attributes, points)| (attributes, add_up(&points))).collect()
    }

    /// Returns the count of one stream of [`added_up`](Self::added_up).
    pub(crate) fn count(&self, metric: &str, attributes: &str) -> f64 {
        self.added_up(metric).get(attributes).map_or(0.0, |added| added.0)
    }
}

fn add_up(points: &[Point]) -> (f64, f64) {
    let (mut all, mut before) = ((0.0, 0.0), None::<&Point>);
    for point in points {
        assert!(point.start < point.time, "{point:?}");
        let begins = match (before, point.temporality.expect("not of a gauge")) {
            (None, _) => true,
            (Some(before), AggregationTemporality::Delta) => {
                assert!(point.start >= before.time, "{before:?} {point:?}");
                true
            }
            (Some(before), _) if point.start == before.start => {
                assert!(point.time >= before.time, "{before:?} {point:?}");
                assert!(point.count() >= before.count(), "{before:?} {point:?}");
                assert!(point.sum() >= before.sum(), "{before:?} {point:?}");
                false
            }
            (Some(before), _) => {
                assert!(point.start >= before.time, "{before:?} {point:?}");
                true
            }
        };
        if let Some(before) = before.filter(|_| !begins) {
            all = (all.0 - before.count(), all.1 - before.sum());
        }
        all = (all.0 + point.count(), all.1 + point.sum());
        before = Some(point);
    }
    all
}

fn points(metric: &Metric) -> Vec<Point> {
    let point = |attributes: &[KeyValue], start, time, temporality: Option<i32>, data| Point {
        metric: metric.name.clone(),
        attributes: shown(attributes),
        start,
        time,
        temporality: temporality.map(|it| it.try_into().expect("a temporality")),
        data,
        exemplars: Vec::new(),
    };
    let with = |exemplars: &[Exemplar], point| Point { exemplars: exemplars.to_vec(), ..point };
    let number = |it: &NumberDataPoint, temporality| {
        let value = match it.value.expect("a value") {
            number_data_point::Value::AsDouble(number) => number,
            number_data_point::Value::AsInt(number) => number as f64,
        };
        let (start, time) = (it.start_time_unix_nano, it.time_unix_nano);
        with(&it.exemplars, point(&it.attributes, start, time, temporality, Data::Number(value)))
    };
    match metric.data.as_ref().expect("data") {
        metric::Data::Gauge(gauge) => gauge.data_points.iter().map(|it| number(it, None)).collect(),
        metric::Data::Sum(sum) => {
            let temporality = Some(sum.aggregation_temporality);
            sum.data_points.iter().map(|it| number(it, temporality)).collect()
        }
        metric::Data::ExponentialHistogram(histogram) => {
            let temporality = Some(histogram.aggregation_temporality);
            let points = histogram.data_points.iter();
            let shown = points.map(|it| {
                let buckets = it.positive.as_ref().map_or(0, |it| it.bucket_counts.iter().sum());
                assert_eq!(it.count, it.zero_count + buckets, "{it:?}");
                let (start, time) = (it.start_time_unix_nano, it.time_unix_nano);
                let data = Data::Exponential(it.clone());
                with(&it.exemplars, point(&it.attributes, start, time, temporality, data))
            });
            shown.collect()
        }
        metric::Data::Histogram(histogram) => {
            let temporality = Some(histogram.aggregation_temporality);
            let points = histogram.data_points.iter();
            let shown = points.map(|it| {
                assert_eq!(it.count, it.bucket_counts.iter().sum::<u64>(), "{it:?}");
                assert_eq!(it.bucket_counts.len(), it.explicit_bounds.len() + 1);
                let (start, time) = (it.start_time_unix_nano, it.time_unix_nano);
                let data = Data::Explicit(it.clone());
                with(&it.exemplars, point(&it.attributes, start, time, temporality, data))
            });
            shown.collect()
        }
        metric::Data::Summary(_) => panic!("windrow sends no summary"),
    }
}

fn shown(attributes: &[KeyValue]) -> String {
    let mut all: Vec<_> =
        attributes.iter().map(|it| format!("{}={}", it.key, text(it.value.as_ref()))).collect();
    all.sort();
    all.join(",")
}

/// Returns a value as Rust shows it: texts in quotes.
fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|it| it.value.as_ref()).expect("a value") {
        any_value::Value::StringValue(text) => format!("{text:?}"),
        any_value::Value::BoolValue(is) => is.to_string(),
        any_value::Value::IntValue(number) => number.to_string(),
        other => panic!("windrow sends no {other:?}"),
    }
}
