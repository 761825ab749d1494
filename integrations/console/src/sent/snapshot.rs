//! `/snapshot.json`: all numbers, or one series in full detail.

use serde_json::{Map, Value, json};
use windrow::Kind;
use windrow::export::{AnyMetric, Series};
use windrow::histogram::Distribution;

use super::words::{quantity, wall};
use super::{changes, heavy, values, window};
use crate::read::audit::{Checks, audit};
use crate::read::buckets::millis;
use crate::read::ledger::{Audit, Ledger};
use crate::read::number::Number;
use crate::read::row::numbers;
use crate::shown::names::{events_of, form_name, kind_name};
use crate::shown::registry::{Named, Shown};
use crate::shown::unit::Unit;
use crate::unusual::list::Unusual;

/// All series with their numbers, as the answer grows.
#[derive(Default)]
pub(crate) struct Snapshot {
    metrics: Vec<Value>,
    /// The series of the metric that is being read, by key.
    rows: Vec<(String, Value)>,
}

impl Snapshot {
    /// Adds a series.
    pub(crate) fn series(&mut self, metric: &Named, key: &str, series: &dyn Series) {
        let row = described(metric, key, series, all(series.metric()));
        self.rows.push((key.to_owned(), row));
    }

    /// Ends a metric: its series have been added.
    pub(crate) fn metric(&mut self, shown: &Shown, metric: &Named) {
        self.rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut described = describe(shown, metric);
        described["series"] = self.rows.drain(..).map(|(_, row)| row).collect();
        self.metrics.push(described);
    }

    /// Returns the answer: the series of each metric in the order of their names.
    pub(crate) fn finish(self, shown: &Shown, checks: &Checks, unusual: &Unusual) -> String {
        let failing = checks.failing.iter().map(|(key, by)| json!({ "key": key, "by": by }));
        let mut all = head(shown);
        all["metrics"] = self.metrics.into();
        all["heavy"] = heavy::json(&shown.heavy);
        all["unusual"] = changes::json(unusual, wall());
        all["check"] = json!({ "audits": checks.audits, "failing": failing.collect::<Value>() });
        all.to_string()
    }
}

/// Returns the answer for one series.
pub(crate) fn one(shown: &Shown, metric: &Named, key: &str, series: &dyn Series) -> String {
    let audit = audit(series.metric(), &mut Ledger::default());
    let mut row = described(metric, key, series, detail(series.metric()));
    row["metric"] = describe(shown, metric);
    row["check"] = match audit {
        Audit::Nothing => Value::Null,
        Audit::Holds | Audit::Pending => json!({ "holds": true }),
        Audit::Fails { by } => json!({ "holds": false, "by": by }),
    };
    let mut one = head(shown);
    one["series"] = row;
    one.to_string()
}

/// Returns the numbers of a series with its key, its labels, and the words for a number that has a
/// unit.
fn described(metric: &Named, key: &str, series: &dyn Series, mut row: Value) -> Value {
    if metric.unit != Unit::None {
        let mut read = Vec::new();
        numbers(series.metric(), None, &mut read);
        row["says"] = quantity(read.first().copied().unwrap_or(Number::None), metric.unit).into();
    }
    let mut labels = Map::new();
    series.labels(&mut |name, value| _ = labels.insert(name.to_owned(), value.to_string().into()));
    row["labels"] = labels.into();
    row["key"] = key.into();
    row
}

fn head(shown: &Shown) -> Value {
    json!({
        "service": shown.service,
        "instance": shown.instance,
        "version": shown.version,
        "epoch": shown.epoch,
        "age_ms": millis(shown.age()),
        "time_ms": wall(),
    })
}

fn describe(shown: &Shown, metric: &Named) -> Value {
    let unit = |name: &str| shown.is_duration(name).then_some("ns");
    let event = |(name, kind): &(&str, Kind)| {
        let mut event = json!({ "name": name, "kind": kind_name(*kind), "unit": unit(name) });
        if let Kind::Histogram(scale) = kind {
            event["scale"] = values::scale(*scale);
        }
        event
    };
    json!({
        "name": metric.name,
        "help": metric.help,
        "form": form_name(metric.outline.form),
        "unit": shown.unit(metric),
        "labels": metric.outline.labels,
        "events": events_of(metric.outline.form).iter().map(event).collect::<Value>(),
    })
}

/// Reads all numbers of a series.
fn all(metric: AnyMetric<'_>) -> Value {
    match metric {
        AnyMetric::Counter(counter) => {
            json!({ "lifetime": counter.lifetime(), "sum": counter.sum() })
        }
        AnyMetric::Gauge(gauge) => json!({ "level": gauge.sum() }),
        AnyMetric::InFlight(in_flight) => json!({ "level": in_flight.level() }),
        AnyMetric::Count(count) => json!({ "lifetime": count, "sum": count }),
        AnyMetric::Maximum(maximum) => json!({ "value": maximum.get() }),
        AnyMetric::Minimum(minimum) => json!({ "value": minimum.get() }),
        AnyMetric::Real(number) | AnyMetric::RealTotal(number) => json!({ "level": number }),
        AnyMetric::Histogram(histogram) => both(&histogram.distribution(), &histogram.lifetime()),
        AnyMetric::Distribution(values) => both(values, values),
        AnyMetric::Window(window) => window::all(window),
        // Each field is a row of its own.
        AnyMetric::Fields(_) => json!({}),
    }
}

/// Returns the numbers of a distribution, and those of the all-time distribution.
fn both(values: &Distribution, lifetime: &Distribution) -> Value {
    let mut both = values::summary(values);
    both["lifetime"] = values::summary(lifetime);
    both["scale"] = values::scale(lifetime.scale());
    both
}

/// Reads all numbers of a series, and its numbers by time and by core.
fn detail(metric: AnyMetric<'_>) -> Value {
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
