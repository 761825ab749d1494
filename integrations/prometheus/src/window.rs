//! What a scrape shows of a window.

use std::fmt;

use prometheus_client::metrics::MetricType;
use windrow::{Clock, Distribution, Event, Events, Kind, SlidingWindow, Stats, Totals, kind};

use crate::show::{Pairs, Part, Samples, Show, Value};

const COUNT: usize = 0;
const RATE: usize = 1;
const SUM: usize = 2;
const MEAN: usize = 3;
const MINIMUM: usize = 4;
const MAXIMUM: usize = 5;
const VALUES: usize = 6;
const PERCENTILE: usize = 7;

/// In the order of the numbers above.
const PARTS: [Part; 8] = [
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
    Part {
        suffix: "values",
        about: "how many values up to each bound, ever",
        kind: MetricType::Histogram,
    },
    Part {
        suffix: "percentile",
        about: "percentiles of the values in the closed buckets of the window",
        kind: MetricType::Gauge,
    },
];

/// How many parts windows of counts alone have, and those of values without percentiles.
const OF_COUNTS: usize = 2;
const OF_VALUES: usize = 6;

/// The percentiles that are shown.
const PERCENTILES: [(&str, f64); 3] = [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99)];

/// How many parts there are for these events.
const fn parts_of<E: Events>() -> usize {
    let (mut event, mut parts) = (0, OF_COUNTS);
    while event < E::EVENTS.len() {
        match E::EVENTS[event].1 {
            Kind::Count => {}
            Kind::Histogram(_) => return PARTS.len(),
            _ => parts = OF_VALUES,
        }
        event += 1;
    }
    parts
}

/// What one scrape reads of a window.
pub struct Reading<E: Events> {
    /// By event, in the order of their positions.
    lifetime: Vec<Stats>,
    /// Of `Histogram` events: what was ever recorded.
    distributions: Vec<(Event<E, kind::Histogram>, Distribution)>,
    /// The closed buckets; `None` if the window can have none.
    closed: Option<Totals<E>>,
}

impl<E: Events, C: Clock + Send + Sync + 'static> Show for SlidingWindow<E, C> {
    type Reading = Reading<E>;

    const PARTS: &'static [Part] = PARTS.split_at(parts_of::<E>()).0;

    const LABELS: &'static [&'static str] =
        if parts_of::<E>() > OF_VALUES { &["event", "le", "q"] } else { &["event"] };

    fn below(&self) -> u64 {
        let below = |event: Event<E>| match event.kind() {
            Kind::Histogram(scale) => scale.least() - 1,
            _ => 0,
        };
        Event::all().map(below).max().unwrap_or(0)
    }

    fn read(&self) -> Reading<E> {
        let with_cells = Event::<E>::all().filter_map(Event::downcast::<kind::Histogram>);
        // No span, if the geometry has just changed to a shorter interval: the next scrape finds
        // it.
        let closed = self.over(self.interval()).ok().map(|window| window.complete());
        Reading {
            lifetime: Event::all().map(|event| self.lifetime(event)).collect(),
            distributions: with_cells
                .map(|event| (event, self.lifetime_distribution(event)))
                .collect(),
            closed: closed.filter(|closed| !closed.interval().is_zero()),
        }
    }

    fn show<P: Pairs>(
        reading: &Reading<E>,
        part: usize,
        samples: &mut Samples<'_, '_, P>,
    ) -> fmt::Result {
        if part == VALUES {
            return reading.distributions.iter().try_for_each(|(event, values)| {
                samples.put_histogram(&[("event", event.name())], values)
            });
        }
        if part == PERCENTILE {
            return percentiles(reading, samples);
        }
        for (event, lifetime) in Event::all().zip(&reading.lifetime) {
            if let Some(value) = value(event, part, lifetime, reading.closed.as_ref()) {
                samples.put_labelled(&[("event", event.name())], value)?;
            }
        }
        Ok(())
    }
}

fn percentiles<E: Events, P: Pairs>(
    reading: &Reading<E>,
    samples: &mut Samples<'_, '_, P>,
) -> fmt::Result {
    let Some(closed) = &reading.closed else { return Ok(()) };
    for (event, _) in &reading.distributions {
        let found = closed.distribution(*event).quantiles(PERCENTILES.map(|(_, q)| q));
        for ((q, _), value) in PERCENTILES.into_iter().zip(found) {
            let labels = [("event", event.name()), ("q", q)];
            value.map_or(Ok(()), |value| samples.put_labelled(&labels, Value::Unsigned(value)))?;
        }
    }
    Ok(())
}

/// An event's sample in a part, if it has one.
fn value<E: Events>(
    event: Event<E>,
    part: usize,
    lifetime: &Stats,
    closed: Option<&Totals<E>>,
) -> Option<Value> {
    let counted = matches!(event.kind(), Kind::Count | Kind::Value | Kind::Histogram(_));
    match part {
        COUNT => counted.then_some(Value::Count(lifetime.count)),
        RATE => {
            let closed = closed.filter(|_| counted)?;
            let (count, seconds) = (closed.stats(event).count, closed.interval().as_secs_f64());
            Some(Value::Real(count as f64 / seconds))
        }
        _ if event.kind() == Kind::Count => None,
        SUM => counted.then_some(Value::Count(lifetime.sum)),
        MEAN => closed.filter(|_| counted)?.stats(event).mean().map(Value::Real),
        MINIMUM => closed?.stats(event).min.map(Value::Unsigned),
        MAXIMUM => closed?.stats(event).max.map(Value::Unsigned),
        _ => None,
    }
}
