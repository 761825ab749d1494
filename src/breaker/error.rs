//! The error of settings that a breaker cannot have.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// The error of [`Settings`](super::Settings) that a [`Breaker`](crate::Breaker) cannot have: such
/// a breaker could never open, or never close again.
///
/// Returned by [`Breaker::with_clock`](crate::Breaker::with_clock).
///
/// ```
/// use windrow::{Breaker, breaker::Settings, clock::Coarse};
///
/// let settings = Settings::last_calls(10).minimum_calls(20);
/// let error = Breaker::with_clock(settings, Coarse::default()).unwrap_err();
/// assert_eq!(error.to_string(), "the minimum is 20 calls; it must be 1 to 10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BreakerError {
    /// The number of last calls is out of range.
    LastCalls {
        /// The number requested.
        calls: usize,
        /// The greatest number.
        most: usize,
    },
    /// The number of buckets is out of range.
    Buckets {
        /// The number requested.
        buckets: usize,
        /// The greatest number.
        most: usize,
    },
    /// The buckets do not divide the interval into whole nanoseconds.
    UnevenBuckets {
        /// The interval requested.
        interval: Duration,
        /// The number of buckets requested.
        buckets: usize,
    },
    /// The minimum of calls is zero, or is never reached.
    MinimumCalls {
        /// The minimum requested.
        calls: u64,
        /// The greatest minimum: of last calls, their number.
        most: u64,
    },
    /// A share is zero, which every call reaches, or above 100 per cent, which none does.
    Percent {
        /// The share requested, in per cent.
        percent: u32,
    },
    /// The number of trials is out of range.
    Trials {
        /// The number requested.
        trials: u64,
        /// The greatest number.
        most: u64,
    },
    /// A time is zero, or longer than 2^62 nanoseconds.
    Time {
        /// The time requested.
        time: Duration,
    },
    /// The longest time for which the breaker is open is shorter than the first one.
    UpTo {
        /// The longest time requested.
        up_to: Duration,
        /// The first time requested.
        open_for: Duration,
    },
    /// The clock's resolution is coarser than a tenth of a time that it has to measure: of a
    /// bucket, of a slow call, of the time for which the breaker is open.
    ClockTooCoarse {
        /// The clock's resolution.
        resolution: Duration,
        /// The time requested.
        time: Duration,
    },
}

impl BreakerError {
    /// Returns the rule that is broken, for the compiler.
    #[cfg_attr(any(loom, shuttle), allow(dead_code))]
    pub(super) const fn rule(self) -> &'static str {
        match self {
            BreakerError::LastCalls { .. } => "the number of last calls must be 1 to 1024",
            BreakerError::Buckets { .. } => "the number of buckets must be 1 to 32",
            BreakerError::UnevenBuckets { .. } => {
                "the buckets do not divide the interval into whole nanoseconds"
            }
            BreakerError::MinimumCalls { .. } => {
                "the minimum of calls must be 1 to the number of last calls, or 1 to 1000000"
            }
            BreakerError::Percent { .. } => "a share must be 1 to 100 per cent",
            BreakerError::Trials { .. } => "the number of trials must be 1 to 1000",
            BreakerError::Time { .. } => "a time is zero, or longer than 2^62 ns",
            BreakerError::UpTo { .. } => "`up_to` is shorter than `open_for`",
            BreakerError::ClockTooCoarse { .. } => {
                "a time is shorter than 100 ms: the clock of a breaker in a static is coarse"
            }
        }
    }
}

impl Display for BreakerError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BreakerError::LastCalls { calls, most } => {
                write!(f, "the breaker measures {calls} last calls; it must be 1 to {most}")
            }
            BreakerError::Buckets { buckets, most } => {
                write!(f, "the interval has {buckets} buckets; it must be 1 to {most}")
            }
            BreakerError::UnevenBuckets { interval, buckets } => {
                let rule = "do not divide the interval of";
                write!(f, "{buckets} buckets {rule} {interval:?} into whole nanoseconds")
            }
            BreakerError::MinimumCalls { calls, most } => {
                write!(f, "the minimum is {calls} calls; it must be 1 to {most}")
            }
            BreakerError::Percent { percent } => {
                write!(f, "the share is {percent} per cent; it must be 1 to 100")
            }
            BreakerError::Trials { trials, most } => {
                write!(f, "the number of trials is {trials}; it must be 1 to {most}")
            }
            BreakerError::Time { time } => {
                write!(f, "the time is {time:?}; it must be 1 ns to 2^62 ns")
            }
            BreakerError::UpTo { up_to, open_for } => {
                let rule = "it must not be shorter than the first time of";
                write!(f, "the breaker is open for up to {up_to:?}; {rule} {open_for:?}")
            }
            BreakerError::ClockTooCoarse { resolution, time } => {
                let rule = "it must be at most a tenth of";
                write!(f, "the clock's resolution is {resolution:?}; {rule} {time:?}")
            }
        }
    }
}

impl Error for BreakerError {}
