//! Making a window.

use std::marker::PhantomData;
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::error::BuildError;
use crate::event::{Event, Positions};
use crate::ring::Ring;
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
    /// Whether there is to be one bucket more than the interval needs.
    with_spare: bool,
    clock: C,
    events: PhantomData<E>,
}

impl<E: Event> Builder<E, Coarse> {
    pub(crate) fn new() -> Builder<E, Coarse> {
        Builder {
            interval: Duration::from_secs(1),
            buckets: 2,
            with_spare: false,
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
        Builder { interval, with_spare: false, ..self }
    }

    /// In place of [`interval`](Self::interval): a sum covers `span` and up to one bucket more, instead of `span`
    /// less up to one bucket.
    ///
    /// For limits that must not forget early: whatever came in the last `span` is counted. The window has one
    /// bucket more than the [`buckets`](Self::buckets) into which `span` is cut, and its
    /// [interval](SlidingWindow::interval) is that much longer than `span`. Rates divide by that interval; for
    /// one over `span`, see [`Over::weighted_rate`](crate::Over::weighted_rate).
    /// [`reconfigure`](SlidingWindow::reconfigure) adds no bucket to those that it is given.
    ///
    /// ```
    /// # windrow::events! { enum Login { Failed: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Login>::builder()
    ///     .covers_at_least(Duration::from_secs(60))
    ///     .buckets(6)
    ///     .clock(clock.clone())
    ///     .build()?;
    /// assert_eq!((window.interval(), window.buckets()), (Duration::from_secs(70), 7));
    /// clock.advance(Duration::from_secs(9));
    /// window.add(Login::Failed, 1);
    /// clock.advance(Duration::from_secs(60));
    /// assert_eq!(window.sum(Login::Failed), 1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn covers_at_least(self, span: Duration) -> Builder<E, C> {
        Builder { interval: span, with_spare: true, ..self }
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

    /// The clock; [`Coarse`] by default.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> Builder<E, D> {
        let Builder { interval, buckets, with_spare, events, .. } = self;
        Builder { interval, buckets, with_spare, clock, events }
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
        let mut geometry = geometry(self.interval, self.buckets, &self.clock)?;
        if self.with_spare {
            geometry = geometry.with_spare()?;
        }
        // All that adds later trust the events to keep is checked when this is compiled.
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let now = self.clock.now();
        let ring = Ring::new(geometry, layout, now.as_nanos())?;
        Ok(SlidingWindow::new(ring, self.clock, now))
    }
}
