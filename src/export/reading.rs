//! The numbers of a metric at one moment, part by part.

use super::form::{Form, unit_of};
use super::metric::AnyMetric;
use super::parts::{Part, Which};
use super::span::AnySpan;
use super::window::AnyWindow;
use crate::event::{Kind, Stats};
use crate::exemplar::Exemplar;
use crate::histogram::Distribution;

/// The quantiles of a window's `Histogram` events that are exported, and their texts.
const QUANTILES: [(&str, f64); 3] = [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99)];

/// The numbers of a metric at one moment: from [`AnyMetric::read`].
#[non_exhaustive]
pub struct Reading {
    /// The metric's type, which has its [parts](Form::parts).
    pub form: Form,
    /// Those of the only part.
    exemplars: Vec<Exemplar>,
    read: Read,
}

enum Read {
    Number(Option<Value<'static>>),
    Values(Distribution),
    Window(Window),
}

/// The reading of a window, event by event; empty where it was not requested.
#[derive(Default)]
struct Window {
    lifetime: Vec<Stats>,
    distributions: Vec<Option<Distribution>>,
    exemplars: Vec<Vec<Exemplar>>,
    closed: Option<AnySpan<'static>>,
}

/// A sample of a [`Part`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample<'r> {
    /// The name of the window's event.
    pub event: Option<&'static str>,
    /// The quantile, as a text: `0.99`.
    pub quantile: Option<&'static str>,
    /// The [declared unit](crate::Events::UNITS) of the event's values; empty if none was declared,
    /// or if the part counts.
    pub unit: &'static str,
    /// The number, or the distribution.
    pub value: Value<'r>,
    /// The [exemplars](crate::exemplar) of a counter, of a histogram or of a window's `Histogram`
    /// event, at most one for each octave, in the order of their values. Each is counted in
    /// `value`, unless it came [late](crate::SlidingWindow::late).
    pub exemplars: &'r [Exemplar],
}

impl Sample<'_> {
    /// Returns the labels of the sample in addition to those of its series: `event` and `q`.
    #[inline]
    pub fn labels(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let event = self.event.map(|event| ("event", event));
        event.into_iter().chain(self.quantile.map(|q| ("q", q)))
    }
}

/// The value of a [`Sample`]. The part's [kind](super::PartKind) determines the variant.
#[derive(Clone, Copy, Debug)]
pub enum Value<'r> {
    /// An all-time total.
    Count(u64),
    /// A level or a gauge without a sign.
    Unsigned(u64),
    /// A level with a sign.
    Signed(i64),
    /// A rate, a mean, or a number of the program's own: finite.
    Real(f64),
    /// An all-time total of the program's own: finite and not negative.
    RealTotal(f64),
    /// All values ever recorded.
    Distribution(&'r Distribution),
}

impl AnyMetric<'_> {
    /// Reads all numbers of the metric.
    ///
    /// ```
    /// use windrow::Gauge;
    /// use windrow::export::{Exported, Value};
    ///
    /// let open = Gauge::new();
    /// open.add(3);
    /// let reading = open.any().read();
    /// for part in reading.form.parts() {
    ///     reading.samples(part, &mut |sample| {
    ///         assert!(matches!(sample.value, Value::Signed(3)));
    ///     });
    /// }
    /// ```
    #[inline]
    pub fn read(self) -> Reading {
        Reading::of(self, None)
    }

    /// Reads the one number of a metric that has no more: `None` of a histogram, a window or
    /// several metrics; and of a metric that has no number at the moment, such as a maximum before
    /// a value is recorded.
    ///
    /// It is the value of the sample of the metric's only part, as [`read`](Self::read) has it,
    /// without the memory for a [`Reading`]. For an exemplar, ask a counter before.
    ///
    /// ```
    /// use windrow::export::{Exported, Value};
    /// use windrow::{Counter, Histogram, Maximum};
    ///
    /// let hits = Counter::new();
    /// hits.add(3);
    /// assert!(matches!(hits.any().number(), Some(Value::Count(3))));
    /// assert!(Maximum::new().any().number().is_none());
    /// assert!(Histogram::new().any().number().is_none());
    /// ```
    #[inline]
    pub fn number(self) -> Option<Value<'static>> {
        match self {
            AnyMetric::Counter(counter) => Some(Value::Count(counter.lifetime())),
            AnyMetric::Gauge(gauge) => Some(Value::Signed(gauge.sum())),
            AnyMetric::InFlight(level) => Some(Value::Unsigned(level.level())),
            AnyMetric::Maximum(maximum) => maximum.get().map(Value::Unsigned),
            AnyMetric::Minimum(minimum) => minimum.get().map(Value::Unsigned),
            AnyMetric::Real(number) => Some(Value::Real(number)).filter(|_| number.is_finite()),
            AnyMetric::RealTotal(total) => {
                let is_total = |total: &f64| total.is_finite() && *total >= 0.0;
                Some(total).filter(is_total).map(Value::RealTotal)
            }
            AnyMetric::Count(count) => count.map(Value::Count),
            AnyMetric::Histogram(_)
            | AnyMetric::Distribution(_)
            | AnyMetric::Window(_)
            | AnyMetric::Fields(_) => None,
        }
    }

    /// Reads the numbers of one [part](Part), and no others.
    ///
    /// For exporters that ask for one part at a time: one part of a window costs less than all.
    #[inline]
    pub fn read_part(self, part: &Part) -> Reading {
        Reading::of(self, Some(part))
    }
}

