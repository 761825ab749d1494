//! Building a window.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::error::BuildError;
use crate::event::{Events, Positions};
use crate::ring::{Geometry, Ring};
use crate::timestamp::saturating_nanos;
use crate::window::SlidingWindow;

impl<E: Events> SlidingWindow<E, Coarse> {
    /// Returns a builder for a window. By default, it has one second in two buckets, and the
    /// [`Coarse`] clock.
    ///
    /// [`WindowBuilder::clock`] sets another clock. For a window whose type names another clock,
    /// [`WindowBuilder::default`] returns a builder that has the default clock of that type.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!((window.interval().as_secs(), window.buckets()), (1, 2));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn builder() -> WindowBuilder<E, Coarse> {
        WindowBuilder::default()
    }
}

/// A builder for a [`SlidingWindow`]: from [`SlidingWindow::builder`].
///
/// The defaults are Sentinel's: one second in two buckets, on the [`Coarse`] clock.
///
/// ```
/// use std::time::Duration;
/// use windrow::{SlidingWindow, clock::Precise, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// let window = SlidingWindow::<Hits>::builder()
///     .interval(Duration::from_millis(100))
///     .buckets(10)
///     .clock(Precise::default())
///     .build()?;
/// assert_eq!(window.buckets(), 10);
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[must_use]
pub struct WindowBuilder<E, C = Coarse> {
    interval: Duration,
    buckets: usize,
    /// Length and number of the buckets of each tier.
    tiers: Vec<(Duration, usize)>,
    /// In nanoseconds.
    max_lead: u64,
    clock: C,
    allows_coarse_clock: bool,
    events: PhantomData<fn(E) -> E>,
}

/// Returns a builder of one second in two buckets, on the clock type's default.
///
/// Use it for a clock that is named in a type. ([`SlidingWindow::builder`] is for the [`Coarse`]
/// clock alone. If it were generic, the compiler could not infer the first clock of
/// `SlidingWindow::builder().clock(..)`.)
///
/// ```
/// use windrow::{WindowBuilder, SlidingWindow, clock::Manual, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// let window: SlidingWindow<Hits, Manual> = WindowBuilder::default().buckets(4).build()?;
/// assert_eq!(window.buckets(), 4);
/// # Ok::<(), windrow::BuildError>(())
/// ```
impl<E: Events, C: Clock + Default> Default for WindowBuilder<E, C> {
    fn default() -> WindowBuilder<E, C> {
        WindowBuilder {
            interval: Duration::from_secs(1),
            buckets: 2,
            tiers: Vec::new(),
            max_lead: u64::MAX,
            clock: C::default(),
            allows_coarse_clock: false,
            events: PhantomData,
        }
    }
}

impl<E: Events, C: Clock> WindowBuilder<E, C> {
    /// Sets the span that the window covers; one second by default.
    ///
    /// A sum covers at most this span, and at least one bucket less. For a limit that must not
    /// forget early, add a bucket: with 10.1 s in 101 buckets, every add of the last 10 s is
    /// counted.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let window = windrow::SlidingWindow::<Hits>::builder().interval(minute).build()?;
    /// assert_eq!(window.interval(), minute);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "covers_at_least")]
    pub fn interval(self, interval: Duration) -> WindowBuilder<E, C> {
        WindowBuilder { interval, ..self }
    }

