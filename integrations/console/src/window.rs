//! Reading a window for the console.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windrow::export::{AnySnapshot, AnySpan, AnyWindow};
use windrow::{Kind, Stats, histogram::Distribution};

use crate::changes::PERCENTILES;
use crate::number::Number;
use crate::panels::panels;
use crate::past;
use crate::percentiles;
use crate::series::{History, cores};

/// The span of a row's small plot.
const MINUTE: Duration = Duration::from_secs(60);

/// The greatest number of its points.
const POINTS: usize = 60;

/// Bounds of values, and the all-time counts of values above them, modulo 2^32.
pub(crate) type Bounds = [u64; PERCENTILES];
pub(crate) type Above = [u32; PERCENTILES];

/// Reads the numbers of a row, over the closed buckets of the interval except for lifetimes. By
/// event:
///
/// | kind | |
/// |---|---|
/// | `Count`, `Signed` | lifetime, count |
/// | `Value` | lifetime, count, sum, minimum, maximum |
/// | `Histogram` | as `Value`, and the percentiles |
/// | `Maximum` | maximum |
/// | `Minimum` | minimum |
///
/// Values above the bounds are those of the first `Histogram` event.
pub(crate) fn numbers(
    window: &dyn AnyWindow,
    bounds: Option<Bounds>,
    into: &mut Vec<Number>,
) -> (u64, Above) {
    let (mut above, mut left) = (Above::default(), bounds);
    // `None` if the geometry has just changed to a shorter interval: the next frame has it.
    let closed = window.complete();
    for (event, (_, kind)) in window.events().iter().enumerate() {
        let lifetime = || window.lifetime_count(event);
        let stats = || closed.as_ref().map_or_else(Stats::default, |closed| closed.stats(event));
        match kind {
            Kind::Count => into.extend([lifetime(), stats().count].map(Number::Unsigned)),
            Kind::Signed => {
                let both = [window.lifetime(event), stats()];
                into.extend(both.map(|of| Number::Signed(of.signed_sum())));
            }
            Kind::Value => {
                let Stats { count, sum, min, max } = stats();
                into.extend([lifetime(), count, sum].map(Number::Unsigned));
                into.extend([min, max].map(Number::from));
            }
            Kind::Histogram(_) => {
                let values = closed.as_ref().and_then(|closed| closed.distribution(event));
                let values = values.unwrap_or_default();
                // Count and counts above are from one reading: a share of them is at most one.
                let all = left.take().and_then(|bounds| {
                    let all = window.lifetime_distribution(event)?;
                    above = past::above(&all, bounds).map(|above| above as u32);
                    Some(all.count())
                });
                percentiles::numbers(all.unwrap_or_else(lifetime), &values, into);
            }
            Kind::Maximum => into.push(stats().max.into()),
            Kind::Minimum => into.push(stats().min.into()),
            _ => {} // a later kind, unknown here
        }
    }
    (closed.map_or(0, |closed| nanos(known_span(window, closed.interval()))), above)
}

/// Reads the last minute of the first event with a count that only grows.
pub(crate) fn history(window: &dyn AnyWindow) -> Option<History> {
    let (event, _) = first_counted(window)?;
    let snapshot = reaching(window, window.snapshot_of(event), MINUTE);
    let newest = snapshot.len().checked_sub(1)?;
    let length = snapshot_length(&*snapshot);
    let wanted = usize::try_from(MINUTE.as_nanos() / length.as_nanos().max(1));
    let from = newest.saturating_sub(wanted.unwrap_or(usize::MAX).max(1));
    let closed: Vec<&dyn AnySpan> = (from..newest).map(|bucket| snapshot.bucket(bucket)).collect();
    let each = closed.len().div_ceil(POINTS).max(1);
    // From the newest on, so that only the oldest slice may be left out.
    let slices = closed.rchunks_exact(each);
    let count = |slice: &[&dyn AnySpan]| {
        slice.iter().fold(0_u64, |all, bucket| all.wrapping_add(bucket.stats(event).count))
    };
    let is_known = |slice: &[&dyn AnySpan]| slice[0].start() >= window.built();
    let mut counts: Vec<(bool, u64)> =
        slices.map(|slice| (is_known(slice), count(slice))).collect();
    counts.reverse();
    let counts = known(counts, |(is_known, count)| *is_known || *count > 0);
    let counts = counts.into_iter().map(|(_, count)| count).collect();
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let age = millis(snapshot.at() - snapshot.bucket(newest).start());
    Some(History { age, step: millis(length * u32::try_from(each).unwrap_or(1)), counts })
}

/// Reads all numbers.
pub(crate) fn all(window: &dyn AnyWindow) -> Value {
    let totals = window.totals();
    let closed = window.complete();
    let mut events = Map::new();
    for (event, (name, kind)) in window.events().iter().enumerate() {
        let mut shown = numbers_of(*kind, || totals.stats(event), totals.distribution(event));
        if let Some(closed) = &closed {
            shown["closed"] = numbers_of(*kind, || closed.stats(event), closed.distribution(event));
            if !matches!(kind, Kind::Maximum | Kind::Minimum) {
                let known = known_span(window, closed.interval());
                shown["closed"]["per_second"] =
                    per_second(*kind, &closed.stats(event), known).into();
            }
        }
        shown["lifetime"] =
            numbers_of(*kind, || window.lifetime(event), window.lifetime_distribution(event));
        shown["late"] = stats(*kind, &window.late(event));
        events.insert((*name).to_owned(), shown);
    }
    json!({
        "interval_ns": nanos(window.interval()),
        "buckets": window.buckets(),
        "closed_ns": closed.map_or(0, |closed| nanos(known_span(window, closed.interval()))),
        "events": events,
    })
}

