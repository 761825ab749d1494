//! The buckets of a window: which of them reach back over a span, from when on they are known, and
//! the last minute, for the small plot of a row.

use std::time::Duration;

use windrow::Stats;
use windrow::export::{AnyMetric, AnySnapshot, AnySpan, AnyWindow};

use crate::shown::layout::only_grows;

/// The span of a row's small plot.
const MINUTE: Duration = Duration::from_secs(60);

/// The greatest number of its points.
const POINTS: usize = 60;

/// Returns the finest buckets that reach back over `span`, or otherwise those that reach back
/// farthest: the window's `own`, or a tier's.
pub(crate) fn reaching(window: &dyn AnyWindow, own: AnySnapshot, span: Duration) -> AnySnapshot {
    let mut best = own;
    let mut tiers = (0..).map_while(|tier| window.snapshot(Some(tier)));
    while best.interval < span
        && let Some(coarser) = tiers.next()
    {
        if coarser.interval > best.interval {
            best = coarser;
        }
    }
    best
}

/// Returns the known part of the span of the closed buckets: the part after the window was built.
/// Adds that were back-dated to before that extend it.
pub(crate) fn known_span(window: &dyn AnyWindow, span: Duration) -> Duration {
    let length = nanos(window.bucket_length());
    let AnySpan { start: mut since, end: now, .. } = window.lifetime();
    if now - since < window.interval()
        && let Some(walk) = window.snapshot(None)
    {
        let is_older = |bucket: &&AnySpan<'_>| bucket.end <= since && holds_any(window, bucket);
        since = walk.buckets.iter().find(is_older).map_or(since, |bucket| bucket.start);
    }
    let closed = now.as_nanos() - now.as_nanos() % length.max(1);
    span.min(Duration::from_nanos(closed.saturating_sub(since.as_nanos())))
}

/// Returns whether a bucket has numbers of any event.
pub(crate) fn holds_any(window: &dyn AnyWindow, bucket: &AnySpan<'_>) -> bool {
    (0..window.events().len()).any(|event| bucket.stats(event) != Stats::default())
}

/// Leaves out the items before the first of these that is known.
pub(crate) fn known<T>(mut all: Vec<T>, is_known: impl Fn(&T) -> bool) -> Vec<T> {
    let first = all.iter().position(is_known).unwrap_or(all.len());
    all.drain(..first);
    all
}

/// Returns the length of a snapshot's buckets.
pub(crate) fn snapshot_length(snapshot: &AnySnapshot) -> Duration {
    snapshot.buckets.last().map_or(snapshot.interval, |newest| newest.interval)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads the last minute of a window's first event with a count that only grows, in complete slices
/// of equal length: the time since the newest one ended and the length, both in milliseconds, and
/// the count of each, the oldest first.
pub(crate) fn history(metric: AnyMetric<'_>) -> Option<Vec<u64>> {
    let AnyMetric::Window(window) = metric else { return None };
    let (event, _) = first_counted(window)?;
    let snapshot = reaching(window, window.snapshot_of(event), MINUTE);
    let (newest, closed) = snapshot.buckets.split_last()?;
    let length = newest.interval;
    let wanted = nanos(MINUTE) / nanos(length).max(1);
    let closed = &closed[closed.len().saturating_sub(wanted.max(1) as usize)..];
    let each = closed.len().div_ceil(POINTS).max(1);
    // From the newest on, so that only the oldest slice may be left out.
    let slices: Vec<&[AnySpan<'_>]> = closed.rchunks_exact(each).rev().collect();
    let count = |slice: &[AnySpan<'_>]| {
        slice.iter().fold(0_u64, |all, bucket| all.wrapping_add(bucket.stats(event).count))
    };
    let built = window.lifetime().start;
    let slices = known(slices, |slice| slice[0].start >= built || count(slice) > 0);
    let age = millis(snapshot.at - newest.start);
    let step = millis(length * u32::try_from(each).unwrap_or(1));
    Some([age, step].into_iter().chain(slices.into_iter().map(count)).collect())
}

/// Returns the first event with a count that only grows: its position and its name.
pub(crate) fn first_counted(window: &dyn AnyWindow) -> Option<(usize, &'static str)> {
    let events = window.events();
    let event = events.iter().position(|(_, kind)| only_grows(*kind))?;
    Some((event, events[event].0))
}
