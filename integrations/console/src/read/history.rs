//! The last minute of a series, for the small plot of its row.

use std::time::Duration;

use windrow::export::{AnyMetric, AnySpan, AnyWindow};

use super::buckets::{known, millis, reaching};
use crate::shown::layout::only_grows;

/// The span of a row's small plot.
const MINUTE: Duration = Duration::from_secs(60);

/// The greatest number of its points.
const POINTS: usize = 60;

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
        AnyMetric::Window(window) => of_window(window),
        _ => None,
    }
}

/// Reads the last minute of the first event with a count that only grows.
fn of_window(window: &dyn AnyWindow) -> Option<History> {
    let (event, _) = first_counted(window)?;
    let snapshot = reaching(window, window.snapshot_of(event), MINUTE);
    let (newest, closed) = snapshot.buckets.split_last()?;
    let length = newest.interval;
    let wanted = usize::try_from(MINUTE.as_nanos() / length.as_nanos().max(1));
    let from = closed.len().saturating_sub(wanted.unwrap_or(usize::MAX).max(1));
    let closed = &closed[from..];
    let each = closed.len().div_ceil(POINTS).max(1);
    // From the newest on, so that only the oldest slice may be left out.
    let slices = closed.rchunks_exact(each);
    let count = |slice: &[AnySpan<'_>]| {
        slice.iter().fold(0_u64, |all, bucket| all.wrapping_add(bucket.stats(event).count))
    };
    let built = window.lifetime().start;
    let is_known = |slice: &[AnySpan<'_>]| slice[0].start >= built;
    let mut counts: Vec<(bool, u64)> =
        slices.map(|slice| (is_known(slice), count(slice))).collect();
    counts.reverse();
    let counts = known(counts, |(is_known, count)| *is_known || *count > 0);
    let counts = counts.into_iter().map(|(_, count)| count).collect();
    let age = millis(snapshot.at - newest.start);
    Some(History { age, step: millis(length * u32::try_from(each).unwrap_or(1)), counts })
}

/// Returns the first event with a count that only grows: its position and its name.
pub(crate) fn first_counted(window: &dyn AnyWindow) -> Option<(usize, &'static str)> {
    let events = window.events();
    let event = events.iter().position(|(_, kind)| only_grows(*kind))?;
    Some((event, events[event].0))
}
