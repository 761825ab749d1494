//! The system's monotonic clock, read finely.
//!
//! It is the system's own, and not the processor's counter scaled by this library: the system holds
//! the speed of its clock to that of others, and knows when a counter begins anew.

use std::time::Duration;

use super::{Clock, UNKNOWN, monotonic};
use crate::timestamp::Timestamp;

/// The system's monotonic clock, for short buckets and short periods: its steps are some tens of
/// nanoseconds long on most machines, and a microsecond at most on nearly all.
///
/// On Linux and Android it is `CLOCK_MONOTONIC` (see `clock_gettime(2)`): nanoseconds since the
/// machine started, without the time for which it was suspended. It shows the same time as
/// [`Coarse`](super::Coarse), and is never behind that. On other systems both are
/// [`std::time::Instant`]. All `Precise` clocks of a process show the same time. It never steps
/// back, not even in a forked child.
///
/// A reading takes some tens of nanoseconds where it needs no system call: 31 ns on an AMD EPYC
/// with Linux, where one of [`Coarse`](super::Coarse) takes 6. In a virtual machine or a sandbox
/// whose clock needs a call, it can take a microsecond.
///
/// ```
/// use windrow::{Clock, clock::Precise};
///
/// let clock = Precise::default();
/// let earlier = clock.now();
/// assert!(clock.now() >= earlier);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Precise {
    _private: (),
}

impl Clock for Precise {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(monotonic::fine_nanos())
    }

    #[inline]
    fn kept(_at: Timestamp) -> Timestamp {
        UNKNOWN
    }

    /// Returns the shortest step between two successive readings of one thread: that of the
    /// processor's counter, or the time that a reading takes if that is longer.
    ///
    /// The first call in a process measures it, which takes up to a millisecond; later ones return
    /// the same. The system itself (`clock_getres(2)`) says 1 ns also for a counter that moves once
    /// in a microsecond.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Clock, clock::Precise};
    ///
    /// let resolution = Precise::default().resolution();
    /// assert!(resolution >= Duration::from_nanos(1));
    /// assert_eq!(Precise::default().resolution(), resolution);
    /// ```
    #[inline]
    fn resolution(&self) -> Duration {
        monotonic::fine_resolution()
    }
}
