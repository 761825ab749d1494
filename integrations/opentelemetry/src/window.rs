//! What an export shows of a window.

use windrow::{Clock, Event, Kind, SlidingWindow, Stats, Totals};

use crate::show::{Instrument, Part, Show, Value};

const COUNT: usize = 0;
const RATE: usize = 1;
const SUM: usize = 2;
const MEAN: usize = 3;
const MINIMUM: usize = 4;
const MAXIMUM: usize = 5;

const fn part(suffix: &'static str, about: &'static str, instrument: Instrument) -> Part {
    Part { suffix, about, instrument }
}

/// In the order of the numbers above.
const PARTS: [Part; 6] = [
    part("", "how often, ever", Instrument::Counter),
    part(
        "per_second",
        "how often per second, over the closed buckets of the window",
        Instrument::RealGauge,
    ),
    part("sum", "what all values add up to, ever", Instrument::Counter),
    part("mean", "mean of the values in the closed buckets of the window", Instrument::RealGauge),
    part("min", "least value in the closed buckets of the window", Instrument::Gauge),
    part("max", "greatest value in the closed buckets of the window", Instrument::Gauge),
];

/// How many parts windows of counts alone have.
const OF_COUNTS: usize = 2;

/// Whether all events are counts.
const fn only_counts<E: Event>() -> bool {
    let mut event = 0;
    while event < E::EVENTS.len() {
        if !matches!(E::EVENTS[event].1, Kind::Count) {
            return false;
        }
        event += 1;
    }
    true
}

impl<E: Event, C: Clock + Send + Sync + 'static> Show for SlidingWindow<E, C> {
    const PARTS: &'static [Part] =
        if only_counts::<E>() { PARTS.split_at(OF_COUNTS).0 } else { &PARTS };

    const EVENTS: Option<usize> = Some(E::EVENTS.len());

    fn show(&self, part: usize, put: &mut dyn FnMut(Option<&'static str>, Value)) {
        // No span, if the geometry has just changed to a shorter interval; no buckets, if the window has one alone.
        let closed = self.over(self.interval()).ok().map(|window| window.complete());
        let closed = closed.filter(|closed| !closed.interval().is_zero());
        for event in E::ALL {
            if let Some(value) = value(*event, part, || self.lifetime(*event), closed.as_ref()) {
                put(Some(event.name()), value);
            }
        }
    }
}

/// An event's measurement in a part, if it has one.
fn value<E: Event>(
    event: E,
    part: usize,
    lifetime: impl Fn() -> Stats,
    closed: Option<&Totals<E>>,
) -> Option<Value> {
    let counted = matches!(event.kind(), Kind::Count | Kind::Value);
    match part {
        COUNT => counted.then(|| Value::Unsigned(lifetime().count)),
        RATE => closed.filter(|_| counted).map(|closed| Value::Real(closed.rate(event))),
        _ if event.kind() == Kind::Count => None,
        SUM => counted.then(|| Value::Unsigned(lifetime().sum)),
        MEAN => closed.filter(|_| counted)?.mean(event).map(Value::Real),
        MINIMUM => closed?.stats(event).min.map(Value::Unsigned),
        MAXIMUM => closed?.stats(event).max.map(Value::Unsigned),
        _ => None,
    }
}
