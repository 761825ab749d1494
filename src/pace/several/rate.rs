//! One of several limits: its period, exactly, and what it says to one call.
//!
//! A period of 60 s for 7 calls is no whole number of nanoseconds. So a [`Time`] here is one of
//! nanoseconds and *parts* of a nanosecond, of which a rate has the number that its periods need.

use std::time::Duration;

use super::quota::Quota;
use crate::clock::Clock;
use crate::error::LimitError;
use crate::sync::sized;
use crate::timestamp::saturating_nanos;

/// The longest time that a burst can take, in nanoseconds: 2^62, some 146 years.
const MOST: u128 = 1 << 62;

/// A time, or a stretch of it, in nanoseconds and parts of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time {
    pub(super) nanos: u64,
    /// Fewer than the rate has in a nanosecond.
    pub(super) parts: u64,
}

/// The greatest number of limits.
pub(super) const MOST_LIMITS: usize = sized(4, 2);

/// The number of words of a rate.
pub(super) const RATE_WORDS: usize = 6;

/// A limit per interval, and a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rate {
    /// The time of one unit of weight.
    period: Time,
    /// The time of the whole burst.
    span: Time,
    burst: u64,
    /// The number of parts in a nanosecond.
    whole: u64,
}

impl Rate {
    pub(super) fn new(limit: u64, interval: Duration, burst: u64) -> Result<Rate, LimitError> {
        let nanos = interval.as_nanos();
        if nanos == 0 {
            return Err(LimitError::ZeroPeriod);
        }
        if limit == 0 {
            return Err(LimitError::ZeroLimit);
        }
        if burst == 0 {
            return Err(LimitError::ZeroBurst);
        }
        let limit = u128::from(limit);
        // The interval is checked before the product, which could be longer than 128 bits.
        if nanos > MOST || nanos * u128::from(burst) > MOST * limit {
            let period = Duration::from_nanos(u64::try_from(nanos / limit).unwrap_or(u64::MAX));
            return Err(LimitError::TooLong { period, burst });
        }
        let shared = gcd(nanos, limit);
        let (nanos, whole) = (nanos / shared, limit / shared);
        let time = |n: u128| Time { nanos: (n / whole) as u64, parts: (n % whole) as u64 };
        let (period, span) = (time(nanos), time(nanos * u128::from(burst)));
        Ok(Rate { period, span, burst, whole: whole as u64 })
    }

    pub(super) fn words(&self) -> [u64; RATE_WORDS] {
        let Rate { period, span, burst, whole } = *self;
        [period.nanos, period.parts, span.nanos, span.parts, burst, whole]
    }

    pub(super) fn from_words(words: [u64; RATE_WORDS]) -> Rate {
        let [nanos, parts, span_nanos, span_parts, burst, whole] = words;
        let span = Time { nanos: span_nanos, parts: span_parts };
        Rate { period: Time { nanos, parts }, span, burst, whole }
    }

    /// Returns an error if a clock is too coarse.
    pub(super) fn check_clock(&self, clock: &impl Clock) -> Result<(), LimitError> {
        let (resolution, span) = (clock.resolution(), self.span());
        if saturating_nanos(resolution) <= span / 10 {
            return Ok(());
        }
        Err(LimitError::ClockTooCoarse { resolution, span: Duration::from_nanos(span) })
    }

    /// Returns the time of one unit, rounded down to a nanosecond.
    pub(super) fn period(&self) -> Duration {
        Duration::from_nanos(self.period.nanos)
    }

    /// Returns whether its periods are shorter.
    pub(super) fn is_faster_than(&self, other: &Rate) -> bool {
        // Periods are at most 2^62 parts.
        self.parts(self.period) * u128::from(other.whole)
            < other.parts(other.period) * u128::from(self.whole)
    }

    /// Returns the end under another rate from `now` on. The weight in use stays in use, rounded
    /// up, from `now` on or from the moment `told`, if that is still to come and this limit can
    /// have told it; and no later call comes before that. `None` if time ends before.
    #[inline]
    pub(super) fn end_under(
        &self,
        other: &Rate,
        (end, told): (Time, u64),
        now: u64,
    ) -> Option<Time> {
        let at = Time { nanos: now, parts: 0 };
        if end <= at {
            return Some(Time { nanos: end.rounded_up(), parts: 0 });
        }
        let told = end.minus(self.span, self.whole).rounded_up().min(told);
        let from = Time { nanos: told.max(now), parts: 0 };
        let ahead = self.parts(end.minus(from, self.whole));
        let ahead = scaled(ahead, other.parts(other.period), self.parts(self.period))?;
        let in_use = from.plus(other.time(ahead)?, other.whole)?;
        if told <= now {
            return Some(in_use);
        }
        let behind_told = from.plus(other.span, other.whole)?;
        Some(in_use.max(behind_told))
    }

    /// Returns the end that a slower limit must have at least, beside this one with this end: that
    /// of its burst at the moment from which this limit admits. `None` if time ends before.
    #[inline]
    pub(super) fn least_end_of(&self, slower: &Rate, end: Time) -> Option<Time> {
        let burst = self.periods(self.burst.min(slower.burst))?;
        let least = end.minus(self.span.minus(burst, self.whole), self.whole);
        let parts = scaled(self.parts(least), u128::from(slower.whole), u128::from(self.whole))?;
        slower.time(parts)
    }

