//! Reading a series for the console.

use serde_json::{Value, json};
use windrow::export::AnyMetric;
use windrow::snapshot::ByRow;

use crate::ledger::{Audit, Ledger};
use crate::number::Number;
use crate::percentiles;
use crate::watches::Looking;
use crate::window;

/// Reads the numbers of a row; their count is the same for all series of a source.
///
/// Returns the span of the numbers of an interval, in nanoseconds; zero if there are none.
/// Percentiles of a histogram cover the values recorded since it was last
/// [drained](windrow::Histogram::take).
///
/// `watch` looks at the numbers of a window.
pub(crate) fn numbers(
    metric: AnyMetric<'_>,
    watch: Option<&mut Looking<'_>>,
    into: &mut Vec<Number>,
) -> u64 {
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
            percentiles::numbers(lifetime, &histogram.distribution(), into);
        }
        AnyMetric::Window(window) => {
            let bounds = watch.as_ref().and_then(|watch| watch.bounds());
            let (span, above) = window::numbers(window, bounds, into);
            if let Some(watch) = watch {
                watch.look(into, above);
            }
            return span;
        }
    }
    0
}

/// The counts of equal slices of time, the oldest first, up to some time ago. Each slice is
/// complete.
#[derive(Debug)]
pub(crate) struct History {
    /// The time since the newest slice ended, in milliseconds.
    pub(crate) age: u64,
    /// The length of a slice, in milliseconds.
    pub(crate) step: u64,
    pub(crate) counts: Vec<u64>,
}

/// Reads the last minute of a window's first event.
pub(crate) fn history(metric: AnyMetric<'_>) -> Option<History> {
    match metric {
        AnyMetric::Window(window) => window::history(window),
        _ => None,
    }
}

/// Compares independent readings with each other, and with those of the audit before.
pub(crate) fn audit(metric: AnyMetric<'_>, ledger: &mut Ledger) -> Audit {
    match metric {
        AnyMetric::Counter(counter) => ledger.only_grows(counter.lifetime()),
        // A gauge promises nothing while it goes up and down, or has only one reading.
        AnyMetric::Gauge(_)
        | AnyMetric::InFlight(_)
        | AnyMetric::Real(_)
        | AnyMetric::RealTotal(_) => Audit::Nothing,
        AnyMetric::Count(count) => count.map_or(Audit::Nothing, |value| ledger.only_grows(value)),
        AnyMetric::Maximum(maximum) => {
            maximum.get().map_or(Audit::Nothing, |value| ledger.only_grows(value))
        }
        AnyMetric::Minimum(minimum) => {
            minimum.get().map_or(Audit::Nothing, |value| ledger.only_grows(!value))
        }
        AnyMetric::Histogram(histogram) => ledger.only_grows(histogram.lifetime().count()),
        AnyMetric::Window(window) => ledger.window(window),
    }
}

/// Reads all numbers of a series.
pub(crate) fn all(metric: AnyMetric<'_>) -> Value {
    match metric {
        AnyMetric::Counter(counter) => {
            json!({ "lifetime": counter.lifetime(), "sum": counter.sum() })
        }
        AnyMetric::Gauge(gauge) => json!({ "level": gauge.sum() }),
        AnyMetric::InFlight(in_flight) => json!({ "level": in_flight.level() }),
        AnyMetric::Count(count) => json!({ "lifetime": count, "sum": count }),
        AnyMetric::Maximum(maximum) => json!({ "value": maximum.get() }),
        AnyMetric::Minimum(minimum) => json!({ "value": minimum.get() }),
        AnyMetric::Real(number) | AnyMetric::RealTotal(number) => {
            json!({ "level": Value::from(Number::real(number)) })
        }
        AnyMetric::Histogram(histogram) => {
            let mut all = percentiles::summary(&histogram.distribution());
            all["lifetime"] = percentiles::summary(&histogram.lifetime());
            all["scale"] = percentiles::scale(histogram.scale());
            all
        }
        AnyMetric::Window(window) => window::all(window),
    }
}

/// Reads all numbers of a series, and its numbers by time and by core.
pub(crate) fn detail(metric: AnyMetric<'_>) -> Value {
    let mut all = all(metric);
    match metric {
        AnyMetric::Counter(counter) => {
            all["cores"] = cores(None, &counter.by_row());
            all["exemplars"] = percentiles::exemplars(counter.exemplar().as_slice());
        }
        AnyMetric::Histogram(histogram) => {
            all["cells"] = percentiles::cells(&histogram.distribution());
            all["exemplars"] = percentiles::exemplars(&histogram.exemplars());
        }
        AnyMetric::Window(window) => window::detail(window, &mut all),
        _ => {}
    }
    all
}

/// Returns the contents of each core's row: of an event, if it is a window's.
pub(crate) fn cores(event: Option<&str>, by_row: &ByRow) -> Value {
    json!({ "event": event, "rows": by_row.rows(), "shared": by_row.shared() })
}
