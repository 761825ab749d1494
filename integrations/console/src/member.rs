//! `/member.json`: the exact numbers of all series, for a [fleet](crate::Fleet) to add up.
//!
//! An event is written as windrow's `serde` writes it in a snapshot: by its kind, with all cells of
//! a distribution. A reader of this form is in `fleet/reading.rs`.

use std::fmt::Write;

use serde_json::json;
use windrow::export::{AnyMetric, AnySpan, AnyWindow, Series};
use windrow::histogram::Distribution;
use windrow::{Kind, Stats};

use crate::console::{Named, Shown};
use crate::heavy::Heavy;
use crate::names::{events_of, sum_name};
use crate::unusual::{Unusual, wall};
use crate::window::{known_span, nanos};

/// The number of this form. A reader of another form refuses it.
pub(crate) const FORM: u64 = 1;

/// The answer, as it grows.
#[derive(Default)]
pub(crate) struct Member {
    /// The series of the metric that is being read, separated by commas.
    series: String,
    metrics: Vec<String>,
}

impl Member {
    /// Adds a series.
    pub(crate) fn series(&mut self, key: &str, series: &dyn Series) {
        let metric = series.metric();
        let (mut all, mut last, mut span) = (Vec::new(), Vec::new(), 0);
        match metric {
            AnyMetric::Counter(counter) => all.push(of_count(counter.lifetime())),
            AnyMetric::Count(count) => all.push(of_count(count.unwrap_or_default())),
            AnyMetric::Gauge(gauge) => all.push(of_signed(gauge.sum())),
            AnyMetric::InFlight(in_flight) => {
                all.push(of_signed(i64::try_from(in_flight.level()).unwrap_or(i64::MAX)));
            }
            AnyMetric::Maximum(maximum) => all.push(of_extreme("Maximum", maximum.get())),
            AnyMetric::Minimum(minimum) => all.push(of_extreme("Minimum", minimum.get())),
            AnyMetric::Real(number) | AnyMetric::RealTotal(number) => all.push(of_real(number)),
            AnyMetric::Histogram(histogram) => {
                all.push(of_values(&histogram.lifetime()));
                last.push(of_values(&histogram.distribution()));
            }
            AnyMetric::Window(window) => (all, last, span) = of_window(window),
        }
        if !self.series.is_empty() {
            self.series.push(',');
        }
        let (key, all, last) = (json!(key), all.join(","), last.join(","));
        // Writing to a `String` cannot fail.
        let _ = write!(
            self.series,
            r#"{{"key":{key},"span_ns":{span},"all":[{all}],"last":[{last}]}}"#
        );
    }

    /// Ends a metric: its series have been added.
    pub(crate) fn metric(&mut self, shown: &Shown, metric: &Named) {
        let unit = |name: &str| shown.is_duration(name).then_some("ns");
        let events = events_of(metric.outline.form).iter();
        let events: Vec<_> =
            events.map(|(name, _)| json!({ "name": name, "unit": unit(name) })).collect();
        let head = json!({
            "name": metric.name,
            "help": metric.help,
            "form": sum_name(metric.outline.form),
            "unit": unit(&metric.name),
            "events": events,
        });
        self.metrics.push(with(&head.to_string(), "series", &self.series));
        self.series.clear();
    }

    /// Returns the answer.
    pub(crate) fn finish(self, shown: &Shown, unusual: &Unusual) -> String {
        let head = json!({
            "form": FORM,
            "service": shown.service,
            "instance": shown.instance,
            "version": shown.version,
            "epoch": shown.epoch,
            "age_ms": u64::try_from(shown.age().as_millis()).unwrap_or(u64::MAX),
            "unusual": unusual.json(wall()),
            "heavy": shown.heavy.iter().map(Heavy::member).collect::<Vec<_>>(),
        });
        with(&head.to_string(), "metrics", &self.metrics.join(","))
    }
}

/// Returns an object with one more member: a list of these items.
fn with(object: &str, name: &str, items: &str) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    format!("{open},\"{name}\":[{items}]}}")
}

/// Returns each event's all-time numbers, those of the closed buckets of the interval, and the span
/// of these buckets in nanoseconds.
fn of_window(window: &dyn AnyWindow) -> (Vec<String>, Vec<String>, u64) {
    // The closed buckets first: what they have, the all-time total has, too.
    let closed = window.complete();
    let span = closed.as_ref().map_or(0, |span| nanos(known_span(window, span.interval())));
    let closed = closed.as_deref();
    let events = window.events().iter().enumerate();
    let last = events.clone().map(|(event, (_, kind))| {
        let stats = || closed.map_or_else(Stats::default, |closed| closed.stats(event));
        let values = || closed.and_then(|closed: &dyn AnySpan| closed.distribution(event));
        of_event(*kind, stats, values)
    });
    let last = last.collect();
    let all = events.map(|(event, (_, kind))| {
        of_event(*kind, || window.lifetime(event), || window.lifetime_distribution(event))
    });
    (all.collect(), last, span)
}

fn of_event(
    kind: Kind,
    stats: impl FnOnce() -> Stats,
    values: impl FnOnce() -> Option<Distribution>,
) -> String {
    match kind {
        Kind::Count => of_count(stats().count),
        Kind::Signed => of_signed(stats().signed_sum()),
        Kind::Value => json!({ "Value": stats() }).to_string(),
        Kind::Histogram(_) => of_values(&values().unwrap_or_default()),
        Kind::Maximum => of_extreme("Maximum", stats().max),
        Kind::Minimum => of_extreme("Minimum", stats().min),
        _ => of_count(0), // a later kind, unknown here
    }
}

fn of_count(count: u64) -> String {
    json!({ "Count": count }).to_string()
}

fn of_signed(sum: i64) -> String {
    json!({ "Signed": sum }).to_string()
}

fn of_extreme(kind: &str, value: Option<u64>) -> String {
    json!({ kind: value }).to_string()
}

/// Writes a number of the program's own: none, if it is not finite.
fn of_real(number: f64) -> String {
    json!({ "Real": number }).to_string()
}

fn of_values(values: &Distribution) -> String {
    // Its numbers are integers, and its names texts: it can always be written.
    serde_json::to_string(values)
        .map_or_else(|_| of_count(0), |values| format!("{{\"Histogram\":{values}}}"))
}
