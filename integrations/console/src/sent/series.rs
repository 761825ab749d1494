//! A series in `/snapshot.json`.

use serde_json::{Value, json};
use windrow::export::AnyMetric;
use windrow::histogram::{Distribution, Scale};

use super::{values, window};
use crate::read::number::Number;

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
            let lifetime = histogram.lifetime();
            both(&histogram.distribution(), &lifetime, lifetime.scale())
        }
        AnyMetric::Distribution(values) => both(values, values, values.scale()),
        AnyMetric::Window(window) => window::all(window),
        // Each field is a row of its own.
        AnyMetric::Fields(_) => json!({}),
    }
}

/// Returns the numbers of a distribution, and those of the all-time distribution.
fn both(values: &Distribution, lifetime: &Distribution, scale: Scale) -> Value {
    let mut both = values::summary(values);
    both["lifetime"] = values::summary(lifetime);
    both["scale"] = values::scale(scale);
    both
}

/// Reads all numbers of a series, and its numbers by time and by core.
pub(crate) fn detail(metric: AnyMetric<'_>) -> Value {
    let mut all = all(metric);
    match metric {
        AnyMetric::Counter(counter) => {
            all["cores"] = window::cores(None, &counter.by_row());
            all["exemplars"] = values::exemplars(counter.exemplar().as_slice());
        }
        AnyMetric::Histogram(histogram) => {
            all["cells"] = values::cells(&histogram.distribution());
            all["exemplars"] = values::exemplars(&histogram.exemplars());
        }
        AnyMetric::Distribution(values) => all["cells"] = values::cells(values),
        AnyMetric::Window(window) => window::detail(window, &mut all),
        _ => {}
    }
    all
}
