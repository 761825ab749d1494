//! A moment on a window's clock.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A moment on a window's clock: whole nanoseconds since that clock's zero.
///
/// Each clock defines its zero: the start of the machine for [`clock::Coarse`] and
/// [`clock::Precise`] on Linux, whatever you set for [`clock::Manual`]. Every `u64` is valid:
/// about 584 years.
///
/// Adding and subtracting a [`Duration`] saturates at both ends.
///
/// ```
/// use std::time::Duration;
/// use windrow::Timestamp;
///
/// let at = Timestamp::from_millis(1_500);
/// assert_eq!(at.as_nanos(), 1_500_000_000);
/// assert!(at + Duration::from_secs(1) > at);
/// assert_eq!(at - Duration::from_secs(2), Timestamp::from_nanos(0));
/// ```
///
/// [`clock::Coarse`]: crate::clock::Coarse
/// [`clock::Precise`]: crate::clock::Precise
/// [`clock::Manual`]: crate::clock::Manual
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment `nanos` nanoseconds after the clock's zero.
    ///
    /// ```
    /// assert_eq!(windrow::Timestamp::from_nanos(7).as_nanos(), 7);
    /// ```
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Timestamp {
        Timestamp(nanos)
    }

    /// The moment `millis` milliseconds after the clock's zero; saturates after 584 years.
    ///
    /// ```
    /// assert_eq!(windrow::Timestamp::from_millis(7).as_nanos(), 7_000_000);
    /// ```
    #[inline]
    pub const fn from_millis(millis: u64) -> Timestamp {
        Timestamp(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the clock's zero.
    ///
    /// ```
    /// assert_eq!(windrow::Timestamp::from_millis(2).as_nanos(), 2_000_000);
    /// ```
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

/// A duration in nanoseconds, at most `u64::MAX`.
pub(crate) fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(saturating_nanos(duration)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, duration: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(saturating_nanos(duration)))
    }
}
