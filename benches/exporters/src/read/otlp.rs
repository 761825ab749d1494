//! OTLP, by OpenTelemetry's own messages; and a collector that takes it over HTTP or gRPC.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};

use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{Metric, NumberDataPoint, Sum, metric};
use prost::Message;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Response, Status};

use crate::http::{PATIENCE, listen};
use crate::runtime;

/// A request that has arrived.
pub(crate) type Request = ExportMetricsServiceRequest;

/// A collector.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    /// Returns the next request, or `None` if none comes.
    pub(crate) next: Box<dyn Fn() -> Option<Request>>,
}

/// Starts a collector for HTTP, which answers the first requests with these statuses.
pub(crate) fn over_http(statuses: &'static [u16]) -> Collector {
    let (address, messages) = listen(statuses);
    let next = move || {
        let message = messages.recv_timeout(PATIENCE).ok()?;
        let is_export = message.line.starts_with("POST /v1/metrics ");
        let is_protobuf = message.header("content-type") == Some("application/x-protobuf");
        (is_export && is_protobuf).then(|| Request::decode(&message.body[..]).ok())?
    };
    Collector { address, next: Box::new(next) }
}

struct Service(Mutex<Sender<Request>>);

#[tonic::async_trait]
impl MetricsService for Service {
    async fn export(
        &self,
        request: tonic::Request<Request>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let sender = self.0.lock().expect("no sender panics");
        // A probe that is over takes nothing.
        let _ = sender.send(request.into_inner());
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

/// Starts a collector for gRPC.
pub(crate) fn over_grpc() -> Collector {
    let (sender, requests): (_, Receiver<Request>) = mpsc::channel();
    let context = runtime().enter();
    let incoming = TcpIncoming::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let address = incoming.local_addr().expect("an address");
    let service = MetricsServiceServer::new(Service(Mutex::new(sender)));
    runtime().spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
    drop(context);
    let next = move || requests.recv_timeout(PATIENCE).ok();
    Collector { address, next: Box::new(next) }
}

/// Returns the metrics of a request.
pub(crate) fn metrics(request: &Request) -> impl Iterator<Item = &Metric> {
    let scopes = request.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    scopes.flat_map(|scope| &scope.metrics)
}

/// Returns the sum of this name, if it only grows.
pub(crate) fn sum<'r>(request: &'r Request, name: &str) -> Option<&'r Sum> {
    let found = metrics(request).find(|metric| metric.name == name)?;
    match found.data.as_ref()? {
        metric::Data::Sum(sum) if sum.is_monotonic => Some(sum),
        _ => None,
    }
}

/// Returns the point of the sum `hits` with this path.
pub(crate) fn hit<'r>(request: &'r Request, path: &str) -> Option<&'r NumberDataPoint> {
    let mut points = sum(request, "hits")?.data_points.iter();
    points.find(|point| text(&point.attributes, "path") == Some(path))
}

/// Returns the text of an attribute.
pub(crate) fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text),
        _ => None,
    }
}

/// Returns the number of a point.
pub(crate) fn number(point: &NumberDataPoint) -> f64 {
    match point.value {
        Some(Value::AsInt(number)) => number as f64,
        Some(Value::AsDouble(number)) => number,
        None => f64::NAN,
    }
}
