//! The parts of a history: geometries, times and operations.

use std::time::Duration;

/// A valid geometry.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// The length of a bucket, in nanoseconds.
    pub length: u64,
    /// The number of buckets.
    pub buckets: u64,
}

impl Geometry {
    /// Returns the length of all buckets.
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

/// The greatest number of buckets that [`Geometry::below`] has for each of the tier's.
const MOST: u64 = 64;

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The parts of a window.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its own buckets.
    pub ring: Geometry,
    /// The geometries of its tiers, each coarser than the one before.
    pub tiers: Vec<Geometry>,
}

impl Plan {
    /// Returns a window with tiers. Each tier is given by the number of buckets below it that make
    /// one of its own (at most all of them), and by its number of buckets. A tier that would be too
    /// long is left out, with those behind it.
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

/// A time, relative to the clock's time, the newest bucket or the ends of time.
#[derive(Clone, Copy, Debug)]
pub enum Time {
    /// A number of buckets after the clock's bucket, and an offset into that one.
    Buckets(i64, u64),
    /// A number of buckets after the newest bucket, and an offset into that one.
    FromNewest(i64, u64),
    /// A number of a tier's buckets after the clock's, and an offset into that one. The tiers count
    /// from 1, and begin again behind the last; 0 is the window itself.
    Coarse(usize, i64, u64),
    /// A number of intervals after the clock's time, and a number of nanoseconds.
    Intervals(i64, i64),
    /// This soon after zero.
    Early(u64),
    /// This long before the end of time.
    Final(u64),
    /// Anywhere at all.
    Any(u64),
}

impl Time {
    /// Returns the time in nanoseconds, for these positions of the clock and the window. `lengths`
    /// are those of the window's buckets, and of its tiers'.
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

/// One step of a history. Events are given by their index.
#[derive(Clone, Debug)]
pub enum Op {
    /// Adds an amount of an event, or records a value of it.
    Add(usize, u64),
    /// Adds or records at a time.
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
    /// A span of nearly, exactly or just over a number of buckets.
    LastBuckets(u64, i64),
    /// Such a span of a tier's buckets. The tiers count as in [`Time::Coarse`].
    LastCoarse(usize, u64, i64),
    /// Drains the closed buckets.
    Drain,
    /// Drops the window and makes another, which must not inherit anything.
    Renew(Plan),
}
