//! The steps of the system's fine clock, as they are seen.
//!
//! Systems do not say them: `clock_getres(2)` returns 1 ns also where the processor's counter moves
//! every 10 ns (many AMD processors), every 42 ns (Apple's), or every microsecond (some arm64 and
//! RISC-V boards). So this module reads the clock again and again, and keeps the shortest step
//! between two readings. A step of the counter cannot look shorter than it is, except by what is
//! rounded to nanoseconds. It can look longer, by less than a reading takes: no thread can tell
//! such times apart by this clock either.

use std::time::Duration;

use crate::sync::{AtomicU64, Ordering};
use crate::timestamp::saturating_nanos;

/// The number of steps that are measured: most of them lie between interrupts.
const STEPS: usize = 200;

/// The greatest number of readings, if steps are long: they take less than a millisecond on most
/// systems.
const READINGS: usize = 20_000;

/// The shortest step in nanoseconds; zero until it is measured.
static SHORTEST: AtomicU64 = AtomicU64::new(0);

/// Returns the shortest step of the fine clock that `now` reads, at least a nanosecond; `tick` if
/// that clock took no step meanwhile. The first call measures, and later ones return the same.
#[inline]
pub(super) fn of(now: impl Fn() -> u64, tick: impl FnOnce() -> Duration) -> Duration {
    // Relaxed, here and below: a number, which publishes nothing. No thread waits for another one
    // that measures, because that one may be missing in a forked child: the first to be done says
    // what all return.
    let nanos = match SHORTEST.load(Ordering::Relaxed) {
        0 => {
            let step = shortest(now).unwrap_or_else(|| saturating_nanos(tick()).max(1));
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            SHORTEST.compare_exchange(0, step, order, failed).map_or_else(|first| first, |_| step)
        }
        known => known,
    };
    Duration::from_nanos(nanos)
}

/// Returns the shortest step among some of a clock's; `None` if it stands still.
#[cold]
fn shortest(now: impl Fn() -> u64) -> Option<u64> {
    let mut before = now();
    let readings = (0..READINGS).map(|_| {
        let now = now();
        now.saturating_sub(std::mem::replace(&mut before, now))
    });
    readings.filter(|step| *step > 0).take(STEPS).min()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::shortest;

    /// A counter that steps every `step` picoseconds, shown in nanoseconds. A reading takes
    /// `reading` picoseconds, and one in a hundred is interrupted.
    fn measured(step: u64, reading: u64) -> Option<u64> {
        let (picos, readings) = (Cell::new(12_345), Cell::new(0));
        shortest(|| {
            readings.set(readings.get() + 1);
            let interrupted = if readings.get() % 100 == 0 { 7_000_000 } else { 0 };
            picos.set(picos.get() + reading + interrupted);
            picos.get() / step * step / 1_000
        })
    }

    #[test]
    fn a_step_that_is_longer_than_a_reading_is_found() {
        assert_eq!(measured(1_000_000, 25_000), Some(1_000), "a counter of 1 MHz");
        assert_eq!(measured(100_000, 25_000), Some(100), "10 MHz");
        assert_eq!(measured(41_667, 25_000), Some(41), "24 MHz, rounded down");
        assert_eq!(measured(4_000_000_000, 250_000), Some(4_000_000), "a kernel's tick");
    }

    #[test]
    fn a_shorter_step_is_hidden_by_the_reading() {
        assert_eq!(measured(16_000, 25_000), Some(16), "62.5 MHz: one step, or two");
        assert_eq!(measured(10_000, 25_000), Some(20), "two steps, or three");
        assert_eq!(measured(333, 25_000), Some(25), "less than a nanosecond");
        assert_eq!(measured(16_000, 1_000_000), Some(992), "by slow system calls");
    }

    #[test]
    fn a_clock_that_stands_still_has_no_step() {
        assert_eq!(shortest(|| 7), None);
        let back = Cell::new(1_000_000);
        assert_eq!(shortest(|| back.replace(back.get() - 1)), None, "nor one that steps back");
    }
}
