//! Several rates in one word: a time, and the level of each rate at that time.
//!
//! Time is counted in *quanta* since the paces were made. A rate's level is its work that is not
//! over yet, in units of which a quantum drains a whole number, `drain`, and a unit of weight
//! brings another, `cost`. So no rate is rounded: `drain / cost` is the limit per interval.

use std::time::Duration;

use super::quota::Quota;
use crate::pace::error::PaceError;

/// The greatest number of rates.
pub(super) const MOST_RATES: usize = 4;

/// The word lasts for this time at least, in nanoseconds: 30 years.
const LASTS: u128 = 30 * 365 * 86_400 * 1_000_000_000;

/// A limit per interval, and a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) limit: u64,
    pub(super) interval: Duration,
    pub(super) burst: u64,
}

/// A rate's part of the word.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// The level that a unit of weight brings: at least one.
    cost: u64,
    /// The level that a quantum drains: at least one.
    drain: u64,
    /// The level of the whole burst: a multiple of `cost`.
    full: u64,
    /// The place in the word.
    shift: u32,
    bits: u32,
}

/// The layout of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    parts: [Part; MOST_RATES],
    rates: usize,
    /// The place of the time, above all levels.
    shift: u32,
    /// In nanoseconds.
    quantum: u64,
    /// In nanoseconds.
    max_wait: u64,
}

/// A call that was admitted: the word behind it, and its moment, in quanta.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) to: u64,
    pub(super) due: u64,
}

impl Packed {
    /// Returns the layout with the finest quantum that leaves room for [`LASTS`].
    pub(super) fn new(
        rates: &[Rate],
        shortest: Duration,
        max_wait: Duration,
    ) -> Result<Packed, PaceError> {
        rates.iter().try_for_each(check)?;
        if rates.len() > MOST_RATES {
            return Err(PaceError::TooManyLimits { limits: rates.len(), most: MOST_RATES });
        }
        let steps = (0..19).flat_map(|zeros| [1, 2, 5].map(|digit| digit * 10_u64.pow(zeros)));
        let is_fine = |quantum: &u64| u128::from(*quantum) * 10 <= shortest.as_nanos();
        let mut quanta = steps.take_while(is_fine);
        let fits = |quantum| Packed::with_quantum(rates, quantum, max_wait);
        quanta.find_map(fits).ok_or(PaceError::TooFine { shortest, max_wait })
    }

    fn with_quantum(rates: &[Rate], quantum: u64, max_wait: Duration) -> Option<Packed> {
        // A wait from the middle of a quantum ends at the end of one.
        let longest = max_wait.as_nanos() / u128::from(quantum) + 1;
        let (mut parts, mut shift) = ([Part::default(); MOST_RATES], 0);
        for (part, rate) in parts.iter_mut().zip(rates) {
            let interval = rate.interval.as_nanos();
            let drained = u128::from(rate.limit) * u128::from(quantum);
            let unit = gcd(interval, drained);
            let (cost, drain) = (interval / unit, drained / unit);
            let full = cost.checked_mul(u128::from(rate.burst))?;
            let most = drain.checked_mul(longest)?.checked_add(full)?;
            let bits = u128::BITS - most.leading_zeros();
            if shift + bits >= u64::BITS {
                return None;
            }
            let narrow = |number: u128| u64::try_from(number).ok();
            let (cost, drain, full) = (narrow(cost)?, narrow(drain)?, narrow(full)?);
            *part = Part { cost, drain, full, shift, bits };
            shift += bits;
        }
        let max_wait = u64::try_from(max_wait.as_nanos()).ok()?;
        let lasts = u128::from(u64::MAX >> shift) * u128::from(quantum);
        let packed = Packed { parts, rates: rates.len(), shift, quantum, max_wait };
        (lasts >= LASTS).then_some(packed)
    }

    pub(super) fn quantum(&self) -> u64 {
        self.quantum
    }

    fn parts(&self) -> &[Part] {
        &self.parts[..self.rates]
    }

