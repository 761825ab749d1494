//! gRPC, by tonic's own server and client: the status is in the headers or in the trailers.

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BufMut};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::NamedService;
use tonic::service::Routes as Services;
use tonic::{Code, Status};
use tower::{Layer, Service, ServiceExt, service_fn};
use windrow_tower::{ByStatus, Flight, MetricsLayer, ResponseBody, Routes};

use crate::{Counts, Nothing, all, get, routes};

/// Messages of one byte.
#[derive(Clone, Copy, Default)]
struct Bytes;

impl Codec for Bytes {
    type Encode = u8;
    type Decode = u8;
    type Encoder = Bytes;
    type Decoder = Bytes;

    fn encoder(&mut self) -> Bytes {
        Bytes
    }

    fn decoder(&mut self) -> Bytes {
        Bytes
    }
}

impl Encoder for Bytes {
    type Item = u8;
    type Error = Status;

    fn encode(&mut self, item: u8, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_u8(item);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = u8;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<u8>, Status> {
        Ok(from.has_remaining().then(|| from.get_u8()))
    }
}

/// Answers with the status whose code it is sent.
#[derive(Clone)]
pub(crate) struct Codes;

impl NamedService for Codes {
    const NAME: &'static str = "test.Codes";
}

fn status(code: u8) -> Result<(), Status> {
    if code == 0 { Ok(()) } else { Err(Status::new(Code::from_i32(code.into()), "as asked")) }
}

impl Service<Request<Body>> for Codes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut grpc = tonic::server::Grpc::new(Bytes);
        Box::pin(async move {
            Ok(if request.uri().path() == ONE {
                let one = service_fn(|request: tonic::Request<u8>| async move {
                    status(*request.get_ref()).map(|()| tonic::Response::new(7))
                });
                grpc.unary(one, request).await
            } else {
                let many = service_fn(|request: tonic::Request<u8>| async move {
                    let last = status(request.into_inner()).err().map(Err);
                    let messages = [Ok(1), Ok(2)].into_iter().chain(last);
                    Ok::<_, Status>(tonic::Response::new(tokio_stream::iter(messages)))
                });
                grpc.server_streaming(many, request).await
            })
        })
    }
}

pub(crate) const ONE: &str = "/test.Codes/One";
pub(crate) const MANY: &str = "/test.Codes/Many";
const METHODS: [&str; 2] = [ONE, MANY];

/// tonic's services, counted by method; and where.
fn services()
-> (impl GrpcService<Body, ResponseBody = Counted, Error = Infallible>, &'static Routes) {
    let routes = routes();
    let layer = MetricsLayer::new(routes, |parts| {
        Some(parts.uri.path()).filter(|path| METHODS.contains(path))
    });
    (layer.layer(Services::new(Codes)), routes)
}

type Counted = ResponseBody<Body, Flight<ByStatus>>;

