//! A moment on a window's clock.

use std::fmt::{self, Display, Formatter};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

#[cfg(feature = "serde")]
mod serde;

/// A moment on a window's clock: whole nanoseconds since that clock's zero.
///
/// Each clock defines its zero: the start of the machine for [`clock::Coarse`] and
/// [`clock::Precise`] on Linux, any time for [`clock::Manual`]. Every `u64` is valid: about 584
/// years.
///
/// Adding and subtracting a [`Duration`] saturates at both ends. The difference of two timestamps
/// is a [`Duration`], zero if the second is the later one. A timestamp is shown in seconds, to the
/// nanosecond. Since the clock's zero, `at - Timestamp::default()` have passed.
///
/// ```
/// use std::time::Duration;
/// use windrow::Timestamp;
///
/// let at = Timestamp::from_millis(1_500);
/// assert_eq!(at.as_nanos(), 1_500_000_000);
/// assert!(at + Duration::from_secs(1) > at);
/// assert_eq!(at - Duration::from_secs(2), Timestamp::from_nanos(0));
/// assert_eq!(at - Timestamp::from_secs(1), Duration::from_millis(500));
/// assert_eq!(Timestamp::from_secs(1) - at, Duration::ZERO);
/// assert_eq!(at.to_string(), "1.500000000 s");
/// ```
///
/// [`clock::Coarse`]: crate::clock::Coarse
/// [`clock::Precise`]: crate::clock::Precise
/// [`clock::Manual`]: crate::clock::Manual
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Returns the moment `nanos` nanoseconds after the clock's zero.
    ///
    /// ```
    /// assert_eq!(windrow::Timestamp::from_nanos(7).as_nanos(), 7);
    /// ```
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Timestamp {
        Timestamp(nanos)
    }

    /// Returns the moment `millis` milliseconds after the clock's zero; saturates after 584 years.
    ///
    /// ```
    /// assert_eq!(windrow::Timestamp::from_millis(7).as_nanos(), 7_000_000);
    /// ```
    #[inline]
    pub const fn from_millis(millis: u64) -> Timestamp {
        Timestamp(millis.saturating_mul(1_000_000))
    }

    /// Returns the moment `secs` seconds after the clock's zero; saturates after 584 years.
    ///
    /// ```
    /// assert_eq!(windrow::Timestamp::from_secs(7).as_nanos(), 7_000_000_000);
    /// ```
    #[inline]
    pub const fn from_secs(secs: u64) -> Timestamp {
        Timestamp(secs.saturating_mul(1_000_000_000))
    }

    /// Returns the nanoseconds since the clock's zero.
    ///
    /// ```
    /// assert_eq!(windrow::Timestamp::from_millis(2).as_nanos(), 2_000_000);
    /// ```
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

/// Returns a duration in nanoseconds, at most `u64::MAX`.
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

impl AddAssign<Duration> for Timestamp {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl SubAssign<Duration> for Timestamp {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

/// Returns the duration from `other` to this timestamp; zero if `other` is later.
impl Sub for Timestamp {
    type Output = Duration;

    fn sub(self, other: Timestamp) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(other.0))
    }
}

/// Formats the seconds since the clock's zero, with nine decimals: `1.500000000 s`.
impl Display for Timestamp {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
