//! A client: each request is sent once, to a checked URL, and answers are read up to a length.
//!
//! Underneath is hyper-util's client (`client-legacy`). It was chosen by what each adds to a tree:
//! hyper's own connections 31 packages, with names, ports, handshakes and tasks still to be written
//! by hand; hyper-util's client 34; `reqwest` 80, for redirects, cookies and proxies, which an
//! exporter must not follow. `ureq` has 11, but neither HTTP/2, which gRPC needs, nor a time for
//! each part of an answer, which a stream of events needs.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

pub use url::{Url, UrlError};

mod url;

/// The time in which a connection must be made, to all addresses of a host together.
const CONNECTING: Duration = Duration::from_secs(10);

/// The greatest length of the head of an answer of HTTP/1.1, in bytes.
pub const LONGEST_HEAD: usize = 16 * 1024;

/// A client. Its connections run on tokio's runtime, where its requests are sent.
///
/// Nothing is sent a second time by itself, and no redirect is followed. The time for an answer is
/// the caller's: a future that is dropped ends its connection.
pub struct Client(legacy::Client<HttpConnector, Full<Bytes>>);

impl Client {
    /// Makes a client of HTTP/1.1 that has a connection of its own for each request: for requests
    /// that are seconds apart, where a server closes idle connections at times of its own.
    #[must_use]
    pub fn new() -> Client {
        Client(builder().pool_max_idle_per_host(0).build(connector()))
    }

    /// Makes a client of HTTP/1.1 that keeps its connections for further requests.
    #[must_use]
    pub fn kept_alive() -> Client {
        Client(builder().build(connector()))
    }

    /// Makes a client of HTTP/2 without TLS that has a connection of its own for each request.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn http2() -> Client {
        Client(builder().http2_only(true).pool_max_idle_per_host(0).build(connector()))
    }

    /// Sends a request, and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// Returns [`Lost`] if no connection is made within 10 s, or if it is lost. It is unknown then
    /// whether the server has the request, unless [`Lost::cause`] is [`Cause::Connect`].
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: impl Into<Bytes>,
    ) -> Result<Response<Incoming>, Lost> {
        let mut request = Request::new(Full::new(body.into()));
        *request.method_mut() = method;
        *request.uri_mut() = url.uri().clone();
        *request.headers_mut() = headers;
        let answer = self.0.request(request).await;
        answer.map_err(|error| Lost { cause: Cause::of(&error), ..Lost::of(&error) })
    }
}

impl Default for Client {
    fn default() -> Client {
        Client::new()
    }
}

fn builder() -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder.retry_canceled_requests(false).http1_max_buf_size(LONGEST_HEAD);
    builder
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECTING));
    connector
}

/// Returns the beginning of an answer's text, up to a length in bytes; what was read before the
/// connection was lost, if it was.
pub async fn beginning(mut body: Incoming, longest: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < longest
        && let Some(Ok(frame)) = body.frame().await
    {
        text.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
    }
    text.truncate(longest);
    text
}

/// The cause of a lost connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// No connection was made: nothing was sent.
    Connect,
    /// The server does not speak HTTP.
    NotHttp,
    /// The head of the answer is longer than [`LONGEST_HEAD`], or has more than 100 fields.
    LongHead,
    /// The server closed the connection before the head of the answer was there.
    Closed,
    /// The connection was lost in another way.
    Broken,
}

impl Cause {
    fn of(error: &legacy::Error) -> Cause {
        let of_hyper = error.source().and_then(|cause| cause.downcast_ref::<hyper::Error>());
        match of_hyper {
            _ if error.is_connect() => Cause::Connect,
            Some(error) if error.is_parse_too_large() => Cause::LongHead,
            Some(error) if error.is_parse() => Cause::NotHttp,
            Some(error) if error.is_incomplete_message() => Cause::Closed,
            _ => Cause::Broken,
        }
    }
}

/// The error of a connection, with the texts of all that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    texts: String,
    cause: Cause,
}

impl Lost {
    /// Describes an error of a connection that was made, and those that caused it.
    #[must_use]
    pub fn of(error: &(dyn Error + 'static)) -> Lost {
        let mut texts = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !texts.contains(&text) {
                texts = format!("{texts}: {text}");
            }
            cause = error.source();
        }
        Lost { texts, cause: Cause::Broken }
    }

    /// Returns the cause.
    #[must_use]
    pub fn cause(&self) -> Cause {
        self.cause
    }
}

impl Display for Lost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts)
    }
}

impl Error for Lost {}
