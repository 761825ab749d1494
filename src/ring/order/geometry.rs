//! The geometry: the division of time into buckets, and the rule which of them count.

use std::time::Duration;

use crate::clock::Clock;
use crate::error::BuildError;

/// A ring of `buckets` slices of time, each `length` nanoseconds long, aligned to time zero.
///
/// Their product, the interval, fits a `u64`. The last bucket before 2^64 is shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    length: u64,
    buckets: usize,
}

/// The reason why no bucket of the ring counts a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfRing {
    /// The time lies after the current bucket.
    Future,
    /// Its bucket has left the ring, which now begins at `oldest`.
    Expired { oldest: u64 },
    /// The time lies further ahead of the newest bucket, which begins at `newest`, than one add may
    /// open a bucket.
    Ahead { newest: u64 },
}

impl Geometry {
    pub(crate) const fn new(interval: Duration, buckets: usize) -> Result<Geometry, BuildError> {
        if interval.is_zero() {
            return Err(BuildError::ZeroInterval);
        }
        if buckets == 0 {
            return Err(BuildError::NoBuckets);
        }
        if interval.as_nanos() > u64::MAX as u128 {
            return Err(BuildError::IntervalTooLong { interval });
        }
        let nanos = interval.as_nanos() as u64;
        if !nanos.is_multiple_of(buckets as u64) {
            return Err(BuildError::UnevenBuckets { interval, buckets });
        }
        Ok(Geometry { length: nanos / buckets as u64, buckets })
    }

    /// Makes a geometry for a static with the clock [`Coarse`](crate::clock::Coarse). Panics where
    /// `new` returns an error.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) const fn in_static(interval: Duration, buckets: usize) -> Geometry {
        /// In nanoseconds: ten ticks of a clock with a resolution of 10 ms.
        const SHORTEST: u64 = 100_000_000;
        const MOST: usize = 100_000;

