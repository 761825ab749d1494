//! Requests under construction: data points by metric, up to a size.

use std::mem::take;

use hyper::body::Bytes;

use crate::acknowledged::Pending;
use crate::draft::{Draft, Kind};
use crate::protobuf::{begin, length_of, put_bytes, put_text, put_varint};
use crate::rules::{Described, Name};
use crate::temporality::Temporality;

#[cfg(test)]
mod tests;

/// The size from which a request is closed, in bytes; a series has a few kilobytes. By default, the
/// collector takes 4 MiB over gRPC (`max_recv_msg_size_mib` in the README of its `otlpreceiver`),
/// and nginx takes 1 MiB (`client_max_body_size`).
const FULL: usize = 1 << 19;

/// The tag of `ExportMetricsServiceRequest`.
const RESOURCE_METRICS: u8 = 1;

/// The tags of `ResourceMetrics`.
const RESOURCE: u8 = 1;
const SCOPE_METRICS: u8 = 2;

/// The tags of `ScopeMetrics`.
const SCOPE: u8 = 1;
const METRICS: u8 = 2;

/// The tags of `InstrumentationScope`.
const SCOPE_NAME: u8 = 1;
const SCOPE_VERSION: u8 = 2;

/// The tags of `Metric`.
const NAME: u8 = 1;
const DESCRIPTION: u8 = 2;
const UNIT: u8 = 3;
const GAUGE: u8 = 5;
const SUM: u8 = 7;
const HISTOGRAM: u8 = 9;
const EXPONENTIAL_HISTOGRAM: u8 = 10;

/// The tags of `Gauge`, `Sum`, `Histogram` and `ExponentialHistogram`.
const DATA_POINTS: u8 = 1;
const AGGREGATION_TEMPORALITY: u8 = 2;
const IS_MONOTONIC: u8 = 3;

/// The values of `AggregationTemporality`.
const DELTA: u64 = 1;
const CUMULATIVE: u64 = 2;

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The encoded message.
    pub(crate) body: Bytes,
    /// The states that are acknowledged when it is accepted, or when it may have been.
    pub(crate) pending: Vec<Pending>,
    /// The number of its data points that are deltas.
    pub(crate) deltas: u64,
    /// True if the collector may have taken it at an earlier attempt.
    pub(crate) may_have_arrived: bool,
}

/// A metric of the request under construction.
struct Metric {
    /// The fields before its data: name, description and unit.
    head: Vec<u8>,
    /// The tag of its data.
    data: u8,
    /// The field of its data points.
    points: Vec<u8>,
    /// The fields of its data behind its points.
    tail: Vec<u8>,
}

/// Puts data points into requests.
#[derive(Default)]
pub(crate) struct Batches<'r> {
    /// The message `Resource`.
    resource: &'r [u8],
    temporality: Temporality,
    done: Vec<Batch>,
    metrics: Vec<Metric>,
    pending: Vec<Pending>,
    deltas: u64,
    size: usize,
}

