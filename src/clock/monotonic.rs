//! The operating system's monotonic clock, read coarsely or finely.

use std::time::Duration;

use super::Clock;
use crate::Timestamp;

/// The kernel's tick: the cheapest clock that needs no thread, as old as the last timer interrupt.
///
/// On Linux and Android it is `CLOCK_MONOTONIC_COARSE` (see `clock_gettime(2)`): nanoseconds since
/// the machine started, comparable between processes, 1 to 10 ms apart, read without a system
/// call. Elsewhere it is [`std::time::Instant`], counted from the first use in the process as if
/// that had been one day.
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

impl Clock for Coarse {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(platform::coarse_nanos())
    }

    fn resolution(&self) -> Duration {
        platform::coarse_resolution()
    }
}

pub(super) use platform::fine_nanos;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod platform {
    use std::time::Duration;

    /// One of the two calls below, which differ in what they ask of a clock.
    type Ask = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

    #[inline]
    fn ask(ask: Ask, clock: libc::clockid_t) -> libc::timespec {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid timespec to write to. Both clocks exist since Linux 2.6.32, so
        // the call cannot fail; if it did, `time` would stay as it is, zero.
        unsafe { ask(clock, &raw mut time) };
        time
    }

    /// Seconds and nanoseconds of a monotonic clock are never negative.
    #[inline]
    #[allow(clippy::cast_sign_loss)]
    fn nanos(time: libc::timespec) -> u64 {
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
    }

    #[inline]
    pub(super) fn coarse_nanos() -> u64 {
        nanos(ask(libc::clock_gettime, libc::CLOCK_MONOTONIC_COARSE))
    }

    pub(super) fn coarse_resolution() -> Duration {
        Duration::from_nanos(nanos(ask(libc::clock_getres, libc::CLOCK_MONOTONIC_COARSE)))
    }

    pub(in super::super) fn fine_nanos() -> u64 {
        nanos(ask(libc::clock_gettime, libc::CLOCK_MONOTONIC))
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod platform {
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    /// What the clock shows at its first reading. Not zero, so that a window has a past to show.
    const FIRST: Duration = Duration::from_secs(86_400);

    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

    pub(super) fn coarse_nanos() -> u64 {
        fine_nanos()
    }

    pub(super) fn coarse_resolution() -> Duration {
        Duration::from_nanos(100) // the coarsest that std documents, on Windows
    }

    pub(in super::super) fn fine_nanos() -> u64 {
        crate::timestamp::saturating_nanos(ORIGIN.elapsed().saturating_add(FIRST))
    }
}
