//! The code that the tests of limits share: clients, each with a gate on a clock that the test
//! moves.

use std::convert::Infallible;
use std::future::{Ready, ready};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body_util::Full;
use tower::{ServiceExt, service_fn};
use windrow::Gate;
use windrow::clock::Manual;

use crate::Nothing;

windrow::labels! { pub(crate) struct Client { client: str } }

/// Returns the client that a request names, if it does.
pub(crate) fn client(parts: &Parts) -> Option<Client<'_>> {
    let client = parts.headers.get("client")?;
    Some(Client { client: client.to_str().expect("a name") })
}

/// Returns a gate for `limit` in a second of ten buckets.
pub(crate) fn a_second(limit: u64, clock: &Manual) -> Gate<Manual> {
    Gate::builder(limit).buckets(10).clock(clock.clone()).build().expect("a second in ten buckets")
}

pub(crate) fn from(client: &str) -> Request<Nothing> {
    Request::builder().header("client", client).body(Nothing::new()).expect("a request")
}

pub(crate) fn grpc_from(client: &str) -> Request<Nothing> {
    let mut request = from(client);
    let of_grpc = http::HeaderValue::from_static("application/grpc+proto");
    request.headers_mut().insert("content-type", of_grpc);
    request
}

pub(crate) type Answer = Result<Response<Full<Bytes>>, Infallible>;

pub(crate) fn answer(_: Request<Nothing>) -> Ready<Answer> {
    ready(Ok(Response::new(Full::from("well"))))
}

/// Returns the status of what a service behind a layer answers.
pub(crate) async fn status<B>(
    layer: &impl tower::Layer<
        tower::util::ServiceFn<fn(Request<Nothing>) -> Ready<Answer>>,
        Service: tower::Service<Request<Nothing>, Response = Response<B>, Error = Infallible>,
    >,
    request: Request<Nothing>,
) -> u16 {
    respond(layer, request).await.status().as_u16()
}

/// Returns what a service behind a layer answers.
pub(crate) async fn respond<B>(
    layer: &impl tower::Layer<
        tower::util::ServiceFn<fn(Request<Nothing>) -> Ready<Answer>>,
        Service: tower::Service<Request<Nothing>, Response = Response<B>, Error = Infallible>,
    >,
    request: Request<Nothing>,
) -> Response<B> {
    let inner = service_fn(answer as fn(Request<Nothing>) -> Ready<Answer>);
    let Ok(response) = layer.layer(inner).oneshot(request).await;
    response
}

/// The static clock of a test's limits. (What makes gates is a plain function.)
macro_rules! limits {
    ($limits:ident, $clock:ident: $keys:literal, $limit:expr) => {
        static $clock: std::sync::LazyLock<windrow::clock::Manual> =
            std::sync::LazyLock::new(windrow::clock::Manual::default);
        static $limits: windrow_tower::Limits<
            $crate::limited::Client<'static>,
            windrow::Gate<windrow::clock::Manual>,
        > = windrow_tower::Limits::new($keys, |client| {
            let limit: fn(Option<$crate::limited::Client<'_>>) -> u64 = $limit;
            $crate::limited::a_second(limit(client), &$clock)
        });
    };
}
pub(crate) use limits;
