//! A level whose maximum a window keeps, bucket by bucket.
//!
//! Each operation changes the level first, and then records the level that it raises, by the
//! clock's reading of that moment. A read looks at the level first and at the window afterwards. So
//! if it misses an operation in the level, and the operation has returned when it looks at the
//! window, it finds the operation there.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::entered::{InFlightGuard, LevelOwner};
use super::level::InFlight;
use crate::at_most::AtMost;
use crate::clock::{Clock, Coarse};
use crate::error::OutOfRangeError;
use crate::event::cells::EventCells;
use crate::event::kinds::sealed::HasMaximum;
use crate::event::{Event, Events, cells_of};
use crate::window::SlidingWindow;

/// A gauge of operations in progress that also keeps its peak in each bucket of a window: from
/// [`InFlight::record_peaks`].
///
/// A cheap `Copy` view that borrows the level and the window and names the event: create it on
/// demand.
///
/// ```
/// use windrow::{InFlight, SlidingWindow, events, AtMost, in_flight::Peaks};
///
/// events! { pub enum Http { Pass: Count, InFlight: Maximum } }
///
/// pub struct Endpoint {
///     window: SlidingWindow<Http>,
///     in_flight: InFlight,
/// }
///
/// impl Endpoint {
///     pub fn in_flight(&self) -> Peaks<'_, Http> {
///         self.in_flight.record_peaks(&self.window, Http::InFlight)
///     }
/// }
///
/// let window = SlidingWindow::builder().build()?;
/// let endpoint = Endpoint { window, in_flight: InFlight::new() };
/// let one = endpoint.in_flight().enter(1);
/// let other = endpoint.in_flight().try_enter(1, AtMost(100));
/// drop((one, other));
/// assert_eq!((endpoint.in_flight.level(), endpoint.in_flight().peak()), (0, 2));
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// # What a bucket's maximum is
///
/// Each enter records the level after it, each leave the level before it, in the bucket of the
/// clock's reading right after the operation. So a bucket's maximum is the greatest of the levels
/// that its operations began or ended: exact, never higher than a level that occurred, and never
/// lower. If the bucket has an operation, this is the peak from its beginning to its end; except
/// that a thread that stands still between its operation and its reading counts in a later bucket.
///
/// A bucket without an operation has no maximum: the level was constant then, and the window does
/// not know it. It was at most the maximum of the last bucket with operations before it, and at
/// most that of the first one after it. To record it, call [`enter(0)`](Self::enter) once a bucket.
/// For a span that ends now, [`peak`](Self::peak) is right without that.
///
/// All of the window's reads include these maxima: of an interval, a
/// [tier](crate::WindowBuilder::tier), a [snapshot](SlidingWindow::snapshot), a
/// [drain](SlidingWindow::drain_closed), a lifetime. Operations by the [`InFlight`] itself, without
/// the window, change the level. No maximum includes them before the next operation with the
/// window.
#[must_use = "it records the operations that enter by it, and none by itself"]
pub struct Peaks<'a, E, C = Coarse> {
    in_flight: &'a InFlight,
    window: &'a SlidingWindow<E, C>,
    event: Event<E>,
    /// The event's cells: looked up once, before anything enters.
    cells: EventCells,
}

/// # Peaks
impl InFlight {
    /// Records the level in a `Maximum` event of `window` too, which keeps the maximum of each
    /// bucket.
    ///
    /// The event is of the kind [`Maximum`](crate::Kind::Maximum), and used for this level alone.
    /// An event of the kind [`Value`](crate::Kind::Value) or `Histogram` records the same values,
    /// one for each operation.
    ///
    /// ```
    /// use windrow::{InFlight, SlidingWindow, events};
    ///
    /// events! { enum Pool { Busy: Maximum } }
    ///
    /// let (busy, window) = (InFlight::new(), SlidingWindow::<Pool>::builder().build()?);
    /// drop(busy.record_peaks(&window, Pool::Busy).enter(5));
    /// assert_eq!(window.stats(Pool::Busy).max, Some(5));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline]
    pub fn record_peaks<'a, E: Events, K: HasMaximum, C: Clock>(
        &'a self,
        window: &'a SlidingWindow<E, C>,
        event: Event<E, K>,
    ) -> Peaks<'a, E, C> {
        Peaks { in_flight: self, window, event: event.erased(), cells: cells_of(event) }
    }
}

