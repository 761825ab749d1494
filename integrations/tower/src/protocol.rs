//! The protocol of a request or a response, by its content type.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

/// A way in which a response tells the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// By the status of HTTP.
    Http,
    /// By a status of gRPC, in the headers or in the trailers.
    Grpc,
    /// By a status of gRPC, in the headers or in the last frame of the body.
    GrpcWeb,
    /// The status is that of [`GrpcWeb`](Protocol::GrpcWeb); the body is in base64.
    GrpcWebText,
}

/// The longest content type that a refusal repeats.
const LONGEST: usize = 64;

impl Protocol {
    pub(crate) fn of(headers: &HeaderMap) -> Protocol {
        let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        let Some(kind) = kind.strip_prefix(b"application/grpc") else { return Protocol::Http };
        match kind.strip_prefix(b"-web") {
            Some(kind) if kind.starts_with(b"-text") => Protocol::GrpcWebText,
            Some(_) => Protocol::GrpcWeb,
            None => Protocol::Grpc,
        }
    }

    /// Returns the content type of an answer without a body to a request with these headers; `None`
    /// for HTTP.
    pub(crate) fn of_answer(headers: &HeaderMap) -> Option<HeaderValue> {
        match Protocol::of(headers) {
            Protocol::Http => None,
            Protocol::Grpc => Some(HeaderValue::from_static("application/grpc")),
            // A client of gRPC-Web wants its own back.
            Protocol::GrpcWeb | Protocol::GrpcWebText => {
                let own = headers.get(CONTENT_TYPE).filter(|own| own.len() <= LONGEST);
                Some(own.cloned().unwrap_or(HeaderValue::from_static("application/grpc-web")))
            }
        }
    }
}