impl<'r> Batches<'r> {
    /// Returns that of no request yet. `resource` is an encoded message.
    pub(crate) fn new(resource: &'r [u8], temporality: Temporality) -> Batches<'r> {
        Batches { resource, temporality, ..Batches::default() }
    }

    /// Adds the points of a series. `open` has the place of each metric of the source in the
    /// request: it is empty at the source's first series.
    pub(crate) fn add(
        &mut self,
        open: &mut Open,
        described: &Described,
        draft: &Draft,
        pending: Option<Pending>,
    ) {
        for (index, kind, message) in draft.points() {
            let at = self.metric(open, index, kind, described);
            put_bytes(DATA_POINTS, message, &mut self.metrics[at].points);
            let is_delta = self.temporality == Temporality::Delta
                && !matches!(kind, Kind::Level | Kind::Gauge);
            self.deltas += u64::from(is_delta);
            self.size += length_of(message.len());
        }
        self.pending.extend(pending);
        if self.size >= FULL {
            self.close();
            open.0.clear();
        }
    }

    /// Returns the place of a metric, which is opened if this request does not have it yet.
    fn metric(&mut self, open: &mut Open, index: usize, kind: Kind, of: &Described) -> usize {
        if let Some((_, at)) = open.0.iter().find(|(known, _)| *known == index) {
            return *at;
        }
        let metric = self.begin(of.name(index), kind);
        self.size += metric.length();
        self.metrics.push(metric);
        open.0.push((index, self.metrics.len() - 1));
        self.metrics.len() - 1
    }

    /// Returns a metric without points.
    fn begin(&self, name: &Name, kind: Kind) -> Metric {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        put_text(NAME, &name.full, &mut head);
        put_text(DESCRIPTION, &name.description, &mut head);
        put_text(UNIT, &name.unit, &mut head);
        let temporality = match self.temporality {
            Temporality::Cumulative => CUMULATIVE,
            Temporality::Delta => DELTA,
        };
        let (data, temporality) = match kind {
            Kind::Count => (SUM, Some(temporality)),
            Kind::Level => (SUM, Some(CUMULATIVE)),
            Kind::Gauge => (GAUGE, None),
            Kind::Octaves => (HISTOGRAM, Some(temporality)),
            Kind::Exponential => (EXPONENTIAL_HISTOGRAM, Some(temporality)),
        };
        if let Some(temporality) = temporality {
            put_varint(AGGREGATION_TEMPORALITY, temporality, &mut tail);
        }
        if kind == Kind::Count {
            put_varint(IS_MONOTONIC, 1, &mut tail);
        }
        Metric { head, data, points: Vec::new(), tail }
    }

    /// Encodes what there is.
    fn close(&mut self) {
        if self.metrics.is_empty() {
            return;
        }
        let body = request(self.resource, &take(&mut self.metrics)).into();
        let (pending, deltas) = (take(&mut self.pending), take(&mut self.deltas));
        self.done.push(Batch { body, pending, deltas, may_have_arrived: false });
        self.size = 0;
    }

    /// Returns the requests.
    pub(crate) fn finish(mut self) -> Vec<Batch> {
        self.close();
        self.done
    }
}

impl Metric {
    /// Returns the length of its message.
    fn length(&self) -> usize {
        self.head.len() + length_of(self.data_length())
    }

    /// Returns the length of its data's message.
    fn data_length(&self) -> usize {
        self.points.len() + self.tail.len()
    }

    /// Appends its message, as a field.
    fn put(&self, to: &mut Vec<u8>) {
        begin(METRICS, self.length(), to);
        to.extend_from_slice(&self.head);
        begin(self.data, self.data_length(), to);
        to.extend_from_slice(&self.points);
        to.extend_from_slice(&self.tail);
    }
}

/// Returns the message `InstrumentationScope`.
fn scope() -> Vec<u8> {
    let mut scope = Vec::new();
    put_text(SCOPE_NAME, env!("CARGO_PKG_NAME"), &mut scope);
    put_text(SCOPE_VERSION, env!("CARGO_PKG_VERSION"), &mut scope);
    scope
}

/// Returns a message `ExportMetricsServiceRequest`.
fn request(resource: &[u8], metrics: &[Metric]) -> Vec<u8> {
    let scope = scope();
    let in_metrics: usize = metrics.iter().map(|metric| length_of(metric.length())).sum();
    let in_scope = length_of(scope.len()) + in_metrics;
    let in_resource = length_of(resource.len()) + length_of(in_scope);
    let mut request = Vec::with_capacity(length_of(in_resource));
    begin(RESOURCE_METRICS, in_resource, &mut request);
    put_bytes(RESOURCE, resource, &mut request);
    begin(SCOPE_METRICS, in_scope, &mut request);
    put_bytes(SCOPE, &scope, &mut request);
    for metric in metrics {
        metric.put(&mut request);
    }
    request
}

/// The places of a source's metrics in the request under construction, by their indices.
#[derive(Default)]
pub(crate) struct Open(Vec<(usize, usize)>);
