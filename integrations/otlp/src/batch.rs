//! Requests under construction: data points by metric, up to a size.

use prost::Message;

use crate::acknowledged::Pending;
use crate::message::{
    Aggregation, Data, ExponentialHistogram, ExponentialPoint, Gauge, Histogram, HistogramPoint,
    Metric, NumberPoint, Request, Resource, ResourceMetrics, Scope, ScopeMetrics, Sum,
};
use crate::rules::Name;
use crate::temporality::Temporality;

/// The size from which a request is closed, in bytes. Collectors take 4 MiB over gRPC by default,
/// and a proxy such as nginx takes 1 MiB; a series has a few kilobytes.
const FULL: usize = 1 << 19;

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The encoded message.
    pub(crate) body: Vec<u8>,
    /// The states that are acknowledged when it is accepted, or when it may have been.
    pub(crate) pending: Vec<Pending>,
    /// The number of its data points that are deltas.
    pub(crate) deltas: u64,
    /// True if the collector may have taken it at an earlier attempt.
    pub(crate) may_have_arrived: bool,
}

/// A data point.
pub(crate) enum Point {
    /// A counter's.
    Count(NumberPoint),
    /// A level's, which goes both ways and can be added up.
    Level(NumberPoint),
    /// A gauge's, which cannot be added up.
    Gauge(NumberPoint),
    Octaves(HistogramPoint),
    Exponential(ExponentialPoint),
}

/// Puts data points into requests.
pub(crate) struct Batches {
    resource: Resource,
    temporality: Temporality,
    done: Vec<Batch>,
    metrics: Vec<Metric>,
    pending: Vec<Pending>,
    deltas: u64,
    size: usize,
}

impl Batches {
    pub(crate) fn new(resource: Resource, temporality: Temporality) -> Batches {
        let (done, metrics, pending) = (Vec::new(), Vec::new(), Vec::new());
        Batches { resource, temporality, done, metrics, pending, deltas: 0, size: 0 }
    }

    /// Adds the points of a series, each with its metric. `open` has the place of each metric of
    /// the source in the request: it is empty at the source's first series.
    pub(crate) fn add<'n>(
        &mut self,
        open: &mut Open,
        points: impl IntoIterator<Item = (usize, &'n Name, Point)>,
        pending: Option<Pending>,
    ) {
        for (index, name, point) in points {
            let at = self.metric(open, index, name, &point);
            self.put(at, point);
        }
        self.pending.extend(pending);
        if self.size >= FULL {
            self.close();
            open.0.clear();
        }
    }

    /// Returns the place of a metric, which is opened if this request does not have it yet.
    fn metric(&mut self, open: &mut Open, index: usize, name: &Name, point: &Point) -> usize {
        if let Some((_, at)) = open.0.iter().find(|(known, _)| *known == index) {
            return *at;
        }
        let Name { full: name, description, unit } = name.clone();
        let temporality = match self.temporality {
            Temporality::Cumulative => Aggregation::Cumulative,
            Temporality::Delta => Aggregation::Delta,
        };
        let aggregation_temporality = temporality.into();
        let sum = |temporality: Aggregation, is_monotonic| {
            let aggregation_temporality = temporality.into();
            Data::Sum(Sum { data_points: Vec::new(), aggregation_temporality, is_monotonic })
        };
        let data = match point {
            Point::Count(_) => sum(temporality, true),
            Point::Level(_) => sum(Aggregation::Cumulative, false),
            Point::Gauge(_) => Data::Gauge(Gauge::default()),
            Point::Octaves(_) => {
                Data::Histogram(Histogram { data_points: Vec::new(), aggregation_temporality })
            }
            Point::Exponential(_) => Data::ExponentialHistogram(ExponentialHistogram {
                data_points: Vec::new(),
                aggregation_temporality,
            }),
        };
        let metric = Metric { name, description, unit, data: Some(data) };
        self.size += metric.encoded_len();
        self.metrics.push(metric);
        open.0.push((index, self.metrics.len() - 1));
        self.metrics.len() - 1
    }

    fn put(&mut self, at: usize, point: Point) {
        let is_delta = self.temporality == Temporality::Delta
            && !matches!(point, Point::Level(_) | Point::Gauge(_));
        self.deltas += u64::from(is_delta);
        self.size += match &point {
            Point::Count(point) | Point::Level(point) | Point::Gauge(point) => point.encoded_len(),
            Point::Octaves(point) => point.encoded_len(),
            Point::Exponential(point) => point.encoded_len(),
        };
        match (self.metrics[at].data.as_mut(), point) {
            (Some(Data::Sum(sum)), Point::Count(point) | Point::Level(point)) => {
                sum.data_points.push(point);
            }
            (Some(Data::Gauge(gauge)), Point::Gauge(point)) => gauge.data_points.push(point),
            (Some(Data::Histogram(histogram)), Point::Octaves(point)) => {
                histogram.data_points.push(point);
            }
            (Some(Data::ExponentialHistogram(histogram)), Point::Exponential(point)) => {
                histogram.data_points.push(point);
            }
            _ => unreachable!("a part has one kind of points"),
        }
    }

    /// Encodes what there is.
    fn close(&mut self) {
        if self.metrics.is_empty() {
            return;
        }
        let scope = Scope {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let metrics = std::mem::take(&mut self.metrics);
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics }];
        let resource = Some(self.resource.clone());
        let request =
            Request { resource_metrics: vec![ResourceMetrics { resource, scope_metrics }] };
        let pending = std::mem::take(&mut self.pending);
        let (body, deltas) = (request.encode_to_vec(), std::mem::take(&mut self.deltas));
        self.done.push(Batch { body, pending, deltas, may_have_arrived: false });
        self.size = 0;
    }

    /// Returns the requests.
    pub(crate) fn finish(mut self) -> Vec<Batch> {
        self.close();
        self.done
    }
}

/// The places of a source's metrics in the request under construction, by their indices.
#[derive(Default)]
pub(crate) struct Open(Vec<(usize, usize)>);
