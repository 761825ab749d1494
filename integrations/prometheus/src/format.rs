//! The formats of a scrape, and the choice between them.

use std::cmp::Reverse;
use std::fmt;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::CONTENT_TYPE;
use crate::accept::{Element, elements};
use crate::classic::Classic;

/// A text format in which a registry can be scraped.
///
/// ```
/// use prometheus_client::registry::Registry;
/// use windrow_prometheus::{Format, register};
///
/// static HITS: windrow::Counter = windrow::Counter::new();
///
/// let mut registry = Registry::default();
/// register(&mut registry, "hits", "Hits", &HITS)?;
/// HITS.increment();
/// assert_eq!(
///     Format::Text.encode(&registry)?,
///     "# HELP hits_total Hits\n# TYPE hits_total counter\nhits_total 1\n"
/// );
/// assert_eq!(
///     Format::OpenMetrics.encode(&registry)?,
///     "# HELP hits Hits\n# TYPE hits counter\nhits_total 1\n# EOF\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Prometheus's text format, version 0.0.4. It has no exemplars and no units.
    #[default]
    Text,
    /// `OpenMetrics` text, version 1.0.0.
    OpenMetrics,
}

impl Format {
    /// Chooses the format for a request by its header `Accept`, or `None` if it has no such header.
    /// Join several by commas.
    ///
    /// The client's weights decide, as RFC 9110 describes them: the most specific range that
    /// matches a format gives its weight. Of two formats with equal weights, it is the one that is
    /// named more specifically, then the one that is named first. A version other than 1.0.0 of
    /// `OpenMetrics`, or than 0.0.4 of the text, matches no format.
    ///
    /// For any other client this is [`Text`](Format::Text), which all scrapers read: so it is for
    /// one that accepts everything, such as curl or a browser, for one without the header, and also
    /// for one that accepts neither format, since a scraper that asks for protobuf only reads text
    /// all the same. The choice never fails, whatever the header contains.
    ///
    /// ```
    /// use windrow_prometheus::Format;
    ///
    /// let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2";
    /// assert_eq!(Format::negotiate(Some(prometheus)), Format::OpenMetrics);
    /// assert_eq!(Format::negotiate(Some("*/*")), Format::Text); // curl
    /// assert_eq!(Format::negotiate(None), Format::Text);
    /// ```
    #[must_use]
    pub fn negotiate(accept: Option<&str>) -> Format {
        let ranges: Vec<Element<'_>> = elements(accept.unwrap_or_default()).collect();
        let rank = |format: Format| {
            let matching = ranges.iter().enumerate().filter_map(|(position, range)| {
                Some((format.matches(range)?, range.weight, Reverse(position)))
            });
            let (specificity, weight, position) = matching.max()?;
            (weight > 0).then_some((weight, specificity, position))
        };
        if rank(Format::OpenMetrics) > rank(Format::Text) {
            Format::OpenMetrics
        } else {
            Format::Text
        }
    }

