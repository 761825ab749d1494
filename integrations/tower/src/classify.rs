//! Which responses are exceptions.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// By a response, which may tell the client that the request was wrong.
    Success,
    /// By the service's fault.
    Exception,
}

/// Says which responses are exceptions: [`ByStatus`], unless you have one of your own.
///
/// A function of status and headers is one:
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
/// What is not a response (an error of the service or of the body, a panic) is an exception in any
/// case.
pub trait Classify {
    /// Returns how the request ended, by the response's head; `None` if the end of the body will
    /// tell.
    fn by_head(&self, status: StatusCode, headers: &HeaderMap) -> Option<Outcome>;

    /// Returns how the request ended, by the trailers, if there are any. Is called once the body
    /// has ended, if the head did not tell.
    fn by_end(&self, trailers: Option<&HeaderMap>) -> Outcome;
}

impl<F: Fn(StatusCode, &HeaderMap) -> Outcome> Classify for F {
    fn by_head(&self, status: StatusCode, headers: &HeaderMap) -> Option<Outcome> {
        Some(self(status, headers))
    }

    fn by_end(&self, _: Option<&HeaderMap>) -> Outcome {
        Outcome::Success // the head told
    }
}

/// A status of 500 or above is an exception. So are gRPC's `UNKNOWN`, `DEADLINE_EXCEEDED`,
/// `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE` and `DATA_LOSS`, in the headers or in the trailers,
/// and an end without any; the others are the client's.
///
/// A response is gRPC's by its `content-type`.
///
/// ```
/// use http::{HeaderMap, HeaderValue, StatusCode};
/// use windrow_tower::{ByStatus, Classify, Outcome};
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(ByStatus.by_head(StatusCode::NOT_FOUND, &headers), Some(Outcome::Success));
/// headers.insert("content-type", HeaderValue::from_static("application/grpc+proto"));
/// assert_eq!(ByStatus.by_head(StatusCode::OK, &headers), None);
/// let trailers = HeaderMap::from_iter([("grpc-status".parse()?, HeaderValue::from_static("13"))]);
/// assert_eq!(ByStatus.by_end(Some(&trailers)), Outcome::Exception);
/// # Ok::<(), http::header::InvalidHeaderName>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ByStatus;

const GRPC: &[u8] = b"application/grpc";
const GRPC_STATUS: &str = "grpc-status";

impl Classify for ByStatus {
    fn by_head(&self, status: StatusCode, headers: &HeaderMap) -> Option<Outcome> {
        if status.is_server_error() {
            return Some(Outcome::Exception);
        }
        if is_grpc(headers) { grpc_status(headers) } else { Some(Outcome::Success) }
    }

    fn by_end(&self, trailers: Option<&HeaderMap>) -> Outcome {
        trailers.and_then(grpc_status).unwrap_or(Outcome::Exception)
    }
}

/// Returns whether it is a request or a response of gRPC's.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|of| of.as_bytes().starts_with(GRPC))
}

/// Returns what the status says, if there is one. One that is no number is `UNKNOWN`.
fn grpc_status(headers: &HeaderMap) -> Option<Outcome> {
    Some(match headers.get(GRPC_STATUS)?.as_bytes() {
        b"0" | b"1" | b"3" | b"5" | b"6" | b"7" | b"8" | b"9" | b"10" | b"11" | b"16" => {
            Outcome::Success
        }
        _ => Outcome::Exception,
    })
}
