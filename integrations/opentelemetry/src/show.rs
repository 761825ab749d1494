//! What an export shows of a metric.

use opentelemetry::KeyValue;
use windrow::{Counter, Distribution, Gauge, Histogram, InFlight, Maximum, Minimum};

/// The kind of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instrument {
    Counter,
    UpDownCounter,
    Gauge,
    RealGauge,
}

impl Instrument {
    /// Whether its measurements add up.
    pub(crate) const fn is_sum(self) -> bool {
        matches!(self, Instrument::Counter | Instrument::UpDownCounter)
    }
}

/// One instrument.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What is appended to the name, behind a point; nothing, if it is empty.
    pub(crate) suffix: &'static str,
    /// What is appended to the description.
    pub(crate) about: &'static str,
    pub(crate) instrument: Instrument,
}

/// What an export shows of one metric: as which instruments, and which measurements of each.
pub trait Show: Send + Sync + 'static {
    const PARTS: &'static [Part];
    /// The attributes by which the measurements of a part are told apart.
    const ATTRIBUTES: &'static [&'static str] = &[];
    /// How many measurements a part has at most.
    const MOST: usize = 1;
    /// How many a part that is a gauge has at most; 0, if there is none.
    const MOST_GAUGES: usize = 0;

    /// Reads a part, and puts its measurements, as many as there are, each with its attributes.
    fn show(&self, part: usize, put: &mut dyn FnMut(Attributes, Value));
}

/// Attributes of a measurement, beside those of its series.
pub(crate) type Attributes = [Option<KeyValue>; 2];

/// The most buckets that a histogram has: one for each power of two that is a `u64`, and the
/// infinite one.
pub(crate) const MOST_BUCKETS: usize = 65;

/// Puts how many values there are up to each octave of the scale, with the attribute `le` behind
/// what is given.
pub(crate) fn put_buckets(
    distribution: &Distribution,
    event: Option<&KeyValue>,
    put: &mut dyn FnMut(Attributes, Value),
) {
    let mut put = |bound: String, count| {
        put([event.cloned(), Some(KeyValue::new("le", bound))], Value::Unsigned(count));
    };
    let octaves = distribution.scale().octaves().filter(|end| *end < u64::MAX);
    for (bound, count) in distribution.buckets(octaves) {
        put(bound.to_string(), count);
    }
    put("+Inf".to_owned(), distribution.count());
}

/// A measurement, for the kind of instrument that it is of.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// For a counter or a gauge.
    Unsigned(u64),
    /// For an up-down counter.
    Signed(i64),
    /// For a real gauge.
    Real(f64),
}

impl Value {
    /// Its bits, if it is of a sum.
    pub(crate) fn bits(self) -> Option<u64> {
        match self {
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => Some(number.cast_unsigned()),
            Value::Real(_) => None,
        }
    }
}

const fn only(instrument: Instrument) -> Part {
    Part { suffix: "", about: "", instrument }
}

/// Metrics of which there is one number, or none yet.
macro_rules! one_number {
    ($($metric:ty, $instrument:ident: |$this:ident| $value:expr;)+) => {
        $(
            impl Show for $metric {
                const PARTS: &'static [Part] = &[only(Instrument::$instrument)];
                const MOST_GAUGES: usize = !Instrument::$instrument.is_sum() as usize;

                fn show(&self, _: usize, put: &mut dyn FnMut(Attributes, Value)) {
                    let $this = self;
                    if let Some(value) = $value {
                        put([None, None], value);
                    }
                }
            }
        )+
    };
}

one_number! {
    Counter, Counter: |counter| Some(Value::Unsigned(counter.lifetime()));
    Gauge, UpDownCounter: |gauge| Some(Value::Signed(gauge.sum()));
    InFlight, UpDownCounter: |level| Some(Value::Signed(signed(level.level())));
    Maximum, Gauge: |maximum| maximum.get().map(Value::Unsigned);
    Minimum, Gauge: |minimum| minimum.get().map(Value::Unsigned);
}

/// A level as the signed number that OpenTelemetry has; one of 2^63 or more is shown as the
/// highest.
fn signed(level: u64) -> i64 {
    i64::try_from(level).unwrap_or(i64::MAX)
}

const COUNT: usize = 0;
const SUM: usize = 1;

impl Show for Histogram {
    /// In the order of the numbers above.
    const PARTS: &'static [Part] = &[
        Part { suffix: "", about: "how many values, ever", instrument: Instrument::Counter },
        Part {
            suffix: "sum",
            about: "what all values add up to, ever",
            instrument: Instrument::Counter,
        },
        Part {
            suffix: "bucket",
            about: "how many values up to `le`, ever",
            instrument: Instrument::Counter,
        },
    ];
    const ATTRIBUTES: &'static [&'static str] = &["le"];
    const MOST: usize = MOST_BUCKETS;

    fn show(&self, part: usize, put: &mut dyn FnMut(Attributes, Value)) {
        let ever = self.lifetime();
        match part {
            COUNT => put([None, None], Value::Unsigned(ever.count())),
            SUM => put([None, None], Value::Unsigned(ever.sum())),
            _ => put_buckets(&ever, None, put),
        }
    }
}
