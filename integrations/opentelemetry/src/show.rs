//! What an export shows of a metric.

use windrow::{Counter, Gauge, Maximum, Minimum};

/// The kind of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instrument {
    Counter,
    UpDownCounter,
    Gauge,
    RealGauge,
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
    /// The events that a part has a measurement of at most, by an attribute of their own. None: there is one.
    const EVENTS: Option<usize> = None;

    /// Reads a part, and puts its measurements, as many as there are, each with the event that it is of.
    fn show(&self, part: usize, put: &mut dyn FnMut(Option<&'static str>, Value));
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

const fn only(instrument: Instrument) -> Part {
    Part { suffix: "", about: "", instrument }
}

/// Metrics of which there is one number, or none yet.
macro_rules! one_number {
    ($($metric:ty, $instrument:ident: |$this:ident| $value:expr;)+) => {
        $(
            impl Show for $metric {
                const PARTS: &'static [Part] = &[only(Instrument::$instrument)];

                fn show(&self, _: usize, put: &mut dyn FnMut(Option<&'static str>, Value)) {
                    let $this = self;
                    if let Some(value) = $value {
                        put(None, value);
                    }
                }
            }
        )+
    };
}

one_number! {
    Counter, Counter: |counter| Some(Value::Unsigned(counter.lifetime()));
    Gauge, UpDownCounter: |gauge| Some(Value::Signed(gauge.sum()));
    Maximum, Gauge: |maximum| maximum.get().map(Value::Unsigned);
    Minimum, Gauge: |minimum| minimum.get().map(Value::Unsigned);
}
