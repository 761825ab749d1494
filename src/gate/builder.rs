//! Making a gate.

use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::error::{BuildError, GateError};
use crate::gate::Gate;
use crate::gate::ledger::{Ledger, Manner};
use crate::gate::rationed::RationedGate;
use crate::gate::terms::Terms;
use crate::ring::Geometry;

/// Makes a [`Gate`]: from [`Gate::builder`].
///
/// Defaults are those of a window: one second in two buckets, on the [`Coarse`] clock.
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
/// # Ok::<(), windrow::gate::GateError>(())
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
        }
    }
}

impl<C: Clock> GateBuilder<C> {
    /// The span in which the gate grants no more than its limit; one second by default.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let gate = windrow::Gate::builder(100).interval(minute).build()?;
    /// assert_eq!(gate.interval(), minute);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn interval(self, interval: Duration) -> GateBuilder<C> {
        GateBuilder { interval, ..self }
    }

    /// How many equal buckets the interval is cut into; two by default.
    ///
    /// With more of them, what was granted is forgotten in smaller steps; and opening a bucket
    /// takes longer, by one or two nanoseconds for each.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(100).buckets(10).build()?;
    /// assert_eq!(gate.buckets(), 10);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn buckets(self, buckets: usize) -> GateBuilder<C> {
        GateBuilder { buckets, ..self }
    }

    /// The limit holds for every span of time as long as the interval, wherever it begins, and not
    /// only for the buckets of an interval. Each grant has a moment there, by the clock: one
    /// between the beginning and the end of its call, or the end of its wait.
    ///
    /// The gate has one bucket more than the [`buckets`](Self::buckets) into which the interval is
    /// cut, and its [interval](Gate::interval) is that much longer. So it forgets later, by up to a
    /// bucket, and grants less in the long run: with ten buckets, ten elevenths of the limit an
    /// interval if everybody always wants more. [`reconfigure`](Gate::reconfigure) does the same
    /// with the buckets that it is given: a strict gate stays strict.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let gate = windrow::Gate::builder(100).buckets(10).strict().build()?;
    /// assert_eq!((gate.interval(), gate.buckets()), (Duration::from_millis(1_100), 11));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn strict(self) -> GateBuilder<C> {
        GateBuilder { is_strict: true, ..self }
    }

    /// The clock; [`Coarse`] by default.
    ///
    /// ```
    /// let clock = windrow::clock::Manual::default();
    /// let gate = windrow::Gate::builder(100).clock(clock.clone()).build()?;
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> GateBuilder<D> {
        let GateBuilder { limit, interval, buckets, is_strict, allows_coarse_clock, .. } = self;
        GateBuilder { limit, interval, buckets, is_strict, clock, allows_coarse_clock }
    }

    /// Allows a clock whose resolution is coarser than a tenth of a bucket.
    ///
    /// The limit holds as ever: by the clock's readings. Buckets are unequal, as those of a
    /// [window](crate::WindowBuilder::allow_coarse_clock).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{BuildError, Gate, clock::Ticker, gate::GateError};
    ///
    /// let builder = Gate::builder(100)
    ///     .interval(Duration::from_millis(10))
    ///     .clock(Ticker::start(Duration::from_millis(4)));
    /// let error = builder.clone().build().unwrap_err();
    /// assert!(matches!(error, GateError::Buckets(BuildError::ClockTooCoarse { .. })));
    /// assert!(builder.allow_coarse_clock().build()?.try_admit(1));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn allow_coarse_clock(self) -> GateBuilder<C> {
        GateBuilder { allows_coarse_clock: true, ..self }
    }

    /// Makes the gate. Its first bucket is the one that contains the clock's now.
    ///
    /// # Errors
    ///
    /// [`GateError`] if the limit is zero or more than 2^40, or for the reasons for which
    /// [`WindowBuilder::build`](crate::WindowBuilder::build) makes no window.
    ///
    /// ```
    /// let error = windrow::Gate::builder(0).build().unwrap_err();
    /// assert_eq!(error.to_string(), "the limit is 0; a gate lets at least 1 through in an interval");
    /// ```
    pub fn build(self) -> Result<Gate<C>, GateError> {
        self.build_as(false)
    }

    fn build_as(self, is_rationed: bool) -> Result<Gate<C>, GateError> {
        let mut geometry = Geometry::new(self.interval, self.buckets)?;
        if !self.allows_coarse_clock {
            geometry.check_clock(&self.clock)?;
        }
        if self.is_strict {
            geometry = geometry.with_spare()?;
        }
        let terms = Terms::new(geometry, self.limit)?;
        let manner = Manner { is_strict: self.is_strict, is_rationed };
        let ledger = Ledger::new(terms, manner, self.clock.now().as_nanos());
        let buckets = self.buckets;
        let ledger = ledger.ok_or(BuildError::TooManyBuckets { buckets })?;
        Ok(Gate::made_of(ledger, self.clock))
    }

    /// As one in a static, for models: it opens its first bucket at its first use.
    ///
    /// # Panics
    ///
    /// Where [`build`](Self::build) would return an error.
    #[cfg(any(loom, shuttle))]
    #[doc(hidden)]
    pub fn build_at_first_use(self, most: u64) -> RationedGate<C> {
        let geometry = Geometry::new(self.interval, self.buckets).expect("a sound geometry");
        let terms = Terms::new(geometry, self.limit).expect("a sound limit");
        let manner = Manner { is_rationed: true, ..Manner::PLAIN };
        let ledger = Ledger::at_first_use(terms, manner);
        RationedGate::at_first_use(Gate::made_of(ledger, self.clock), most)
    }

    /// Makes the gate, and gives each core a ration of up to `most` of its limit in advance.
    ///
    /// A refill costs what a grant of a [`Gate`] does, and is shared by all that its ration grants;
    /// but so much may lie unused in each other core's row. See [`RationedGate`].
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and [`GateError::ZeroRation`].
    ///
    /// ```
    /// let gate = windrow::Gate::builder(1_000_000).build_rationed(500)?;
    /// assert!(gate.try_admit(1));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn build_rationed(self, most: u64) -> Result<RationedGate<C>, GateError> {
        if most == 0 {
            return Err(GateError::ZeroRation);
        }
        Ok(RationedGate::new(self.build_as(true)?, most))
    }
}
