//! The kinds of metrics.

use std::fmt::{self, Display, Formatter};

/// What a metric is. Shown as Prometheus calls it.
///
/// ```
/// assert_eq!(windrow_metrics::Kind::Counter.to_string(), "counter");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A number that only rises.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// How many values there were of which size, and their sum.
    Histogram,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Counter, Kind::Gauge, Kind::Histogram];
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        })
    }
}
