//! The builder of several limits.

use std::time::Duration;

use super::Paces;
use super::packed::{Packed, Rate};
use crate::clock::{Clock, Coarse};
use crate::pace::error::PaceError;
use crate::sync::AtomicU64;

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
/// # Ok::<(), windrow::pace::PaceError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PacesBuilder<C = Coarse> {
    rates: Vec<Rate>,
    max_wait: Option<Duration>,
    clock: C,
    allows_coarse_clock: bool,
}

impl PacesBuilder {
    pub(super) fn new() -> PacesBuilder {
        let clock = Coarse::default();
        PacesBuilder { rates: Vec::new(), max_wait: None, clock, allows_coarse_clock: false }
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
    /// # Ok::<(), windrow::pace::PaceError>(())
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
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn limit_with_burst(
        mut self,
        limit: u64,
        interval: Duration,
        burst: u64,
    ) -> PacesBuilder<C> {
        self.rates.push(Rate { limit, interval, burst });
        self
    }

    /// Sets the longest wait that any call may ask for; by default, the shortest interval. A longer
    /// one takes bits of the [quantum](Paces::quantum).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::Paces;
    ///
    /// let second = Duration::from_secs(1);
    /// let paces = Paces::builder().limit(1, second).max_wait(Duration::ZERO).build()?;
    /// assert!(paces.try_admit(1));
    /// assert!(paces.reserve(1, Duration::MAX).is_err());
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn max_wait(self, max_wait: Duration) -> PacesBuilder<C> {
        PacesBuilder { max_wait: Some(max_wait), ..self }
    }

    /// Sets the clock; [`Coarse`] by default.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Precise};
    ///
    /// let builder = Paces::builder().limit(10, Duration::from_millis(10));
    /// assert!(builder.clock(Precise::default()).build()?.try_admit(1));
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> PacesBuilder<D> {
        let PacesBuilder { rates, max_wait, allows_coarse_clock, .. } = self;
        PacesBuilder { rates, max_wait, clock, allows_coarse_clock }
    }

    /// Allows a clock whose resolution is coarser than a tenth of the shortest interval. The
    /// promise holds by the clock's readings.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Ticker};
    ///
    /// let clock = Ticker::start(Duration::from_millis(4));
    /// let builder = Paces::builder().limit(10, Duration::from_millis(10)).clock(clock);
    /// assert!(builder.clone().build().is_err());
    /// assert!(builder.allow_coarse_clock().build()?.try_admit(1));
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn allow_coarse_clock(self) -> PacesBuilder<C> {
        PacesBuilder { allows_coarse_clock: true, ..self }
    }

    /// Builds the limits, of which nothing is taken yet.
    ///
    /// # Errors
    ///
    /// [`PaceError`] if there are no limits or more than four; if a limit, an interval or a burst
    /// is zero; if the clock is too coarse; or if no quantum of at most a tenth of the shortest
    /// interval leaves room for all levels and for 30 years in 64 bits.
    ///
    /// ```
    /// let error = windrow::Paces::builder().build().unwrap_err();
    /// assert_eq!(error.to_string(), "there are 0 limits; there must be at least 1");
    /// ```
    pub fn build(self) -> Result<Paces<C>, PaceError> {
        let shortest = self.rates.iter().map(|rate| rate.interval).min();
        let shortest = shortest.ok_or(PaceError::NoLimits)?;
        let packed = Packed::new(&self.rates, shortest, self.max_wait.unwrap_or(shortest))?;
        let resolution = self.clock.resolution();
        if !self.allows_coarse_clock && resolution > shortest / 10 {
            return Err(PaceError::ClockTooCoarse { resolution, span: shortest });
        }
        let origin = self.clock.now().as_nanos();
        Ok(Paces { packed, origin, word: AtomicU64::new(0), clock: self.clock })
    }
}
