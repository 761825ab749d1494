//! What a line says.

use std::time::{Duration, SystemTime};

use windrow::{Stats, Timestamp, histogram::Distribution};

/// What one line of a log says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// From here on, lines are of this run.
    Run(Run),
    /// What a bucket counted: a line of JSON.
    Bucket(Bucket),
    /// What a bucket counted: a line as Sentinel's.
    Second(Second),
    /// Here lines are missing.
    Dropped(Dropped),
}

/// One opening of a log: from [`Log::open`](crate::Log::open) until it was dropped, or its process
/// ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Made at random: sixteen hexadecimal digits.
    pub id: String,
    /// When it was opened, by the wall clock.
    pub started: SystemTime,
}

/// What a closed bucket counted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bucket {
    /// The name that it was logged by.
    pub resource: String,
    /// When it began, by the wall clock; see [the time of a line](crate#the-time-of-a-line).
    pub start: SystemTime,
    /// How long it was. It ended at `start + length`.
    pub length: Duration,
    /// When it began, by the window's clock. One run has a bucket of a resource and a start once.
    pub at: Timestamp,
    /// What was counted of each event, by its name. Those of which nothing was counted are left
    /// out.
    pub events: Vec<(String, Stats)>,
    /// How the values of each `Histogram` event are distributed, by its name.
    pub distributions: Vec<(String, Distribution)>,
}

impl Bucket {
    /// Returns what was counted of an event; zeros if the line does not have it.
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

    /// Returns how the values of a `Histogram` event are distributed; an empty distribution if the
    /// line does not have it. Those of several lines [merge](Distribution::merge): so a span has
    /// percentiles, too.
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

/// What a closed bucket counted, as Sentinel writes it. The fields of which the log's
/// [`Columns`](crate::Columns) name no event are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Second {
    /// The name that it was logged by.
    pub resource: String,
    /// When it began, by the wall clock, in whole milliseconds. The line does not say how long it
    /// was.
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
    /// How many were in flight at most.
    pub concurrency: u64,
    /// What kind of resource it is.
    pub classification: i32,
}

/// Lines that found no room in memory while the log could not be written, or were longer than a
/// line may be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// How many lines.
    pub lines: u64,
    /// The earliest start of their buckets.
    pub from: SystemTime,
    /// The latest end of their buckets.
    pub to: SystemTime,
}
