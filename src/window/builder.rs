//! Making a window.

use std::marker::PhantomData;
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::error::BuildError;
use crate::event::{Event, Positions};
use crate::ring::{Geometry, Ring};
use crate::window::{SlidingWindow, geometry};

impl<E: Event> SlidingWindow<E, Coarse> {
    /// A builder for a window. By default, it has one second in two buckets.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!((window.interval().as_secs(), window.buckets()), (1, 2));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn builder() -> Builder<E, Coarse> {
        Builder::new()
    }
}

/// Makes a [`SlidingWindow`]: from [`SlidingWindow::builder`].
///
/// Defaults are Sentinel's: one second in two buckets, on the [`Coarse`] clock.
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
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder<E, C = Coarse> {
    interval: Duration,
    buckets: usize,
    /// Length and number of the buckets of each tier.
    tiers: Vec<(Duration, usize)>,
    clock: C,
    events: PhantomData<E>,
}

impl<E: Event> Builder<E, Coarse> {
    pub(crate) fn new() -> Builder<E, Coarse> {
        Builder {
            interval: Duration::from_secs(1),
            buckets: 2,
            tiers: Vec::new(),
            clock: Coarse::default(),
            events: PhantomData,
        }
    }
}

impl<E: Event, C: Clock> Builder<E, C> {
    /// The span that the window covers; one second by default.
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
    pub fn interval(self, interval: Duration) -> Builder<E, C> {
        Builder { interval, ..self }
    }

    /// How many equal buckets the interval is cut into; two by default.
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
    pub fn buckets(self, buckets: usize) -> Builder<E, C> {
        Builder { buckets, ..self }
    }

    /// A tier: so many coarser buckets, each `length` long, which the same adds fill. Each call adds one, coarser
    /// than the one before.
    ///
    /// A tier reaches further back than the window's own buckets, at its own resolution. It costs an add
    /// nothing, and the opening of a bucket some ten nanoseconds.
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
    pub fn tier(mut self, length: Duration, buckets: usize) -> Builder<E, C> {
        self.tiers.push((length, buckets));
        self
    }

    /// The clock; [`Coarse`] by default.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> Builder<E, D> {
        let Builder { interval, buckets, tiers, events, .. } = self;
        Builder { interval, buckets, tiers, clock, events }
    }

    /// Makes the window. Its newest bucket is the one that contains the clock's now.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the interval or the number of buckets is zero, if the buckets do not divide
    /// the interval into whole nanoseconds, if either is too large, or if the clock is coarser than a
    /// tenth of a bucket.
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
        let geometry = geometry(self.interval, self.buckets, &self.clock)?;
        // All that adds later trust the events to keep is checked when this is compiled.
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let mut tiers = Vec::new();
        for (length, buckets) in self.tiers {
            let tier = Geometry::of_length(length, buckets)?;
            tiers.last().unwrap_or(&geometry).check_tier(tier)?;
            tiers.push(tier);
        }
        let ring = Ring::new(geometry, tiers, layout, self.clock.now().as_nanos())?;
        Ok(SlidingWindow::new(ring, self.clock))
    }
}
