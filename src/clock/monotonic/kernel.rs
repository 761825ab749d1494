//! Linux's own clocks (`clock_gettime(2)`).

use std::time::Duration;

use super::step;

/// `clock_gettime` or `clock_getres`.
type Ask = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

#[inline]
fn ask(ask: Ask, clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec, which the call may write. Both clocks exist since Linux
    // 2.6.32, so the call cannot fail; if it did, `time` would stay zero.
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

#[inline]
pub(super) fn coarse_resolution() -> Duration {
    Duration::from_nanos(nanos(ask(libc::clock_getres, libc::CLOCK_MONOTONIC_COARSE)))
}

#[inline]
pub(in super::super) fn fine_nanos() -> u64 {
    nanos(ask(libc::clock_gettime, libc::CLOCK_MONOTONIC))
}

/// Returns the shortest step; the time between two timer interrupts where the kernel has no counter
/// to read.
#[inline]
pub(in super::super) fn fine_resolution() -> Duration {
    step::of(fine_nanos, coarse_resolution)
}
