//! The responses to refused requests.
//!
//! For HTTP the response is a status, and for gRPC a response of headers only, with gRPC's own
//! status, in the client's own content type. Both are empty, and have a [`Blocked`] among their
//! extensions, by which outer layers recognize them.
//!
//! A client of HTTP/1.1 that is still sending a body finds its connection broken, if the server
//! answers and closes meanwhile: many then report that, and never see the answer. So the rest of
//! the body is read and discarded first, up to a bound. Streams of HTTP/2 need none of this; nor
//! does a client that asks first (`Expect: 100-continue`), and then sends nothing.

mod retry_info;

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Buf;
use http::header::{CONTENT_TYPE, EXPECT, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, Version};
use http_body::Body;
use pin_project_lite::pin_project;

use crate::limit::{Fields, whole_seconds};
use crate::protocol::Protocol;

/// The mark of a response to a request that a limit or a breaker has refused: an extension of the
/// response, set by [`LimitLayer`](crate::LimitLayer), [`PaceLayer`](crate::PaceLayer),
/// [`RoomLayer`](crate::RoomLayer) and [`BreakerLayer`](crate::BreakerLayer).
///
/// [`MetricsLayer`](crate::MetricsLayer) counts [`Http::Block`](crate::Http::Block) by it. It is
/// also the place to give the response a body:
///
/// ```
/// use axum::response::Response;
/// use windrow_tower::Blocked;
///
/// fn say_so(mut response: Response) -> Response {
///     if let Some(blocked) = response.extensions().get::<Blocked>() {
///         let text = format!("come back after {:?}\n", blocked.retry_after);
///         *response.body_mut() = text.into();
///     }
///     response
/// }
///
/// let app = axum::Router::<()>::new(); // .layer(limits)
/// let app = app.layer(tower::util::MapResponseLayer::new(say_so));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocked {
    /// The time that the client is told, before it is rounded up: that of the request's [place in
    /// line](crate::LimitLayer#when-a-client-is-to-come-back). `None` if it is unknown, or if the
    /// request will never be admitted.
    pub retry_after: Option<Duration>,
}

/// The reason of a refusal.
#[derive(Clone, Copy, Debug)]
pub enum Reason {
    /// The rate limit is exhausted. `None` if the weight is beyond the limit.
    Limit(Option<Duration>),
    /// The room is full: too many requests are in flight.
    Full,
    /// The breaker is open. `None` if its trials are under way.
    Open(Option<Duration>),
}

/// The future response to a refused request.
#[derive(Clone, Debug)]
struct Refusal {
    reason: Reason,
    /// The content type of the response, if it is one of gRPC.
    grpc: Option<HeaderValue>,
    fields: Option<Box<Fields>>,
}

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
/// A time to wait, for clients with a retry policy; and two for those that ignore it.
const GRPC_PUSHBACK: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");
const GRPC_DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");
const GRPC_RETRY_INFO: HeaderName = HeaderName::from_static("google.rpc.retryinfo-bin");

impl Refusal {
    fn response<B: Default>(&mut self) -> Response<B> {
        let mut response = Response::new(B::default());
        let retry_after = match self.reason {
            Reason::Limit(retry_after) | Reason::Open(retry_after) => retry_after,
            Reason::Full => None,
        };
        response.extensions_mut().insert(Blocked { retry_after });
        match self.grpc.take() {
            Some(content_type) => self.answer_grpc(&mut response, content_type),
            None => self.answer_http(&mut response),
        }
        if let Some(fields) = self.fields.take() {
            fields.write(response.headers_mut());
        }
        response
    }

    /// Answers with 429, the client's fault, or 503, the service's fault. A request that will never
    /// be admitted gets no `Retry-After`.
    fn answer_http<B>(&self, response: &mut Response<B>) {
        *response.status_mut() = match self.reason {
            Reason::Limit(_) => StatusCode::TOO_MANY_REQUESTS,
            Reason::Full | Reason::Open(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        if let Reason::Limit(Some(wait)) | Reason::Open(Some(wait)) = self.reason {
            response.headers_mut().insert(RETRY_AFTER, whole_seconds(wait).into());
        }
    }

    /// Answers with `RESOURCE_EXHAUSTED` or `UNAVAILABLE`, and the time to retry; a negative
    /// pushback means never.
    fn answer_grpc<B>(&self, response: &mut Response<B>, content_type: HeaderValue) {
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type);
        let (status, message) = match self.reason {
            Reason::Limit(_) => (8, "over the limit"),
            Reason::Full => (14, "too many at once"),
            Reason::Open(_) => (14, "the circuit breaker is open"),
        };
        headers.insert(GRPC_STATUS, u32::from(status).into());
        headers.insert(GRPC_MESSAGE, HeaderValue::from_static(message));
        match self.reason {
            Reason::Limit(Some(wait)) | Reason::Open(Some(wait)) => {
                // At least 1: grpcio never comes back after a pushback of 0.
                let millis = (wait.as_nanos().div_ceil(1_000_000) as u64).max(1);
                headers.insert(GRPC_PUSHBACK, millis.into());
                let wait = Duration::from_millis(millis);
                headers.insert(GRPC_DETAILS, retry_info::details(status, message, wait));
                headers.insert(GRPC_RETRY_INFO, retry_info::bare(wait));
            }
            Reason::Limit(None) => {
                headers.insert(GRPC_PUSHBACK, HeaderValue::from_static("-1"));
            }
            Reason::Full | Reason::Open(None) => {}
        }
    }
}

/// The bytes of a refused request's body that layers read by default.
pub(crate) const DISCARDED: u64 = 64 * 1024;

pin_project! {
    /// A refused request.
    pub struct Refused<A> {
        refusal: Refusal,
        // `None` if nothing of it is to be read.
        #[pin]
        rest: Option<A>,
        // The bytes that may still be read.
        left: u64,
    }
}

impl<A: Body> Refused<A> {
    /// Returns a request that was refused for a reason. Up to `most` bytes of its body are read.
    pub(crate) fn new(
        request: Request<A>,
        reason: Reason,
        fields: Option<Fields>,
        most: u64,
    ) -> Refused<A> {
        let (parts, body) = request.into_parts();
        let breaks = parts.version <= Version::HTTP_11 && !parts.headers.contains_key(EXPECT);
        let fits = most > 0 && body.size_hint().lower() <= most;
        let is_read = breaks && fits && !body.is_end_stream();
        let grpc = Protocol::of_answer(&parts.headers);
        let refusal = Refusal { reason, grpc, fields: fields.map(Box::new) };
        Refused { refusal, rest: is_read.then_some(body), left: most }
    }

    /// Reads and discards the body, then returns the response.
    pub(crate) fn poll<B: Default>(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Response<B>> {
        let mut this = self.project();
        while let Some(body) = this.rest.as_mut().as_pin_mut() {
            let read = match ready!(body.poll_frame(context)) {
                Some(Ok(frame)) => frame.data_ref().map_or(0, Buf::remaining) as u64,
                Some(Err(_)) | None => u64::MAX, // the end
            };
            match this.left.checked_sub(read) {
                Some(left) => *this.left = left,
                None => this.rest.set(None),
            }
        }
        Poll::Ready(this.refusal.response())
    }
}
