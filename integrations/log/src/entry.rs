//! The entries of a log.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use windrow::{Stats, Timestamp, histogram::Distribution};

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// The beginning of a run: the lines that follow belong to it.
    Run(Run),
    /// A closed bucket, from a line of JSON.
    Bucket(Bucket),
    /// A closed bucket, from a line in Sentinel's format.
    Second(Second),
    /// A gap: lines are missing here.
    Dropped(Dropped),
    /// The heaviest keys of a closed bucket, from a line of JSON.
    Heavy(Heavy),
}

/// The heaviest keys of a closed bucket of [`HeavyKeys`](windrow::HeavyKeys).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Heavy {
    /// The name that the keys were logged under.
    pub resource: String,
    /// The beginning of the bucket by the wall clock.
    pub start: SystemTime,
    /// The length of the bucket. It ended at `start + length`.
    pub length: Duration,
    /// The beginning of the bucket by the keys' clock.
    pub at: Timestamp,
    /// The exact weight of all keys together.
    pub total: u64,
    /// The greatest weight of any key that is not in the list.
    pub others_at_most: u64,
    /// The heaviest keys, by their lower bounds.
    pub keys: Vec<HeavyKey>,
}

/// A key and the bounds of its weight in a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeavyKey {
    /// The key's text.
    pub key: String,
    /// Its weight is this or more.
    pub at_least: u64,
    /// Its weight is this or less.
    pub at_most: u64,
}

impl Heavy {
    /// Returns the bounds of a key's weight in the bucket, whether it is in the list or not.
    ///
    /// Bounds of several lines add up to bounds of their time together. The text is that of the
    /// line: a key's `Display`, of at most 256 bytes. Keys of one text cannot be told apart here:
    /// the bounds are those of the heaviest of them.
    ///
    /// ```no_run
    /// # use windrow_log::Entry;
    /// let (mut at_least, mut at_most) = (0, 0);
    /// for entry in windrow_log::read("/var/log/shop")?.all() {
    ///     if let Entry::Heavy(heavy) = entry? {
    ///         let bounds = heavy.bounds("203.0.113.7");
    ///         at_least += bounds.start();
    ///         at_most += bounds.end();
    ///     }
    /// }
    /// println!("{at_least} to {at_most} requests");
    /// # Ok::<(), windrow_log::ReadError>(())
    /// ```
    pub fn bounds(&self, key: &str) -> RangeInclusive<u64> {
        let found = self.keys.iter().find(|heavy| heavy.key == key);
        found.map_or(0..=self.others_at_most, |heavy| heavy.at_least..=heavy.at_most)
    }
}

/// One opening of a log: from [`Log::open`](crate::Log::open) until the log was dropped or its
/// process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// A random identifier of sixteen hexadecimal digits.
    pub id: String,
    /// The moment at which the log was opened, by the wall clock.
    pub started: SystemTime,
}

/// A closed bucket.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bucket {
    /// The name that the window was logged under.
    pub resource: String,
    /// The beginning of the bucket by the wall clock; see [the time of a
    /// line](crate#the-time-of-a-line).
    pub start: SystemTime,
    /// The length of the bucket. It ended at `start + length`.
    pub length: Duration,
    /// The beginning of the bucket by the window's clock. Within one run, a resource and a
    /// beginning identify a bucket.
    pub at: Timestamp,
    /// The statistics of each event, by its name. Events without counts are left out.
    pub events: Vec<(String, Stats)>,
    /// The distribution of the values of each `Histogram` event, by its name.
    pub distributions: Vec<(String, Distribution)>,
}

impl Bucket {
    /// Returns the statistics of an event; zeros if the line does not have it.
    ///
    /// ```no_run
    /// # use windrow_log::Entry;
    /// let mut passed = 0;
    /// for entry in windrow_log::read("/var/log/shop")?.all() {
    ///     if let Entry::Bucket(bucket) = entry? {
    ///         passed += bucket.stats("Pass").sum;
    ///     }
    /// }
    /// # Ok::<(), windrow_log::ReadError>(())
    /// ```
    pub fn stats(&self, event: &str) -> Stats {
        let found = self.events.iter().find(|(name, _)| name == event);
        found.map(|(_, stats)| *stats).unwrap_or_default()
    }

    /// Returns the distribution of the values of a `Histogram` event; an empty one if the line does
    /// not have it. Distributions of several lines [merge](Distribution::merge), so a span of time
    /// has percentiles, too.
    ///
    /// ```no_run
    /// # use windrow::histogram::Distribution;
    /// # use windrow_log::Entry;
    /// let mut hour: Option<Distribution> = None;
    /// for entry in windrow_log::read("/var/log/shop")?.all() {
    ///     if let Entry::Bucket(bucket) = entry? {
    ///         let bucket = bucket.distribution("Rt");
    ///         match &mut hour {
    ///             Some(hour) => hour.merge(&bucket)?,
    ///             None => hour = Some(bucket),
    ///         }
    ///     }
    /// }
    /// println!("99 % to {:?}", hour.and_then(|hour| hour.quantile(0.99)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distribution(&self, event: &str) -> Distribution {
        let found = self.distributions.iter().find(|(name, _)| name == event);
        found.map(|(_, distribution)| distribution.clone()).unwrap_or_default()
    }
}

/// A closed bucket in Sentinel's format. The fields to which the log's [`Columns`](crate::Columns)
/// assign no event are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Second {
    /// The name that the window was logged under.
    pub resource: String,
    /// The beginning of the bucket by the wall clock, in whole milliseconds. The line does not have
    /// the bucket's length.
    pub start: SystemTime,
    /// Sentinel's `passQps`.
    pub pass: u64,
    /// Sentinel's `blockQps`.
    pub block: u64,
    /// Sentinel's `successQps`.
    pub success: u64,
    /// Sentinel's `exceptionQps`.
    pub exception: u64,
    /// The mean response time, rounded down.
    pub rt: u64,
    /// Sentinel's `occupiedPassQps`.
    pub occupied: u64,
    /// The maximum number of operations in flight.
    pub concurrency: u64,
    /// The kind of resource.
    pub classification: i32,
}

/// Lines that were dropped, because the log could not be written and the memory for waiting lines
/// was full, or because they were longer than a line may be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// The number of dropped lines.
    pub lines: u64,
    /// The earliest start of their buckets.
    pub from: SystemTime,
    /// The latest end of their buckets.
    pub to: SystemTime,
}
