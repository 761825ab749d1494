//! The time that a caller is told to wait.
//!
//! A clock may show a time up to its resolution ago, when a call asks and when its caller has
//! slept. So a caller that sleeps for the distance from the reading to a moment may find that the
//! clock does not show the moment yet. It is told the distance and the resolution.

use std::time::Duration;

use crate::clock::Clock;
use crate::timestamp::saturating_nanos;

/// Returns the resolution of a clock, in nanoseconds.
#[inline]
pub(crate) fn resolution(clock: &impl Clock) -> u64 {
    saturating_nanos(clock.resolution())
}

/// Returns the time after which the clock surely shows a moment that is this far from its reading.
pub(crate) fn told(distance: Duration, clock: &impl Clock) -> Duration {
    distance.saturating_add(clock.resolution())
}

/// Returns the time from a reading until the clock surely shows a moment; zero if it shows it now.
pub(crate) fn until(moment: u64, now: u64, clock: &impl Clock) -> Duration {
    if moment > now { told(Duration::from_nanos(moment - now), clock) } else { Duration::ZERO }
}
