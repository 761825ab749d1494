//! The answer to a scrape, as a server sends it.

use std::fmt;
use std::sync::Arc;

use crate::{Exposition, Format};

/// An answer to a scrape: from [`Exposition::respond`].
///
/// Since it depends on two headers of the request, a server behind a cache also sends the header
/// `Vary` with `accept, accept-encoding`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// The value of the header `Content-Type`.
    pub content_type: &'static str,
    /// The value of the header `Content-Encoding`; `None` if the body is not compressed.
    pub content_encoding: Option<&'static str>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(format: Format, body: Vec<u8>, accept_encoding: Option<&str>) -> Response {
        #[cfg(feature = "gzip")]
        let (content_encoding, body) = crate::gzip::encoded(body, accept_encoding);
        #[cfg(not(feature = "gzip"))]
        let (content_encoding, _) = (None, accept_encoding);
        Response { content_type: format.content_type(), content_encoding, body }
    }
}

impl Exposition {
    /// Answers a scrape by the request's headers `Accept` and `Accept-Encoding`, each `None` if the
    /// request does not have it.
    ///
    /// [`Format::negotiate`] chooses the format. With the feature `gzip`, a body of 1 KiB or more
    /// is compressed for a client that accepts gzip and does not prefer it as it is.
    ///
    /// # Panics
    ///
    /// Panics if a source or a clock of the program's own does.
    ///
    /// ```
    /// use windrow_prometheus::Exposition;
    ///
    /// let metrics = Exposition::new();
    /// let answer = metrics.respond(Some("application/openmetrics-text"), Some("gzip"));
    /// assert_eq!(answer.content_type, windrow_prometheus::CONTENT_TYPE);
    /// assert_eq!((answer.content_encoding, &answer.body[..]), (None, &b"# EOF\n"[..]));
    /// ```
    pub fn respond(&self, accept: Option<&str>, accept_encoding: Option<&str>) -> Response {
        let format = Format::negotiate(accept);
        Response::new(format, self.encode(format), accept_encoding)
    }
}

/// Metrics for a server of scrapes: an [`Exposition`] or a registry of `prometheus-client`, alone
/// or in an [`Arc`].
///
/// It cannot be implemented for other types.
pub trait Scraped: Sealed + Send + Sync + 'static {
    /// Answers a scrape.
    #[doc(hidden)]
    fn scrape(
        &self,
        accept: Option<&str>,
        accept_encoding: Option<&str>,
    ) -> Result<Response, fmt::Error>;
}

/// Restricts [`Scraped`](super::Scraped) to the types of this crate.
pub trait Sealed {}

impl Sealed for Exposition {}

impl Scraped for Exposition {
    fn scrape(
        &self,
        accept: Option<&str>,
        accept_encoding: Option<&str>,
    ) -> Result<Response, fmt::Error> {
        Ok(self.respond(accept, accept_encoding))
    }
}

impl<S: Scraped> Sealed for Arc<S> {}

impl<S: Scraped> Scraped for Arc<S> {
    fn scrape(
        &self,
        accept: Option<&str>,
        accept_encoding: Option<&str>,
    ) -> Result<Response, fmt::Error> {
        (**self).scrape(accept, accept_encoding)
    }
}
