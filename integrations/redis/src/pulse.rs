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

use crate::coarse;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

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
    pub(crate) fn stopped() -> Pulse {
        Pulse {
            base: AtomicU64::new(STOPPED),
            offset: AtomicU64::new(0),
            is_taken: AtomicBool::new(false),
        }
    }

    /// Returns the quick time in nanoseconds of the precise clock; `None` after a beat.
    #[inline]
    pub(crate) fn quick(&self) -> Option<u64> {
        let coarse = coarse::now()?;
        // Acquire: pairs with the Release in `beat`, so that the offset is the base's or later.
        let base = self.base.load(Ordering::Acquire);
        if coarse.wrapping_sub(base) >= BEAT {
            return None;
        }
        // Relaxed: by the Acquire above, the offset is the base's or later.
        Some(coarse.wrapping_add(self.offset.load(Ordering::Relaxed)))
    }

    /// Takes a pulse, unless another thread does; `precise` reads the precise clock in nanoseconds.
    /// Returns its time, in nanoseconds.
    #[cold]
    pub(crate) fn beat(&self, precise: impl Fn() -> u64) -> u64 {
        // Acquire: pairs with the Release below, so that the stores of pulses follow each other.
        if self.is_taken.swap(true, Ordering::Acquire) {
            return precise();
        }
        let coarse = coarse::now();
        let now = precise();
        if let Some(coarse) = coarse {
            // Relaxed: a reader of it may have an old base, for which it is right too.
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
    coarse::tick().map(|tick| (BEAT + tick).div_ceil(1_000) + 1)
}
