//! The `RetryInfo` of a refusal, by which clients wait that do not read a pushback: in the field
//! `grpc-status-details-bin`, within a `google.rpc.Status`; and bare, in the field from which the
//! OTLP exporters of Python read it.

use std::time::Duration;

use base64::engine::{Engine, general_purpose::STANDARD_NO_PAD};
use http::HeaderValue;

/// The type of the detail.
const TYPE: &[u8] = b"type.googleapis.com/google.rpc.RetryInfo";

/// The value of the field `google.rpc.retryinfo-bin`: the time to wait.
pub(crate) fn bare(wait: Duration) -> HeaderValue {
    text(&info(wait))
}

/// The value of the field `grpc-status-details-bin` for a refusal with this status and message, and
/// a time to wait.
pub(crate) fn details(status: u8, message: &str, wait: Duration) -> HeaderValue {
    let info = info(wait);
    let mut detail = Vec::with_capacity(96);
    bytes(&mut detail, 1, TYPE);
    bytes(&mut detail, 2, &info);
    let mut all = Vec::with_capacity(160);
    number(&mut all, 1, status.into());
    bytes(&mut all, 2, message.as_bytes());
    bytes(&mut all, 3, &detail);
    text(&all)
}

/// Returns the message `google.rpc.RetryInfo`.
fn info(wait: Duration) -> Vec<u8> {
    let mut delay = Vec::with_capacity(24);
    number(&mut delay, 1, wait.as_secs().min(i64::MAX as u64));
    number(&mut delay, 2, wait.subsec_nanos().into());
    let mut info = Vec::with_capacity(32);
    bytes(&mut info, 1, &delay);
    info
}

/// Returns bytes as gRPC has them in a field.
fn text(bytes: &[u8]) -> HeaderValue {
    let text = STANDARD_NO_PAD.encode(bytes);
    HeaderValue::try_from(text).expect("base64 is visible ASCII")
}

/// Writes a number behind its field's number; nothing for zero.
fn number(to: &mut Vec<u8>, field: u8, number: u64) {
    if number != 0 {
        varint(to, field << 3, number);
    }
}

/// Writes a number behind a key.
fn varint(to: &mut Vec<u8>, key: u8, mut number: u64) {
    to.push(key);
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Writes bytes behind their field's number and their length.
fn bytes(to: &mut Vec<u8>, field: u8, content: &[u8]) {
    varint(to, field << 3 | 2, content.len() as u64);
    to.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use super::{bare, details};
    use std::time::Duration;

    #[test]
    fn a_retry_info_is_as_googles_own_library_writes_it() {
        // By googleapis-common-protos of Python.
        for (status, message, millis, theirs) in [
            (
                8,
                "over the limit",
                1_500,
                "CAgSDm92ZXIgdGhlIGxpbWl0GjYKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5S\
                 ZXRyeUluZm8SCgoICAEQgMq17gE",
            ),
            (
                14,
                "the circuit breaker is open",
                1,
                "CA4SG3RoZSBjaXJjdWl0IGJyZWFrZXIgaXMgb3BlbhoyCih0eXBlLmdvb2dsZWFwaXMuY29t\
                 L2dvb2dsZS5ycGMuUmV0cnlJbmZvEgYKBBDAhD0",
            ),
            (
                14,
                "the circuit breaker is open",
                60_000,
                "CA4SG3RoZSBjaXJjdWl0IGJyZWFrZXIgaXMgb3BlbhowCih0eXBlLmdvb2dsZWFwaXMuY29t\
                 L2dvb2dsZS5ycGMuUmV0cnlJbmZvEgQKAgg8",
            ),
        ] {
            assert_eq!(details(status, message, Duration::from_millis(millis)), theirs);
        }
        assert_eq!(bare(Duration::from_millis(1_500)), "CggIARCAyrXuAQ");
    }
}
