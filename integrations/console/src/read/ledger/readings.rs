//! The readings of one event's count, and the relations between them.

use std::time::Duration;

use windrow::export::{AnySnapshot, AnySpan, AnyWindow};
use windrow::{Stats, Timestamp};

use crate::read::buckets::nanos;
use crate::shown::layout::only_grows;

/// The readings of one event's count, in the order in which an audit takes them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Readings {
    pub(super) lifetime_first: u64,
    pub(super) difference_first: u64,
    pub(super) walk: u64,
    pub(super) difference: u64,
    pub(super) late: u64,
    pub(super) lifetime: u64,
    /// True if the interval is the same in all of them.
    pub(super) of_one_interval: bool,
}

impl Readings {
    /// Returns the distance of the walk from the range between the two differences of totals around
    /// it. No add in flight can explain that: all three read the words that the add changes, and
    /// these only grow.
    pub(super) fn disagree(&self) -> u64 {
        if !self.of_one_interval {
            return 0;
        }
        let below = self.difference_first.saturating_sub(self.walk);
        below.max(self.walk.saturating_sub(self.difference))
    }

    /// Returns the count seen in the buckets and as late.
    pub(super) fn seen(&self) -> u64 {
        self.walk.saturating_add(self.late)
    }

    /// Returns a lower bound of the count that had left the interval. The total is the earlier
    /// reading, and an add in flight is in its bucket before it is in the total: either makes this
    /// too small.
    pub(super) fn left(&self) -> u64 {
        self.lifetime_first.saturating_sub(self.seen())
    }
}

/// The readings of all events of a window whose counts only grow, and the time at which they were
/// taken.
pub(super) struct Taken {
    pub(super) by_event: Vec<Readings>,
    /// The window's time of the walk.
    pub(super) at: Timestamp,
    /// The length of a bucket, and the number of buckets.
    pub(super) geometry: (u64, usize),
}

impl Taken {
    /// Reads a window; `None` if no event of it has a count that only grows.
    pub(super) fn of(window: &dyn AnyWindow) -> Option<Taken> {
        let kinds = window.events().iter().enumerate();
        let counted = kinds.filter(|(_, (_, kind))| only_grows(*kind));
        let events: Vec<usize> = counted.map(|(event, _)| event).collect();
        if events.is_empty() {
            return None;
        }
        let all_time = window.lifetime(); // read for each event, when it is asked for
        let first_totals: Vec<u64> =
            events.iter().map(|event| all_time.stats(*event).count).collect();
        let first = window.totals();
        let walk = window.snapshot(None)?;
        let second = window.totals();
        let newest = walk.buckets.last().map(|newest| newest.end);
        let is_same =
            |totals: &AnySpan<'_>| Some(totals.end) == newest && totals.interval == walk.interval;
        let of_one_interval = is_same(&first) && is_same(&second);
        let readings = |(event, lifetime_first): (usize, u64)| Readings {
            lifetime_first,
            difference_first: first.stats(event).count,
            walk: walk.buckets.iter().map(|bucket| bucket.stats(event)).sum::<Stats>().count,
            difference: second.stats(event).count,
            late: window.late(event).count,
            lifetime: all_time.stats(event).count,
            of_one_interval,
        };
        let by_event = events.into_iter().zip(first_totals).map(readings).collect();
        Some(Taken { by_event, at: walk.at, geometry: geometry_of(&walk) })
    }
}

/// Returns the length of a bucket, and the number of buckets.
fn geometry_of(walk: &AnySnapshot) -> (u64, usize) {
    let length = walk.buckets.first().map_or(Duration::ZERO, |first| first.interval);
    (nanos(length), walk.buckets.len())
}
