//! The contents of a line: to be written, and as they were read.

use std::borrow::Cow;
use std::time::Duration;

use windrow::{Kind, Stats, Timestamp, histogram::Distribution};

use crate::entry::{Dropped, Entry, Run};
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
pub(crate) struct Decoded {
    pub(crate) entry: Entry,
    /// The time by which the line is ordered among all lines of its file except the first: the end
    /// of its bucket, the latest end of the dropped buckets, or the beginning of its run.
    pub(crate) end: Wall,
    /// The slack that the line of a run states for the file that it begins: see
    /// [`order`](crate::order).
    pub(crate) slack: Option<Duration>,
}

/// A line that was read for its sums.
#[derive(Debug, PartialEq)]
pub(crate) struct Summed<'a> {
    pub(crate) what: What<'a>,
    /// The time by which the line is ordered: see [`Decoded::end`].
    pub(crate) end: Wall,
}

/// The part of a line that sums need.
#[derive(Debug, PartialEq)]
pub(crate) enum What<'a> {
    /// A run, and the slack that its line states.
    Run(Run, Duration),
    /// A bucket.
    Bucket {
        resource: Cow<'a, str>,
        length: Duration,
        events: Vec<(Cow<'a, str>, Total)>,
    },
    Dropped(Dropped),
    /// A line that has no sums.
    Other,
}
