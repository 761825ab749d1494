//! The formats of a scrape, and the choice between them.

use std::cmp::Reverse;

use crate::accept::{Element, elements};
use crate::escaping::Escaping;

/// A format of a scrape, with what it makes of names of UTF-8.
///
/// ```
/// use windrow_prometheus::{Exposition, Format};
///
/// static HITS: windrow::Counter = windrow::Counter::new();
///
/// let mut metrics = Exposition::new();
/// metrics.register("hits", "Hits", &HITS)?;
/// HITS.increment();
/// assert_eq!(
///     String::from_utf8(metrics.encode(Format::TEXT))?,
///     "# HELP hits_total Hits\n# TYPE hits_total counter\nhits_total 1\n"
/// );
/// let text = String::from_utf8(metrics.encode(Format::OPENMETRICS))?;
/// assert!(text.contains("# TYPE hits counter\nhits_total 1\nhits_created 1"));
/// assert!(text.ends_with("\n# EOF\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Format {
    kind: Kind,
    /// `None` if the scraper did not say.
    escaping: Option<Escaping>,
}

/// A format, without the escaping of names. In the order in which a scraper gets them that wants
/// several equally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    #[default]
    Text,
    Text1,
    OpenMetrics,
    #[cfg(feature = "protobuf")]
    Protobuf,
}

impl Kind {
    /// All formats that an [`Exposition`](crate::Exposition) writes.
    pub(crate) const ALL: &[Kind] = &[
        Kind::Text,
        Kind::Text1,
        Kind::OpenMetrics,
        #[cfg(feature = "protobuf")]
        Kind::Protobuf,
    ];
}

/// The message of Prometheus' protobuf.
const FAMILY: &str = "io.prometheus.client.MetricFamily";

impl Format {
    /// Prometheus' text format, version 0.0.4. It has no units, no times of creation, and no names
    /// of UTF-8.
    pub const TEXT: Format = Format::of(Kind::Text);

    /// Prometheus' text format, version 1.0.0: version 0.0.4, and names of UTF-8.
    pub const TEXT_1_0_0: Format = Format::of(Kind::Text1);

    /// `OpenMetrics` text, version 1.0.0.
    pub const OPENMETRICS: Format = Format::of(Kind::OpenMetrics);

    /// Prometheus' protobuf: messages `io.prometheus.client.MetricFamily`, each with its length
    /// before it. It has [native histograms](crate#native-histograms).
    #[cfg(feature = "protobuf")]
    #[cfg_attr(docsrs, doc(cfg(feature = "protobuf")))]
    pub const PROTOBUF: Format = Format::of(Kind::Protobuf);

    const fn of(kind: Kind) -> Format {
        Format { kind, escaping: None }
    }

    /// Returns the format with this escaping of names. Without it, they are escaped by
    /// [underscores](Escaping::Underscores); in version 0.0.4 of the text also instead of
    /// [`AllowUtf8`](Escaping::AllowUtf8), which it does not have.
    ///
    /// ```
    /// use windrow_prometheus::{Escaping, Format};
    ///
    /// let format = Format::TEXT_1_0_0.with_escaping(Escaping::AllowUtf8);
    /// let accept = "text/plain;version=1.0.0;escaping=allow-utf-8";
    /// assert_eq!(Format::negotiate(Some(accept)), format);
    /// ```
    #[must_use]
    pub const fn with_escaping(self, escaping: Escaping) -> Format {
        let escaping = match (self.kind, escaping) {
            (Kind::Text, Escaping::AllowUtf8) => Escaping::Underscores,
            (_, escaping) => escaping,
        };
        Format { escaping: Some(escaping), ..self }
    }

    /// Returns the escaping of names.
    pub(crate) fn escaping(self) -> Escaping {
        self.escaping.unwrap_or_default()
    }

    pub(crate) fn kind(self) -> Kind {
        self.kind
    }

