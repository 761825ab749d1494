//! The answer to a scrape, as a server sends it.

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
    pub(crate) fn new(format: Format, body: Vec<u8>, prefers_gzip: bool) -> Response {
        #[cfg(feature = "gzip")]
        let (content_encoding, body) =
            if prefers_gzip { crate::gzip::encoded(body) } else { (None, body) };
        #[cfg(not(feature = "gzip"))]
        let (content_encoding, _) = (None, prefers_gzip);
        Response { content_type: format.content_type(), content_encoding, body }
    }
}

/// Returns whether a client with this header `Accept-Encoding` accepts gzip, and does not give it
/// less weight than the plain text. False without the feature `gzip`.
///
/// For [`Exposition::respond_in`].
///
/// ```
/// use windrow_prometheus::prefers_gzip;
///
/// assert_eq!(prefers_gzip(Some("gzip, br")), cfg!(feature = "gzip"));
/// assert!(!prefers_gzip(None));
/// ```
pub fn prefers_gzip(accept_encoding: Option<&str>) -> bool {
    #[cfg(feature = "gzip")]
    return crate::gzip::is_preferred(accept_encoding.unwrap_or_default());
    #[cfg(not(feature = "gzip"))]
    accept_encoding.is_some_and(|_| false)
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
        self.respond_in(Format::negotiate(accept), prefers_gzip(accept_encoding))
    }

    /// Answers a scrape in a format, compressed if the client prefers gzip, for servers that read
    /// headers themselves or share an answer between clients.
    ///
    /// # Panics
    ///
    /// Panics if a source or a clock of the program's own does.
    ///
    /// ```
    /// use windrow_prometheus::{Exposition, Format};
    ///
    /// let answer = Exposition::new().respond_in(Format::OPENMETRICS, true);
    /// assert_eq!((answer.content_encoding, &answer.body[..]), (None, &b"# EOF\n"[..]));
    /// ```
    pub fn respond_in(&self, format: Format, prefers_gzip: bool) -> Response {
        Response::new(format, self.encode(format), prefers_gzip)
    }
}

/// Metrics for a server of scrapes or a gateway: an [`Exposition`], a recorder of
/// `windrow-metrics`, or a function that returns a text, alone or in an [`Arc`].
///
/// The text is of another registry than this crate's, in Prometheus' format 0.0.4. It is sent as it
/// is, the same for each client, but that it may be compressed. The function is called for each
/// scrape or push, on the thread that answers it.
///
/// ```
/// # #[cfg(feature = "serve")] {
/// let server = windrow_prometheus::serve("127.0.0.1:0", || "# TYPE up gauge\nup 1\n".to_owned());
/// server.expect("any free port").stop();
/// # }
/// ```
///
/// The trait cannot be implemented for other types.
pub trait Scraped: Send + Sync + 'static {
    /// Answers a scrape.
    #[doc(hidden)]
    fn scrape(&self, asked: Asked<'_>) -> Response;
}

/// The headers of a scrape, each `None` if the request does not have it. Other crates cannot name
/// this, and so cannot implement [`Scraped`].
#[derive(Clone, Copy, Default)]
pub struct Asked<'h> {
    pub(crate) accept: Option<&'h str>,
    pub(crate) accept_encoding: Option<&'h str>,
}

impl Scraped for Exposition {
    fn scrape(&self, Asked { accept, accept_encoding }: Asked<'_>) -> Response {
        self.respond(accept, accept_encoding)
    }
}

impl<F: Fn() -> String + Send + Sync + 'static> Scraped for F {
    fn scrape(&self, asked: Asked<'_>) -> Response {
        Response::new(Format::TEXT, self().into_bytes(), prefers_gzip(asked.accept_encoding))
    }
}

impl<S: Scraped> Scraped for Arc<S> {
    fn scrape(&self, asked: Asked<'_>) -> Response {
        (**self).scrape(asked)
    }
}
