//! The classification of responses as successes, refusals or exceptions.

use http::{HeaderMap, StatusCode};

use crate::protocol::Protocol;

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A response, which may still tell the client that its request was wrong.
    Success,
    /// A refusal, because the client or all clients together ask for too much: counted as
    /// [`Http::Block`](crate::Http::Block), as are those of a limit. To a
    /// [breaker](crate::BreakerLayer) it says nothing.
    Refused,
    /// A failure of the service.
    Exception,
}

/// A classification of responses as successes, refusals or exceptions. The default is [`ByStatus`].
///
/// A function of status and headers implements it:
///
/// ```
/// use http::{HeaderMap, StatusCode};
/// use windrow_tower::{MetricsLayer, Outcome, Routes};
///
/// static ROUTES: Routes = Routes::new();
///
/// let layer = MetricsLayer::new(&ROUTES, |_| None).classify(|status: StatusCode, _: &HeaderMap| {
///     match status {
///         StatusCode::TOO_MANY_REQUESTS => Outcome::Exception,
///         status if status.is_server_error() => Outcome::Exception,
///         _ => Outcome::Success,
///     }
/// });
/// # let _ = tower_layer::Layer::layer(&layer, ());
/// ```
///
/// An end without a response (an error of the service or of the body, a panic) is always an
/// exception.
pub trait Classify {
    /// Returns the outcome of the request by the response's head; `None` if only the end of the
    /// body decides it.
    fn by_head(&self, status: StatusCode, headers: &HeaderMap) -> Option<Outcome>;

    /// Returns the outcome of the request by the trailers, if there are any: those of HTTP, or
    /// those in a body of gRPC-Web. Called once the body has ended, if the head did not decide.
    fn by_end(&self, trailers: Option<&HeaderMap>) -> Outcome;
}

impl<F: Fn(StatusCode, &HeaderMap) -> Outcome> Classify for F {
    fn by_head(&self, status: StatusCode, headers: &HeaderMap) -> Option<Outcome> {
        Some(self(status, headers))
    }

    fn by_end(&self, _: Option<&HeaderMap>) -> Outcome {
        Outcome::Success // the head has decided
    }
}

/// The classification by status: 500 or above is an exception, and 429 a refusal. For gRPC,
/// `RESOURCE_EXHAUSTED` is a refusal; and an exception is `UNKNOWN`, `DEADLINE_EXCEEDED`,
/// `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE` or `DATA_LOSS`, in the headers or in the trailers, or
/// an end without a status; the other gRPC statuses are the client's fault.
///
/// A response is gRPC by its `content-type`. Of gRPC-Web, the trailers are those in the last frame
/// of the body, of which 8 KiB are read.
///
/// ```
/// use http::{HeaderMap, HeaderValue, StatusCode};
/// use windrow_tower::{ByStatus, Classify, Outcome};
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(ByStatus.by_head(StatusCode::NOT_FOUND, &headers), Some(Outcome::Success));
/// assert_eq!(
///     ByStatus.by_head(StatusCode::TOO_MANY_REQUESTS, &headers),
///     Some(Outcome::Refused),
/// );
/// headers.insert("content-type", HeaderValue::from_static("application/grpc+proto"));
/// assert_eq!(ByStatus.by_head(StatusCode::OK, &headers), None);
/// let trailers = HeaderMap::from_iter([("grpc-status".parse()?, HeaderValue::from_static("13"))]);
/// assert_eq!(ByStatus.by_end(Some(&trailers)), Outcome::Exception);
/// # Ok::<(), http::header::InvalidHeaderName>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ByStatus;

const GRPC_STATUS: &str = "grpc-status";

impl Classify for ByStatus {
    fn by_head(&self, status: StatusCode, headers: &HeaderMap) -> Option<Outcome> {
        if status.is_server_error() {
            return Some(Outcome::Exception);
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            return Some(Outcome::Refused);
        }
        match Protocol::of(headers) {
            Protocol::Http => Some(Outcome::Success),
            _ => grpc_status(headers),
        }
    }

    fn by_end(&self, trailers: Option<&HeaderMap>) -> Outcome {
        trailers.and_then(grpc_status).unwrap_or(Outcome::Exception)
    }
}

/// Returns the outcome by the gRPC status, if there is one. A status that is not a number is
/// `UNKNOWN`.
fn grpc_status(headers: &HeaderMap) -> Option<Outcome> {
    Some(match headers.get(GRPC_STATUS)?.as_bytes() {
        b"0" | b"1" | b"3" | b"5" | b"6" | b"7" | b"9" | b"10" | b"11" | b"16" => Outcome::Success,
        b"8" => Outcome::Refused,
        _ => Outcome::Exception,
    })
}
