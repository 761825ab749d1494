//! A client: each request is sent once, to a checked URL, and answers are read up to a length.
//!
//! Underneath is hyper-util's client (`client-legacy`). It was chosen by what each adds to a tree:
//! hyper's own connections 31 packages, with names, ports, handshakes and tasks still to be written
//! by hand; hyper-util's client 34; `reqwest` 80, for redirects, cookies and proxies, which an
//! exporter must not follow. `ureq` has 11, but neither HTTP/2, which gRPC needs, nor a time for
//! each part of an answer, which a stream of events needs.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

pub use url::{Url, UrlError};

mod url;

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
    /// Returns [`Lost`] if no connection is made, or if it is lost: then it is unknown whether the
    /// server has the request, unless [`Lost::is_connect`].
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
        answer.map_err(|error| Lost { is_connect: error.is_connect(), ..Lost::of(&error) })
    }
}

impl Default for Client {
    fn default() -> Client {
        Client::new()
    }
}

fn builder() -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder.retry_canceled_requests(false);
    builder
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
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

/// The error of a connection, with the texts of all that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    texts: String,
    is_connect: bool,
}

impl Lost {
    /// Describes an error, and those that caused it.
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
        Lost { texts, is_connect: false }
    }

    /// Returns whether no connection was made: then nothing was sent.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        self.is_connect
    }
}

impl Display for Lost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts)
    }
}

impl Error for Lost {}
