//! A quick clock for permits in rows: a coarse one that goes on while the machine is suspended.
//!
//! The precise clock, `CLOCK_BOOTTIME`, takes five times as long to read as a permit to take. Linux
//! has no coarse form of it. The coarse clock of the real time also goes on while the machine is
//! suspended, but can be set. So the *pulse* reads both from time to time, and the time between two
//! pulses is told by the coarse clock alone:
//!
//! ```text
//!   pulse    base = coarse;  offset = precise - coarse
//!   quick    coarse - base < BEAT ?  coarse + offset        else the caller takes a pulse
//! ```
//!
//! # Promise
//!
//! The quick clock is behind the precise one by less than [`margin`], if the real time is set back
//! at most once within a [`BEAT`], and not by the very time that has passed since the last pulse.
//!
//! # Why
//!
//! Both clocks tick at the same rate, and leap together over a suspension. The coarse one is behind
//! by less than a tick, at the pulse and at the reading. What it is set forward makes the quick one
//! later, which ends permits early. What it is set back since the base is less than a beat, or the
//! reading lies before the base and is no longer used.
//!
//! The offset is stored before its base, and loaded after it. So a reader has the offset of its
//! base, or a later one. One thread at a time takes a pulse, and no other one waits for it.
//!
//! A pulse is stored only by a thread that fills a row. The machine's thread [stops](Pulse::stop)
//! it when no lease is left: so no later step of the real time can bring an old base to life while
//! rows still hold permits of that time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The time for which a pulse is used, in nanoseconds.
const BEAT: u64 = 4_000_000;

/// A base that no reading follows.
const STOPPED: u64 = u64::MAX / 2;

/// A quick clock.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// The coarse clock at the last pulse.
    base: AtomicU64,
    /// The precise clock less the coarse one, wrapping.
    offset: AtomicU64,
    is_taken: AtomicBool,
}

impl Pulse {
    pub(crate) const fn stopped() -> Pulse {
        Pulse {
            base: AtomicU64::new(STOPPED),
            offset: AtomicU64::new(0),
            is_taken: AtomicBool::new(false),
        }
    }

    /// Returns the quick time in nanoseconds of the precise clock; `None` after a beat.
    #[inline]
    pub(crate) fn quick(&self) -> Option<u64> {
        let coarse = clocks::coarse()?;
        // Acquire: pairs with the Release in `beat`, so that the offset is the base's or later.
        let base = self.base.load(Ordering::Acquire);
        if coarse.wrapping_sub(base) >= BEAT {
            return None;
        }
        Some(coarse.wrapping_add(self.offset.load(Ordering::Relaxed)))
    }

    /// Takes a pulse, unless another thread does; `precise` reads the precise clock in nanoseconds.
    /// Returns its time, in nanoseconds.
    #[cold]
    pub(crate) fn beat(&self, precise: impl Fn() -> u64) -> u64 {
        // Acquire: pairs with the Release below, so that pulses follow each other.
        if self.is_taken.swap(true, Ordering::Acquire) {
            return precise();
        }
        let coarse = clocks::coarse();
        let now = precise();
        if let Some(coarse) = coarse {
            // Release: a reader of the new offset may have an old base, for which it is right too.
            self.offset.store(now.wrapping_sub(coarse), Ordering::Relaxed);
            // Release: pairs with the Acquire in `quick`.
            self.base.store(coarse, Ordering::Release);
        }
        // Release: pairs with the Acquire above.
        self.is_taken.store(false, Ordering::Release);
        now
    }

    /// Stops the clock until the next pulse.
    pub(crate) fn stop(&self) {
        // Relaxed: a reader that has the last base has one that was right a moment ago.
        self.base.store(STOPPED, Ordering::Relaxed);
    }
}

/// Returns what the quick clock may be behind, in microseconds; `None` where there is none.
pub(crate) fn margin() -> Option<u64> {
    clocks::tick().map(|tick| (BEAT + tick).div_ceil(1_000) + 1)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(clippy::unnecessary_wraps)] // elsewhere there is none
mod clocks {
    /// Returns the coarse clock's time, in nanoseconds.
    #[inline]
    pub(super) fn coarse() -> Option<u64> {
        Some(read(libc::clock_gettime))
    }

    /// Returns the time between two ticks, in nanoseconds.
    pub(super) fn tick() -> Option<u64> {
        Some(read(libc::clock_getres))
    }

    type Read = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

    /// (Seconds before 1970 wrap, and differences stay right.)
    #[inline]
    #[allow(clippy::cast_sign_loss)]
    fn read(read: Read) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec of this call.
        unsafe { read(libc::CLOCK_REALTIME_COARSE, &raw mut time) };
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
    }
}

/// Elsewhere the precise clock is the only one that goes on, and takes no longer to read.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod clocks {
    #[inline]
    pub(super) fn coarse() -> Option<u64> {
        None
    }

    pub(super) fn tick() -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::single_match_else)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    fn precise() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec of this call.
        unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
        (time.tv_sec * 1_000_000_000 + time.tv_nsec).cast_unsigned()
    }

    #[test]
    fn the_quick_clock_is_behind_by_less_than_its_margin() {
        let pulse = Pulse::stopped();
        assert_eq!(pulse.quick(), None);
        let margin = margin().unwrap() * 1_000;
        let (mut quick, mut beats) = (0, 0);
        while quick < 10_000 {
            let before = precise();
            match pulse.quick() {
                Some(now) => {
                    assert!(now + margin > before, "{now} is behind {before}");
                    quick += 1;
                }
                None => {
                    pulse.beat(precise);
                    beats += 1;
                }
            }
        }
        println!("{quick} readings, {beats} beats");
        std::thread::sleep(Duration::from_nanos(BEAT + 20_000_000));
        assert_eq!(pulse.quick(), None);
        pulse.beat(precise);
        pulse.stop();
        assert_eq!(pulse.quick(), None);
    }

    #[test]
    fn a_pulse_within_a_pulse_is_not_kept() {
        let pulse = Pulse::stopped();
        let inner = Cell::new(0);
        let now = pulse.beat(|| {
            if inner.get() == 0 {
                inner.set(pulse.beat(|| 7));
            }
            1 << 50
        });
        assert_eq!((now, inner.get()), (1 << 50, 7));
        assert!(pulse.quick().is_none_or(|quick| quick >= 1 << 50));
    }
}
