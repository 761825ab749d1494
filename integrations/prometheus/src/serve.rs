//! A server of scrapes, on a thread of its own.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use windrow_http::server::{self, Limits, Reach, Site};

use crate::respond::Scraped;

pub use windrow_http::server::{ServeError, Server};

mod answer;

/// The limits of a server: each connection is for one scrape.
const LIMITS: Limits = Limits {
    connections: 64,
    head: Duration::from_secs(10),
    whole: Some(Duration::from_secs(30)),
    buffer: 16 * 1024,
    send_buffer: None,
};

/// Serves metrics at `/metrics` of an address such as `0.0.0.0:9090`, or `localhost:0` for any
/// free port, on a thread of its own.
///
/// It answers GET and HEAD over HTTP/1.1 as [`Exposition::respond`](crate::Exposition::respond)
/// does, and any other path or method by 404 or 405. Every client that reaches the address can read
/// all metrics: it has no password, and no encryption.
///
/// There are at most 64 connections at once, each for one request with a head of at most 16 KiB.
/// A connection is closed when its client has not sent the head after 10 s, takes nothing of the
/// answer for 10 s, or has not taken the whole answer 30 s after the begin of the connection. When
/// all 64 are taken, a new client gets the place of the one that came first among those that have
/// not sent the head: so clients that are silent keep no scrape out. A scrape is encoded on the
/// server's thread, one after the other; if a source panics, its answer is 500.
///
/// # Errors
///
/// Returns [`ServeError`] if the address is invalid or taken, or if no thread can be started.
///
/// ```
/// use windrow_prometheus::{Exposition, ServeError, serve};
///
/// static HITS: windrow::Counter = windrow::Counter::new();
///
/// let mut metrics = Exposition::new();
/// metrics.register("hits", "Hits", &HITS)?;
/// let server = serve("127.0.0.1:0", metrics)?;
/// println!("http://{}/metrics", server.address());
///
/// let error = serve(&server.address().to_string(), Exposition::new()).unwrap_err();
/// assert!(matches!(error, ServeError::Listen { .. }), "it is taken");
/// server.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serve(address: &str, metrics: impl Scraped) -> Result<Server, ServeError> {
    server::serve(Metrics(Arc::new(metrics)), address, Reach::Any, LIMITS)
}

/// The metrics of a server.
#[derive(Clone)]
struct Metrics(Arc<dyn Scraped>);

impl Site for Metrics {
    type Body = Full<Bytes>;
    type Answer = Ready<Response<Full<Bytes>>>;

    fn respond(&self, request: &Request<Incoming>) -> Self::Answer {
        ready(answer::to(request, &*self.0))
    }
}
