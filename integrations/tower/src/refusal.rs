//! What a refused request is answered.
//!
//! Of HTTP it is a status, and of gRPC a response of headers alone, with a status of its own. Both
//! are empty, and have a [`Blocked`] among their extensions, by which layers further out know them.

use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode};

use crate::classify::is_grpc;

/// Says that a limit has refused the request: an extension of the response, from
/// [`LimitLayer`](crate::LimitLayer) and [`RoomLayer`](crate::RoomLayer).
///
/// By it [`MetricsLayer`](crate::MetricsLayer) counts [`Http::Block`](crate::Http::Block). It is
/// also where to give the answer a body:
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
    /// After this time it would be let through, if nobody else came. `None`: that is not known, or
    /// will never be.
    pub retry_after: Option<Duration>,
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    /// It is over a limit in time. `None`: its weight always will be.
    Limit(Option<Duration>),
    /// There are too many at once.
    Full,
}

/// What a refused request will be answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    reason: Reason,
    is_grpc: bool,
}

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const GRPC_PUSHBACK: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

impl Refusal {
    pub(crate) fn new(reason: Reason, parts: &Parts) -> Refusal {
        Refusal { reason, is_grpc: is_grpc(&parts.headers) }
    }

    pub(crate) fn response<B: Default>(self) -> Response<B> {
        let mut response = Response::new(B::default());
        let retry_after = match self.reason {
            Reason::Limit(retry_after) => retry_after,
            Reason::Full => None,
        };
        response.extensions_mut().insert(Blocked { retry_after });
        if self.is_grpc {
            self.answer_grpc(&mut response);
        } else {
            self.answer_http(&mut response);
        }
        response
    }

    /// 429 is the client's fault, and 503 the service's. What is never let through is no retry's.
    fn answer_http<B>(self, response: &mut Response<B>) {
        *response.status_mut() = match self.reason {
            Reason::Limit(_) => StatusCode::TOO_MANY_REQUESTS,
            Reason::Full => StatusCode::SERVICE_UNAVAILABLE,
        };
        if let Reason::Limit(Some(wait)) = self.reason {
            // Whole seconds: a client that comes back then is not too early.
            let seconds = wait.as_nanos().div_ceil(1_000_000_000).max(1) as u64;
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
    }

    /// `RESOURCE_EXHAUSTED` or `UNAVAILABLE`, and when to retry; a pushback below zero says never.
    fn answer_grpc<B>(self, response: &mut Response<B>) {
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        let (status, message) = match self.reason {
            Reason::Limit(_) => ("8", "over the limit"),
            Reason::Full => ("14", "too many at once"),
        };
        headers.insert(GRPC_STATUS, HeaderValue::from_static(status));
        headers.insert(GRPC_MESSAGE, HeaderValue::from_static(message));
        if let Reason::Limit(retry_after) = self.reason {
            let pushback = retry_after.map_or(HeaderValue::from_static("-1"), |wait| {
                (wait.as_nanos().div_ceil(1_000_000) as u64).into()
            });
            headers.insert(GRPC_PUSHBACK, pushback);
        }
    }
}
