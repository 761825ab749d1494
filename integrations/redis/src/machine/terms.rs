//! The terms of a shared limit: the limit, its geometry, and the drift of clocks that it allows
//! for.

/// The largest limit: the engine computes in floating point, exactly up to 2^53.
pub(crate) const MAX_LIMIT: u64 = 1 << 48;

/// The largest number of buckets of an interval. Each ask reads them all.
pub(crate) const MAX_BUCKETS: u64 = 100;

/// The shortest and the longest bucket, in microseconds: a millisecond, and an hour.
pub(crate) const LENGTHS: std::ops::RangeInclusive<u64> = 1_000..=3_600_000_000;

/// The drift that is allowed for if the user says nothing, in millionths: two clocks, each within
/// 500.
pub(crate) const DRIFT: u64 = 1_000;

/// The terms of a shared limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The number of permits in each run of `buckets` buckets, up to [`MAX_LIMIT`].
    pub(crate) limit: u64,
    /// The version of the limit, at least 1: of two processes the one with the higher version
    /// decides. Of the same version the first one that the engine heard of counts.
    pub(crate) version: u64,
    /// The length of a bucket, in microseconds, within [`LENGTHS`].
    pub(crate) length: u64,
    /// The number of buckets of the interval, from 1 to [`MAX_BUCKETS`].
    pub(crate) buckets: u64,
    /// The drift between this process's clock and the engine's that is allowed for, in millionths.
    pub(crate) drift: u64,
}

impl Terms {
    /// Returns the time within which a ration that was granted at the age `age` of its bucket is
    /// used, from before the ask was sent; by a clock that may be too slow, and whose readings are
    /// rounded down, as the age is.
    pub(super) fn life(&self, age: u64) -> u64 {
        let life = (2 * self.length).saturating_sub(age).saturating_sub(2);
        life - (life * self.drift).div_ceil(1_000_000).min(life)
    }

    /// Returns whether the limit is so small that each call asks for itself: a ration would be most
    /// of a bucket's part of it.
    pub(crate) fn is_small(&self) -> bool {
        self.limit < 16 * self.buckets.max(4)
    }
}
