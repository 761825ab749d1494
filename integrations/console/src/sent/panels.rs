//! The contents of a window over the last minute, hour and day, by time.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windrow::export::{AnySpan, AnyWindow};
use windrow::{Kind, Stats, Timestamp};

use super::values;
use crate::read::buckets::{holds_any, known, millis, nanos, reaching, snapshot_length};
use crate::read::values::sum;

/// The greatest number of points in a plot. If there are more buckets, adjacent ones share a point.
const POINTS: usize = 360;

const HORIZONS: [(&str, Duration); 3] = [
    ("minute", Duration::from_secs(60)),
    ("hour", Duration::from_secs(3_600)),
    ("day", Duration::from_secs(86_400)),
];

/// Returns a plot for each horizon for which the window has data, from its own buckets or from
/// those of a tier.
pub(crate) fn panels(window: &dyn AnyWindow) -> Value {
    let mut panels = Vec::new();
    let mut reached = Duration::ZERO;
    for (name, horizon) in HORIZONS {
        let Some(own) = window.snapshot(None) else { break };
        let snapshot = reaching(window, own, horizon);
        if snapshot.interval <= reached {
            continue;
        }
        reached = horizon;
        let length = snapshot_length(&snapshot);
        let buckets = &snapshot.buckets;
        let wanted = horizon.as_nanos().div_ceil(length.as_nanos().max(1));
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        // The newest bucket is included, but has only begun.
        let buckets = &buckets[buckets.len().saturating_sub(wanted.saturating_add(1))..];
        let each = buckets.len().div_ceil(POINTS).max(1);
        // The points are aligned to the newest closed bucket.
        let (begun, over) =
            buckets.split_last().map_or((None, buckets), |(last, rest)| (Some(last), rest));
        let mut points: Vec<&[AnySpan<'_>]> = over.rchunks(each).collect();
        points.reverse();
        points.extend(begun.map(std::slice::from_ref));
        // The time before the window was built is unknown, unless adds came into it since.
        let built = window.lifetime().start;
        let points = known(points, |point| {
            let begins = point.first().is_some_and(|bucket| bucket.start >= built);
            begins || point.iter().any(|bucket| holds_any(window, bucket))
        });
        let covered = length.saturating_mul(u32::try_from(over.len()).unwrap_or(u32::MAX));
        panels.push(json!({
            "horizon": name,
            "bucket_ns": nanos(length),
            "point_ns": nanos(length.saturating_mul(u32::try_from(each).unwrap_or(u32::MAX))),
            "covers_ns": nanos(covered),
            // The beginning of each point, in milliseconds before now.
            "ago_ms": points.iter().map(|point| ago(snapshot.at, point)).collect::<Vec<_>>(),
            "events": events(window, &points),
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
fn events(window: &dyn AnyWindow, points: &[&[AnySpan<'_>]]) -> Value {
    let mut events = Map::new();
    for (event, (name, kind)) in window.events().iter().enumerate() {
        let lists = if let Kind::Histogram(_) = kind {
            let point = |point: &&[AnySpan<'_>]| {
                sum(point.iter().filter_map(|bucket| bucket.distribution(event)))
            };
            values::over_time(points.iter().map(point).collect())
        } else {
            let point = |point: &&[AnySpan<'_>]| -> Stats {
                point.iter().map(|bucket| bucket.stats(event)).sum()
            };
            values::stats_over_time(*kind, points.iter().map(point))
        };
        events.insert((*name).to_owned(), lists);
    }
    events.into()
}
