//! The readings of one event's count, and what holds between them.

use windrow::{Clock, Event, Events, SlidingWindow, Snapshot, Timestamp};

use crate::window::only_grows;

/// The readings of one event's count, in the order in which an audit takes them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Readings {
    pub(super) lifetime_first: u64,
    pub(super) difference_first: u64,
    pub(super) walk: u64,
    pub(super) difference: u64,
    pub(super) late: u64,
    pub(super) lifetime: u64,
    /// Whether the interval is the same in all of them.
    pub(super) of_one_interval: bool,
}

impl Readings {
    /// By how much the walk lies outside the two differences of totals around it. No add in flight
    /// can explain that: all three read the words that the add changes, and these only grow.
    pub(super) fn disagree(&self) -> u64 {
        if !self.of_one_interval {
            return 0;
        }
        let below = self.difference_first.saturating_sub(self.walk);
        below.max(self.walk.saturating_sub(self.difference))
    }

    /// What was seen in the buckets and as late.
    pub(super) fn seen(&self) -> u64 {
        self.walk.saturating_add(self.late)
    }

    /// What had left the interval at least. The total is the earlier reading, and an add in flight
    /// is in its bucket before it is in the total: either makes this too small.
    pub(super) fn left(&self) -> u64 {
        self.lifetime_first.saturating_sub(self.seen())
    }
}

/// The readings of all events of a window whose counts only grow, and when they were taken.
pub(super) struct Taken {
    pub(super) by_event: Vec<Readings>,
    /// The window's time of the walk.
    pub(super) at: Timestamp,
    /// The length of a bucket, and the number of buckets.
    pub(super) geometry: (u64, usize),
}

impl Taken {
    /// Reads a window; `None` if no event of it has a count that only grows.
    pub(super) fn of<E: Events, C: Clock>(window: &SlidingWindow<E, C>) -> Option<Taken> {
        let counted = |event: &Event<E>| only_grows(event.kind());
        let events: Vec<Event<E>> = Event::all().filter(counted).collect();
        if events.is_empty() {
            return None;
        }
        let mut by_event = vec![Readings::default(); events.len()];
        for (readings, event) in by_event.iter_mut().zip(&events) {
            readings.lifetime_first = window.lifetime(*event).count;
        }
        let first = window.totals();
        let walk = window.snapshot();
        let second = window.totals();
        let geometry = geometry_of(&walk);
        let bucket = |at: Timestamp| at.as_nanos() / geometry.0.max(1);
        let interval = walk.interval();
        let of_one_interval = bucket(first.at()) == bucket(walk.at())
            && bucket(walk.at()) == bucket(second.at())
            && (first.interval(), second.interval()) == (interval, interval);
        for (readings, event) in by_event.iter_mut().zip(&events) {
            readings.difference_first = first.stats(*event).count;
            readings.walk = walk.stats(*event).count;
            readings.difference = second.stats(*event).count;
            readings.late = window.late(*event).count;
            readings.lifetime = window.lifetime(*event).count;
            readings.of_one_interval = of_one_interval;
        }
        Some(Taken { by_event, at: walk.at(), geometry })
    }
}

/// The length of a bucket, and the number of buckets.
fn geometry_of<E: Events>(walk: &Snapshot<E>) -> (u64, usize) {
    let buckets = walk.buckets();
    let length = buckets.first().map_or(0, |bucket| (bucket.end() - bucket.start()).as_nanos());
    (u64::try_from(length).unwrap_or(u64::MAX), buckets.len())
}