impl<'a, E: Events, C: Clock> Peaks<'a, E, C> {
    /// Adds `weight` to the level; the returned guard subtracts it when dropped. Each of the two
    /// costs what it does in [`InFlight::enter`], and an add to the window.
    ///
    /// A weight of zero leaves the level as it is, and records it.
    ///
    /// ```
    /// # windrow::events! { enum Pool { Busy: Maximum } }
    /// # let window = windrow::SlidingWindow::<Pool>::builder().build()?;
    /// let busy = windrow::InFlight::new();
    /// let peaks = busy.record_peaks(&window, Pool::Busy);
    /// let query = peaks.enter(2);
    /// assert_eq!(window.stats(Pool::Busy).max, Some(2));
    /// # drop(query);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline]
    pub fn enter(&self, weight: u64) -> InFlightGuard<Peaks<'a, E, C>> {
        self.entered(self.in_flight.rise(weight), weight)
    }

    /// Adds `weight`, if the level is then at most `limit`: see [`InFlight::try_enter`]. A refusal
    /// writes nothing to the window.
    ///
    /// ```
    /// # windrow::events! { enum Pool { Busy: Maximum } }
    /// # let window = windrow::SlidingWindow::<Pool>::builder().build()?;
    /// use windrow::AtMost;
    ///
    /// let busy = windrow::InFlight::new();
    /// let peaks = busy.record_peaks(&window, Pool::Busy);
    /// let query = peaks.try_enter(1, AtMost(1));
    /// assert!(query.is_some() && peaks.try_enter(1, AtMost(1)).is_none());
    /// assert_eq!(window.stats(Pool::Busy).max, Some(1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline]
    #[must_use = "the weight leaves when the guard is dropped: bind it to a name, such as `_guard`"]
    pub fn try_enter(&self, weight: u64, limit: AtMost) -> Option<InFlightGuard<Peaks<'a, E, C>>> {
        let level = self.in_flight.try_rise(weight, limit)?;
        Some(self.entered(level, weight))
    }

    /// Returns the guard of a weight that has entered. Until the level is recorded, the guard is
    /// one without the window, so that the weight leaves if the window's clock panics.
    #[inline]
    fn entered(&self, level: u64, weight: u64) -> InFlightGuard<Peaks<'a, E, C>> {
        let inside = InFlightGuard::new(self.in_flight, weight);
        self.window.put(self.cells, level);
        inside.owned_by(*self)
    }

    /// Returns the peak: the greatest level in the interval that ends now.
    ///
    /// It is the greater of the level and the window's maximum. So it is right for quiet times too:
    /// as long as nothing enters or leaves, the level is constant. An operation that runs meanwhile
    /// may be included or not; if not, the level that this operation ends may be missed. Costs a
    /// load, and [`SlidingWindow::stats`].
    ///
    /// ```
    /// # windrow::events! { enum Pool { Busy: Maximum } }
    /// use std::time::Duration;
    /// use windrow::{InFlight, SlidingWindow, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let window = SlidingWindow::<Pool>::builder().clock(clock.clone()).build()?; // one second
    /// let busy = InFlight::new();
    /// let peaks = busy.record_peaks(&window, Pool::Busy);
    ///
    /// let long = peaks.enter(1);
    /// drop(peaks.enter(1));
    /// assert_eq!(peaks.peak(), 2);
    /// clock.advance(Duration::from_secs(60));
    /// assert_eq!((window.stats(Pool::Busy).max, peaks.peak()), (None, 1));
    /// # drop(long);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn peak(&self) -> u64 {
        let level = self.in_flight.level();
        level.max(self.window.stats(self.event).max.unwrap_or(0))
    }

    /// Returns the [`peak`](Self::peak) of the newest part of the interval, or of a
    /// [tier](crate::WindowBuilder::tier), rounded up to whole buckets as by
    /// [`SlidingWindow::over`].
    ///
    /// # Errors
    ///
    /// [`OutOfRangeError`] if the span is zero, or longer than the interval and all tiers.
    ///
    /// ```
    /// # windrow::events! { enum Pool { Busy: Maximum } }
    /// # use std::time::Duration;
    /// let window = windrow::SlidingWindow::<Pool>::builder()
    ///     .tier(Duration::from_secs(1), 60) // and the last minute, by the second
    ///     .build()?;
    /// let busy = windrow::InFlight::new();
    /// let peaks = busy.record_peaks(&window, Pool::Busy);
    /// drop(peaks.enter(3));
    /// assert_eq!(peaks.peak_over(Duration::from_secs(60))?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn peak_over(&self, span: Duration) -> Result<u64, OutOfRangeError> {
        let level = self.in_flight.level();
        let over = self.window.over(span)?;
        Ok(level.max(over.stats(self.event).max.unwrap_or(0)))
    }
}

impl<E: Events, C: Clock> LevelOwner for Peaks<'_, E, C> {
    #[inline]
    fn in_flight(&self) -> &InFlight {
        self.in_flight
    }

    #[inline]
    fn left(&self, before: u64) {
        self.window.put(self.cells, before);
    }
}

impl<E, C> Clone for Peaks<'_, E, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, C> Copy for Peaks<'_, E, C> {}

/// Shows the level and the event.
impl<E: Events, C> Debug for Peaks<'_, E, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Peaks { in_flight, event, .. } = self;
        f.debug_struct("Peaks").field("level", &in_flight.level()).field("event", event).finish()
    }
}
