//! The error of gates, paces and breakers.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use super::BuildError;

/// The error of what a [`Gate`](crate::Gate), a [`Pace`](crate::Pace), [`Paces`](crate::Paces), a
/// [`Breaker`](crate::Breaker) or [`LastCalls`](crate::LastCalls) cannot have: a limit, a period, a
/// geometry, settings, a clock. Nothing was made or changed then.
///
/// ```
/// use std::time::Duration;
/// use windrow::breaker::Settings;
/// use windrow::{Breaker, BuildError, Gate, LastCalls, LimitError, Pace, clock::Coarse};
///
/// assert_eq!(Gate::builder(0).build().unwrap_err(), LimitError::ZeroLimit);
/// let error = Gate::builder(10).buckets(0).build().unwrap_err();
/// assert_eq!(error, LimitError::Buckets(BuildError::NoBuckets));
///
/// let error = Pace::builder(Duration::from_secs(1)).burst(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "the burst is 0; it must be at least 1");
///
/// // Such a breaker could never open.
/// let settings = Settings::last_calls(10).minimum_calls(20);
/// let error = Breaker::with_clock(settings, Coarse::default()).unwrap_err();
/// assert_eq!(error.to_string(), "the minimum is 20 calls; it must be 1 to 10");
///
/// let error = LastCalls::new(0).unwrap_err();
/// assert_eq!(error.to_string(), "the number of last calls is 0; it must be 1 to 1048576");
/// ```
#[doc(alias = "GateError")]
#[doc(alias = "PaceError")]
#[doc(alias = "BreakerError")]
#[doc(alias = "LastCallsError")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitError {
    /// A limit is zero.
    ZeroLimit,
    /// The limit is more than a gate can count.
    LimitTooHigh {
        /// The limit requested.
        limit: u64,
        /// The maximum.
        most: u64,
    },
    /// The maximum ration is zero: see [`RationedGate`](crate::gate::RationedGate).
    ZeroRation,
    /// The interval, the buckets or the clock are invalid for windows, too.
    Buckets(BuildError),
    /// The gate or the pace is [retired](crate::Gate::retire): it has no limit any more.
    Retired,
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
    /// The clock's resolution is coarser than a tenth of a time that it has to measure: of a
    /// burst's periods together, if the clock was not
    /// [allowed](crate::pace::PaceBuilder::allow_coarse_clock); of a breaker's bucket, slow call,
    /// or time for which it is open.
    ClockTooCoarse {
        /// The clock's resolution.
        resolution: Duration,
        /// The time to measure.
        span: Duration,
    },
    /// The number of last calls is out of range.
    LastCalls {
        /// The number requested.
        calls: usize,
        /// The greatest number.
        most: usize,
    },
    /// The number of a breaker's buckets is out of range.
    BucketCount {
        /// The number requested.
        buckets: usize,
        /// The greatest number.
        most: usize,
    },
    /// The minimum of a breaker's calls is zero, or is never reached.
    MinimumCalls {
        /// The minimum requested.
        calls: u64,
        /// The greatest minimum: of last calls, their number.
        most: u64,
    },
    /// A share of a breaker's calls is zero, which every call reaches, or above 100 per cent, which
    /// none does.
    Percent {
        /// The share requested, in per cent.
        percent: u32,
    },
    /// The number of a breaker's trials is out of range.
    Trials {
        /// The number requested.
        trials: u64,
        /// The greatest number.
        most: u64,
    },
    /// A time of a breaker's is zero, or longer than 2^62 nanoseconds.
    Time {
        /// The time requested.
        time: Duration,
    },
    /// The longest time for which a breaker is open is shorter than the first one.
    UpTo {
        /// The longest time requested.
        up_to: Duration,
        /// The first time requested.
        open_for: Duration,
    },
}

