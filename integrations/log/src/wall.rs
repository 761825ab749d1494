//! Wall-clock time: in lines, and of a moment on a window's clock.

use std::time::{Duration, SystemTime};

/// A moment in nanoseconds since 1970, from 1677 to 2262. Moments beyond are clamped to the first
/// or the last of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wall(pub(crate) i64);

impl Wall {
    pub(crate) const FIRST: Wall = Wall(i64::MIN);

    pub(crate) fn now() -> Wall {
        SystemTime::now().into()
    }

    pub(crate) fn from_millis(millis: i64) -> Wall {
        Wall(millis.saturating_mul(1_000_000))
    }

    /// Returns the moment in milliseconds, rounded down.
    pub(crate) fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// Returns the time by which it is later than another moment, or zero.
    pub(crate) fn since(self, other: Wall) -> Duration {
        let nanos = i128::from(self.0) - i128::from(other.0);
        Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }

    pub(crate) fn minus(self, span: Duration) -> Wall {
        Wall(self.0.saturating_sub(nanos(span)))
    }

    pub(crate) fn plus(self, span: Duration) -> Wall {
        Wall(self.0.saturating_add(nanos(span)))
    }
}

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

impl From<SystemTime> for Wall {
    fn from(time: SystemTime) -> Wall {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => Wall(nanos(since)),
            Err(before) => Wall(-nanos(before.duration())),
        }
    }
}

impl From<Wall> for SystemTime {
    fn from(wall: Wall) -> SystemTime {
        let time = jiff::Timestamp::from_nanosecond(wall.0.into());
        time.expect("jiff's time is longer").into()
    }
}

/// The wall-clock times at which clocks show zero.
///
/// To find such a *zero*, a thread reads the clock and then the wall clock. The result is too high
/// by the time between the two readings, and by up to the resolution of the clock. So two results
/// for one clock differ a little. Of results that are close together, the first is kept: then
/// consecutive buckets are consecutive in the log, to the nanosecond. A result that is further off
/// has one of three causes: it belongs to another clock, the wall clock was set, or the thread was
/// interrupted between the readings.
#[derive(Debug, Default)]
pub(crate) struct Zeros(Vec<Wall>);

impl Zeros {
    /// The greatest distance of two readings that count as equal.
    pub(crate) const CLOSE: Duration = Duration::from_millis(50);
    /// The number of zeros that are remembered: one for each clock of a process that has its own.
    const MOST: usize = 16;
    /// The number of readings before a zero is taken for a new one: each may be interrupted.
    const READINGS: usize = 4;

    /// Returns the zero to calculate with.
    pub(crate) fn settle(&mut self, read: impl Fn() -> Wall) -> Wall {
        let mut least = Wall(i64::MAX);
        let known = (0..Zeros::READINGS).find_map(|_| {
            let read = read();
            least = least.min(read);
            let is_close = |known: &Wall| known.since(read).max(read.since(*known)) <= Zeros::CLOSE;
            self.0.iter().position(is_close)
        });
        // Moved to the end: the least recently used zero is the first to go.
        let kept = known.map_or(least, |index| self.0.remove(index));
        if self.0.len() == Zeros::MOST {
            self.0.remove(0);
        }
        self.0.push(kept);
        kept
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn times_come_back_equal() {
        for nanos in [0, 1, -1, 1_795_233_121_123_456_789, -2_000_000_000_000_000_001] {
            assert_eq!(Wall::from(SystemTime::from(Wall(nanos))), Wall(nanos));
        }
        assert_eq!(Wall(-1).as_millis(), -1);
        assert_eq!(Wall::from_millis(i64::MAX), Wall(i64::MAX));
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(Wall::from(far), Wall(i64::MAX));
    }

    #[test]
    fn a_zero_stays_until_a_clock_is_set() {
        let mut zeros = Zeros::default();
        let mut settle = |nanos| zeros.settle(|| Wall(nanos)).0;
        assert_eq!(settle(1_000), 1_000);
        assert_eq!(settle(49_000_000), 1_000, "the same clock");
        assert_eq!(settle(3_600_000_000_000), 3_600_000_000_000, "it was set");
        assert_eq!(settle(3_600_010_000_000), 3_600_000_000_000);
        assert_eq!(settle(-5_000), 1_000, "another window, of another clock");
        for other in 1..=20 {
            settle(other * 10_000_000_000_000);
        }
        assert_eq!(zeros.0.len(), Zeros::MOST);
    }

    /// An interruption makes one reading too high, not the next.
    #[test]
    fn a_reading_that_was_interrupted_is_not_kept() {
        let mut zeros = Zeros::default();
        let readings = Cell::new(0);
        let read = || {
            readings.set(readings.get() + 1);
            Wall(if readings.get() % 4 == 1 { 90_000_000 } else { 1_000 })
        };
        assert_eq!(zeros.settle(read), Wall(1_000));
        assert_eq!(readings.get(), Zeros::READINGS);
        assert_eq!(zeros.settle(read), Wall(1_000));
        assert_eq!(readings.get(), Zeros::READINGS + 2);
    }
}
