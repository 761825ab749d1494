//! The builder of several limits.

use std::time::Duration;

use super::rate::{MOST_LIMITS, Rate};
use super::rates::Rates;
use super::{Limits, Paces, WORDS};
use crate::clock::{Clock, Coarse};
use crate::error::LimitError;
use crate::timestamp::saturating_nanos;
use crate::turn::vacancies::Vacancies;
use crate::wide::Wide;

/// A builder of [`Paces`], made by [`Paces::builder`].
///
/// ```
/// use std::time::Duration;
/// use windrow::Paces;
///
/// let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
/// let paces = Paces::builder()
///     .limit_with_burst(50, second, 5)
///     .limit(1_000, minute)
///     .max_wait(Duration::from_millis(200))
///     .build()?;
/// assert_eq!(paces.left(), 5);
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PacesBuilder<C = Coarse> {
    limits: Vec<Limit>,
    max_wait: Duration,
    clock: C,
    allows_coarse_clock: bool,
}

/// A limit per interval, and a burst.
#[derive(Clone, Copy, Debug)]
struct Limit {
    count: u64,
    interval: Duration,
    burst: u64,
}

impl PacesBuilder {
    pub(super) fn new() -> PacesBuilder {
        let (limits, clock) = (Vec::new(), Coarse::default());
        PacesBuilder { limits, max_wait: Duration::MAX, clock, allows_coarse_clock: false }
    }
}

impl<C: Clock> PacesBuilder<C> {
    /// Adds a limit per interval, all of which may come at once after a rest.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let paces = windrow::Paces::builder().limit(10, Duration::from_secs(1)).build()?;
    /// assert!(paces.try_admit(10));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn limit(self, limit: u64, interval: Duration) -> PacesBuilder<C> {
        self.limit_with_burst(limit, interval, limit)
    }

    /// Adds a limit per interval, of which `burst` may come at once after a rest.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let paces = windrow::Paces::builder().limit_with_burst(10, second, 3).build()?;
    /// assert!(paces.try_admit(3));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn limit_with_burst(
        mut self,
        limit: u64,
        interval: Duration,
        burst: u64,
    ) -> PacesBuilder<C> {
        self.limits.push(Limit { count: limit, interval, burst });
        self
    }

    /// Sets the longest wait that any call may have, however long it would wait; by default, there
    /// is none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::Paces;
    ///
    /// let second = Duration::from_secs(1);
    /// let paces = Paces::builder().limit(1, second).max_wait(Duration::ZERO).build()?;
    /// assert!(paces.try_admit(1));
    /// assert!(paces.reserve(1, Duration::MAX).is_err());
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn max_wait(self, max_wait: Duration) -> PacesBuilder<C> {
        PacesBuilder { max_wait, ..self }
    }

    /// Sets the clock; [`Coarse`] by default.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Precise};
    ///
    /// let builder = Paces::builder().limit(10, Duration::from_millis(10));
    /// assert!(builder.clock(Precise::default()).build()?.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> PacesBuilder<D> {
        let PacesBuilder { limits, max_wait, allows_coarse_clock, .. } = self;
        PacesBuilder { limits, max_wait, clock, allows_coarse_clock }
    }

    /// Allows a clock whose resolution is coarser than a tenth of a burst's periods together, as
    /// [`PaceBuilder::allow_coarse_clock`](crate::pace::PaceBuilder::allow_coarse_clock).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Ticker};
    ///
    /// let clock = Ticker::start(Duration::from_millis(4));
    /// let builder = Paces::builder().limit(10, Duration::from_millis(10)).clock(clock);
    /// assert!(builder.clone().build().is_err());
    /// assert!(builder.allow_coarse_clock().build()?.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn allow_coarse_clock(self) -> PacesBuilder<C> {
        PacesBuilder { allows_coarse_clock: true, ..self }
    }

    /// Builds the limits, of which nothing is taken yet.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if there are no limits or more than four; if a limit, an interval or a burst
    /// is zero; if a burst times its period is above 2^62 nanoseconds; or if the clock is too
    /// coarse for the limits.
    ///
    /// ```
    /// let error = windrow::Paces::builder().build().unwrap_err();
    /// assert_eq!(error.to_string(), "there are 0 limits; there must be at least 1");
    /// ```
    pub fn build(self) -> Result<Paces<C>, LimitError> {
        let (limits, most) = (self.limits.len(), MOST_LIMITS);
        if limits == 0 {
            return Err(LimitError::NoLimits);
        }
        if limits > most {
            return Err(LimitError::TooManyLimits { limits, most });
        }
        let mut rates = [Rate::default(); MOST_LIMITS];
        for (rate, Limit { count, interval, burst }) in rates.iter_mut().zip(self.limits) {
            *rate = Rate::new(count, interval, burst)?;
            if !self.allows_coarse_clock {
                rate.check_clock(&self.clock)?;
            }
        }
        let all = Limits { rates: Rates::new(rates), count: limits, ends: Wide::new([0; WORDS]) };
        let (max_wait, vacancies) = (saturating_nanos(self.max_wait), Vacancies::new());
        Ok(Paces { all, max_wait, vacancies, clock: self.clock })
    }
}