    /// Returns parts of a nanosecond as a time; `None` behind the end of time.
    fn time(&self, parts: u128) -> Option<Time> {
        let whole = u128::from(self.whole);
        let nanos = u64::try_from(parts / whole).ok()?;
        Some(Time { nanos, parts: (parts % whole) as u64 })
    }

    /// Returns the time of the whole burst, rounded up to a nanosecond.
    pub(super) fn span(&self) -> u64 {
        self.span.rounded_up()
    }

    pub(super) fn burst(&self) -> u64 {
        self.burst
    }

    /// Returns the periods of a weight; `None` if it is above the burst.
    #[inline]
    fn periods(&self, n: u64) -> Option<Time> {
        if n > self.burst {
            return None;
        }
        // The nanoseconds are at most those of the burst.
        let nanos = n * self.period.nanos;
        Some(match n.checked_mul(self.period.parts) {
            Some(0) => Time { nanos, parts: 0 },
            Some(parts) if parts < self.whole => Time { nanos, parts },
            Some(parts) => Time { nanos: nanos + parts / self.whole, parts: parts % self.whole },
            None => {
                let (parts, whole) = (u128::from(n) * u128::from(self.period.parts), self.whole);
                let (more, parts) = (parts / u128::from(whole), parts % u128::from(whole));
                Time { nanos: nanos + more as u64, parts: parts as u64 }
            }
        })
    }

    /// Returns the time of any weight; `None` behind the end of time.
    pub(super) fn time_of(&self, n: u64) -> Option<Time> {
        self.time(u128::from(n).checked_mul(self.parts(self.period))?)
    }

    /// Returns the sum of two times; `None` behind the end of time.
    pub(super) fn sum(&self, time: Time, more: Time) -> Option<Time> {
        time.plus(more, self.whole)
    }

    /// Returns an end without a weight of the burst at most.
    #[inline]
    pub(super) fn without(&self, end: Time, weight: u64) -> Time {
        self.periods(weight).map_or(end, |less| end.minus(less, self.whole))
    }

    /// Returns the end behind a call of weight `n` at `now`, if all calls before it end at `end`,
    /// and the call's moment. `None` if the weight never fits, or time ends before.
    #[inline]
    pub(super) fn take(&self, end: Time, now: u64, n: u64) -> Option<(Time, u64)> {
        let start = end.max(Time { nanos: now, parts: 0 });
        let to = start.plus(self.periods(n)?, self.whole)?;
        Some((to, to.minus(self.span, self.whole).rounded_up().max(now)))
    }

    /// Returns the largest weight that is admitted at once.
    pub(super) fn left(&self, end: Time, now: u64) -> u64 {
        let now = Time { nanos: now, parts: 0 };
        let ahead = end.minus(now, self.whole);
        let free = self.span.minus(ahead, self.whole);
        let until_the_end_of_time = Time::LAST.minus(end.max(now), self.whole);
        let free = free.min(until_the_end_of_time);
        (self.parts(free) / self.parts(self.period)) as u64 // at most the burst
    }

    /// Returns the weight whose periods are not over.
    #[inline]
    pub(super) fn in_use(&self, end: Time, now: u64) -> u64 {
        let ahead = end.minus(Time { nanos: now, parts: 0 }, self.whole);
        let periods = self.parts(ahead).div_ceil(self.parts(self.period));
        u64::try_from(periods).unwrap_or(u64::MAX)
    }

    /// Returns a time in parts of a nanosecond.
    fn parts(&self, time: Time) -> u128 {
        u128::from(time.nanos) * u128::from(self.whole) + u128::from(time.parts)
    }

    /// Returns what is left at `now`, and the burst.
    #[inline]
    pub(super) fn quota(&self, end: Time, now: u64) -> Quota {
        let refill = Duration::from_nanos(self.span());
        Quota { burst: self.burst, refill, left: self.left(end, now) }
    }
}

impl Time {
    /// The last time.
    pub(super) const LAST: Time = Time { nanos: u64::MAX, parts: 0 };

    /// Returns the sum; `None` behind the last time.
    #[inline]
    fn plus(self, other: Time, whole: u64) -> Option<Time> {
        let (parts, is_over) = self.parts.overflowing_add(other.parts);
        let carry = is_over || parts >= whole;
        let nanos = self.nanos.checked_add(other.nanos)?.checked_add(carry.into())?;
        let sum = Time { nanos, parts: if carry { parts.wrapping_sub(whole) } else { parts } };
        (sum <= Time::LAST).then_some(sum)
    }

    /// Returns the difference; zero if it is less.
    #[inline]
    fn minus(self, other: Time, whole: u64) -> Time {
        if self <= other {
            return Time::default();
        }
        let borrow = self.parts < other.parts;
        let parts = self.parts.wrapping_sub(other.parts);
        Time {
            nanos: self.nanos - other.nanos - u64::from(borrow),
            parts: if borrow { parts.wrapping_add(whole) } else { parts },
        }
    }

    #[inline]
    pub(super) fn rounded_up(self) -> u64 {
        self.nanos.saturating_add((self.parts > 0).into())
    }
}

/// Returns `n * factor / divisor`, rounded up; `None` if that is more than 128 bits. The divisor is
/// at most 2^64.
fn scaled(n: u128, factor: u128, divisor: u128) -> Option<u128> {
    let (whole, rest) = (n / divisor, n % divisor);
    // The product of the rest has at most 64 bits more than the factor, which has at most 64.
    let (part, rest) = (rest * factor / divisor, rest * factor % divisor);
    whole.checked_mul(factor)?.checked_add(part)?.checked_add((rest > 0).into())
}

fn gcd(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}
