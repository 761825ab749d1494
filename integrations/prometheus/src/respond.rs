//! The answer to a scrape, as a server sends it.

use std::fmt;

use prometheus_client::registry::Registry;

use crate::Format;

/// An answer to a scrape: from [`respond`].
///
/// Since it depends on two headers of the request, a server behind a cache also sends the header
/// `Vary` with `accept, accept-encoding`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// The value of the header `Content-Type`.
    pub content_type: &'static str,
    /// The value of the header `Content-Encoding`; `None` if the body is plain text.
    pub content_encoding: Option<&'static str>,
    /// The body.
    pub body: Vec<u8>,
}

/// Answers a scrape by the request's headers `Accept` and `Accept-Encoding`, each `None` if the
/// request does not have it.
///
/// [`Format::negotiate`] chooses the format. With the feature `gzip`, a body of 1 KiB or more is
/// compressed for a client that accepts gzip and does not prefer the plain text.
///
/// # Errors
///
/// Returns an error if a collector of the registry does; those that [`register`](crate::register)
/// adds do not.
///
/// ```
/// use prometheus_client::registry::Registry;
/// use windrow_prometheus::respond;
///
/// let answer = respond(&Registry::default(), Some("application/openmetrics-text"), Some("gzip"))?;
/// assert_eq!(answer.content_type, windrow_prometheus::CONTENT_TYPE);
/// assert_eq!((answer.content_encoding, &answer.body[..]), (None, &b"# EOF\n"[..]));
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub fn respond(
    registry: &Registry,
    accept: Option<&str>,
    accept_encoding: Option<&str>,
) -> Result<Response, fmt::Error> {
    let format = Format::negotiate(accept);
    let body = format.encode(registry)?.into_bytes();
    #[cfg(feature = "gzip")]
    let (content_encoding, body) = crate::gzip::encoded(body, accept_encoding);
    #[cfg(not(feature = "gzip"))]
    let (content_encoding, _) = (None, accept_encoding);
    Ok(Response { content_type: format.content_type(), content_encoding, body })
}
