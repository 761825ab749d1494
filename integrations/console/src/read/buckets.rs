//! The buckets of a window: which of them reach back over a span, and from when on they are known.

use std::time::Duration;

use windrow::Stats;
use windrow::export::{AnySnapshot, AnySpan, AnyWindow};

/// Returns the finest buckets that reach back over `span`, or otherwise those that reach back
/// farthest: the window's `own`, or a tier's.
pub(crate) fn reaching(window: &dyn AnyWindow, own: AnySnapshot, span: Duration) -> AnySnapshot {
    let mut best = own;
    for tier in 0.. {
        let reached = best.interval;
        if reached >= span {
            break;
        }
        match window.snapshot(Some(tier)) {
            Some(coarser) if coarser.interval > reached => best = coarser,
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
