//! The contents of a line: to be written, and as they were read.

use std::time::Duration;

use windrow::{Kind, Stats, Timestamp, histogram::Distribution};

use super::json::{Named, Pairs};
use super::sentinel;
use crate::entry::Entry;
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
pub(crate) struct Decoded<'a> {
    content: Content<'a>,
    /// The time by which the line is ordered among all lines of its file except the first: the end
    /// of its bucket, the latest end of the dropped buckets, or the beginning of its run.
    pub(crate) end: Wall,
    /// The slack that the line of a run states for the file that it begins: see
    /// [`order`](crate::order).
    pub(crate) slack: Option<Duration>,
}

#[derive(Debug)]
enum Content<'a> {
    /// A bucket whose names are not copied yet: sums need no copies.
    Bucket(Named<'a, Pairs<'a>>),
    Entry(Entry),
}

/// The sums of a bucket.
pub(crate) struct Sums<'a> {
    pub(crate) resource: &'a str,
    pub(crate) length: Duration,
    pub(crate) events: Vec<(&'a str, Total)>,
}

impl<'a> Decoded<'a> {
    pub(super) fn entry(entry: Entry, end: Wall, slack: Option<Duration>) -> Decoded<'a> {
        Decoded { content: Content::Entry(entry), end, slack }
    }

    pub(super) fn bucket(bucket: Named<'a, Pairs<'a>>, end: Wall) -> Decoded<'a> {
        Decoded { content: Content::Bucket(bucket), end, slack: None }
    }

    pub(crate) fn into_entry(self) -> Entry {
        match self.content {
            Content::Bucket(bucket) => Entry::Bucket(bucket.into()),
            Content::Entry(entry) => entry,
        }
    }

    /// Returns the sums of a bucket; `None` for any other line.
    pub(crate) fn sums(&self) -> Option<Sums<'_>> {
        match &self.content {
            Content::Bucket(bucket) => Some(bucket.sums()),
            Content::Entry(Entry::Second(second)) => Some(sentinel::sums(second)),
            Content::Entry(_) => None,
        }
    }
}
