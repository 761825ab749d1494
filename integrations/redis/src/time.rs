//! The time of a limit: microseconds of a clock that also counts while the machine is suspended.
//!
//! A ration ends by this clock. On one that stands still in between (`CLOCK_MONOTONIC`), a machine
//! that was suspended would go on to use a ration that the engine has long granted anew.
//!
//! In a forked child the time of its parent's limits is past the end of everything: two processes
//! with one ration would use it twice.

#[cfg(any(target_os = "linux", target_os = "android"))]
use libc::CLOCK_BOOTTIME as CLOCK;

// (On Apple's systems and OpenBSD this clock goes on while the machine sleeps; on FreeBSD it does
// not, which the README says.)
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
use libc::CLOCK_MONOTONIC as CLOCK;

use crate::forks;

/// The clock of one engine's limits, which begins near zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    /// In nanoseconds.
    origin: u64,
    process: u64,
}

/// The time in a forked child.
pub(crate) const NEVER: u64 = u64::MAX;

impl Time {
    /// Returns a clock of this process that shows a second.
    pub(crate) fn begin() -> Time {
        Time { origin: nanos().saturating_sub(1_000_000_000), process: forks::process() }
    }

    /// Returns the microseconds since about a second before this clock began, or [`NEVER`] in a
    /// forked child.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        if self.is_of_another_process() { NEVER } else { self.nanos() / 1_000 }
    }

    /// Returns the same in nanoseconds, also in a forked child.
    #[inline]
    pub(crate) fn nanos(&self) -> u64 {
        nanos().saturating_sub(self.origin)
    }

    /// Returns whether this process was forked since the clock began.
    #[inline]
    pub(crate) fn is_of_another_process(&self) -> bool {
        forks::process() != self.process
    }
}

#[cfg(unix)]
#[inline]
#[allow(clippy::cast_sign_loss)] // the time since the machine began
fn nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of this call.
    let outcome = unsafe { libc::clock_gettime(CLOCK, &raw mut time) };
    debug_assert_eq!(outcome, 0, "each system has this clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// (Windows counts the time for which a machine is suspended.)
#[cfg(not(unix))]
fn nanos() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;

    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed().as_nanos() as u64 + 2_000_000_000
}