impl LimitError {
    /// Returns the rule that a breaker in a static breaks, for the compiler.
    #[cfg_attr(any(loom, shuttle), allow(dead_code))]
    pub(crate) const fn rule(&self) -> &'static str {
        match self {
            LimitError::LastCalls { .. } => "the number of last calls must be 1 to 1024",
            LimitError::BucketCount { .. } => "the number of buckets must be 1 to 32",
            LimitError::Buckets(_) => {
                "the buckets do not divide the interval into whole nanoseconds"
            }
            LimitError::MinimumCalls { .. } => {
                "the minimum of calls must be 1 to the number of last calls, or 1 to 1000000"
            }
            LimitError::Percent { .. } => "a share must be 1 to 100 per cent",
            LimitError::Trials { .. } => "the number of trials must be 1 to 1000",
            LimitError::Time { .. } => "a time is zero, or longer than 2^62 ns",
            LimitError::UpTo { .. } => "`up_to` is shorter than `open_for`",
            LimitError::ClockTooCoarse { .. } => {
                "a time is shorter than 100 ms: the clock of a breaker in a static is coarse"
            }
            _ => "the settings are those of no breaker",
        }
    }
}

impl From<BuildError> for LimitError {
    fn from(error: BuildError) -> LimitError {
        LimitError::Buckets(error)
    }
}

impl Display for LimitError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::ZeroLimit => write!(f, "the limit is 0; it must be at least 1"),
            LimitError::LimitTooHigh { limit, most } => {
                write!(f, "the limit is {limit}; it must be {most} or less")
            }
            LimitError::ZeroRation => {
                write!(f, "the maximum ration is 0; it must be at least 1")
            }
            LimitError::Buckets(error) => error.fmt(f),
            LimitError::Retired => {
                write!(f, "the limit is retired; nothing about it can be changed")
            }
            LimitError::ZeroPeriod => write!(f, "the period is 0 s; it must be at least 1 ns"),
            LimitError::ZeroBurst => write!(f, "the burst is 0; it must be at least 1"),
            LimitError::TooLong { period, burst } => write!(
                f,
                "{burst} periods of {period:?} are longer than {:?}, the most that a burst can take",
                Duration::from_nanos(1 << 62)
            ),
            LimitError::NoLimits => write!(f, "there are 0 limits; there must be at least 1"),
            LimitError::TooManyLimits { limits, most } => {
                write!(f, "there are {limits} limits; there must be {most} or fewer")
            }
            LimitError::NoSuchLimit { at, limits } => {
                write!(f, "the index {at} is not that of a limit; it must be less than {limits}")
            }
            LimitError::TooMuchInUse { in_use, period } => write!(
                f,
                "{in_use} periods of {period:?}, which are in use, would end behind the last time"
            ),
            LimitError::ClockTooCoarse { resolution, span } => write!(
                f,
                "the clock's resolution of {resolution:?} is coarser than a tenth of {span:?}"
            ),
            LimitError::LastCalls { calls, most } => {
                write!(f, "the number of last calls is {calls}; it must be 1 to {most}")
            }
            LimitError::BucketCount { buckets, most } => {
                write!(f, "the interval has {buckets} buckets; it must be 1 to {most}")
            }
            LimitError::MinimumCalls { calls, most } => {
                write!(f, "the minimum is {calls} calls; it must be 1 to {most}")
            }
            LimitError::Percent { percent } => {
                write!(f, "the share is {percent} per cent; it must be 1 to 100")
            }
            LimitError::Trials { trials, most } => {
                write!(f, "the number of trials is {trials}; it must be 1 to {most}")
            }
            LimitError::Time { time } => {
                write!(f, "the time is {time:?}; it must be 1 ns to 2^62 ns")
            }
            LimitError::UpTo { up_to, open_for } => {
                let rule = "it must not be shorter than the first time of";
                write!(f, "the breaker is open for up to {up_to:?}; {rule} {open_for:?}")
            }
        }
    }
}

impl Error for LimitError {}
