//! The numbers of a row.

use windrow::export::AnyMetric;

use super::number::Number;
use super::values;
use super::window::{self, Above, Bounds};

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
        AnyMetric::Counter(counter) => into.push(counter.lifetime().into()),
        AnyMetric::Gauge(gauge) => into.push(Number::Signed(gauge.sum())),
        AnyMetric::InFlight(in_flight) => into.push(in_flight.level().into()),
        AnyMetric::Count(count) => into.push(count.into()),
        AnyMetric::Maximum(maximum) => into.push(maximum.get().into()),
        AnyMetric::Minimum(minimum) => into.push(minimum.get().into()),
        AnyMetric::Real(number) | AnyMetric::RealTotal(number) => {
            into.push(Number::real(number));
        }
        AnyMetric::Histogram(histogram) => {
            let lifetime = histogram.lifetime().count();
            values::numbers(lifetime, &histogram.distribution(), into);
        }
        AnyMetric::Distribution(values) => values::numbers(values.count(), values, into),
        AnyMetric::Window(window) => return window::numbers(window, bounds, into),
        AnyMetric::Fields(_) => {} // each field is a row of its own
    }
    (0, Above::default())
}
