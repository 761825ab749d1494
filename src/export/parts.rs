//! The parts of a metric, for exporters where each name has one number or histogram.

use super::form::{Form, is_histogram};
use crate::event::Kind;

/// A part of a metric that is exported under a name of its own.
///
/// A counter has one part. A window has up to eight: the count of each event, its rate, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The suffix of the metric's name. Empty for the first part.
    pub suffix: &'static str,
    /// The suffix of the metric's help text. May be empty.
    pub about: &'static str,
    /// The kind of its samples.
    pub kind: PartKind,
    /// True if its numbers are in the metric's [unit](super::Listed::unit). Otherwise they count
    /// events, or are a rate of events.
    pub is_in_unit: bool,
    pub(super) which: Which,
}

/// The kind of the samples of a [`Part`].
///
/// It is exhaustive, because an exporter must handle each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// An all-time total, which never goes back: [`Value::Count`](super::Value::Count).
    Counter,
    /// A level that goes up and down and can be summed over series:
    /// [`Value::Signed`](super::Value::Signed), or [`Unsigned`](super::Value::Unsigned).
    Level,
    /// A number that cannot be summed: [`Value::Unsigned`](super::Value::Unsigned).
    Gauge,
    /// A fractional number that cannot be summed: [`Value::Real`](super::Value::Real).
    RealGauge,
    /// An all-time distribution: [`Value::Distribution`](super::Value::Distribution).
    Histogram,
}

/// The number of a metric in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Only,
    Count,
    Rate,
    Sum,
    Mean,
    Min,
    Max,
    Values,
    Quantiles,
}

const fn part(suffix: &'static str, about: &'static str, kind: PartKind, which: Which) -> Part {
    let is_in_unit = !matches!(which, Which::Count | Which::Rate);
    Part { suffix, about, kind, is_in_unit, which }
}

const COUNTER: &[Part] = &[part("", "", PartKind::Counter, Which::Only)];
const LEVEL: &[Part] = &[part("", "", PartKind::Level, Which::Only)];
const GAUGE: &[Part] = &[part("", "", PartKind::Gauge, Which::Only)];
const HISTOGRAM: &[Part] = &[part("", "", PartKind::Histogram, Which::Only)];

const WINDOW: [Part; 8] = [
    part("", "all-time count", PartKind::Counter, Which::Count),
    part(
        "per_second",
        "rate per second over the closed buckets of the window",
        PartKind::RealGauge,
        Which::Rate,
    ),
    part("sum", "all-time sum of the values", PartKind::Counter, Which::Sum),
    part(
        "mean",
        "mean of the values in the closed buckets of the window",
        PartKind::RealGauge,
        Which::Mean,
    ),
    part("min", "minimum in the closed buckets of the window", PartKind::Gauge, Which::Min),
    part("max", "maximum in the closed buckets of the window", PartKind::Gauge, Which::Max),
    part(
        "values",
        "all-time number of values up to each bound",
        PartKind::Histogram,
        Which::Values,
    ),
    part(
        "percentile",
        "percentiles of the values in the closed buckets of the window",
        PartKind::Gauge,
        Which::Quantiles,
    ),
];

/// The number of parts of windows that count only, and of those with values but no histogram.
const OF_COUNTS: usize = 2;
const OF_VALUES: usize = 6;

impl Form {
    /// Returns the parts in which a metric of this form is exported.
    ///
    /// ```
    /// use windrow::export::{Exported, PartKind};
    ///
    /// let parts = windrow::Counter::new().any().form().parts();
    /// assert_eq!(parts.len(), 1);
    /// assert_eq!(parts[0].kind, PartKind::Counter);
    /// ```
    pub fn parts(self) -> &'static [Part] {
        match self {
            Form::Counter => COUNTER,
            Form::Gauge | Form::InFlight => LEVEL,
            Form::Maximum | Form::Minimum => GAUGE,
            Form::Histogram(_) => HISTOGRAM,
            Form::Window(events) => {
                let has = |wanted: fn(Kind) -> bool| events.iter().any(|(_, kind)| wanted(*kind));
                let parts = if has(is_histogram) {
                    WINDOW.len()
                } else if has(|kind| kind != Kind::Count) {
                    OF_VALUES
                } else {
                    OF_COUNTS
                };
                &WINDOW[..parts]
            }
        }
    }
}