    /// Chooses the format for a request by its header `Accept`, or `None` if it has no such header.
    /// Join several by commas.
    ///
    /// The client's weights decide, as RFC 9110 describes them: the most specific range that
    /// matches a format gives its weight. Of two formats with equal weights, it is the one that is
    /// named more specifically, then the one that is named first. A version other than 1.0.0 of
    /// `OpenMetrics`, or than 0.0.4 and 1.0.0 of the text, matches no format; a text without a
    /// version is 0.0.4. Protobuf is chosen only with the feature `protobuf`, if the header names
    /// message and encoding.
    ///
    /// For any other client this is [`TEXT`](Format::TEXT), which all scrapers read: so it is for
    /// one that accepts everything, such as curl or a browser, for one without the header, and also
    /// for one that accepts no format, since a scraper that asks for another one reads text all the
    /// same. The choice never fails, whatever the header contains.
    ///
    /// ```
    /// use windrow_prometheus::Format;
    ///
    /// let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2";
    /// assert_eq!(Format::negotiate(Some(prometheus)), Format::OPENMETRICS);
    /// assert_eq!(Format::negotiate(Some("*/*")), Format::TEXT); // curl
    /// assert_eq!(Format::negotiate(None), Format::TEXT);
    /// ```
    #[must_use]
    pub fn negotiate(accept: Option<&str>) -> Format {
        Format::among(Kind::ALL, accept)
    }

    /// Chooses one of these formats, of which the text is the first.
    pub(crate) fn among(kinds: &[Kind], accept: Option<&str>) -> Format {
        let ranges: Vec<Element<'_>> = elements(accept.unwrap_or_default()).collect();
        let mut chosen = (None, Format::TEXT);
        for kind in kinds {
            let matching = ranges.iter().enumerate().filter_map(|(position, range)| {
                Some((kind.matches(range)?, range.weight, Reverse(position)))
            });
            let Some((specificity, weight, position)) = matching.max() else { continue };
            let rank = Some((weight, specificity, position));
            if weight > 0 && rank > chosen.0 {
                let escaping = ranges[position.0].escaping.and_then(Escaping::of);
                let format = Format::of(*kind);
                chosen = (rank, escaping.map_or(format, |escaping| format.with_escaping(escaping)));
            }
        }
        chosen.1
    }

    /// Returns the value of the header `Content-Type`.
    ///
    /// ```
    /// use windrow_prometheus::{CONTENT_TYPE, Escaping, Format};
    ///
    /// assert_eq!(Format::TEXT.content_type(), "text/plain; version=0.0.4; charset=utf-8");
    /// assert_eq!(Format::OPENMETRICS.content_type(), CONTENT_TYPE);
    /// assert_eq!(
    ///     Format::TEXT_1_0_0.with_escaping(Escaping::AllowUtf8).content_type(),
    ///     "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
    /// );
    /// ```
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        macro_rules! with_escaping {
            ($type:literal) => {
                match self.escaping {
                    None => $type,
                    Some(Escaping::AllowUtf8) => concat!($type, "; escaping=allow-utf-8"),
                    Some(Escaping::Underscores) => concat!($type, "; escaping=underscores"),
                    Some(Escaping::Dots) => concat!($type, "; escaping=dots"),
                    Some(Escaping::Values) => concat!($type, "; escaping=values"),
                }
            };
        }
        match self.kind {
            Kind::Text => with_escaping!("text/plain; version=0.0.4; charset=utf-8"),
            Kind::Text1 => with_escaping!("text/plain; version=1.0.0; charset=utf-8"),
            Kind::OpenMetrics => {
                with_escaping!("application/openmetrics-text; version=1.0.0; charset=utf-8")
            }
            #[cfg(feature = "protobuf")]
            Kind::Protobuf => with_escaping!(
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            ),
        }
    }
}

impl Kind {
    /// Returns how specifically a media range names the format; `None` if it does not.
    fn matches(self, range: &Element<'_>) -> Option<u8> {
        let (media, version) = match self {
            Kind::Text => (("text", "plain"), Some("0.0.4")),
            Kind::Text1 => (("text", "plain"), Some("1.0.0")),
            Kind::OpenMetrics => (("application", "openmetrics-text"), Some("1.0.0")),
            #[cfg(feature = "protobuf")]
            Kind::Protobuf => (("application", "vnd.google.protobuf"), None),
        };
        if self == Kind::Text1 && range.version != version {
            return None; // a text without a version is 0.0.4
        }
        let is_family = range.proto == Some(FAMILY) && range.encoding == Some("delimited");
        match range.name.split_once('/')? {
            ("*", "*") => Some(0),
            (kind, _) if !kind.eq_ignore_ascii_case(media.0) => None,
            (_, "*") => Some(1),
            (_, subtype) if !subtype.eq_ignore_ascii_case(media.1) => None,
            _ if version.is_none() => is_family.then_some(3),
            _ if range.version.is_none() => Some(2),
            _ => (range.version == version).then_some(3),
        }
    }
}

#[cfg(test)]
mod tests;
