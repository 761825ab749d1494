//! The time of data points, which never goes back.

use std::cell::Cell;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The system's clock, without its steps back.
///
/// If the system's clock is set back, this one goes on from its last reading at the speed of the
/// monotonic clock, and stays ahead of the system's: so no point seems to end before an earlier
/// one.
pub(crate) struct Clock {
    /// The last reading, in nanoseconds since 1970, and when it was made.
    last: Cell<(Instant, u64)>,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock { last: Cell::new((Instant::now(), 0)) }
    }

    /// Returns the time, in nanoseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        // In this order, an interruption in between makes no later reading run ahead.
        let system = nanos(SystemTime::now());
        self.read(system, Instant::now())
    }

    /// Returns the time, if the system's clock shows `system` at `instant`.
    pub(crate) fn read(&self, system: u64, instant: Instant) -> u64 {
        let (then, last) = self.last.get();
        let elapsed = instant.saturating_duration_since(then).as_nanos();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        let now = system.max(last.saturating_add(elapsed));
        self.last.set((instant, now));
        now
    }
}

/// Returns a time in nanoseconds since 1970.
pub(crate) fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let clock = Clock::new();
        let (begin, _) = clock.last.get();
        let read = |system, later| clock.read(system, begin + Duration::from_nanos(later));
        assert_eq!(read(5_000, 0), 5_000);
        assert_eq!(read(5_100, 100), 5_100);
        assert_eq!(read(9_000, 200), 9_000); // a leap forward
        assert_eq!(read(5_300, 300), 9_100); // which is corrected
        assert_eq!(read(5_400, 400), 9_200);
        assert_eq!(read(9_900, 500), 9_900);
    }
}
