//! The clock of all processes, and the times that callers are told.

use std::time::Duration;

use windrow::Clock;
use windrow::clock::Precise;

/// Returns the time of the clock that all processes share.
#[inline]
pub(crate) fn now() -> u64 {
    Precise::default().now().as_nanos()
}

/// Returns the resolution of the clock, in nanoseconds.
pub(crate) fn resolution() -> u64 {
    nanos(Precise::default().resolution())
}

/// Returns the longest distance to a moment of which a caller may be told within its `max_wait`.
pub(crate) fn allowed(max_wait: Duration) -> u64 {
    if max_wait.is_zero() { 0 } else { nanos(max_wait).saturating_sub(resolution()) }
}

/// Returns the time after which the clock surely shows a moment that is this far from its reading.
pub(crate) fn told(distance: u64) -> Duration {
    Duration::from_nanos(distance.saturating_add(resolution()))
}

/// Returns the wait for a moment that is this far from the clock's reading; zero if it is there.
pub(crate) fn wait(distance: u64) -> Duration {
    if distance == 0 { Duration::ZERO } else { told(distance) }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
