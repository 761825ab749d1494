//! The kinds of metrics.

use std::fmt::{self, Display, Formatter};

/// The kind of a metric. Displayed as Prometheus calls it.
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
    /// A histogram: the number of values by size, and their sum.
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