    /// Returns the time at which a call at `now` is counted, no earlier than the word's, and the
    /// quanta between the two.
    #[inline]
    fn at(&self, word: u64, now: u64) -> (u64, u64) {
        let then = word >> self.shift;
        let at = then.max(now);
        (at, at - then)
    }

    /// Returns whether a time, in quanta, is one that the word can have.
    #[inline]
    fn has(&self, now: u64) -> bool {
        now <= u64::MAX >> self.shift
    }

    /// Returns whether the levels behind a call that waits this long, in nanoseconds, fit the word.
    #[inline]
    pub(super) fn permits(&self, wait: u64) -> bool {
        wait <= self.max_wait
    }

    /// Decides about a call of weight `n`, above zero, at the time `now`, in quanta: `None` if the
    /// weight is above a burst, or the word's time is over. The word fits, if the wait is
    /// [permitted](Self::permits).
    #[inline]
    pub(super) fn decide(&self, word: u64, now: u64, n: u64) -> Option<Taken> {
        if !self.has(now) {
            return None;
        }
        let (at, elapsed) = self.at(word, now);
        let (mut to, mut due) = (at << self.shift, now);
        for part in self.parts() {
            let brought = n.checked_mul(part.cost).filter(|brought| *brought <= part.full)?;
            let level = part.level(word, elapsed) + brought;
            to |= level << part.shift;
            due = due.max(part.due(level, at, now));
        }
        Some(Taken { to, due })
    }

    /// Returns the largest weight that is admitted at once.
    pub(super) fn left(&self, word: u64, now: u64) -> u64 {
        self.parts().iter().map(|part| self.left_of(part, word, now)).min().unwrap_or(0)
    }

    fn left_of(&self, part: &Part, word: u64, now: u64) -> u64 {
        if !self.has(now) {
            return 0;
        }
        let (at, elapsed) = self.at(word, now);
        let behind = part.drain.saturating_mul(at - now.min(at));
        let level = part.level(word, elapsed).saturating_add(behind);
        part.full.saturating_sub(level) / part.cost
    }

    /// Returns the state of each rate.
    pub(super) fn quotas(&self, word: u64, now: u64) -> impl Iterator<Item = Quota> {
        self.parts().iter().map(move |part| {
            let nanos = u128::from(part.full) * u128::from(self.quantum);
            let refill = nanos.div_ceil(u128::from(part.drain));
            Quota {
                burst: part.full / part.cost,
                refill: Duration::from_nanos(u64::try_from(refill).unwrap_or(u64::MAX)),
                left: self.left_of(part, word, now),
            }
        })
    }

    /// Returns the time, in quanta, at which every level is zero if no call comes.
    pub(super) fn idle_at(&self, word: u64, now: u64) -> u64 {
        let (at, elapsed) = self.at(word, now);
        let idle = |part: &Part| at + part.level(word, elapsed).div_ceil(part.drain);
        self.parts().iter().map(idle).max().unwrap_or(now)
    }
}

impl Part {
    /// Returns the level after more quanta.
    #[inline]
    fn level(self, word: u64, elapsed: u64) -> u64 {
        let level = word >> self.shift & ((1 << self.bits) - 1);
        level.saturating_sub(elapsed.saturating_mul(self.drain))
    }

    /// Returns the moment of the call that made the level at the time `at`.
    #[inline]
    fn due(self, level: u64, at: u64, now: u64) -> u64 {
        if level > self.full {
            at + (level - self.full).div_ceil(self.drain)
        } else if at > now {
            // The clock has stepped back: the level was lower at the earlier time.
            at.saturating_sub((self.full - level) / self.drain)
        } else {
            now
        }
    }
}

fn check(rate: &Rate) -> Result<(), PaceError> {
    match rate {
        Rate { interval: Duration::ZERO, .. } => Err(PaceError::ZeroPeriod),
        Rate { limit: 0, .. } => Err(PaceError::ZeroLimit),
        Rate { burst: 0, .. } => Err(PaceError::ZeroBurst),
        _ => Ok(()),
    }
}

fn gcd(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}