impl Reading {
    /// Reads all of a metric, or one part.
    #[inline]
    pub(super) fn of(metric: AnyMetric<'_>, part: Option<&Part>) -> Reading {
        // Before the numbers, so that each is counted in them.
        let exemplars = match metric {
            AnyMetric::Counter(counter) => counter.exemplar().into_iter().collect(),
            AnyMetric::Histogram(histogram) => histogram.exemplars(),
            _ => Vec::new(),
        };
        let read = match metric {
            AnyMetric::Histogram(histogram) => Read::Values(histogram.lifetime()),
            AnyMetric::Distribution(values) => Read::Values(values.clone()),
            AnyMetric::Window(window) => Read::Window(Window::of(window, part)),
            other => Read::Number(other.number()),
        };
        Reading { form: metric.form(), exemplars, read }
    }

    /// Calls `put` with each sample of a part.
    ///
    /// There may be no sample: a maximum has none before a value is recorded, nor has the mean of a
    /// window without values. A part that was not [read](AnyMetric::read_part), or that belongs to
    /// another metric, has none.
    #[inline]
    pub fn samples(&self, part: &Part, put: &mut dyn FnMut(Sample<'_>)) {
        match (&self.read, self.form) {
            (Read::Number(Some(value)), _) if part.which == Which::Only => put(self.only(*value)),
            (Read::Values(values), _) if part.which == Which::Only => {
                put(self.only(Value::Distribution(values)));
            }
            (Read::Window(window), Form::Window(events, units)) => {
                let units = if part.is_in_unit { units } else { &[] };
                window.samples(events, units, part.which, put);
            }
            _ => {}
        }
    }

    /// Returns the sample of a metric that has one.
    fn only<'r>(&'r self, value: Value<'r>) -> Sample<'r> {
        Sample { event: None, quantile: None, unit: "", value, exemplars: &self.exemplars }
    }
}

impl Window {
    #[inline]
    fn of(window: &dyn AnyWindow, part: Option<&Part>) -> Window {
        use Which::{Max, Mean, Min, Quantiles, Rate, RecordRate};

        let asked = |parts: &[Which]| part.is_none_or(|part| parts.contains(&part.which));
        let events = 0..window.events().len();
        let mut read = Window::default();
        if asked(&[Which::Count, Which::Level, Which::Records, Which::Sum]) {
            read.lifetime = events.clone().map(|event| window.lifetime_stats(event)).collect();
        }
        if asked(&[Which::Values]) {
            // Before the distributions, so that each is counted in them.
            read.exemplars = events.clone().map(|event| window.exemplars(event)).collect();
            read.distributions = events.map(|event| window.lifetime_values(event)).collect();
        }
        if asked(&[Rate, RecordRate, Mean, Min, Max, Quantiles]) {
            read.closed = window.complete().filter(|closed| !closed.interval.is_zero());
        }
        read
    }

    #[inline]
    fn samples(
        &self,
        events: &[(&'static str, Kind)],
        units: &[&'static str],
        which: Which,
        put: &mut dyn FnMut(Sample<'_>),
    ) {
        for (event, (name, kind)) in events.iter().enumerate() {
            let unit = unit_of(units, event);
            let named =
                |value| Sample { event: Some(name), quantile: None, unit, value, exemplars: &[] };
            match which {
                Which::Values => {
                    let values = self.distributions.get(event).and_then(Option::as_ref);
                    if let Some(values) = values {
                        let exemplars = &self.exemplars[event];
                        put(Sample { exemplars, ..named(Value::Distribution(values)) });
                    }
                }
                Which::Quantiles => self.quantiles(event, |quantile, value| {
                    put(Sample { quantile: Some(quantile), ..named(Value::Unsigned(value)) });
                }),
                _ => {
                    if let Some(value) = self.value(event, *kind, which) {
                        put(named(value));
                    }
                }
            }
        }
    }

    fn quantiles(&self, event: usize, mut put: impl FnMut(&'static str, u64)) {
        let values = self.closed.as_ref().and_then(|closed| closed.distribution(event));
        let Some(values) = values else { return };
        let found = QUANTILES.map(|(_, q)| values.quantile(q));
        for ((quantile, _), value) in QUANTILES.into_iter().zip(found) {
            if let Some(value) = value {
                put(quantile, value);
            }
        }
    }

    /// Returns the one number of an event in a part, if it has one.
    #[inline]
    fn value(&self, event: usize, kind: Kind, which: Which) -> Option<Value<'static>> {
        if !which.is_of(kind) {
            return None;
        }
        let lifetime = || self.lifetime.get(event);
        let closed = || self.closed.as_ref().map(|closed| closed.stats(event));
        match which {
            Which::Count | Which::Records => lifetime().map(|ever| Value::Count(ever.count)),
            Which::Level => lifetime().map(|ever| Value::Signed(ever.sum.cast_signed())),
            Which::Sum => lifetime().map(|ever| Value::Count(ever.sum)),
            Which::Rate | Which::RecordRate => {
                let seconds = self.closed.as_ref()?.interval.as_secs_f64();
                let closed = closed()?;
                let signed = || closed.sum.cast_signed() as f64;
                let count = if kind == Kind::Signed { signed() } else { closed.count as f64 };
                Some(Value::Real(count / seconds))
            }
            Which::Mean => closed()?.mean().map(Value::Real),
            Which::Min => closed()?.min.map(Value::Unsigned),
            Which::Max => closed()?.max.map(Value::Unsigned),
            Which::Only | Which::Values | Which::Quantiles | Which::Uses => None,
        }
    }
}
