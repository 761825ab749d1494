//! The numbers of a row.

use windrow::export::{AnyMetric, AnyWindow};
use windrow::{Kind, Stats};

use super::buckets::{known_span, nanos};
use super::number::Number;
use super::values;
use crate::shown::layout::PERCENTILES;

/// Bounds of values, and the all-time counts of values above them, modulo 2^32.
pub(crate) type Bounds = [u64; PERCENTILES];
pub(crate) type Above = [u32; PERCENTILES];

/// Reads the numbers of a row; their count is the same for all series of a source.
///
/// Returns the span of the numbers of an interval, in nanoseconds; zero if there are none. Returns
/// also the counts of a window's values above `bounds`. Percentiles of a histogram cover the values
/// recorded since it was last [drained](windrow::Histogram::take).
pub(crate) fn numbers(
    metric: AnyMetric<'_>,
    bounds: Option<Bounds>,
    into: &mut Vec<Number>,
) -> (u64, Above) {
    match metric {
        AnyMetric::Counter(counter) => into.push(Number::whole(counter.lifetime())),
        AnyMetric::Gauge(gauge) => into.push(Number::whole(gauge.sum())),
        AnyMetric::InFlight(in_flight) => into.push(Number::whole(in_flight.level())),
        AnyMetric::Count(count) => into.push(count.into()),
        AnyMetric::Maximum(maximum) => into.push(maximum.get().into()),
        AnyMetric::Minimum(minimum) => into.push(minimum.get().into()),
        AnyMetric::Real(number) | AnyMetric::RealTotal(number) => into.push(Number::real(number)),
        AnyMetric::Histogram(histogram) => {
            values::numbers(histogram.lifetime().count(), &histogram.distribution(), into);
        }
        AnyMetric::Distribution(values) => values::numbers(values.count(), values, into),
        AnyMetric::Window(window) => return of_window(window, bounds, into),
        AnyMetric::Fields(_) => {} // each field is a row of its own
    }
    (0, Above::default())
}

/// Reads the numbers of a window, over the closed buckets of the interval except for lifetimes, in
/// the order that [`layout`](crate::shown::layout) says.
///
/// Values above the bounds are those of the first `Histogram` event.
pub(crate) fn of_window(
    window: &dyn AnyWindow,
    bounds: Option<Bounds>,
    into: &mut Vec<Number>,
) -> (u64, Above) {
    let (mut above, mut left) = (Above::default(), bounds);
    // `None` if the geometry has just changed to a shorter interval: the next frame has it.
    let closed = window.complete();
    let all_time = window.lifetime();
    for (event, (_, kind)) in window.events().iter().enumerate() {
        let lifetime = || all_time.stats(event).count;
        let stats = || closed.as_ref().map_or_else(Stats::default, |closed| closed.stats(event));
        match kind {
            Kind::Count => into.extend([lifetime(), stats().count].map(Number::whole)),
            Kind::Signed => {
                let both = [all_time.stats(event), stats()];
                into.extend(both.map(|of| Number::whole(of.sum.cast_signed())));
            }
            Kind::Value => {
                let Stats { count, sum, min, max } = stats();
                into.extend([lifetime(), count, sum].map(Number::whole));
                into.extend([min, max].map(Number::from));
            }
            Kind::Histogram(_) => {
                let values = closed.as_ref().and_then(|closed| closed.distribution(event));
                let values = values.unwrap_or_default();
                // Count and counts above are from one reading: a share of them is at most one.
                let all = left.take().and_then(|bounds| {
                    let all = all_time.distribution(event)?;
                    above = values::above(&all, bounds).map(|above| above as u32);
                    Some(all.count())
                });
                values::numbers(all.unwrap_or_else(lifetime), &values, into);
            }
            Kind::Maximum => into.push(stats().max.into()),
            Kind::Minimum => into.push(stats().min.into()),
            _ => {} // a later kind, unknown here
        }
    }
    (closed.map_or(0, |closed| nanos(known_span(window, closed.interval))), above)
}
