//! The texts of answers.

use hyper::header::{CONTENT_TYPE, HeaderMap};
use prost::Message;

use crate::message::Status;

/// The length of a message that is kept, in bytes.
const LONGEST: usize = 300;

/// Returns the message of a refusal: of the status in its body, or a text.
pub(super) fn refusal(headers: &HeaderMap, body: &[u8]) -> String {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    let is_protobuf = kind.starts_with(b"application/x-protobuf");
    let status = Status::decode(body).ok().filter(|_| is_protobuf);
    let message = status.map(|status| status.message);
    short(message.unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_owned()))
}

/// Shortens a message.
pub(super) fn short(mut message: String) -> String {
    if message.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| message.is_char_boundary(*end));
        message.truncate(end.unwrap_or(0));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_read_from_protobuf_and_from_text() {
        let mut headers = HeaderMap::new();
        assert_eq!(refusal(&headers, b" not today\n"), "not today");
        headers.insert(CONTENT_TYPE, "application/x-protobuf".parse().unwrap());
        let status = Status { message: "too long".to_owned(), details: Vec::new() };
        assert_eq!(refusal(&headers, &status.encode_to_vec()), "too long");
        let long = "\u{20ac}".repeat(1_000);
        assert_eq!(short(long).len(), 300);
        assert_eq!(short("a".repeat(299) + "\u{20ac}").len(), 299);
    }
}
