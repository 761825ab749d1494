//! The parts of a metric, for exporters where each name has one number or histogram.

use std::slice;

use super::form::{Form, unit_of};
use crate::event::Kind;

/// A part of a metric that is exported under a name of its own.
///
/// A counter has one part. A window has up to eleven: the count of each event, its rate, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The suffix of the metric's name. Empty for the part that has the name itself.
    pub suffix: &'static str,
    /// The suffix of the metric's help text. May be empty.
    pub about: &'static str,
    /// The kind of its samples.
    pub kind: PartKind,
    /// True if its numbers are in the [unit](super::Form::units) of the event or the metric.
    /// Otherwise they count events, or are a rate of events.
    pub is_in_unit: bool,
    pub(super) which: Which,
}

/// The kind of the samples of a [`Part`].
///
/// The enum is exhaustive, because an exporter must handle each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// An all-time total, which never goes back: [`Value::Count`](super::Value::Count).
    Counter,
    /// A fractional all-time total, which never goes back unless it starts anew:
    /// [`Value::RealTotal`](super::Value::RealTotal).
    RealCounter,
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
    Level,
    Rate,
    Records,
    RecordRate,
    Sum,
    Mean,
    Min,
    Max,
    Values,
    Quantiles,
    Uses,
}

impl Which {
    /// Returns whether an event of this kind has this number in a part.
    ///
    /// A distribution has its count and its sum: they are in no other part. And what is recorded is
    /// in no part of what is added: a program counts an operation, and records its duration.
    #[inline]
    pub(super) fn is_of(self, kind: Kind) -> bool {
        use Which::{
            Count, Level, Max, Mean, Min, Quantiles, Rate, RecordRate, Records, Sum, Values,
        };
        let all: &[Which] = match kind {
            Kind::Count => &[Count, Rate],
            Kind::Signed => &[Level, Rate],
            Kind::Value => &[Records, RecordRate, Sum, Mean, Min, Max],
            Kind::Maximum => &[Max],
            Kind::Minimum => &[Min],
            Kind::Histogram(_) => &[RecordRate, Mean, Min, Max, Values, Quantiles],
        };
        all.contains(&self)
    }
}

const fn part(suffix: &'static str, about: &'static str, kind: PartKind, which: Which) -> Part {
    use Which::{Count, Level, Rate, RecordRate, Records, Uses};
    let is_in_unit = !matches!(which, Count | Level | Rate | Records | RecordRate | Uses);
    Part { suffix, about, kind, is_in_unit, which }
}

impl Part {
    /// The part that counts the uses of a family's overflow series. Its value is
    /// [`Source::refused`](super::Source::refused); no [`Reading`](super::Reading) has this part,
    /// so an exporter adds it. Its suffix, `overflow`, is also the label of that series.
    pub const OVERFLOW: Part = part(
        "overflow",
        "uses of labels beyond the limit of series, counted in the overflow series",
        PartKind::Counter,
        Which::Uses,
    );
}

static COUNTER: Part = part("", "", PartKind::Counter, Which::Only);
static REAL_COUNTER: Part = part("", "", PartKind::RealCounter, Which::Only);
static LEVEL: Part = part("", "", PartKind::Level, Which::Only);
static GAUGE: Part = part("", "", PartKind::Gauge, Which::Only);
static REAL: Part = part("", "", PartKind::RealGauge, Which::Only);
static HISTOGRAM: Part = part("", "", PartKind::Histogram, Which::Only);

static WINDOW: [Part; 11] = [
    part("", "all-time count", PartKind::Counter, Which::Count),
    part("level", "all-time additions minus subtractions", PartKind::Level, Which::Level),
    part(
        "per_second",
        "rate per second over the closed buckets of the window",
        PartKind::RealGauge,
        Which::Rate,
    ),
    part("count", "all-time number of values", PartKind::Counter, Which::Records),
    part(
        "values_per_second",
        "values per second over the closed buckets of the window",
        PartKind::RealGauge,
        Which::RecordRate,
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

impl Form {
    /// Returns the parts in which a metric of this form is exported, in the order in which
    /// exporters show them. A window has the parts of its events.
    ///
    /// ```
    /// use windrow::export::{Exported, PartKind};
    ///
    /// let parts: Vec<_> = windrow::Counter::new().any().form().parts().collect();
    /// assert_eq!(parts.len(), 1);
    /// assert_eq!(parts[0].kind, PartKind::Counter);
    /// ```
    pub fn parts(self) -> impl Iterator<Item = &'static Part> + Clone {
        let (parts, events): (&[Part], &[(&str, Kind)]) = match self {
            Form::Counter => (slice::from_ref(&COUNTER), &[]),
            Form::Gauge | Form::InFlight => (slice::from_ref(&LEVEL), &[]),
            Form::Maximum | Form::Minimum => (slice::from_ref(&GAUGE), &[]),
            Form::Real => (slice::from_ref(&REAL), &[]),
            Form::RealTotal => (slice::from_ref(&REAL_COUNTER), &[]),
            Form::Histogram(_) => (slice::from_ref(&HISTOGRAM), &[]),
            Form::Window(events, _) => (&WINDOW, events),
            Form::Fields => (&[], &[]),
        };
        let is_there = move |part: &&Part| {
            part.which == Which::Only || events.iter().any(|(_, kind)| part.which.is_of(*kind))
        };
        parts.iter().filter(is_there)
    }

    /// Returns the units in which a [part](Part) of this form has samples, each once. `given` is
    /// the unit of values of which [none was declared](crate::Events::UNITS). The unit of numbers
    /// that count is empty.
    ///
    /// ```
    /// use windrow::SlidingWindow;
    /// use windrow::export::Exported;
    ///
    /// windrow::events! { enum Http { Rt: Histogram in "ns", Open: Maximum } }
    ///
    /// let form = SlidingWindow::<Http>::builder().build()?.any().form();
    /// let part = |suffix| form.parts().find(|part| part.suffix == suffix).unwrap();
    /// assert_eq!(form.units(part("mean"), "1"), ["ns"]);
    /// assert_eq!(form.units(part("max"), "1"), ["ns", "1"]);
    /// assert_eq!(form.units(part("values_per_second"), "1"), [""]);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "unit")]
    #[inline]
    pub fn units<'u>(self, part: &Part, given: &'u str) -> Vec<&'u str> {
        let Form::Window(events, of_events) = self else {
            return vec![if part.is_in_unit { given } else { "" }];
        };
        if !part.is_in_unit {
            return vec![""];
        }
        let mut units = Vec::new();
        for (event, (_, kind)) in events.iter().enumerate() {
            let declared = unit_of(of_events, event);
            let unit = if declared.is_empty() { given } else { declared };
            if part.which.is_of(*kind) && !units.contains(&unit) {
                units.push(unit);
            }
        }
        units
    }
}