    /// Returns the value of the header `Content-Type`.
    ///
    /// ```
    /// use windrow_prometheus::{CONTENT_TYPE, Format};
    ///
    /// assert_eq!(Format::Text.content_type(), "text/plain; version=0.0.4; charset=utf-8");
    /// assert_eq!(Format::OpenMetrics.content_type(), CONTENT_TYPE);
    /// ```
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => CONTENT_TYPE,
        }
    }

    /// Returns the text of a scrape. It reads each metric once, in either format.
    ///
    /// # Errors
    ///
    /// Returns an error if a collector of the registry does; those that
    /// [`register`](crate::register) adds do not.
    ///
    /// ```
    /// # use prometheus_client::registry::Registry;
    /// use windrow_prometheus::Format;
    ///
    /// assert_eq!(Format::Text.encode(&Registry::default())?, "");
    /// assert_eq!(Format::OpenMetrics.encode(&Registry::default())?, "# EOF\n");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    pub fn encode(self, registry: &Registry) -> Result<String, fmt::Error> {
        let mut text = String::new();
        match self {
            Format::Text => encode(&mut Classic::new(&mut text), registry)?,
            Format::OpenMetrics => encode(&mut text, registry)?,
        }
        Ok(text)
    }

    /// Returns how specifically a media range names the format; `None` if it does not.
    fn matches(self, range: &Element<'_>) -> Option<u8> {
        let (media, version) = match self {
            Format::Text => (("text", "plain"), "0.0.4"),
            Format::OpenMetrics => (("application", "openmetrics-text"), "1.0.0"),
        };
        let (kind, subtype) = range.name.split_once('/')?;
        if (kind, subtype) == ("*", "*") {
            return Some(0);
        }
        if !kind.eq_ignore_ascii_case(media.0) {
            return None;
        }
        match range.version {
            _ if subtype == "*" => Some(1),
            _ if !subtype.eq_ignore_ascii_case(media.1) => None,
            None => Some(2),
            Some(asked) => (asked == version).then_some(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format::{self, OpenMetrics, Text};

    /// The headers of clients, some with what they meant when they were released.
    const CLIENTS: [(&str, Format); 9] = [
        // Prometheus 3, with and without protobuf; 2.50; 2.30, which knew a draft only.
        (
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
             application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
             application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,\
             text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
            OpenMetrics,
        ),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,\
             text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            OpenMetrics,
        ),
        (
            "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            Text,
        ),
        // A scraper that prefers the classic format.
        (
            "text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1",
            Text,
        ),
        // curl; a browser; one that asks for protobuf only; the media types without versions.
        ("*/*", Text),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Text),
        ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily", Text),
        ("application/openmetrics-text", OpenMetrics),
        ("text/plain", Text),
    ];

    #[test]
    fn clients_get_the_format_that_they_prefer() {
        for (accept, format) in CLIENTS {
            assert_eq!(Format::negotiate(Some(accept)), format, "{accept}");
        }
        assert_eq!(Format::negotiate(None), Text);
    }

    #[test]
    fn weights_then_specificity_then_order_decide() {
        let table = [
            ("text/plain;q=0.4,application/openmetrics-text;q=0.5", OpenMetrics),
            ("text/plain;q=0.501,application/openmetrics-text;q=0.5", Text),
            // A weight counts more than a specific name; with equal weights, that counts.
            ("application/openmetrics-text;version=1.0.0;q=0.4,*/*", Text),
            ("*/*,application/openmetrics-text", OpenMetrics),
            ("text/*,application/openmetrics-text", OpenMetrics),
            ("application/*,text/plain", Text),
            // Then the order.
            ("application/openmetrics-text,text/plain", OpenMetrics),
            ("text/plain,application/openmetrics-text", Text),
            ("application/*,text/*", OpenMetrics),
            // The most specific range gives the weight, wherever it stands.
            ("text/*;q=0.9,text/plain;q=0.1,application/openmetrics-text;q=0.5", OpenMetrics),
            ("text/plain;version=0.0.4;q=0.1,text/plain,application/*;q=0.5", OpenMetrics),
            // A refused format is not sent if the other is accepted.
            ("*/*,text/plain;q=0", OpenMetrics),
            ("*/*;q=0.1,text/*;q=0", OpenMetrics),
            ("application/openmetrics-text;q=0,*/*", Text),
            ("application/openmetrics-text;q=0.0,text/plain;q=0.001", Text),
            // Names are the same in either case; other parameters do not matter.
            (
                "Application/OpenMetrics-Text; Charset=utf-8; VERSION=\"1.0.0\"; Q=1.000",
                OpenMetrics,
            ),
            // Versions that are not ours.
            ("application/openmetrics-text;version=2.0.0,text/plain;q=0.1", Text),
            ("application/openmetrics-text;version=,text/plain;q=0.1", Text),
            ("text/plain;version=1.0.0,application/openmetrics-text;q=0.1", OpenMetrics),
        ];
        for (accept, format) in table {
            assert_eq!(Format::negotiate(Some(accept)), format, "{accept}");
        }
    }

    #[test]
    fn hostile_headers_get_text() {
        let table = [
            "",
            " ",
            ",",
            ",,,;;;===",
            "/",
            "*",
            "*/",
            "/*",
            "*/plain",
            "q=1",
            ";q=1",
            "text",
            "\"",
            "\\",
            "application/openmetrics-text;q=0",
            "*/*;q=0",
            "application/openmetrics-text;q=",
            "application/openmetrics-text;q=2",
            "application/openmetrics-text;q=-1",
            "application/openmetrics-text;q=1.0000",
            "application/openmetrics-text;q=NaN",
            "application/openmetrics-text/",
            "application/ openmetrics-text",
            "image/png",
            "\"application/openmetrics-text\"",
            "x=\",application/openmetrics-text",
            "application/openmetrics-text;x=\",;version=\\\"\";version=\"2\"",
            "é/ü;q=ß\u{0}",
        ];
        for accept in table {
            assert_eq!(Format::negotiate(Some(accept)), Text, "{accept:?}");
        }
        let long = "application/openmetrics-text;q=0,".repeat(10_000);
        assert_eq!(Format::negotiate(Some(&long)), Text);
        let long =
            format!("{}application/openmetrics-text;version=1.0.0", "a/b;c=\"d\",".repeat(10_000));
        assert_eq!(Format::negotiate(Some(&long)), OpenMetrics);
    }
}
