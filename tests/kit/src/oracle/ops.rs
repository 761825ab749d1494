//! What a history is made of: geometries, times and operations.

use std::time::Duration;

/// A valid geometry.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Of a bucket, in nanoseconds.
    pub length: u64,
    /// How many.
    pub buckets: u64,
}

impl Geometry {
    /// Of all buckets.
    pub fn interval(self) -> Duration {
        Duration::from_nanos(self.length * self.buckets)
    }
}

/// A time, told from the clock's time, the newest bucket or the ends of time.
#[derive(Clone, Copy, Debug)]
pub enum Time {
    /// So many buckets after the clock's bucket, and so far into that one.
    Buckets(i64, u64),
    /// So many buckets after the newest bucket, and so far into that one.
    FromNewest(i64, u64),
    /// So many intervals after the clock's time, and so many nanoseconds.
    Intervals(i64, i64),
    /// This soon after zero.
    Early(u64),
    /// This long before the end of time.
    Final(u64),
    /// Anywhere at all.
    Any(u64),
}

impl Time {
    /// The time in nanoseconds, where the clock and the window stand so.
    pub fn resolve(self, now: u64, newest: u64, length: u64, interval: u64) -> u64 {
        let place = |from: u64, buckets: i64, offset: u64| {
            let start = i128::from(from - from % length);
            clamp(start + i128::from(buckets) * i128::from(length) + i128::from(offset % length))
        };
        match self {
            Time::Buckets(buckets, offset) => place(now, buckets, offset),
            Time::FromNewest(buckets, offset) => place(newest, buckets, offset),
            Time::Intervals(intervals, offset) => clamp(
                i128::from(now) + i128::from(intervals) * i128::from(interval) + i128::from(offset),
            ),
            Time::Final(nanos) => u64::MAX - nanos,
            Time::Early(nanos) | Time::Any(nanos) => nanos,
        }
    }
}

fn clamp(time: i128) -> u64 {
    u64::try_from(time.max(0)).unwrap_or(u64::MAX)
}

/// One step of a history. Events are told by their index.
#[derive(Clone, Debug)]
pub enum Op {
    /// Adds so many of an event.
    Add(usize, u64),
    /// Records a value of an event.
    Record(usize, u64),
    /// Adds at a time.
    AddAt(Time, usize, u64),
    /// Records at a time.
    RecordAt(Time, usize, u64),
    /// Sets the clock.
    Set(Time),
    /// Advances the clock.
    Advance(Duration),
    /// Changes the geometry.
    Reconfigure(Geometry),
    /// A geometry that need not be valid.
    TryReconfigure(Duration, usize),
    /// A span that need not be valid.
    Last(Duration),
    /// A span of nearly, exactly or just over so many buckets.
    LastBuckets(u64, i64),
    /// Takes what is closed.
    Drain,
    /// Drops the window and makes another, which must not inherit anything.
    Renew(Geometry),
}
