//! The recorder of `windrow-metrics`, for scrapers and gateways.
//!
//! Its [`Handle`] can be given to [`serve`](crate::serve) and
//! [`Pushgateway::push`](crate::Pushgateway::push); a server of the program's own calls
//! [`respond`]. Scrapers get the recorder's text, or with the feature `protobuf` and by their
//! `Accept` the same series as protobuf: under the same names, without times of creation.
//!
//! A histogram in cells has [native buckets](crate#native-histograms) as well as classic ones, if
//! its number of steps is a power of two: 1 for bytes, and 2^30 in the place of the default of 10^9
//! for seconds.
//!
//! ```
//! use windrow::histogram::Scale;
//! use windrow_metrics::{Matcher, Recorder};
//! use windrow_prometheus::recorder::respond;
//!
//! let seconds = Scale::new(3, 512, 1 << 36)?;
//! let builder = Recorder::builder();
//! let handle = builder.cells_for(Matcher::Suffix("_seconds".into()), seconds, 1 << 30).install()?;
//! metrics::counter!("requests", "method" => "GET").increment(1);
//! let answer = respond(&handle, Some("text/plain"), Some("gzip")); // the scraper's headers
//! assert_eq!(answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
//! let text = String::from_utf8(answer.body)?;
//! assert_eq!(text, "# TYPE requests counter\nrequests{method=\"GET\"} 1\n\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use windrow_metrics::Handle;

use crate::format::{Format, Kind};
use crate::respond::{Asked, Response, Scraped, prefers_gzip};

/// The formats, of which the text is the first.
const KINDS: &[Kind] = &[
    Kind::Text,
    #[cfg(feature = "protobuf")]
    Kind::Protobuf,
];

/// Answers a scrape of a recorder by the request's headers `Accept` and `Accept-Encoding`, as
/// [`Exposition::respond`](crate::Exposition::respond) does.
pub fn respond(handle: &Handle, accept: Option<&str>, accept_encoding: Option<&str>) -> Response {
    let format = Format::among(KINDS, accept);
    let body = match format.kind() {
        #[cfg(feature = "protobuf")]
        Kind::Protobuf => protobuf::encode(&handle.snapshot()),
        _ => handle.render().into_bytes(),
    };
    Response::new(format, body, prefers_gzip(accept_encoding))
}

impl Scraped for Handle {
    fn scrape(&self, Asked { accept, accept_encoding }: Asked<'_>) -> Response {
        respond(self, accept, accept_encoding)
    }
}

#[cfg(feature = "protobuf")]
mod protobuf;
