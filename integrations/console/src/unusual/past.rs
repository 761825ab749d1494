//! Reads the past of a window for its watch: its minutes, and its quarters of an hour, from its own
//! buckets and those of its tiers.

use std::time::Duration;

use windrow::Timestamp;
use windrow::export::{AnySnapshot, AnySpan, AnyWindow};

use super::counts::Counts;
use super::evidence::Settings;
use super::levels::Season;
use super::record::Minute;
use super::watch::Watch;
use crate::read::buckets::{nanos, snapshot_length};
use crate::read::values::{above, percentiles, sum};
use crate::shown::layout::PERCENTILES;
use crate::shown::roles::Roles;

/// The least span of buckets that are worth reading.
const LEAST: Duration = Duration::from_secs(900);

/// The span of the minutes in which a watch finds what is usual.
pub(crate) const USUAL: Duration = Duration::from_secs(7_200);

/// The lengths of buckets that can stand for minutes, and for this time of yesterday.
const MINUTES: Duration = Duration::from_secs(300);
const QUARTERS: Duration = Duration::from_secs(3_600);

const DAY: Duration = Duration::from_secs(86_400);

/// Returns a watch that knows the window's past.
pub(crate) fn watch(
    window: &dyn AnyWindow,
    roles: &Roles,
    settings: Settings,
    number: u64,
) -> Watch {
    let mut watch = Watch::new(number, settings);
    watch.levels.season = season(window, roles);
    let Some(snapshot) = minutes(window) else { return watch };
    let length = snapshot_length(&snapshot);
    let each = 60_000_000_000_u64.div_ceil(nanos(length).max(1)) as usize;
    let known: Vec<_> = known(window, snapshot).collect();
    for buckets in known.chunks(each) {
        if let Some(minute) = minute(roles, buckets, watch.bounds()) {
            watch.minute(minute);
        }
    }
    watch
}

/// Returns the beginning of what the window has recorded, in milliseconds of its clock, if that is
/// all that a watch needs: a later one, made anew, would find the same usual levels.
pub(crate) fn recorded(window: &dyn AnyWindow) -> Option<u64> {
    let (interval, ever) = (minutes(window)?.interval, window.lifetime());
    let now = ever.end.as_nanos();
    let begin = now.saturating_sub(nanos(interval)).max(ever.start.as_nanos());
    let is_enough = interval >= USUAL && now.saturating_sub(begin) >= nanos(USUAL);
    is_enough.then_some(begin / 1_000_000)
}

/// Returns the levels of this time, a day and a week ago.
pub(crate) fn season(window: &dyn AnyWindow, roles: &Roles) -> Season {
    let AnySpan { start: built, end: now, .. } = window.lifetime();
    let Some(then) = now.as_nanos().checked_sub(nanos(DAY)) else { return Season::default() };
    // No bucket is older than the window.
    if Timestamp::from_nanos(then) < built {
        return Season::default();
    }
    let mut buckets = Vec::new();
    for snapshot in snapshots(window) {
        let is_long = snapshot.interval + QUARTERS >= DAY;
        if is_long && snapshot_length(&snapshot) <= QUARTERS {
            let near = known(window, snapshot).filter(|bucket| {
                Season::contains(millis(bucket.start), millis(bucket.end), millis(now))
            });
            buckets.extend(near.filter_map(|bucket| minute(roles, &[bucket], None)));
        }
    }
    Season::of(buckets.iter(), millis(now))
}

/// Returns the rate of an event in the hour around this time of yesterday, by the second, as far as
/// a tier reaches back to it; `None` if none does, or if the window was not there.
pub(crate) fn yesterday(window: &dyn AnyWindow, event: usize) -> Option<f64> {
    let then = Timestamp::from_nanos(window.lifetime().end.as_nanos().checked_sub(nanos(DAY))?);
    let half = QUARTERS / 2;
    let is_near = |bucket: &AnySpan<'_>| {
        bucket.end > then - half.min(then - Timestamp::default()) && bucket.start < then + half
    };
    let rates = snapshots(window).filter(|of| snapshot_length(of) <= QUARTERS).map(|snapshot| {
        let near = known(window, snapshot).filter(is_near);
        let (count, time) = near.fold((0.0, Duration::ZERO), |(count, time), bucket| {
            (count + bucket.stats(event).count as f64, time + bucket.interval)
        });
        (time.min(QUARTERS), count / time.as_secs_f64())
    });
    // The finest that has the whole hour, or otherwise the one that has most of it.
    let best = rates.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.filter(|(time, _)| !time.is_zero()).map(|(_, rate)| rate)
}

/// Returns the finest buckets that reach back over two hours, or otherwise those that reach back
/// farthest, if a bucket can stand for a minute.
fn minutes(window: &dyn AnyWindow) -> Option<AnySnapshot> {
    let is_fit = |of: &AnySnapshot| of.interval >= LEAST && snapshot_length(of) <= MINUTES;
    let all = snapshots(window).filter(is_fit);
    all.reduce(|best, coarser| if best.interval >= USUAL { best } else { coarser })
}

/// Returns the window's own buckets, if they reach back far, and those of its tiers.
fn snapshots(window: &dyn AnyWindow) -> impl Iterator<Item = AnySnapshot> {
    let own = (window.interval() >= LEAST).then(|| window.snapshot(None)).flatten();
    own.into_iter().chain((0..).map_while(|tier| window.snapshot(Some(tier))))
}

/// Returns the closed buckets that began after the window was built.
fn known(
    window: &dyn AnyWindow,
    snapshot: AnySnapshot,
) -> impl Iterator<Item = AnySpan<'static>> + use<> {
    let (built, mut closed) = (window.lifetime().start, snapshot.buckets);
    closed.pop(); // the newest bucket has only begun
    closed.into_iter().filter(move |bucket| bucket.start >= built)
}

/// Returns the numbers of adjacent buckets together; `None` if there is none.
fn minute(
    roles: &Roles,
    buckets: &[AnySpan<'_>],
    bounds: Option<[u64; PERCENTILES]>,
) -> Option<Minute> {
    let whole = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let count = |event| buckets.iter().map(|bucket| bucket.stats(event).count).sum();
    let [all, failed, refused] = roles.counts(count).map(whole);
    let (start, end) = (buckets.first()?.start, buckets.last()?.end);
    let counts = Counts { all, failed, refused, ..Counts::default() };
    let seconds = (end - start).as_secs_f32();
    let mut minute = Minute { end: millis(end), seconds, counts, ..Minute::default() };
    if let Some(values) = roles.values {
        let values = sum(buckets.iter().filter_map(|bucket| bucket.distribution(values)));
        minute.counts.values = whole(values.count());
        minute.percentiles = percentiles(&values).map(|value| value.unwrap_or(0) as f32);
        minute.counts.above = bounds.map_or([0; PERCENTILES], |of| above(&values, of).map(whole));
    }
    Some(minute)
}

/// Returns a time of a window's clock in milliseconds.
pub(crate) fn millis(at: Timestamp) -> u64 {
    at.as_nanos() / 1_000_000
}
