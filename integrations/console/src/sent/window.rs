//! A window in `/snapshot.json`: all its numbers, and on demand those by time and by core.

use std::time::Duration;

use serde_json::{Value, json};
use windrow::export::{AnySpan, AnyWindow};
use windrow::snapshot::ByRow;
use windrow::{Kind, Stats, Timestamp};

use super::values;
use crate::read::buckets::{
    first_counted, holds_any, known, known_span, millis, nanos, reaching, snapshot_length,
};
use crate::read::values::sum;

/// The greatest number of points in a plot. If there are more buckets, adjacent ones share a point.
const POINTS: usize = 360;

const HORIZONS: [(&str, Duration); 3] = [
    ("minute", Duration::from_secs(60)),
    ("hour", Duration::from_secs(3_600)),
    ("day", Duration::from_secs(86_400)),
];

/// Reads all numbers.
pub(crate) fn all(window: &dyn AnyWindow) -> Value {
    let totals = window.totals();
    let closed = window.complete();
    let ever = window.lifetime();
    let known = closed.as_ref().map_or(Duration::ZERO, |of| known_span(window, of.interval));
    let numbers = |(event, (name, kind)): (usize, &(&str, Kind))| {
        let mut shown = numbers_of(*kind, &totals, event);
        if let Some(closed) = &closed {
            shown["closed"] = numbers_of(*kind, closed, event);
            if !matches!(kind, Kind::Maximum | Kind::Minimum) {
                let rate = per_second(*kind, &closed.stats(event), known);
                shown["closed"]["per_second"] = rate.into();
            }
        }
        shown["lifetime"] = numbers_of(*kind, &ever, event);
        shown["late"] = values::stats(*kind, &window.late(event));
        ((*name).to_owned(), shown)
    };
    json!({
        "interval_ns": nanos(window.interval()),
        "buckets": nanos(window.interval()) / nanos(window.bucket_length()).max(1),
        "closed_ns": nanos(known),
        "events": window.events().iter().enumerate().map(numbers).collect::<Value>(),
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

/// Returns a plot for each horizon for which the window has data, from its own buckets or from
/// those of a tier.
fn panels(window: &dyn AnyWindow) -> Value {
    let mut panels = Vec::new();
    let mut reached = Duration::ZERO;
    for (name, horizon) in HORIZONS {
        let Some(own) = window.snapshot(None) else { break };
        let snapshot = reaching(window, own, horizon);
        if snapshot.interval <= reached {
            continue;
        }
        reached = horizon;
        let length = nanos(snapshot_length(&snapshot));
        let wanted = nanos(horizon).div_ceil(length.max(1)) as usize;
        // The newest bucket is included, but has only begun.
        let first = snapshot.buckets.len().saturating_sub(wanted.saturating_add(1));
        let buckets = &snapshot.buckets[first..];
        let each = buckets.len().div_ceil(POINTS).max(1);
        // The points are aligned to the newest closed bucket.
        let Some((begun, over)) = buckets.split_last() else { continue };
        let mut points: Vec<&[AnySpan<'_>]> = over.rchunks(each).rev().collect();
        points.push(std::slice::from_ref(begun));
        // The time before the window was built is unknown, unless adds came into it since.
        let built = window.lifetime().start;
        let points = known(points, |point| {
            let begins = point.first().is_some_and(|bucket| bucket.start >= built);
            begins || point.iter().any(|bucket| holds_any(window, bucket))
        });
        panels.push(json!({
            "horizon": name,
            "bucket_ns": length,
            "point_ns": length.saturating_mul(each as u64),
            "covers_ns": length.saturating_mul(over.len() as u64),
            // The beginning of each point, in milliseconds before now.
            "ago_ms": points.iter().map(|point| ago(snapshot.at, point)).collect::<Vec<_>>(),
            "events": over_time(window, &points),
        }));
    }
    panels.into()
}

fn ago(now: Timestamp, point: &[AnySpan<'_>]) -> u64 {
    let begins = point.first().map_or(now, |bucket| bucket.start);
    millis(now - begins)
}

/// Returns for each event a list for each number, with an entry for each point; for histograms, in
/// the form of [`values::over_time`].
fn over_time(window: &dyn AnyWindow, points: &[&[AnySpan<'_>]]) -> Value {
    let lists = |(event, (name, kind)): (usize, &(&str, Kind))| {
        let points = points.iter();
        let lists = if let Kind::Histogram(_) = kind {
            let values = |point: &&[AnySpan<'_>]| {
                sum(point.iter().filter_map(|bucket| bucket.distribution(event)))
            };
            values::over_time(points.map(values).collect())
        } else {
            let stats = |point: &&[AnySpan<'_>]| point.iter().map(|of| of.stats(event)).sum();
            values::stats_over_time(*kind, points.map(stats))
        };
        ((*name).to_owned(), lists)
    };
    window.events().iter().enumerate().map(lists).collect()
}
