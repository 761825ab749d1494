//! A window in `/snapshot.json`: all its numbers, and on demand those by time and by core.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windrow::export::{AnySpan, AnyWindow};
use windrow::snapshot::ByRow;
use windrow::{Kind, Stats};

use super::panels::panels;
use super::values;
use crate::read::buckets::{known_span, nanos};
use crate::read::history::first_counted;

/// Reads all numbers.
pub(crate) fn all(window: &dyn AnyWindow) -> Value {
    let totals = window.totals();
    let closed = window.complete();
    let ever = window.lifetime();
    let mut events = Map::new();
    for (event, (name, kind)) in window.events().iter().enumerate() {
        let mut shown = numbers_of(*kind, &totals, event);
        if let Some(closed) = &closed {
            shown["closed"] = numbers_of(*kind, closed, event);
            if !matches!(kind, Kind::Maximum | Kind::Minimum) {
                let known = known_span(window, closed.interval);
                let rate = per_second(*kind, &closed.stats(event), known);
                shown["closed"]["per_second"] = rate.into();
            }
        }
        shown["lifetime"] = numbers_of(*kind, &ever, event);
        shown["late"] = values::stats(*kind, &window.late(event));
        events.insert((*name).to_owned(), shown);
    }
    json!({
        "interval_ns": nanos(window.interval()),
        "buckets": nanos(window.interval()) / nanos(window.bucket_length()).max(1),
        "closed_ns": closed.map_or(0, |closed| nanos(known_span(window, closed.interval))),
        "events": events,
    })
}

/// Adds the numbers by time and by core.
pub(crate) fn detail(window: &dyn AnyWindow, all: &mut Value) {
    let walk = window.snapshot(None);
    let totals = window.totals();
    for (event, (name, kind)) in window.events().iter().enumerate() {
        let shown = &mut all["events"][name];
        let buckets = walk.iter().flat_map(|walk| &walk.buckets);
        let walked = buckets.map(|bucket| bucket.stats(event)).sum();
        shown["walk"] = values::stats(*kind, &walked);
        if let Some(values) = totals.distribution(event) {
            shown["cells"] = values::cells(&values);
            shown["exemplars"] = values::exemplars(&window.exemplars(event));
        }
    }
    all["panels"] = panels(window);
    if let Some((event, name)) = first_counted(window) {
        all["cores"] = cores(Some(name), &window.by_row(event));
    }
}

/// Returns the numbers of an event: of its distribution, where it has one, or of its stats.
fn numbers_of(kind: Kind, span: &AnySpan<'_>, event: usize) -> Value {
    match span.distribution(event) {
        Some(values) => values::summary(&values),
        None => values::stats(kind, &span.stats(event)),
    }
}

/// Returns the rate of an event of this kind over a span: of values, the count; of a `Signed`
/// event, with its sign. `None` if there is no span.
fn per_second(kind: Kind, stats: &Stats, span: Duration) -> Option<f64> {
    let count =
        if kind == Kind::Signed { stats.sum.cast_signed() as f64 } else { stats.count as f64 };
    (!span.is_zero()).then(|| count / span.as_secs_f64())
}

/// Returns the contents of each core's row: of an event, if it is a window's.
pub(crate) fn cores(event: Option<&str>, by_row: &ByRow) -> Value {
    json!({ "event": event, "rows": by_row.rows, "shared": by_row.shared })
}
