//! Sending a request, and what its answer means.
//!
//! Each request has a connection of its own: they are seconds apart, and a collector closes idle
//! connections at times of its own.

use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue, USER_AGENT};
use prost::Message;
use tokio::time::timeout;
use windrow_http::client::{self, Client, Url};

use crate::error::{ExportError, StartError};
use crate::message::{self, PartialSuccess};

mod answer;
mod endpoint;
mod failure;
#[cfg(feature = "grpc")]
mod grpc;
mod http;

pub(crate) use failure::Failure;

/// The statuses of HTTP after which a request is sent again: these alone, by the protocol.
const UNAVAILABLE: [u16; 4] = [429, 502, 503, 504];

/// The most that is read of an answer, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// The protocol of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    #[cfg(feature = "grpc")]
    Grpc,
}

/// The way to a collector.
pub(crate) struct Wire {
    protocol: Protocol,
    client: Client,
    url: Url,
    headers: HeaderMap,
    timeout: Duration,
}

impl Wire {
    pub(crate) fn new(
        protocol: Protocol,
        endpoint: &str,
        given: &[(String, String)],
        timeout: Duration,
    ) -> Result<Wire, StartError> {
        let headers = client::headers(given).map_err(|name| StartError::Header { name });
        let mut headers = headers?;
        let agent = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(agent));
        let (client, url) = match protocol {
            Protocol::Http => (Client::http1(), endpoint::http(endpoint)?),
            #[cfg(feature = "grpc")]
            Protocol::Grpc => (Client::http2(), endpoint::grpc(endpoint)?),
        };
        Ok(Wire { protocol, client, url, headers, timeout })
    }

    /// Sends a message, and returns what its answer says.
    pub(crate) async fn send(&self, message: &Bytes) -> Result<Taken, Failure> {
        match self.protocol {
            Protocol::Http => self.send_by_http(message).await,
            #[cfg(feature = "grpc")]
            Protocol::Grpc => self.in_time(self.send_by_grpc(message)).await,
        }
    }

    /// Waits for the part of an exchange that decides about the request, up to the timeout.
    async fn in_time<T>(
        &self,
        exchange: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let late = Failure::of_time(self.timeout);
        timeout(self.timeout, exchange).await.unwrap_or(Err(late))
    }
}

/// The answer to a request that was taken: an error if some of its points were rejected.
pub(crate) type Taken = Result<(), ExportError>;

/// Returns what the answer to an accepted request says. Any other text than an answer's says
/// nothing.
fn accepted(text: &[u8]) -> Taken {
    let answer = message::Response::decode(text).unwrap_or_default();
    let PartialSuccess { rejected_data_points, error_message: message } =
        answer.partial_success.unwrap_or_default();
    match u64::try_from(rejected_data_points) {
        Ok(points) if points > 0 => Err(ExportError::Rejected { points, message }),
        _ => Ok(()),
    }
}
