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
    /// The field of its data points, behind room for all that precedes it in the request.
    points: Vec<u8>,
    /// The length of the room: zero of all metrics but the first.
    room: usize,
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
    /// The length of the longest request so far, or what was expected.
    longest: usize,
}

impl<'r> Batches<'r> {
    /// Returns that of no request yet. `resource` is an encoded message, and `longest` the expected
    /// length of the longest request: memory that is taken at once is not moved.
    pub(crate) fn new(resource: &'r [u8], temporality: Temporality, longest: usize) -> Batches<'r> {
        Batches { resource, temporality, longest, ..Batches::default() }
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
    fn begin(&mut self, name: &Name, kind: Kind) -> Metric {
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
        let (mut points, mut before) = (Vec::new(), 0);
        if self.metrics.is_empty() {
            before = room(self.resource, &head);
            points.reserve(self.longest + before);
            points.resize(before, 0);
        }
        Metric { head, data, points, room: before, tail }
    }

    /// Encodes what there is.
    fn close(&mut self) {
        if self.metrics.is_empty() {
            return;
        }
        let body = request(self.resource, take(&mut self.metrics));
        self.longest = self.longest.max(body.len());
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
        self.points.len() - self.room + self.tail.len()
    }

    /// Appends what precedes its points: the key and the length of its message, and the beginning
    /// of that.
    fn put_head(&self, to: &mut Vec<u8>) {
        begin(METRICS, self.length(), to);
        to.extend_from_slice(&self.head);
        begin(self.data, self.data_length(), to);
    }
}

/// Returns the message `InstrumentationScope`.
fn scope() -> Vec<u8> {
    let mut scope = Vec::new();
    put_text(SCOPE_NAME, env!("CARGO_PKG_NAME"), &mut scope);
    put_text(SCOPE_VERSION, env!("CARGO_PKG_VERSION"), &mut scope);
    scope
}

/// Returns the greatest length of all that precedes the points of the first metric in a request.
fn room(resource: &[u8], head: &[u8]) -> usize {
    /// The request, the resource, two scopes, a metric and its data: each with a key and a length.
    const HEADS: usize = 6 * (1 + 10);
    HEADS + resource.len() + scope().len() + head.len()
}

/// Returns a message `ExportMetricsServiceRequest`. `metrics` is not empty.
///
/// The points of the first metric stay where they are, since mostly there are no others: so the
/// memory of a request is written once. What precedes them is written before them, at the end of
/// the room that was left; what follows is written behind them.
fn request(resource: &[u8], metrics: Vec<Metric>) -> Bytes {
    let scope = scope();
    let in_metrics: usize = metrics.iter().map(|metric| length_of(metric.length())).sum();
    let in_scope = length_of(scope.len()) + in_metrics;
    let in_resource = length_of(resource.len()) + length_of(in_scope);
    let mut metrics = metrics.into_iter();
    let first = metrics.next().expect("it is not empty");
    let mut before = Vec::with_capacity(first.room);
    begin(RESOURCE_METRICS, in_resource, &mut before);
    put_bytes(RESOURCE, resource, &mut before);
    begin(SCOPE_METRICS, in_scope, &mut before);
    put_bytes(SCOPE, &scope, &mut before);
    first.put_head(&mut before);
    let Metric { points: mut body, room, tail, .. } = first;
    body[room - before.len()..room].copy_from_slice(&before);
    body.extend_from_slice(&tail);
    for metric in metrics {
        metric.put_head(&mut body);
        body.extend_from_slice(&metric.points);
        body.extend_from_slice(&metric.tail);
    }
    Bytes::from(body).slice(room - before.len()..)
}

/// The places of a source's metrics in the request under construction, by their indices.
#[derive(Default)]
pub(crate) struct Open(Vec<(usize, usize)>);
