//! A client: each request is sent once, to a checked URL, and answers are read up to a length.
//!
//! Underneath is hyper-util's client (`client-legacy`). It was chosen by what each adds to a tree:
//! hyper's own connections 31 packages, with names, ports, handshakes and tasks still to be written
//! by hand; hyper-util's client 34; `reqwest` 0.13 75, for redirects, cookies and proxies, which an
//! exporter must not follow. `ureq` 3 has 11, but neither HTTP/2, which gRPC needs, nor a time for
//! each part of an answer, which a stream of events needs.

use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

pub use lost::{Cause, Lost};
pub use runtime::Runtime;
pub use url::{Url, UrlError};

mod lost;
mod runtime;
mod url;

/// The time in which a connection must be made, to all addresses of a host together.
const CONNECTING: Duration = Duration::from_secs(10);

/// The greatest length of the head of an answer of HTTP/1.1, in bytes.
const LONGEST_HEAD: usize = 16 * 1024;

/// A client. Its connections run on tokio's runtime, where its requests are sent.
///
/// Nothing is sent a second time by itself, and no redirect is followed. The time for an answer is
/// the caller's: a future that is dropped ends its connection.
pub struct Client(legacy::Client<HttpConnector, Full<Bytes>>);

impl Client {
    /// Makes a client of HTTP/1.1 that has a connection of its own for each request: for requests
    /// that are seconds apart, where a server closes idle connections at times of its own.
    #[must_use]
    pub fn http1() -> Client {
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

    /// Sends a request, and waits for the head of the answer: 16 KiB over HTTP/1.1 at most.
    ///
    /// # Errors
    ///
    /// Returns [`Lost`] if no connection is made within 10 s, or if it is lost. It is unknown then
    /// whether the server has the request, unless the [cause](Lost::cause) is [`Cause::Connect`].
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
        self.0.request(request).await.map_err(|error| {
            let mut lost = Lost::of(&error);
            if error.is_connect() {
                lost.cause = Cause::Connect;
            }
            lost
        })
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

/// Returns headers with the names and the values that were given; a later one of a name replaces an
/// earlier one.
///
/// # Errors
///
/// Returns the name of a header that has a name or a value that none can have.
pub fn headers(given: &[(String, String)]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let wrong = || name.clone();
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        headers.insert(key, HeaderValue::from_str(value).map_err(|_| wrong())?);
    }
    Ok(headers)
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
