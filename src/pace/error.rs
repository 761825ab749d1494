//! The errors of a pace: what it cannot be, and a refusal.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// The error of a period, burst, limit or clock that a [`Pace`](crate::Pace) or
/// [`Paces`](crate::Paces) cannot have.
///
/// Returned by [`PaceBuilder::build`](super::PaceBuilder::build) and
/// [`PacesBuilder::build`](super::PacesBuilder::build); and from the methods that change a pace, as
/// [`Pace::set_rate`](crate::Pace::set_rate).
///
/// ```
/// use std::time::Duration;
/// use windrow::{Pace, pace::PaceError};
///
/// assert_eq!(Pace::builder(Duration::ZERO).build().unwrap_err(), PaceError::ZeroPeriod);
/// let error = Pace::builder(Duration::from_secs(1)).burst(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "the burst is 0; it must be at least 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaceError {
    /// The period is zero.
    ZeroPeriod,
    /// The burst is zero.
    ZeroBurst,
    /// The burst's periods are longer together than 2^62 nanoseconds.
    TooLong {
        /// The period requested.
        period: Duration,
        /// The burst requested.
        burst: u64,
    },
    /// There are no limits.
    NoLimits,
    /// A limit is zero.
    ZeroLimit,
    /// There are too many limits.
    TooManyLimits {
        /// The number of limits requested.
        limits: usize,
        /// The maximum.
        most: usize,
    },
    /// There is no limit of this index.
    NoSuchLimit {
        /// The index.
        at: usize,
        /// The number of limits.
        limits: usize,
    },
    /// The weight that is in use would come back behind the end of time, at the new rate.
    TooMuchInUse {
        /// The weight in use: admitted, with periods that are not over.
        in_use: u64,
        /// The period requested.
        period: Duration,
    },
    /// The pace is [retired](crate::Pace::retire).
    Retired,
    /// The clock's resolution is coarser than a tenth of a burst's periods together, and the clock
    /// was not [allowed](super::PaceBuilder::allow_coarse_clock).
    ClockTooCoarse {
        /// The clock's resolution.
        resolution: Duration,
        /// The burst's periods together.
        span: Duration,
    },
}

impl Display for PaceError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PaceError::ZeroPeriod => write!(f, "the period is 0 s; it must be at least 1 ns"),
            PaceError::ZeroBurst => write!(f, "the burst is 0; it must be at least 1"),
            PaceError::TooLong { period, burst } => write!(
                f,
                "{burst} periods of {period:?} are longer than {:?}, the most that a burst can take",
                Duration::from_nanos(1 << 62)
            ),
            PaceError::NoLimits => write!(f, "there are 0 limits; there must be at least 1"),
            PaceError::ZeroLimit => write!(f, "a limit is 0; it must be at least 1"),
            PaceError::TooManyLimits { limits, most } => {
                write!(f, "there are {limits} limits; there must be {most} or fewer")
            }
            PaceError::NoSuchLimit { at, limits } => {
                write!(f, "the index {at} is not that of a limit; it must be less than {limits}")
            }
            PaceError::TooMuchInUse { in_use, period } => write!(
                f,
                "{in_use} periods of {period:?}, which are in use, would end behind the last time"
            ),
            PaceError::Retired => write!(f, "the pace is retired; it cannot be changed"),
            PaceError::ClockTooCoarse { resolution, span } => write!(
                f,
                "the clock's resolution of {resolution:?} is coarser than a tenth of {span:?}"
            ),
        }
    }
}

impl Error for PaceError {}
