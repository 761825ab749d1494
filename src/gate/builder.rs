//! The builder of a gate.

use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::error::{BuildError, LimitError};
use crate::gate::Gate;
use crate::gate::first_permits::Permits;
use crate::gate::head_sheet::{Ledger, Manner};
use crate::gate::rationed::RationedGate;
use crate::gate::terms::Terms;
use crate::ring::Geometry;

/// A builder of a [`Gate`], made by [`Gate::builder`].
///
/// The defaults are those of a window: one second in two buckets, on the [`Coarse`] clock.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Gate, clock::Precise};
///
/// let gate = Gate::builder(1_000)
///     .interval(Duration::from_millis(100))
///     .buckets(10)
///     .clock(Precise::default())
///     .build()?;
/// assert!(gate.try_admit(1));
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct GateBuilder<C = Coarse> {
    limit: u64,
    interval: Duration,
    buckets: usize,
    is_strict: bool,
    clock: C,
    allows_coarse_clock: bool,
    has_sheets: bool,
}

impl GateBuilder {
    pub(super) fn new(limit: u64) -> GateBuilder {
        GateBuilder {
            limit,
            interval: Duration::from_secs(1),
            buckets: 2,
            is_strict: false,
            clock: Coarse::default(),
            allows_coarse_clock: false,
            has_sheets: false,
        }
    }
}

