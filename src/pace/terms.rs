//! The terms of a pace, and its decision about one call.

use std::time::Duration;

use crate::clock::Clock;
use crate::error::LimitError;
use crate::timestamp::saturating_nanos;

/// The longest time that a burst can take, in nanoseconds: 2^62, some 146 years.
const MOST: u64 = 1 << 62;

/// The last time that a pace knows, in nanoseconds: some 292 years behind the clock's origin.
pub(super) const LAST: u64 = i64::MAX as u64;

/// The end of a retired pace: behind the last time, so nothing fits.
pub(super) const RETIRED: u64 = LAST + 1;

/// A period and a burst. (Public for `windrow-mapped`, whose paces decide as this library's.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The nanoseconds of one unit of weight: at least one.
    period: u64,
    /// The periods of the burst: a multiple of `period`, from one to [`MOST`].
    span: u64,
}

impl Terms {
    /// Returns the terms of a period and a burst.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if either is zero, or the burst's periods are longer together than 2^62
    /// nanoseconds.
    pub const fn new(period: Duration, burst: u64) -> Result<Terms, LimitError> {
        let nanos = period.as_nanos();
        if nanos == 0 {
            return Err(LimitError::ZeroPeriod);
        }
        if burst == 0 {
            return Err(LimitError::ZeroBurst);
        }
        // Both are checked before the product, which could be longer than 128 bits.
        if nanos > MOST as u128 || nanos * burst as u128 > MOST as u128 {
            return Err(LimitError::TooLong { period, burst });
        }
        Ok(Terms { period: nanos as u64, span: nanos as u64 * burst })
    }

    /// Returns terms of other ones' [`period`](Self::period) and [`span`](Self::span).
    #[inline]
    pub(super) fn from_words(period: u64, span: u64) -> Terms {
        Terms { period, span }
    }

    /// Returns whether a clock of this resolution, in nanoseconds, is fine enough: a tenth of the
    /// burst's periods.
    pub(super) const fn is_for(self, resolution: u64) -> bool {
        resolution <= self.span / 10
    }

    /// Returns an error if a clock is too coarse.
    pub(super) fn check_clock(self, clock: &impl Clock) -> Result<(), LimitError> {
        let resolution = clock.resolution();
        if self.is_for(saturating_nanos(resolution)) {
            return Ok(());
        }
        Err(LimitError::ClockTooCoarse { resolution, span: Duration::from_nanos(self.span) })
    }

    /// Returns the period, in nanoseconds.
    #[must_use]
    pub const fn period(self) -> u64 {
        self.period
    }

    /// Returns the burst.
    #[must_use]
    pub const fn burst(self) -> u64 {
        self.span / self.period
    }

    /// Returns the burst's periods, in nanoseconds.
    #[must_use]
    pub const fn span(self) -> u64 {
        self.span
    }

    /// Returns the end behind a call of weight `n` at the time `now`, if all calls before it end at
    /// `end`, and the call's moment. `None` if the weight never fits, or time ends before.
    #[inline]
    #[must_use]
    pub fn take(self, end: u64, now: u64, n: u64) -> Option<(u64, u64)> {
        let taken = n.checked_mul(self.period).filter(|taken| *taken <= self.span)?;
        let start = end.max(now);
        if start > LAST - taken {
            return None;
        }
        // The later of `now` and `to - self.span`, by a difference that needs no `now`: a refusal
        // does not compute behind the clock's reading. All are at most `LAST`: a sign is free.
        let ahead = end.cast_signed() - (self.span - taken).cast_signed();
        Some((start + taken, ahead.max(now.cast_signed()).cast_unsigned()))
    }

    /// Returns the largest weight that is admitted at once.
    #[inline]
    #[must_use]
    pub fn left(self, end: u64, now: u64) -> u64 {
        let until_the_end_of_time = LAST.saturating_sub(end.max(now));
        let free = self.span.saturating_sub(end.saturating_sub(now));
        free.min(until_the_end_of_time) / self.period
    }

    /// Returns the weight whose periods are not over.
    pub(super) fn in_use(self, end: u64, now: u64) -> u64 {
        end.saturating_sub(now).div_ceil(self.period)
    }

    /// Returns the last moment that a caller was told under these terms, or one that is over.
    pub(super) fn told(self, end: u64) -> u64 {
        end.saturating_sub(self.span)
    }

    /// Returns the end under other terms from `now` on. The weight in use stays in use, rounded up,
    /// from `now` on or from the moment `told`, if that is still to come; and no later call comes
    /// before that. `None` if time ends before.
    #[inline]
    pub(super) fn end_under(self, other: Terms, (end, told): (u64, u64), now: u64) -> Option<u64> {
        if end <= now {
            return Some(end);
        }
        let from = told.max(now);
        // All factors are below 2^63.
        let product = u128::from(end.saturating_sub(from)) * u128::from(other.period);
        let in_use = u128::from(from) + product.div_ceil(u128::from(self.period));
        let behind_told = if told > now { told + other.span } else { 0 };
        let end = in_use.max(u128::from(behind_told));
        u64::try_from(end).ok().filter(|end| *end <= LAST)
    }
}
