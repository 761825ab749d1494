//! What an export shows of a window.

use opentelemetry::KeyValue;
use windrow::{Clock, Event, Events, Kind, SlidingWindow, Stats, Totals, kind};

use crate::show::{Attributes, Instrument, MOST_BUCKETS, Part, Show, Value, put_buckets};

const COUNT: usize = 0;
const RATE: usize = 1;
const SUM: usize = 2;
const MEAN: usize = 3;
const MINIMUM: usize = 4;
const MAXIMUM: usize = 5;
const BUCKET: usize = 6;
const PERCENTILE: usize = 7;

const fn part(suffix: &'static str, about: &'static str, instrument: Instrument) -> Part {
    Part { suffix, about, instrument }
}

/// In the order of the numbers above.
const PARTS: [Part; 8] = [
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
    part("bucket", "how many values up to `le`, ever", Instrument::Counter),
    part(
        "percentile",
        "percentiles of the values in the closed buckets of the window",
        Instrument::Gauge,
    ),
];

/// How many parts windows of counts alone have, and those of values without percentiles.
const OF_COUNTS: usize = 2;
const OF_VALUES: usize = 6;

/// The percentiles that are exported.
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

impl<E: Events, C: Clock + Send + Sync + 'static> Show for SlidingWindow<E, C> {
    const PARTS: &'static [Part] = PARTS.split_at(parts_of::<E>()).0;

    const ATTRIBUTES: &'static [&'static str] =
        if parts_of::<E>() > OF_VALUES { &["event", "le", "q"] } else { &["event"] };

    const MOST: usize =
        if parts_of::<E>() > OF_VALUES { E::EVENTS.len() * MOST_BUCKETS } else { E::EVENTS.len() };

    const MOST_GAUGES: usize = if parts_of::<E>() > OF_VALUES {
        E::EVENTS.len() * PERCENTILES.len()
    } else {
        E::EVENTS.len()
    };

    fn show(&self, part: usize, put: &mut dyn FnMut(Attributes, Value)) {
        let named = |name| Some(KeyValue::new("event", name));
        let with_cells = Event::<E>::all().filter_map(Event::downcast::<kind::Histogram>);
        if part == BUCKET {
            for event in with_cells {
                let name = named(event.name());
                put_buckets(&self.lifetime_distribution(event), name.as_ref(), put);
            }
            return;
        }
        // No span, if the geometry has just changed to a shorter interval; no buckets, if the
        // window has one alone.
        let closed = self.over(self.interval()).ok().map(|window| window.complete());
        let closed = closed.filter(|closed| !closed.interval().is_zero());
        if part == PERCENTILE {
            for (event, closed) in with_cells.filter_map(|event| Some((event, closed.as_ref()?))) {
                let found = closed.distribution(event).quantiles(PERCENTILES.map(|(_, q)| q));
                for ((q, _), value) in PERCENTILES.into_iter().zip(found) {
                    let q = Some(KeyValue::new("q", q));
                    if let Some(value) = value {
                        put([named(event.name()), q], Value::Unsigned(value));
                    }
                }
            }
            return;
        }
        for event in Event::all() {
            if let Some(value) = value(event, part, || self.lifetime(event), closed.as_ref()) {
                put([named(event.name()), None], value);
            }
        }
    }
}

/// An event's measurement in a part, if it has one.
fn value<E: Events>(
    event: Event<E>,
    part: usize,
    lifetime: impl Fn() -> Stats,
    closed: Option<&Totals<E>>,
) -> Option<Value> {
    let counted = matches!(event.kind(), Kind::Count | Kind::Value | Kind::Histogram(_));
    match part {
        COUNT => counted.then(|| Value::Unsigned(lifetime().count)),
        RATE => {
            let closed = closed.filter(|_| counted)?;
            let (count, seconds) = (closed.stats(event).count, closed.interval().as_secs_f64());
            Some(Value::Real(count as f64 / seconds))
        }
        _ if event.kind() == Kind::Count => None,
        SUM => counted.then(|| Value::Unsigned(lifetime().sum)),
        MEAN => closed.filter(|_| counted)?.stats(event).mean().map(Value::Real),
        MINIMUM => closed?.stats(event).min.map(Value::Unsigned),
        MAXIMUM => closed?.stats(event).max.map(Value::Unsigned),
        _ => None,
    }
}