        let geometry = match Geometry::new(interval, buckets) {
            Ok(geometry) => geometry,
            Err(BuildError::ZeroInterval) => panic!("the interval is zero"),
            Err(BuildError::NoBuckets) => panic!("there are no buckets"),
            Err(BuildError::UnevenBuckets { .. }) => {
                panic!("the buckets do not divide the interval into whole nanoseconds")
            }
            Err(_) => panic!("the interval is longer than 2^64 - 1 ns"),
        };
        assert!(geometry.length >= SHORTEST, "buckets are shorter than 100 ms: use the builder");
        assert!(buckets <= MOST, "there are more than 100 000 buckets: use the builder");
        geometry
    }

    /// Makes a geometry of `buckets` buckets of a length.
    pub(crate) fn of_length(length: Duration, buckets: usize) -> Result<Geometry, BuildError> {
        if buckets == 0 {
            return Err(BuildError::NoBuckets);
        }
        let interval = u32::try_from(buckets).ok().and_then(|buckets| length.checked_mul(buckets));
        Geometry::new(interval.unwrap_or(Duration::MAX), buckets)
    }

    /// Refuses a clock whose resolution is coarser than a tenth of a bucket.
    pub(crate) fn check_clock(self, clock: &impl Clock) -> Result<(), BuildError> {
        let bucket = Duration::from_nanos(self.length);
        let resolution = clock.resolution();
        if resolution > bucket / 10 {
            return Err(BuildError::ClockTooCoarse { resolution, bucket });
        }
        Ok(())
    }

    /// Refuses a tier that cannot follow on this ring, or tier.
    pub(crate) fn check_tier(self, tier: Geometry) -> Result<(), BuildError> {
        let (length, finer) =
            (Duration::from_nanos(tier.length), Duration::from_nanos(self.length));
        if !tier.length.is_multiple_of(self.length) {
            return Err(BuildError::UnevenTier { length, finer });
        }
        if tier.length > self.interval() {
            let interval = Duration::from_nanos(self.interval());
            return Err(BuildError::TierTooCoarse { length, interval });
        }
        Ok(())
    }

    /// Returns this geometry with one more bucket.
    pub(crate) const fn with_spare(self) -> Result<Geometry, BuildError> {
        let length = Duration::from_nanos(self.length);
        let interval = Duration::from_nanos(self.interval()).saturating_add(length);
        // Too many for a `usize` are too long.
        Geometry::new(interval, self.buckets.saturating_add(1))
    }

    /// Returns the length of a bucket, in nanoseconds.
    pub(crate) const fn length(self) -> u64 {
        self.length
    }

    /// Returns the length of the bucket at `start`: less than `length` only in the last before
    /// 2^64.
    pub(crate) fn length_at(self, start: u64) -> u64 {
        self.length.min((u64::MAX - start).saturating_add(1))
    }

    /// Returns the interval that the ring covers, in nanoseconds.
    pub(crate) const fn interval(self) -> u64 {
        self.length * self.buckets as u64
    }

    pub(crate) const fn buckets(self) -> usize {
        self.buckets
    }

    /// Returns the start of the bucket that contains `at`.
    pub(crate) fn start_of(self, at: u64) -> u64 {
        at - at % self.length
    }

    /// Returns the first start at a time or after it; the end of time if there is none.
    pub(crate) fn first_from(self, at: u64) -> u64 {
        let start = self.start_of(at);
        if start == at { at } else { start.saturating_add(self.length) }
    }

    /// Returns the number of the slot of a start.
    #[inline(never)] // its code once
    pub(crate) fn slot_of(self, start: u64) -> usize {
        ((start / self.length) % self.buckets as u64) as usize
    }

    /// Returns the number of rounds of the ring before a start.
    pub(crate) fn round_of(self, start: u64) -> u64 {
        start / self.interval()
    }

    /// Returns the start in a round, not before its own, that has the slot of `start`; the earliest
    /// of these at the end of time.
    pub(crate) fn start_in_round(self, start: u64, round: u64) -> u64 {
        start.saturating_add((round - self.round_of(start)).saturating_mul(self.interval()))
    }

    /// Returns whether a bucket is in the ring, that is `start + interval > newest`, whatever its
    /// slot leads to.
    pub(crate) fn in_ring(self, start: u64, newest: u64) -> bool {
        start > newest || newest - start < self.interval()
    }

    /// Checks whether an add with a time of its own is admitted when the clock says `now`: only
    /// into the bucket of `now` and those that count with it, and not before the ring whose newest
    /// bucket is at `newest`.
    pub(crate) fn admit(self, at: u64, now: u64, newest: u64) -> Result<(), OutOfRing> {
        let (start, of_now) = (self.start_of(at), self.start_of(now));
        let newest = newest.max(of_now);
        if start > of_now {
            Err(OutOfRing::Future)
        } else if !self.in_ring(start, newest) {
            Err(OutOfRing::Expired { oldest: self.oldest(newest) })
        } else {
            Ok(())
        }
    }

    /// Returns whether a bucket is ahead of the newest by no more than `lead`, or is the next.
    pub(crate) fn follows(self, start: u64, newest: u64, lead: u64) -> bool {
        start.saturating_sub(newest) <= lead.max(self.length)
    }

    /// Returns the start of the oldest bucket in the ring.
    pub(crate) fn oldest(self, newest: u64) -> u64 {
        self.back(newest, self.buckets - 1)
    }

    /// Returns the newest start of an interval that contains the bucket at `start`. (The first
    /// start beyond may not exist.)
    pub(crate) fn until(self, start: u64) -> u64 {
        start.saturating_add(self.interval() - self.length)
    }

    /// Returns the number of buckets from `from` to `to`; both are in the ring.
    #[inline]
    pub(crate) fn steps(self, from: u64, to: u64) -> usize {
        // Mostly from one end to the other, for which no division is needed.
        let span = to - from;
        if span == self.interval() - self.length {
            self.buckets - 1
        } else {
            (span / self.length) as usize
        }
    }

    /// Returns the start `buckets` buckets before `start`, or the earliest there is. `buckets` is
    /// at most the number of the ring's buckets.
    #[inline]
    pub(crate) fn back(self, start: u64, buckets: usize) -> u64 {
        start.checked_sub(self.length * buckets as u64).unwrap_or_else(|| start % self.length)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn millis(interval: u64, buckets: usize) -> Geometry {
        Geometry::new(Duration::from_millis(interval), buckets).unwrap()
    }

    /// Slot and start, in milliseconds, of a time in milliseconds.
    fn slot_and_start(geometry: Geometry, at: u64) -> (usize, u64) {
        let start = geometry.start_of(at * 1_000_000);
        (geometry.slot_of(start), start / 1_000_000)
    }

    /// The article on qps-helper: 60 buckets of a second.
    #[test]
    fn a01_qps_helper_article() {
        assert_eq!(slot_and_start(millis(60_000, 60), 1_577_017_699_235), (19, 1_577_017_699_000));
    }

    /// Sentinel-Go's `leap_array_test`: 20 buckets of 500 ms.
    #[test]
    fn a02_sentinel_go_leap_array_test() {
        assert_eq!(
            slot_and_start(millis(10_000, 20), 1_596_199_310_000 + 801).1,
            1_596_199_310_500
        );
    }

    /// The comment in Sentinel's `LeapArray`: 5 buckets of 200 ms.
    #[test]
    fn a03_sentinel_leap_array_comment() {
        assert_eq!(slot_and_start(millis(1_000, 5), 888), (4, 800));
        assert_eq!(slot_and_start(millis(1_000, 5), 1_676), (3, 1_600));
    }

    #[test]
    fn the_ring_ends_one_interval_before_the_newest_start() {
        let geometry = millis(1_000, 2);
        let second = 1_000_000_000;
        assert!(geometry.in_ring(second, 3 * second / 2));
        assert!(!geometry.in_ring(second / 2, 3 * second / 2));
        assert!(geometry.in_ring(u64::MAX, 0));
        assert_eq!(geometry.oldest(3 * second / 2), second);
        assert_eq!(geometry.oldest(0), 0);
    }
}
