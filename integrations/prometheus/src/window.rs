//! What a scrape shows of a window.

use std::fmt;

use prometheus_client::metrics::MetricType;
use windrow::{Clock, Event, Kind, SlidingWindow, Stats, Totals};

use crate::show::{Pairs, Part, Samples, Show, Value};

const COUNT: usize = 0;
const RATE: usize = 1;
const SUM: usize = 2;
const MEAN: usize = 3;
const MINIMUM: usize = 4;
const MAXIMUM: usize = 5;

/// In the order of the numbers above.
const PARTS: [Part; 6] = [
    Part { suffix: "", about: "how often, ever", kind: MetricType::Counter },
    Part {
        suffix: "per_second",
        about: "how often per second, over the closed buckets of the window",
        kind: MetricType::Gauge,
    },
    Part { suffix: "sum", about: "what all values add up to, ever", kind: MetricType::Counter },
    Part {
        suffix: "mean",
        about: "mean of the values in the closed buckets of the window",
        kind: MetricType::Gauge,
    },
    Part {
        suffix: "min",
        about: "least value in the closed buckets of the window",
        kind: MetricType::Gauge,
    },
    Part {
        suffix: "max",
        about: "greatest value in the closed buckets of the window",
        kind: MetricType::Gauge,
    },
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

/// What one scrape reads of a window.
#[derive(Debug)]
pub struct Reading<E: Event> {
    /// By event, in the order of `Event::ALL`.
    lifetime: Vec<Stats>,
    /// The closed buckets; `None` if the window can have none.
    closed: Option<Totals<E>>,
}

impl<E: Event, C: Clock + Send + Sync + 'static> Show for SlidingWindow<E, C> {
    type Reading = Reading<E>;

    const PARTS: &'static [Part] =
        if only_counts::<E>() { PARTS.split_at(OF_COUNTS).0 } else { &PARTS };

    const LABEL: Option<&'static str> = Some("event");

    fn read(&self) -> Reading<E> {
        // No span, if the geometry has just changed to a shorter interval: the next scrape finds it.
        let closed = self.over(self.interval()).ok().map(|window| window.complete());
        Reading {
            lifetime: E::ALL.iter().map(|event| self.lifetime(*event)).collect(),
            closed: closed.filter(|closed| !closed.interval().is_zero()),
        }
    }

    fn show<P: Pairs>(
        reading: &Reading<E>,
        part: usize,
        samples: &mut Samples<'_, '_, P>,
    ) -> fmt::Result {
        for (event, lifetime) in E::ALL.iter().copied().zip(&reading.lifetime) {
            if let Some(value) = value(event, part, lifetime, reading.closed.as_ref()) {
                samples.put_labelled(Some(("event", event.name())), value)?;
            }
        }
        Ok(())
    }
}

/// An event's sample in a part, if it has one.
fn value<E: Event>(
    event: E,
    part: usize,
    lifetime: &Stats,
    closed: Option<&Totals<E>>,
) -> Option<Value> {
    let counted = matches!(event.kind(), Kind::Count | Kind::Value);
    match part {
        COUNT => counted.then_some(Value::Count(lifetime.count)),
        RATE => closed.filter(|_| counted).map(|closed| Value::Real(closed.rate(event))),
        _ if event.kind() == Kind::Count => None,
        SUM => counted.then_some(Value::Count(lifetime.sum)),
        MEAN => closed.filter(|_| counted)?.mean(event).map(Value::Real),
        MINIMUM => closed?.stats(event).min.map(Value::Unsigned),
        MAXIMUM => closed?.stats(event).max.map(Value::Unsigned),
        _ => None,
    }
}
