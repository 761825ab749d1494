//! The instruments of a metric, and the value that each of them measures.

use opentelemetry::KeyValue;
use windrow::export::{Form, Part, PartKind, Reading, Value as Shown};
use windrow::histogram::Distribution;

/// One instrument of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instrument {
    /// The part of the metric that it is made of.
    pub(crate) part: &'static Part,
    number: Number,
}

/// The number of a part's sample that an instrument measures.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// The sample itself.
    Own,
    /// The count of a distribution.
    Count,
    Sum,
    /// The number of values up to each bound.
    Buckets,
}

/// Attributes of a measurement, beside those of its series.
pub(crate) type Attributes = [Option<KeyValue>; 2];

/// The most buckets that a histogram has: one for each power of two that is a `u64`, and the
/// infinite one.
const MOST_BUCKETS: usize = 65;

/// The number of quantiles that a window's histogram has.
const QUANTILES: usize = 3;

/// Returns the instruments of a metric. OpenTelemetry has no observable histogram, so the buckets
/// of a histogram are counters.
pub(crate) fn instruments(form: Form) -> impl Iterator<Item = Instrument> {
    form.parts().flat_map(|part| {
        let of_values = &[Number::Count, Number::Sum, Number::Buckets][..];
        let is_histogram = part.kind == PartKind::Histogram;
        let numbers = if is_histogram { of_values } else { &[Number::Own] };
        numbers.iter().map(move |&number| Instrument { part, number })
    })
}

/// Joins two texts by a third one, unless one of the two is empty.
pub(crate) fn join(one: &str, between: &str, other: &str) -> String {
    [one, other].join(if one.is_empty() || other.is_empty() { "" } else { between })
}

/// Returns the greatest number of measurements of a series, of one instrument, and of one that is a
/// gauge.
pub(crate) fn most(form: Form) -> (usize, usize) {
    let has_histogram = form.scales().next().is_some();
    let (buckets, quantiles) = if has_histogram { (MOST_BUCKETS, QUANTILES) } else { (1, 1) };
    match form {
        Form::Counter | Form::Gauge | Form::InFlight => (1, 0),
        Form::Maximum | Form::Minimum | Form::Real | Form::RealTotal => (1, 1),
        Form::Histogram(_) => (MOST_BUCKETS, 0),
        Form::Window(events, _) => (events.len() * buckets, events.len() * quantiles),
        Form::Fields => (0, 0),
    }
}

/// Returns the attributes that measurements have beside those of their series.
pub(crate) fn attributes(form: Form) -> impl Iterator<Item = &'static str> {
    let bounds = form.scales().next().map(|_| "le");
    form.sample_labels().iter().copied().chain(bounds)
}

/// A measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// The bits of a whole number: for an up-down counter, of one with a sign.
    Whole(u64),
    /// For a real gauge or counter.
    Real(f64),
}

impl Value {
    pub(crate) fn whole(self) -> Option<u64> {
        let Value::Whole(bits) = self else { return None };
        Some(bits)
    }

    pub(crate) fn real(self) -> Option<f64> {
        let Value::Real(number) = self else { return None };
        Some(number)
    }
}

impl Instrument {
    /// Returns the suffix of the name, behind a point, and the text that is appended to the
    /// description. Both may be empty.
    pub(crate) fn suffix_and_about(&self) -> (String, &'static str) {
        let (more, about) = match self.number {
            Number::Own => ("", self.part.about),
            Number::Count => ("", "all-time number of values"),
            Number::Sum => ("sum", "all-time sum of the values"),
            Number::Buckets => ("bucket", "all-time number of values up to `le`"),
        };
        (join(self.part.suffix, ".", more), about)
    }

    /// Returns whether it measures in the metric's unit: numbers of values have none.
    pub(crate) fn is_in_unit(&self) -> bool {
        match self.number {
            Number::Own => self.part.is_in_unit,
            number => matches!(number, Number::Sum),
        }
    }

    /// Puts all measurements of a reading, each with its attributes.
    pub(crate) fn measure(&self, reading: &Reading, put: &mut dyn FnMut(Attributes, Value)) {
        reading.samples(self.part, &mut |sample| {
            let mut labels = sample.labels().map(|(name, value)| KeyValue::new(name, value));
            let own = [labels.next(), labels.next()];
            match (self.number, sample.value) {
                (Number::Own, value) => {
                    if let Some(value) = self.own(value) {
                        put(own, value);
                    }
                }
                (Number::Count, Shown::Distribution(ever)) => put(own, Value::Whole(ever.count())),
                (Number::Sum, Shown::Distribution(ever)) => put(own, Value::Whole(ever.sum())),
                (Number::Buckets, Shown::Distribution(ever)) => put_buckets(ever, &own, put),
                _ => {}
            }
        });
    }

    fn own(&self, value: Shown<'_>) -> Option<Value> {
        Some(match value {
            // A level of 2^63 or more is shown as the highest that OpenTelemetry has.
            Shown::Unsigned(level) if self.part.kind == PartKind::Level => {
                Value::Whole(level.min(i64::MAX.cast_unsigned()))
            }
            Shown::Count(number) | Shown::Unsigned(number) => Value::Whole(number),
            Shown::Signed(number) => Value::Whole(number.cast_unsigned()),
            Shown::Real(number) | Shown::RealTotal(number) => Value::Real(number),
            Shown::Distribution(_) => return None,
        })
    }
}

/// Puts the number of values up to each octave of the scale, with the attribute `le` behind the
/// other attributes.
fn put_buckets(
    distribution: &Distribution,
    [event, _]: &Attributes,
    put: &mut dyn FnMut(Attributes, Value),
) {
    let mut put = |bound: String, count| {
        put([event.clone(), Some(KeyValue::new("le", bound))], Value::Whole(count));
    };
    let octaves = distribution.scale().octaves().filter(|end| *end < u64::MAX);
    for (bound, count) in distribution.buckets(octaves) {
        put(bound.to_string(), count);
    }
    put("+Inf".to_owned(), distribution.count());
}
