//! OTLP over gRPC: one unary call, which is a request of HTTP/2 with its status in the trailers.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http_body_util::{BodyExt, Limited};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use prost::Message;
use windrow_http::client::Lost;

use super::answer::short;
use super::{Failure, LONGEST_ANSWER, Protocol, Taken, Wire, accepted};
use crate::message::{RetryInfo, Status};

/// Unknown: the code of an answer without one.
const UNKNOWN: u16 = 2;

impl Wire {
    pub(super) async fn send_by_grpc(&self, message: &[u8]) -> Result<Taken, Failure> {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(TE, HeaderValue::from_static("trailers"));
        let answer = self.client.send(Method::POST, &self.url, headers, framed(message)).await;
        let (head, answer) = answer.map_err(|error| Failure::of_connection(&error))?.into_parts();
        if head.status != StatusCode::OK {
            // What stands before a collector has answered: its text says nothing.
            let status = head.status.as_u16();
            return Err(Failure::of_status(Protocol::Http, status, String::new(), None));
        }
        // With the trailers, which have the status.
        let answer = Limited::new(answer, LONGEST_ANSWER).collect().await;
        let answer = answer.map_err(|error| Failure::of_connection(&Lost::of(&*error)))?;
        // An answer without a message has its status in the headers.
        let trailers = answer.trailers().unwrap_or(&head.headers);
        let trailers = if trailers.contains_key("grpc-status") { trailers } else { &head.headers };
        match text(trailers, "grpc-status").map_or(Ok(UNKNOWN), str::parse) {
            Ok(0) => Ok(accepted(answer.to_bytes().get(5..).unwrap_or_default())),
            status => Err(failed(status.unwrap_or(UNKNOWN), trailers)),
        }
    }
}

/// Returns a message with a byte that says it is not compressed, and its length, before it.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("requests have a few MiB");
    [&[0], &length.to_be_bytes()[..], message].concat()
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the failure of a status.
fn failed(status: u16, trailers: &HeaderMap) -> Failure {
    let message = percent_decode_str(text(trailers, "grpc-message").unwrap_or_default());
    let message = short(message.decode_utf8_lossy().into_owned());
    Failure::of_status(Protocol::Grpc, status, message, retry_after(trailers))
}

/// Returns the delay that the details of a status ask for.
fn retry_after(trailers: &HeaderMap) -> Option<Duration> {
    let details = text(trailers, "grpc-status-details-bin")?.trim_end_matches('=');
    let details = STANDARD_NO_PAD.decode(details).ok()?;
    let status = Status::decode(&*details).ok()?;
    let mut details = status.details.iter();
    let info = details.find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = RetryInfo::decode(&*info.value).ok()?.retry_delay?;
    let seconds = u64::try_from(delay.seconds).ok()?;
    Some(Duration::new(seconds, u32::try_from(delay.nanos).ok()?.min(999_999_999)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ExportError;

    /// A status of code 8 and the text `full`, with a delay of 1.5 s in its details.
    const DETAILS: &str =
        "CAgSBGZ1bGwaNgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIKCggIARCAyrXuAQ";

    #[test]
    fn details_say_when_to_come_back() {
        let exhausted = 8;
        let mut trailers = HeaderMap::new();
        assert!(!failed(exhausted, &trailers).error.is_retried());
        trailers.insert("grpc-status-details-bin", HeaderValue::from_static(DETAILS));
        let retry_after = Some(Duration::from_millis(1_500));
        let message = String::new();
        let expected = ExportError::Unavailable { status: 8, message, retry_after };
        assert_eq!(failed(exhausted, &trailers).error, expected);
        // Padding is there or not.
        let padded = HeaderValue::from_str(&format!("{DETAILS}==")).unwrap();
        trailers.insert("grpc-status-details-bin", padded);
        assert_eq!(failed(exhausted, &trailers).error, expected);
        trailers.insert("grpc-status-details-bin", HeaderValue::from_static("Z-g"));
        assert!(!failed(exhausted, &trailers).error.is_retried());
    }

    #[test]
    fn messages_are_unescaped() {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-message", HeaderValue::from_static("caf%C3%A9 100% %zz"));
        let message = "caf\u{e9} 100% %zz".to_owned();
        assert_eq!(failed(3, &trailers).error, ExportError::Refused { status: 3, message });
    }
}