/// Adds the numbers by time and by core.
pub(crate) fn detail(window: &dyn AnyWindow, all: &mut Value) {
    let walk = window.snapshot(None);
    let totals = window.totals();
    for (event, (name, kind)) in window.events().iter().enumerate() {
        let shown = &mut all["events"][name];
        let walked = walk.as_ref().map(|walk| walk.stats(event)).unwrap_or_default();
        shown["walk"] = stats(*kind, &walked);
        if let Some(values) = totals.distribution(event) {
            shown["cells"] = percentiles::cells(&values);
            shown["exemplars"] = percentiles::exemplars(&window.exemplars(event));
        }
    }
    all["panels"] = panels(window);
    if let Some((event, name)) = first_counted(window) {
        all["cores"] = cores(Some(name), &window.by_row(event));
    }
}

/// Returns the first event with a count that only grows: its position and its name.
fn first_counted(window: &dyn AnyWindow) -> Option<(usize, &'static str)> {
    let events = window.events();
    let event = events.iter().position(|(_, kind)| only_grows(*kind))?;
    Some((event, events[event].0))
}

/// Returns whether an event of this kind has a count that never goes back.
pub(crate) fn only_grows(kind: Kind) -> bool {
    matches!(kind, Kind::Count | Kind::Value | Kind::Histogram(_))
}

/// Returns the numbers of an event: of its distribution, where it has one, or of its stats.
fn numbers_of(
    kind: Kind,
    stats: impl FnOnce() -> Stats,
    distribution: Option<Distribution>,
) -> Value {
    match distribution {
        Some(values) => percentiles::summary(&values),
        None => self::stats(kind, &stats()),
    }
}

/// Returns the rate of an event of this kind over a span: of values, the count; of a `Signed`
/// event, with its sign. `None` if there is no span.
fn per_second(kind: Kind, stats: &Stats, span: Duration) -> Option<f64> {
    let count = if kind == Kind::Signed { stats.signed_sum() as f64 } else { stats.count as f64 };
    (!span.is_zero()).then(|| count / span.as_secs_f64())
}

/// Returns the numbers of an event of this kind.
fn stats(kind: Kind, stats: &Stats) -> Value {
    let Stats { count, sum, min, max } = *stats;
    match kind {
        Kind::Count => json!({ "count": count }),
        Kind::Signed => json!({ "sum": stats.signed_sum() }),
        Kind::Value | Kind::Histogram(_) => {
            json!({ "count": count, "sum": sum, "min": min, "max": max, "mean": stats.mean() })
        }
        Kind::Maximum => json!({ "max": max }),
        Kind::Minimum => json!({ "min": min }),
        _ => json!({}), // a later kind, unknown here
    }
}

/// Returns the finest buckets that reach back over `span`, or otherwise those that reach back
/// farthest: the window's `own`, or a tier's.
pub(crate) fn reaching(
    window: &dyn AnyWindow,
    own: Box<dyn AnySnapshot>,
    span: Duration,
) -> Box<dyn AnySnapshot> {
    let mut best = own;
    for tier in 0.. {
        let reached = best.interval();
        if reached >= span {
            break;
        }
        match window.snapshot(Some(tier)) {
            Some(coarser) if coarser.interval() > reached => best = coarser,
            Some(_) => {}
            None => break,
        }
    }
    best
}

/// Returns the known part of the span of the closed buckets: the part after the window was built.
/// Adds that were back-dated to before that extend it.
pub(crate) fn known_span(window: &dyn AnyWindow, span: Duration) -> Duration {
    let length = nanos(window.bucket_length());
    let now = window.now();
    let mut since = window.built();
    if now - since < window.interval()
        && let Some(walk) = window.snapshot(None)
    {
        let mut buckets = (0..walk.len()).map(|bucket| walk.bucket(bucket));
        let is_older = |bucket: &&dyn AnySpan| bucket.end() <= since && holds_any(window, *bucket);
        since = buckets.find(is_older).map_or(since, AnySpan::start);
    }
    let closed = now.as_nanos() - now.as_nanos() % length.max(1);
    span.min(Duration::from_nanos(closed.saturating_sub(since.as_nanos())))
}

pub(crate) fn holds_any(window: &dyn AnyWindow, bucket: &dyn AnySpan) -> bool {
    (0..window.events().len()).any(|event| bucket.stats(event) != Stats::default())
}

/// Leaves out the items before the first of these that is known.
pub(crate) fn known<T>(mut all: Vec<T>, is_known: impl Fn(&T) -> bool) -> Vec<T> {
    let first = all.iter().position(is_known).unwrap_or(all.len());
    all.drain(..first);
    all
}

/// Returns the length of its buckets.
pub(crate) fn snapshot_length(snapshot: &dyn AnySnapshot) -> Duration {
    let newest = snapshot.len().checked_sub(1);
    newest.map_or(snapshot.interval(), |newest| snapshot.bucket(newest).interval())
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
