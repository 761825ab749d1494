//! OTLP over gRPC: one unary call, which is a request of HTTP/2 with its status in the trailers.

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use hyper::{Method, StatusCode};
use prost::Message;
use windrow_http::client::Lost;

use super::answer::short;
use super::{Failure, LONGEST_ANSWER, Taken, Wire, accepted};
use crate::message::{Response, RetryInfo, Status};

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
            return Err(Failure::of_http(head.status.as_u16(), String::new(), None));
        }
        // With the trailers, which have the status.
        let answer = Limited::new(answer, LONGEST_ANSWER).collect().await;
        let answer = answer.map_err(|error| Failure::of_connection(&Lost::of(&*error)))?;
        // An answer without a message has its status in the headers.
        let trailers = answer.trailers().unwrap_or(&head.headers);
        let trailers = if trailers.contains_key("grpc-status") { trailers } else { &head.headers };
        match text(trailers, "grpc-status").map_or(Ok(UNKNOWN), str::parse) {
            Ok(0) => {
                let message = answer.to_bytes();
                match message.get(5..).map(Response::decode) {
                    Some(Ok(answer)) => Ok(accepted(&answer)),
                    _ => Ok(Ok(())), // it was accepted, by whatever text
                }
            }
            status => Err(failed(status.unwrap_or(UNKNOWN), trailers)),
        }
    }
}

/// Returns a message with a byte that says it is not compressed, and its length, before it.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("requests have a few MiB");
    let mut framed = Vec::with_capacity(message.len() + 5);
    framed.push(0);
    framed.extend(length.to_be_bytes());
    framed.extend(message);
    framed
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the failure of a status.
fn failed(status: u16, trailers: &HeaderMap) -> Failure {
    let message = short(unescaped(text(trailers, "grpc-message").unwrap_or_default()));
    Failure::of_grpc(status, message, retry_after(trailers))
}

/// Returns the delay that the details of a status ask for.
fn retry_after(trailers: &HeaderMap) -> Option<Duration> {
    let details = decoded(text(trailers, "grpc-status-details-bin")?)?;
    let status = Status::decode(&*details).ok()?;
    let mut details = status.details.iter();
    let info = details.find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = RetryInfo::decode(&*info.value).ok()?.retry_delay?;
    let seconds = u64::try_from(delay.seconds).ok()?;
    Some(Duration::new(seconds, u32::try_from(delay.nanos).ok()?.min(999_999_999)))
}

/// Returns a message of gRPC, whose bytes other than ASCII are `%` and two hexadecimal digits.
fn unescaped(message: &str) -> String {
    let mut bytes = Vec::with_capacity(message.len());
    let mut rest = message.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the bytes of a text in base 64, with or without padding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for character in text.trim_end_matches('=').bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8); // the lowest eight of them
        }
    }
    Some(bytes)
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
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8", "fo"), ("Zm9vYmE=", "fooba")] {
            assert_eq!(decoded(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(decoded("Z-g"), None);

        let exhausted = 8;
        let mut trailers = HeaderMap::new();
        assert!(!failed(exhausted, &trailers).error.is_retried());
        trailers.insert("grpc-status-details-bin", HeaderValue::from_static(DETAILS));
        let retry_after = Some(Duration::from_millis(1_500));
        let message = String::new();
        let expected = ExportError::Unavailable { status: 8, message, retry_after };
        assert_eq!(failed(exhausted, &trailers).error, expected);
    }

    #[test]
    fn messages_are_unescaped() {
        assert_eq!(unescaped("caf%C3%A9 100% %zz"), "caf\u{e9} 100% %zz");
    }
}
