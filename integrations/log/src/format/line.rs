//! The contents of a line: to be written, and as they were read.

use std::time::Duration;

use windrow::{Kind, Stats, Timestamp, histogram::Distribution};

use crate::entry::Second;
use crate::total::Total;
use crate::wall::Wall;

/// The version of the line format.
pub(crate) const VERSION: u32 = 1;

/// The contents of a bucket's line.
pub(crate) struct Facts<'a> {
    pub(crate) resource: &'a str,
    pub(crate) start: Wall,
    pub(crate) length: Duration,
    pub(crate) at: Timestamp,
    /// The events, in the order of the enum.
    pub(crate) events: &'a [(&'static str, Kind, Stats)],
    /// The distributions of the events that have one.
    pub(crate) distributions: &'a [(&'static str, Distribution)],
}

/// A line that was read.
#[derive(Debug)]
pub(crate) struct Decoded<C> {
    pub(crate) content: C,
    /// The time by which the line is ordered among all lines of its file except the first: the end
    /// of its bucket, the latest end of the dropped buckets, or the beginning of its run.
    pub(crate) end: Wall,
    /// The slack that the line of a run states for the file that it begins: see
    /// [`order`](crate::order).
    pub(crate) slack: Option<Duration>,
}

/// The sums of a bucket.
pub(crate) struct Sums<'a> {
    pub(crate) resource: &'a str,
    pub(crate) length: Duration,
    pub(crate) events: Vec<(&'a str, Total)>,
}

impl Sums<'_> {
    /// Returns the sums of a line in Sentinel's format: its counts. Means do not add up.
    pub(super) fn of(second: &Second) -> Sums<'_> {
        let counts = [
            ("Pass", second.pass),
            ("Block", second.block),
            ("Success", second.success),
            ("Exception", second.exception),
            ("Occupied", second.occupied),
        ];
        let counted = counts.into_iter().filter(|(_, count)| *count > 0);
        let events = counted.map(|(name, count)| (name, Total::of_count(count))).collect();
        Sums { resource: &second.resource, length: Duration::from_secs(1), events }
    }
}