/// Calls a method, reads all that it answers, and returns the status.
async fn call<S>(service: S, path: &'static str, code: u8) -> Code
where
    S: GrpcService<Body, ResponseBody = Counted>,
{
    let mut client = tonic::client::Grpc::new(service);
    client.ready().await.map_err(Into::into).expect("a service");
    let (path, request) = (PathAndQuery::from_static(path), tonic::Request::new(code));
    let read = async {
        let mut messages = client.server_streaming(request, path, Bytes).await?.into_inner();
        while messages.message().await?.is_some() {}
        Ok::<_, Status>(())
    };
    read.await.err().map_or(Code::Ok, |status| status.code())
}

#[tokio::test]
async fn a_status_that_is_the_servers_fault_is_an_exception() {
    const FAULTS: [Code; 6] = [
        Code::Unknown,
        Code::DeadlineExceeded,
        Code::Unimplemented,
        Code::Internal,
        Code::Unavailable,
        Code::DataLoss,
    ];
    // A unary method answers by the headers if it fails, otherwise by the trailers; a streaming one
    // by the trailers.
    for (path, code) in METHODS.into_iter().flat_map(|path| (0..=16).map(move |code| (path, code)))
    {
        let (service, routes) = services();
        let status = call(service, path, code).await;
        assert_eq!(status, Code::from_i32(code.into()), "{path}");
        let exception = u64::from(FAULTS.contains(&status));
        let counts = Counts { exception, ..Counts::successes(1) };
        assert_eq!(all(routes), [(format!("POST {path}"), counts)].into(), "{path}: {status:?}");
    }
}

#[tokio::test]
async fn a_method_that_is_not_served_is_unmatched() {
    let (service, routes) = services();
    assert_eq!(
        call(service, "/test.Codes/Some", 0).await,
        Code::Ok,
        "the service answers to any method"
    );
    let (service, others) = services();
    assert_eq!(call(service, "/test.Others/One", 0).await, Code::Unimplemented);
    let unmatched = "POST unmatched".to_owned();
    assert_eq!(all(routes), [(unmatched.clone(), Counts::successes(1))].into());
    assert_eq!(all(others), [(unmatched, Counts { exception: 1, ..Counts::successes(1) })].into());
}

#[tokio::test]
async fn a_stream_is_in_flight_until_its_trailers_and_cancelled_if_they_are_not_read() {
    let (service, routes) = services();
    let mut client = tonic::client::Grpc::new(service);
    for is_read in [true, false] {
        client.ready().await.expect("a service");
        let path = PathAndQuery::from_static(MANY);
        let response = client.server_streaming(tonic::Request::new(0), path, Bytes).await;
        let mut messages = response.expect("a response").into_inner();
        for _ in 0..2 {
            assert!(messages.message().await.expect("a message").is_some());
            assert_eq!(all(routes)[&format!("POST {MANY}")].in_flight, 1);
        }
        if is_read {
            assert_eq!(messages.message().await.expect("an end"), None);
            assert_eq!(all(routes)[&format!("POST {MANY}")], Counts::successes(1));
        }
    }
    let counts = Counts { cancelled: 1, ..Counts::successes(2) };
    assert_eq!(all(routes)[&format!("POST {MANY}")], counts);
}

/// Responses that no library makes: an end without a status, and a status that is not a number.
#[tokio::test]
async fn a_response_without_a_status_is_an_exception() {
    for (header, trailer, is_exception) in [
        (None, None, true),
        (None, Some("0"), false),
        (None, Some("00"), true),
        (None, Some("seventeen"), true),
        (Some("0"), None, false),
        (Some("14"), Some("0"), true),
    ] {
        let inner = service_fn(move |_| {
            let mut response = Response::new(Trailers(trailer));
            let grpc = HeaderValue::from_static("application/grpc");
            response.headers_mut().insert("content-type", grpc);
            if let Some(status) = header {
                response.headers_mut().insert("grpc-status", HeaderValue::from_static(status));
            }
            ready(Ok::<_, Infallible>(response))
        });
        let routes = routes();
        let layer = MetricsLayer::new(routes, |_| Some(ONE));
        let response =
            layer.layer(inner).oneshot(Request::new(Nothing::new())).await.expect("a response");
        assert!(response.into_body().collect().await.is_ok());
        let counts = Counts { exception: is_exception.into(), ..Counts::successes(1) };
        assert_eq!(get(routes, ONE), counts, "{header:?}, {trailer:?}");
    }
}

/// A body of trailers alone; without any, it says that it is at its end from the start.
struct Trailers(Option<&'static str>);

impl http_body::Body for Trailers {
    type Data = bytes::Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, Infallible>>> {
        let status = self.0.take().map(|status| {
            let status = (HeaderName::from_static("grpc-status"), HeaderValue::from_static(status));
            Ok(Frame::trailers(HeaderMap::from_iter([status])))
        });
        Poll::Ready(status)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }
}