    /// Sets the number of equal buckets into which the interval is cut; two by default.
    ///
    /// The interval slides by one bucket at a time: with `n` buckets a sum covers between
    /// `n - 1` and `n` of them in full (see [`SlidingWindow::sum`]).
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().buckets(10).build()?;
    /// assert_eq!(window.buckets(), 10);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn buckets(self, buckets: usize) -> WindowBuilder<E, C> {
        WindowBuilder { buckets, ..self }
    }

    /// Adds a tier: `buckets` coarser buckets, each `length` long, which the same adds fill. Each
    /// call adds one tier. Its `length` must be a multiple of the length of the buckets below,
    /// which are those of the tier before or of the window; and at most the interval they cover.
    ///
    /// A tier reaches further back than the window's own buckets, at its own resolution. It costs
    /// an add nothing, and the opening of a bucket some ten nanoseconds.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(1))
    ///     .buckets(10)
    ///     .tier(Duration::from_secs(1), 60)
    ///     .tier(Duration::from_secs(60), 60)
    ///     .build()?;
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn tier(mut self, length: Duration, buckets: usize) -> WindowBuilder<E, C> {
        self.tiers.push((length, buckets));
        self
    }

    /// Sets the clock; [`Coarse`] by default.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> WindowBuilder<E, D> {
        let WindowBuilder { interval, buckets, tiers, max_lead, .. } = self;
        let WindowBuilder { allows_coarse_clock, events, .. } = self;
        WindowBuilder { interval, buckets, tiers, max_lead, clock, allows_coarse_clock, events }
    }

    /// Bounds the distance ahead of the newest bucket at which one add may open another: from start
    /// to start, `max_lead` or one bucket, whichever is more. Unbounded by default.
    ///
    /// An add that leads by more is counted as [`late`](SlidingWindow::late), and
    /// [`add_at`](SlidingWindow::add_at) refuses it. Set a bound for a clock that may leap, or a
    /// log whose dates may be wrong: without one, the window follows a single wrong reading, and
    /// all other adds are late until the clock gets there.
    ///
    /// Choose more than the longest time that passes without an add. After a longer pause the
    /// window no longer follows its clock, and all adds are late until
    /// [`clear`](SlidingWindow::clear), which begins anew at the clock's time. A window that
    /// [`close_past`](SlidingWindow::close_past) is called on more often than every `max_lead`
    /// keeps up with its clock, even if no thread adds to it.
    ///
    /// The setting costs an add nothing, and the opening of a bucket a comparison.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    /// use windrow::Timestamp;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .max_lead(Duration::from_secs(3_600))
    ///     .clock(clock.clone())
    ///     .build()?;
    /// clock.set(Timestamp::from_secs(1_000_000)); // a wrong reading
    /// window.add(Hits::Hit, 1);
    /// clock.set(Timestamp::from_secs(7));
    /// window.add(Hits::Hit, 2);
    /// assert_eq!((window.sum(Hits::Hit), window.late(Hits::Hit).sum), (2, 1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn max_lead(self, max_lead: Duration) -> WindowBuilder<E, C> {
        WindowBuilder { max_lead: saturating_nanos(max_lead), ..self }
    }

    /// Allows a clock whose resolution is coarser than a tenth of a bucket.
    ///
    /// No count is lost, but buckets are unequal: each has the adds of the clock's readings that
    /// lie in it. With a tick of 4 ms, buckets of 10 ms have two or three ticks each; and of
    /// buckets that are shorter than a tick, most have no adds. Sums and rates are wrong by up to a
    /// tick at each end of the interval.
    ///
    /// [`SlidingWindow::reconfigure`] does not ask the builder: it refuses a geometry for which the
    /// clock is too coarse.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    /// use windrow::{BuildError, SlidingWindow, clock::Ticker};
    ///
    /// let builder = SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_millis(10))
    ///     .clock(Ticker::start(Duration::from_millis(4)));
    /// let error = builder.clone().build().unwrap_err();
    /// assert!(matches!(error, BuildError::ClockTooCoarse { .. }));
    /// let window = builder.allow_coarse_clock().build()?;
    /// window.add(Hits::Hit, 1);
    /// assert_eq!(window.lifetime(Hits::Hit).sum, 1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn allow_coarse_clock(self) -> WindowBuilder<E, C> {
        WindowBuilder { allows_coarse_clock: true, ..self }
    }

    /// Builds the window. Its newest bucket is the one that contains the clock's time.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the interval or the number of buckets is zero, if the buckets do not
    /// divide the interval into whole nanoseconds, if either is too large, if a
    /// [tier](Self::tier) does not fit what is below it, or if the clock is coarser than a tenth of
    /// a bucket and was not [allowed](Self::allow_coarse_clock) to be.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let error = windrow::SlidingWindow::<Hits>::builder().buckets(3).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "3 buckets do not divide the interval of 1s into whole nanoseconds"
    /// );
    /// ```
    pub fn build(self) -> Result<SlidingWindow<E, C>, BuildError> {
        let geometry = Geometry::new(self.interval, self.buckets)?;
        if !self.allows_coarse_clock {
            geometry.check_clock(&self.clock)?;
        }
        // The properties of the events on which adds rely are checked when this is compiled.
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let mut tiers = Vec::new();
        for (length, buckets) in self.tiers {
            let tier = Geometry::of_length(length, buckets)?;
            tiers.last().unwrap_or(&geometry).check_tier(tier)?;
            tiers.push(tier);
        }
        let now = self.clock.now();
        let ring = Ring::new(geometry, tiers, layout, now.as_nanos())?;
        let ring = ring.with_max_lead(self.max_lead);
        Ok(SlidingWindow::made_of(ring, self.clock, now))
    }
}

impl<E, C: Clone> Clone for WindowBuilder<E, C> {
    fn clone(&self) -> WindowBuilder<E, C> {
        WindowBuilder { tiers: self.tiers.clone(), clock: self.clock.clone(), ..*self }
    }
}

/// Shows the settings of the window to be built.
impl<E, C: Debug> Debug for WindowBuilder<E, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowBuilder")
            .field("interval", &self.interval)
            .field("buckets", &self.buckets)
            .field("tiers", &self.tiers)
            .field("max_lead", &self.max_lead)
            .field("clock", &self.clock)
            .field("allows_coarse_clock", &self.allows_coarse_clock)
            .finish()
    }
}
