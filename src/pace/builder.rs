//! The builder of a pace.

use std::time::Duration;

use super::{Pace, Terms};
use crate::clock::{Clock, Coarse};
use crate::error::LimitError;

/// A builder of a [`Pace`], made by [`Pace::builder`].
///
/// ```
/// use std::time::Duration;
/// use windrow::{Pace, clock::Precise};
///
/// let pace = Pace::builder(Duration::from_micros(500)) // 2000 a second
///     .burst(10)
///     .clock(Precise::default())
///     .build()?;
/// assert!(pace.try_admit(1));
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PaceBuilder<C = Coarse> {
    period: Duration,
    burst: u64,
    clock: C,
    allows_coarse_clock: bool,
}

impl PaceBuilder {
    pub(super) fn new(period: Duration) -> PaceBuilder {
        PaceBuilder { period, burst: 1, clock: Coarse::default(), allows_coarse_clock: false }
    }
}

impl<C: Clock> PaceBuilder<C> {
    /// Sets the burst, 1 by default: the weight that is admitted at once after a rest of a period
    /// for each unit.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let pace = windrow::Pace::builder(Duration::from_millis(100)).burst(5).build()?;
    /// assert!((0..5).all(|_| pace.try_admit(1)));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn burst(self, burst: u64) -> PaceBuilder<C> {
        PaceBuilder { burst, ..self }
    }

    /// Sets the clock; [`Coarse`] by default.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Precise};
    ///
    /// let pace = Pace::builder(Duration::from_millis(5)).clock(Precise::default()).build()?;
    /// assert!(pace.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> PaceBuilder<D> {
        let PaceBuilder { period, burst, allows_coarse_clock, .. } = self;
        PaceBuilder { period, burst, clock, allows_coarse_clock }
    }

    /// Allows a clock whose resolution is coarser than a tenth of the burst's periods together.
    ///
    /// The promise still holds, by the clock's readings. But what is admitted without a wait is
    /// admitted when the reading changes: with a burst of 1, at most one call in each period
    /// rounded up to the clock's steps.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{LimitError, Pace, clock::Ticker};
    ///
    /// let builder = Pace::builder(Duration::from_millis(2))
    ///     .clock(Ticker::start(Duration::from_millis(1)));
    /// let error = builder.clone().build().unwrap_err();
    /// assert!(matches!(error, LimitError::ClockTooCoarse { .. }));
    /// assert!(builder.allow_coarse_clock().build()?.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn allow_coarse_clock(self) -> PaceBuilder<C> {
        PaceBuilder { allows_coarse_clock: true, ..self }
    }

    /// Makes the pace, which has admitted nothing yet.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if the period or the burst is zero, if the burst's periods are longer
    /// together than 2^62 nanoseconds, or if the clock is too coarse for them.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let error = windrow::Pace::builder(Duration::ZERO).build().unwrap_err();
    /// assert_eq!(error.to_string(), "the period is 0 s; it must be at least 1 ns");
    /// ```
    pub fn build(self) -> Result<Pace<C>, LimitError> {
        let terms = Terms::new(self.period, self.burst)?;
        if !self.allows_coarse_clock {
            terms.check_clock(&self.clock)?;
        }
        Ok(Pace::made_of(terms, self.clock))
    }
}
