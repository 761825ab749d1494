//! A book of admissions: for each bucket of the wall clock, which the engine on this machine has
//! too, the number of calls that were admitted in it.
//!
//! An admission lies between two readings of the clock. If these are of two neighbouring buckets,
//! it is of the one or of the other, and counts only in runs of buckets that have both; if they are
//! further apart, it counts in no run. So a run that is over the limit is over for sure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The buckets of an interval of a second.
pub(super) const BUCKETS: u64 = 10;

const LENGTH: Duration = Duration::from_millis(100);

/// The wall clock, read once: later times are counted from there.
#[derive(Clone, Copy)]
pub(super) struct Wall {
    begun: Instant,
    since_epoch: Duration,
}

impl Wall {
    pub(super) fn new() -> Wall {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Wall { begun: Instant::now(), since_epoch }
    }

    /// Returns the bucket in which a time lies.
    pub(super) fn bucket(&self, at: Instant) -> u64 {
        let time = self.since_epoch + at.saturating_duration_since(self.begun);
        time.as_millis() as u64 / LENGTH.as_millis() as u64
    }

    /// Returns the time until a bucket begins, or none.
    pub(super) fn until(&self, bucket: u64) -> Duration {
        let begins = Duration::from_millis(bucket * LENGTH.as_millis() as u64);
        begins.saturating_sub(self.since_epoch + self.begun.elapsed())
    }
}

/// Admissions by bucket: of it, of it or the next one, and of neither for sure.
#[derive(Default)]
pub(super) struct Book(BTreeMap<u64, [u64; 3]>);

impl Book {
    /// Books calls that were admitted between two buckets.
    pub(super) fn add(&mut self, before: u64, after: u64) {
        let place = after.saturating_sub(before).min(2) as usize;
        self.0.entry(before).or_default()[place] += 1;
    }

    /// Adds a line that another book has printed.
    pub(super) fn merge(&mut self, bucket: u64, counts: [u64; 3]) {
        let cells = self.0.entry(bucket).or_default();
        cells.iter_mut().zip(counts).for_each(|(cell, count)| *cell += count);
    }

    /// Returns each bucket with its counts.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, [u64; 3])> {
        self.0.iter().map(|(&bucket, &counts)| (bucket, counts))
    }

    /// Returns all that was admitted from one bucket to before another one.
    pub(super) fn admitted(&self, from: u64, to: u64) -> u64 {
        self.0.range(from..to).map(|(_, counts)| counts.iter().sum::<u64>()).sum()
    }

    /// Returns what was admitted for sure in the worst run of the length of an interval.
    pub(super) fn worst(&self) -> u64 {
        let run = |&from: &u64| {
            let of = |to: u64, place: usize| {
                self.0.range(from..to).map(move |(_, counts)| counts[place]).sum::<u64>()
            };
            of(from + BUCKETS, 0) + of(from + BUCKETS - 1, 1)
        };
        // The worst run begins at a bucket in which something was admitted.
        self.0.keys().map(run).max().unwrap_or(0)
    }
}
