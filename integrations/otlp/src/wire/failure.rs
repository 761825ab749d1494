//! The failure of an attempt to send a request: its error, and whether the request may have arrived
//! all the same.
//!
//! An answer that refuses a request says that it was not taken. The lack of an answer says nothing,
//! and neither does an error within the server, or of a proxy that waited for it: the request may
//! have been taken before. So a request has not arrived for certain only if nothing was sent, or if
//! the answer puts the reason into the request or its sender.

use std::time::Duration;

use windrow_http::client::{Cause, Lost};

use super::{Protocol, UNAVAILABLE};
use crate::error::ExportError;

/// The statuses of HTTP from 500 that say that nothing was done: not implemented, version not
/// supported.
const NOT_DONE: [u16; 2] = [501, 505];

/// The codes of gRPC that say that a request was not taken: invalid argument, not found, already
/// exists, permission denied, resource exhausted, failed precondition, unimplemented,
/// unauthenticated.
#[cfg(feature = "grpc")]
const NOT_TAKEN: [u16; 8] = [3, 5, 6, 7, 8, 9, 12, 16];

/// The codes of gRPC after which a request may be sent again, by the protocol: cancelled, deadline
/// exceeded, aborted, out of range, unavailable, data loss.
#[cfg(feature = "grpc")]
const RETRIED: [u16; 6] = [1, 4, 10, 11, 14, 15];

/// Resource exhausted: the request may be sent again if the collector says when.
#[cfg(feature = "grpc")]
const EXHAUSTED: u16 = 8;

/// The failure of an attempt.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) error: ExportError,
    /// False if the collector has certainly not taken the request.
    pub(crate) may_have_arrived: bool,
}

impl Failure {
    /// Returns that of a connection.
    pub(super) fn of_connection(lost: &Lost) -> Failure {
        let error = ExportError::Connection { error: lost.to_string() };
        Failure { error, may_have_arrived: lost.cause != Cause::Connect }
    }

    /// Returns that of an answer that did not come in time.
    pub(super) fn of_time(timeout: Duration) -> Failure {
        Failure { error: ExportError::Timeout { timeout }, may_have_arrived: true }
    }

    /// Returns that of a status.
    pub(super) fn of_status(
        protocol: Protocol,
        status: u16,
        message: String,
        retry_after: Option<Duration>,
    ) -> Failure {
        let (is_retried, was_not_taken) = match protocol {
            Protocol::Http => {
                (UNAVAILABLE.contains(&status), status < 500 || NOT_DONE.contains(&status))
            }
            #[cfg(feature = "grpc")]
            Protocol::Grpc => {
                let may_come_back = status == EXHAUSTED && retry_after.is_some();
                (RETRIED.contains(&status) || may_come_back, NOT_TAKEN.contains(&status))
            }
        };
        let error = if is_retried {
            ExportError::Unavailable { status, message, retry_after }
        } else {
            ExportError::Refused { status, message }
        };
        Failure { error, may_have_arrived: !was_not_taken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_say_that_a_request_was_not_taken() {
        let arrives = |status| {
            Failure::of_status(Protocol::Http, status, String::new(), None).may_have_arrived
        };
        for status in [302, 400, 401, 404, 409, 413, 429, 499, 501, 505] {
            assert!(!arrives(status), "{status}");
        }
        for status in [500, 502, 503, 504, 507, 520, 599] {
            assert!(arrives(status), "{status}");
        }
    }

    #[cfg(feature = "grpc")]
    #[test]
    fn only_the_protocols_codes_are_retried_and_only_refusals_were_not_taken() {
        for status in 1..=17 {
            let failure = Failure::of_status(Protocol::Grpc, status, String::new(), None);
            let is_retried = [1, 4, 10, 11, 14, 15].contains(&status);
            assert_eq!(failure.error.is_retried(), is_retried, "{status}");
            let was_not_taken = [3, 5, 6, 7, 8, 9, 12, 16].contains(&status);
            assert_eq!(failure.may_have_arrived, !was_not_taken, "{status}");
        }
    }
}
