//! The judges of what is sent: each looks at the requests that have arrived.

use std::thread;
use std::time::Duration;

use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, metric};

use super::{Exporter, LIMIT, Protocol, Scene, Sends, Wish};
use crate::read::otlp::{self, Collector, Request, hit, number, sum};
use crate::scrape::{CROWD, TRACE};

/// An exporter and its collector.
struct Pair {
    exporter: Box<dyn Sends>,
    collector: Collector,
}

impl Pair {
    /// Exports, and returns the request that arrives.
    fn flush(&self) -> Option<Request> {
        self.exporter.flush();
        (self.collector.next)()
    }
}

fn over_http(
    exporter: Exporter,
    scene: Scene,
    is_delta: bool,
    statuses: &'static [u16],
) -> Option<Pair> {
    let collector = otlp::over_http(statuses);
    let wish = Wish { scene, protocol: Protocol::Http, is_delta, collector: collector.address };
    Some(Pair { exporter: exporter(wish)?, collector })
}

fn pair(exporter: Exporter, scene: Scene) -> Option<Pair> {
    over_http(exporter, scene, false, &[])
}

/// Returns whether the request has this number of hits at this path.
fn has(request: Option<&Request>, path: &str, hits: f64) -> bool {
    let point = request.and_then(|request| hit(request, path));
    point.is_some_and(|point| same(number(point), hits))
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

pub(super) fn http(exporter: Exporter) -> Option<bool> {
    let pair = pair(exporter, Scene::Hits)?;
    pair.exporter.hit("/cart", 3);
    Some(has(pair.flush().as_ref(), "/cart", 3.0))
}

pub(super) fn grpc(exporter: Exporter) -> Option<bool> {
    let collector = otlp::over_grpc();
    let (scene, protocol) = (Scene::Hits, Protocol::Grpc);
    let wish = Wish { scene, protocol, is_delta: false, collector: collector.address };
    let pair = Pair { exporter: exporter(wish)?, collector };
    pair.exporter.hit("/cart", 3);
    Some(has(pair.flush().as_ref(), "/cart", 3.0))
}

/// Two exports, with 3 hits and 2 more, have these numbers and this temporality.
fn two(
    exporter: Exporter,
    is_delta: bool,
    second: f64,
    temporality: AggregationTemporality,
) -> Option<bool> {
    let pair = over_http(exporter, Scene::Hits, is_delta, &[])?;
    let mut is_right = true;
    for (hits, sent) in [(3, 3.0), (2, second)] {
        pair.exporter.hit("/cart", hits);
        let request = pair.flush();
        let said = request.as_ref().and_then(|request| sum(request, "hits"));
        let said = said.map(|sum| sum.aggregation_temporality);
        is_right &= said == Some(temporality as i32) && has(request.as_ref(), "/cart", sent);
    }
    Some(is_right)
}

pub(super) fn totals(exporter: Exporter) -> Option<bool> {
    two(exporter, false, 5.0, AggregationTemporality::Cumulative)
}

pub(super) fn changes(exporter: Exporter) -> Option<bool> {
    two(exporter, true, 2.0, AggregationTemporality::Delta)
}

pub(super) fn exponential(exporter: Exporter) -> Option<bool> {
    let request = pair(exporter, Scene::Native)?.flush();
    let data = request.iter().flat_map(otlp::metrics).filter_map(|metric| metric.data.as_ref());
    let points = data.filter_map(|data| match data {
        metric::Data::ExponentialHistogram(histogram) => histogram.data_points.first(),
        _ => None,
    });
    Some(points.into_iter().any(|point| {
        let buckets = point.positive.as_ref().map_or(0, |buckets| buckets.bucket_counts.len());
        point.count == 1000 && buckets > 8
    }))
}

pub(super) fn unit(exporter: Exporter) -> Option<bool> {
    let request = pair(exporter, Scene::Native)?.flush();
    let is_unit = request.iter().flat_map(otlp::metrics).any(|metric| metric.unit == "ms");
    Some(is_unit)
}

pub(super) fn resource(exporter: Exporter) -> Option<bool> {
    let pair = pair(exporter, Scene::Hits)?;
    pair.exporter.hit("/cart", 1);
    let request = pair.flush();
    let resources = request.iter().flat_map(|request| &request.resource_metrics);
    let mut resources = resources.filter_map(|metrics| metrics.resource.as_ref());
    Some(resources.any(|it| otlp::text(&it.attributes, "service.name") == Some("probe")))
}

pub(super) fn exemplars(exporter: Exporter) -> Option<bool> {
    let request = pair(exporter, Scene::Exemplar)?.flush();
    let trace = u128::from_str_radix(TRACE, 16).expect("an id").to_be_bytes();
    let sums = request.iter().filter_map(|request| sum(request, "hits"));
    let mut exemplars = sums.flat_map(|sum| &sum.data_points).flat_map(|point| &point.exemplars);
    Some(exemplars.any(|exemplar| exemplar.trace_id == trace))
}

pub(super) fn fractions(exporter: Exporter) -> Option<bool> {
    let request = pair(exporter, Scene::Halves)?.flush();
    let mut sums = request.iter().filter_map(|request| sum(request, "cost"));
    Some(sums.any(|sum| sum.data_points.iter().any(|point| same(number(point), 1.5))))
}

/// Returns the start of the series with this path.
fn start(request: Option<&Request>, path: &str) -> Option<u64> {
    let start = hit(request?, path)?.start_time_unix_nano;
    (start > 0).then_some(start)
}

pub(super) fn starts(exporter: Exporter) -> Option<bool> {
    let pair = pair(exporter, Scene::Hits)?;
    pair.exporter.hit("/cart", 1);
    thread::sleep(Duration::from_millis(20)); // the starts differ
    pair.exporter.hit("/pay", 1);
    let request = pair.flush();
    let [first, second] = ["/cart", "/pay"].map(|path| start(request.as_ref(), path));
    Some(first.is_some() && second > first)
}

pub(super) fn starts_again(exporter: Exporter) -> Option<bool> {
    let pair = pair(exporter, Scene::Hits)?;
    pair.exporter.hit("/cart", 1);
    let first = pair.flush();
    thread::sleep(Duration::from_millis(20)); // the starts differ
    if !pair.exporter.remove("/cart") {
        return None;
    }
    pair.exporter.hit("/cart", 2);
    let second = pair.flush();
    let [before, now] = [&first, &second].map(|request| start(request.as_ref(), "/cart"));
    Some(before.is_some() && now > before && has(second.as_ref(), "/cart", 2.0))
}

/// There are no more series than the limit and one, which is named as the rest; no count is lost.
pub(super) fn bounded(exporter: Exporter) -> Option<bool> {
    let pair = pair(exporter, Scene::Hits)?;
    (0..CROWD).for_each(|n| pair.exporter.hit(&n.to_string(), 1));
    let request = pair.flush()?;
    let points = &sum(&request, "hits")?.data_points;
    if points.len() == CROWD {
        return None; // there is no limit
    }
    let is_rest = |key: &str| key.contains("overflow");
    let mut attributes = points.iter().flat_map(|point| &point.attributes);
    let has_rest = attributes.any(|attribute| is_rest(&attribute.key));
    let total = points.iter().map(number).sum();
    Some(points.len() <= LIMIT + 1 && has_rest && same(total, CROWD as f64))
}

/// After an answer of 503, the same changes come a second time.
pub(super) fn again(exporter: Exporter) -> Option<bool> {
    let pair = over_http(exporter, Scene::Hits, true, &[503])?;
    pair.exporter.hit("/cart", 3);
    pair.exporter.flush();
    let [first, second] = [(); 2].map(|()| (pair.collector.next)());
    Some([first, second].iter().all(|request| has(request.as_ref(), "/cart", 3.0)))
}

/// After an answer of 400, the next export has the changes of both.
pub(super) fn refused(exporter: Exporter) -> Option<bool> {
    let pair = over_http(exporter, Scene::Hits, true, &[400])?;
    pair.exporter.hit("/cart", 3);
    let first = pair.flush();
    pair.exporter.hit("/cart", 2);
    let second = pair.flush();
    Some(has(first.as_ref(), "/cart", 3.0) && has(second.as_ref(), "/cart", 5.0))
}
