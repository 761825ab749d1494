//! Scrapes of a registry.

use std::fmt;

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

use super::classic::Classic;
use crate::format::{Format, Kind};
use crate::respond::{Response, Scraped, Sealed, prefers_gzip};

/// The formats in which a registry can be scraped.
const KINDS: &[Kind] = &[Kind::Text, Kind::OpenMetrics];

/// Returns the text of a scrape of a registry of `prometheus-client`. It reads each metric once, in
/// either format.
///
/// # Errors
///
/// Returns an error if a collector of the registry does; those that [`register`](super::register)
/// adds do not. And if the format is neither [`Format::TEXT`] nor [`Format::OPENMETRICS`].
///
/// ```
/// use prometheus_client::registry::Registry;
/// use windrow_prometheus::Format;
/// use windrow_prometheus::registry::encode;
///
/// assert_eq!(encode(&Registry::default(), Format::TEXT)?, "");
/// assert_eq!(encode(&Registry::default(), Format::OPENMETRICS)?, "# EOF\n");
/// # Ok::<(), std::fmt::Error>(())
/// ```
pub fn encode(registry: &Registry, format: Format) -> Result<String, fmt::Error> {
    let mut text = String::new();
    match format.kind() {
        Kind::Text => text::encode(&mut Classic::new(&mut text), registry)?,
        Kind::OpenMetrics => text::encode(&mut text, registry)?,
        _ => return Err(fmt::Error),
    }
    Ok(text)
}

/// Answers a scrape of a registry by the request's headers `Accept` and `Accept-Encoding`, as
/// [`Exposition::respond`](crate::Exposition::respond) does, in version 0.0.4 of the text or in
/// `OpenMetrics`.
///
/// # Errors
///
/// Returns an error if a collector of the registry does; those that [`register`](super::register)
/// adds do not.
///
/// ```
/// use prometheus_client::registry::Registry;
/// use windrow_prometheus::registry::respond;
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
    let format = Format::among(KINDS, accept);
    // Names are shown as they are, so there is no escaping to speak of.
    let format = if format.kind() == Kind::Text { Format::TEXT } else { Format::OPENMETRICS };
    let body = encode(registry, format)?.into_bytes();
    Ok(Response::new(format, body, prefers_gzip(accept_encoding)))
}

impl Sealed for Registry {}

impl Scraped for Registry {
    fn scrape(
        &self,
        accept: Option<&str>,
        accept_encoding: Option<&str>,
    ) -> Result<Response, fmt::Error> {
        respond(self, accept, accept_encoding)
    }
}
