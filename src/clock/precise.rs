//! Nanoseconds from the processor's own counter.

use std::sync::LazyLock;
use std::time::Duration;

use super::{Clock, UNKNOWN, monotonic};
use crate::timestamp::Timestamp;

/// A clock of nanosecond resolution: the processor's time-stamp counter (TSC), scaled by the crate
/// [`quanta`]; where that counter cannot be trusted, the operating system's monotonic clock.
///
/// It shows the same time as [`Coarse`](super::Coarse), apart from the drift of the calibration.
/// All `Precise` clocks of a process show the same time. Making the first one calibrates: that can
/// take up to 200 ms.
///
/// ```
/// use windrow::{Clock, clock::Precise};
///
/// let clock = Precise::default();
/// let earlier = clock.now();
/// assert!(clock.now() >= earlier);
/// ```
#[derive(Clone, Debug)]
pub struct Precise {
    clock: quanta::Clock,
    /// A reading of `clock`, in its own unit, and its time in nanoseconds.
    origin: (u64, u64),
}

/// The first clock; all others are copies of it.
static FIRST: LazyLock<Precise> = LazyLock::new(|| {
    let clock = quanta::Clock::new();
    let origin = (clock.raw(), monotonic::fine_nanos());
    Precise { clock, origin }
});

impl Default for Precise {
    fn default() -> Precise {
        FIRST.clone()
    }
}

impl Clock for Precise {
    #[inline]
    fn now(&self) -> Timestamp {
        let (raw, nanos) = self.origin;
        Timestamp::from_nanos(nanos + self.clock.delta_as_nanos(raw, self.clock.raw()))
    }

    #[inline]
    fn kept(_at: Timestamp) -> Timestamp {
        UNKNOWN
    }

    /// Returns one nanosecond: steps of the counter are at most about that long.
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }
}
