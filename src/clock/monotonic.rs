//! The operating system's monotonic clock, read coarsely or finely.

use std::time::Duration;

use super::{Clock, UNKNOWN};
use crate::timestamp::Timestamp;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod instant;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod kernel;
mod step;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use instant as platform;
#[cfg(any(target_os = "linux", target_os = "android"))]
use kernel as platform;

/// The kernel's coarse clock, which shows the time of the last timer interrupt: the cheapest clock
/// that needs no thread.
///
/// On Linux and Android it is `CLOCK_MONOTONIC_COARSE` (see `clock_gettime(2)`): nanoseconds since
/// the machine started, without the time for which it was suspended, comparable between processes,
/// 1 to 10 ms apart, read without a system call. On other systems it is [`std::time::Instant`],
/// counted from its first use in the process, which is one day after zero.
///
/// ```
/// use windrow::{Clock, clock::Coarse};
///
/// let clock = Coarse::default();
/// let earlier = clock.now();
/// assert!(clock.now() >= earlier);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Coarse {
    _private: (),
}

impl Coarse {
    /// The clock, as a constant.
    pub(crate) const NEW: Coarse = Coarse { _private: () };
}

impl Clock for Coarse {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(platform::coarse_nanos())
    }

    #[inline]
    fn kept(_at: Timestamp) -> Timestamp {
        UNKNOWN
    }

    #[inline]
    fn resolution(&self) -> Duration {
        platform::coarse_resolution()
    }
}

pub(super) use platform::{fine_nanos, fine_resolution};