impl<C: Clock> GateBuilder<C> {
    /// Sets the interval in which the gate admits at most its limit; one second by default.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let gate = windrow::Gate::builder(100).interval(minute).build()?;
    /// assert_eq!(gate.interval(), minute);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn interval(self, interval: Duration) -> GateBuilder<C> {
        GateBuilder { interval, ..self }
    }

    /// Sets the number of equal buckets in the interval; two by default.
    ///
    /// With more of them, grants are forgotten in smaller steps, and opening a bucket takes longer,
    /// by a few nanoseconds for each.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(100).buckets(10).build()?;
    /// assert_eq!(gate.buckets(), 10);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn buckets(self, buckets: usize) -> GateBuilder<C> {
        GateBuilder { buckets, ..self }
    }

    /// Makes the limit hold in every span of time as long as the interval, wherever it begins, and
    /// not only for runs of whole buckets. (The time of a grant is the [gate's time](Gate#time) at
    /// a moment of its call, or the end of its wait. As long as the clock does not step back, the
    /// gate's time is the clock's.)
    ///
    /// The gate has one more bucket than the [`buckets`](Self::buckets) of the interval, and its
    /// [interval](Gate::interval) is longer by that bucket. So it forgets up to one bucket later,
    /// and grants less in the long run: with ten buckets, ten elevenths of the limit per interval
    /// under constant overload. [`reconfigure`](Gate::reconfigure) keeps a strict gate strict: it
    /// adds one bucket to those that it is given.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let gate = windrow::Gate::builder(100).buckets(10).strict().build()?;
    /// assert_eq!((gate.interval(), gate.buckets()), (Duration::from_millis(1_100), 11));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn strict(self) -> GateBuilder<C> {
        GateBuilder { is_strict: true, ..self }
    }

    /// Sets the clock; [`Coarse`] by default.
    ///
    /// ```
    /// let clock = windrow::clock::Manual::default();
    /// let gate = windrow::Gate::builder(100).clock(clock.clone()).build()?;
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> GateBuilder<D> {
        let GateBuilder { limit, interval, buckets, is_strict, .. } = self;
        let GateBuilder { allows_coarse_clock, has_sheets, .. } = self;
        GateBuilder { limit, interval, buckets, is_strict, clock, allows_coarse_clock, has_sheets }
    }

    /// Allows a clock whose resolution is coarser than a tenth of a bucket.
    ///
    /// The limit still holds, according to the clock's readings. Buckets are of unequal length, as
    /// those of a [window](crate::WindowBuilder::allow_coarse_clock).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{BuildError, Gate, LimitError, clock::Ticker};
    ///
    /// let builder = Gate::builder(100)
    ///     .interval(Duration::from_millis(10))
    ///     .clock(Ticker::start(Duration::from_millis(4)));
    /// let error = builder.clone().build().unwrap_err();
    /// assert!(matches!(error, LimitError::Buckets(BuildError::ClockTooCoarse { .. })));
    /// assert!(builder.allow_coarse_clock().build()?.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn allow_coarse_clock(self) -> GateBuilder<C> {
        GateBuilder { allows_coarse_clock: true, ..self }
    }

    /// Allocates the gate's sheets when the gate is built. Otherwise a gate takes 64 bytes, and a
    /// later call [allocates its sheets](Gate#cost-and-progress) once it needs them.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(100).preallocate().build()?;
    /// assert!(gate.try_admit(100)); // allocates nothing
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn preallocate(self) -> GateBuilder<C> {
        GateBuilder { has_sheets: true, ..self }
    }

    /// Makes the gate. Its first bucket is the one that contains the clock's present reading.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if the limit is zero or more than 2^40, or for the reasons for which
    /// [`WindowBuilder::build`](crate::WindowBuilder::build) makes no window.
    ///
    /// ```
    /// let error = windrow::Gate::builder(0).build().unwrap_err();
    /// assert_eq!(error.to_string(), "the limit is 0; it must be at least 1");
    /// ```
    pub fn build(self) -> Result<Gate<C>, LimitError> {
        self.build_as(false)
    }

    fn build_as(self, is_rationed: bool) -> Result<Gate<C>, LimitError> {
        let mut geometry = Geometry::new(self.interval, self.buckets)?;
        if !self.allows_coarse_clock {
            geometry.check_clock(&self.clock)?;
        }
        if self.is_strict {
            geometry = geometry.with_spare()?;
        }
        let terms = Terms::new(geometry, self.limit)?;
        let manner = Manner { is_strict: self.is_strict, is_rationed };
        let now = self.clock.now().as_nanos();
        let permits = Permits::new(terms, manner, now);
        if Permits::hold(terms, manner, now) && !self.has_sheets {
            return Ok(Gate::made_of(permits, self.clock));
        }
        let buckets = self.buckets;
        let ledger = Ledger::new(terms, manner, terms.start_of(now), std::iter::empty());
        let ledger = ledger.ok_or(BuildError::TooManyBuckets { buckets })?;
        Ok(Gate::made_of(permits.with_sheets(ledger), self.clock))
    }

    /// Makes a gate like one in a static, for models: it opens its first bucket at its first use.
    ///
    /// # Panics
    ///
    /// The call panics where [`build`](Self::build) would return an error.
    #[cfg(any(loom, shuttle))]
    #[doc(hidden)]
    pub fn build_at_first_use(self, max_ration: u64) -> RationedGate<C> {
        let geometry = Geometry::new(self.interval, self.buckets).expect("a sound geometry");
        let terms = Terms::new(geometry, self.limit).expect("a sound limit");
        let manner = Manner { is_rationed: true, ..Manner::PLAIN };
        let permits = Permits::new(terms, manner, 0);
        RationedGate::at_first_use(Gate::made_of(permits, self.clock), max_ration)
    }

    /// Makes the gate, and gives each core a ration of up to `max_ration` of its limit in advance.
    ///
    /// A refill costs the same as a grant of a [`Gate`], and is shared by all calls that its ration
    /// admits; but up to `max_ration` may lie unused in the row of each other core. See
    /// [`RationedGate`].
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build), and [`LimitError::ZeroRation`].
    ///
    /// ```
    /// let gate = windrow::Gate::builder(1_000_000).build_rationed(500)?;
    /// assert!(gate.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn build_rationed(self, max_ration: u64) -> Result<RationedGate<C>, LimitError> {
        if max_ration == 0 {
            return Err(LimitError::ZeroRation);
        }
        Ok(RationedGate::new(self.build_as(true)?, max_ration))
    }
}
