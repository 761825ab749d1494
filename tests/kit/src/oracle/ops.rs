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

    /// Returns this one, or one like it below a tier of buckets of `coarse` each: these are whole
    /// numbers of its own, and no longer than its interval.
    #[must_use]
    pub fn below(self, coarse: u64) -> Geometry {
        let common = common_divisor(self.length, coarse);
        // Not very many buckets of a nanosecond.
        let length = if coarse / common > MOST { coarse } else { common };
        let buckets = self.buckets.max(coarse / length).min(u64::MAX / length);
        Geometry { length, buckets }
    }
}

/// How many buckets [`Geometry::below`] has for each of the tier's, at most.
const MOST: u64 = 64;

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// What a window is made of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its own buckets.
    pub ring: Geometry,
    /// Those of its tiers, each coarser than what is before.
    pub tiers: Vec<Geometry>,
}

impl Plan {
    /// Returns a window with tiers. Each is told by how many buckets of what is below it make one
    /// of its own (at most all of them), and by how many it has. One that would be too long is left
    /// out, and those behind it.
    pub fn new(ring: Geometry, tiers: &[(u64, u64)]) -> Plan {
        let mut plan = Plan { ring, tiers: Vec::new() };
        for &(times, buckets) in tiers {
            let below = plan.tiers.last().unwrap_or(&ring);
            let length = below.length * times.clamp(1, below.buckets);
            if length.checked_mul(buckets).is_none() {
                break;
            }
            plan.tiers.push(Geometry { length, buckets });
        }
        plan
    }
}

/// A time, told from the clock's time, the newest bucket or the ends of time.
#[derive(Clone, Copy, Debug)]
pub enum Time {
    /// So many buckets after the clock's bucket, and so far into that one.
    Buckets(i64, u64),
    /// So many buckets after the newest bucket, and so far into that one.
    FromNewest(i64, u64),
    /// So many buckets of a tier after the clock's, and so far into that one. The tiers count from
    /// 1, and begin again behind the last; 0 is the window itself.
    Coarse(usize, i64, u64),
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
    /// Returns the time in nanoseconds, where the clock and the window stand so. `lengths` are
    /// those of the window's buckets, and of its tiers'.
    pub fn resolve(self, now: u64, newest: u64, lengths: &[u64], interval: u64) -> u64 {
        let place = |from: u64, length: u64, buckets: i64, offset: u64| {
            let start = i128::from(from - from % length);
            clamp(start + i128::from(buckets) * i128::from(length) + i128::from(offset % length))
        };
        match self {
            Time::Buckets(buckets, offset) => place(now, lengths[0], buckets, offset),
            Time::FromNewest(buckets, offset) => place(newest, lengths[0], buckets, offset),
            Time::Coarse(tier, buckets, offset) => {
                place(now, lengths[tier % lengths.len()], buckets, offset)
            }
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
    /// Adds so many of an event, or records a value of it.
    Add(usize, u64),
    /// The same at a time.
    AddAt(Time, usize, u64),
    /// Sets the clock.
    Set(Time),
    /// Advances the clock.
    Advance(Duration),
    /// Changes the geometry, to this one or to one like it that [fits](Geometry::below) the first
    /// tier.
    Reconfigure(Geometry),
    /// Forgets what the interval holds.
    Clear,
    /// A geometry that need not be valid.
    TryReconfigure(Duration, usize),
    /// A span that need not be valid.
    Last(Duration),
    /// A span of nearly, exactly or just over so many buckets.
    LastBuckets(u64, i64),
    /// The same of a tier's buckets. The tiers count as in [`Time::Coarse`].
    LastCoarse(usize, u64, i64),
    /// Takes what is closed.
    Drain,
    /// Drops the window and makes another, which must not inherit anything.
    Renew(Plan),
}
