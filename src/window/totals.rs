//! Totals: all events of a window over one span.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::clock::Clock;
use crate::event::cells::EventCells;
use crate::event::debug_output::debug_event_fields;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasDistribution, HasSum};
use crate::event::snapshot_numbers::Kept;
use crate::event::{Event, Events, Positions, Stats, cells_of, number_of};
use crate::histogram::Distribution;
use crate::ring::{RingAndClock, Span, View};
use crate::timestamp::Timestamp;
use crate::window::SlidingWindow;
use crate::window::rate::per_second;

/// Stats of all events over one span of a window: from [`SlidingWindow::totals`],
/// [`Over`](crate::snapshot::Over), [`Snapshot::totals`](crate::snapshot::Snapshot::totals) and
/// [`Moment::since`](crate::snapshot::Moment::since). Those of a family of windows are all-time, of
/// all windows together, removed ones included: they are the family's `lifetime`.
///
/// A copy, stored inline. It is *not* an atomic snapshot: all its numbers are of the same buckets,
/// but each was read at some moment during the call, and adds that run at the same time may be
/// included or not, in any combination. So two events to which a thread always adds together may
/// differ. If no thread adds meanwhile, it is exact. Count, sum, minimum and maximum of one event
/// agree as in [`SlidingWindow::stats`].
///
/// ```
/// use windrow::{SlidingWindow, events};
///
/// events! { enum Http { Success: Count, Failure: Count, Micros: Value } }
///
/// let window = SlidingWindow::<Http>::builder().build()?;
/// window.add(Http::Success, 3);
/// window.add(Http::Failure, 1);
/// let now = window.totals();
/// let all = now.sum(Http::Success) + now.sum(Http::Failure);
/// assert_eq!(now.sum(Http::Failure) as f64 / all as f64, 0.25);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// [`SlidingWindow::totals`]: crate::SlidingWindow::totals
/// [`SlidingWindow::stats`]: crate::SlidingWindow::stats
#[doc(alias = "LifetimeTotals")]
pub struct Totals<E: Events> {
    at: Timestamp,
    end: Timestamp,
    interval: Duration,
    cells: E::Cells,
    /// False for a difference, whose cells of minimum and maximum mean nothing.
    has_extremes: bool,
}

impl<E: Events> Totals<E> {
    /// Reads a span of the view's, which ends with the bucket of `at`.
    pub(crate) fn of<'g>(view: &View<'g>, span: Span<'g>, at: Timestamp) -> Totals<E> {
        let interval = Duration::from_nanos(span.covers());
        let end = span.end().map_or(at, Timestamp::from_nanos);
        let none = <E::Cells as Positions<E>>::ZERO;
        Totals::over(at, end, interval, view.cells_in(span, &none))
    }

    /// Makes totals of the buckets of an interval, up to `end`, from the cells that they add up to.
    pub(crate) fn over(
        at: Timestamp,
        end: Timestamp,
        interval: Duration,
        cells: E::Cells,
    ) -> Totals<E> {
        Totals { at, end, interval, cells, has_extremes: true }
    }

    /// Makes totals of a difference: of the adds from one time to another.
    pub(crate) fn between(from: Timestamp, to: Timestamp, cells: E::Cells) -> Totals<E> {
        Totals { at: to, end: to, interval: to - from, cells, has_extremes: false }
    }

    /// Reads the all-time totals of a window.
    pub(crate) fn ever<C: Clock>(window: &SlidingWindow<E, C>) -> Totals<E> {
        let now = window.clock().now();
        let (ring, wide) = (window.ring(), Kept::<E>::wide());
        let mut all = <E::Cells as Positions<E>>::ZERO;
        let cells = all.as_mut();
        let others = wide.end;
        for (position, pair) in ring.lifetimes(wide) {
            cells[position..position + 2].copy_from_slice(&pair);
        }
        // The extremes come last: they are those of all values that were counted.
        for (position, cell) in cells.iter_mut().enumerate().skip(others) {
            *cell = ring.lifetime(position);
        }
        Totals::over(now, now, now - window.built(), all)
    }

    /// Adds the all-time totals of another window. Those of no window change nothing.
    pub(crate) fn join(&mut self, other: &Totals<E>) {
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let cells = self.cells.as_mut().iter_mut().zip(other.cells.as_ref());
        for (position, (cell, other)) in cells.enumerate() {
            *cell = layout.join(position, *cell, *other);
        }
        self.at = self.at.max(other.at);
        self.end = self.end.max(other.end);
        self.interval = self.interval.max(other.interval);
    }

    /// Returns the time at which the totals were taken; for
    /// [`totals_at`](crate::snapshot::Over::totals_at), its argument.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// clock.set(windrow::Timestamp::from_millis(1_700));
    /// # let window = windrow::SlidingWindow::<Hits>::builder().clock(clock).build()?;
    /// assert_eq!(window.totals().at().as_nanos(), 1_700_000_000);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns the span that the buckets cover: the window's interval, or that of
    /// [`Over`](crate::snapshot::Over); for [`Moment::since`](crate::snapshot::Moment::since), the
    /// time between the moments; for a family, the time since its oldest window was built. Zero if
    /// there is no bucket: see [`Over::complete`](crate::snapshot::Over::complete).
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.totals().interval(), std::time::Duration::from_secs(1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns the end of the newest bucket, which lies after [`at`](Self::at) unless the buckets
    /// are [complete](crate::snapshot::Over::complete). Returns `at` if there is no bucket, or none
    /// behind time zero; and for [`Moment::since`](crate::snapshot::Moment::since).
    ///
    /// The totals are of the [interval](Self::interval) up to that end. Where a
    /// [tier](crate::WindowBuilder::tier) does not know the totals at the end that was asked for,
    /// the span ends at a later boundary that the tier knows.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// clock.set(windrow::Timestamp::from_millis(1_700));
    /// // 1 s, 2 buckets
    /// # let window = windrow::SlidingWindow::<Hits>::builder().clock(clock).build()?;
    /// assert_eq!(window.totals().end(), windrow::Timestamp::from_millis(2_000));
    /// let complete = window.over(window.interval())?.complete();
    /// assert_eq!(complete.end(), windrow::Timestamp::from_millis(1_500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// Returns the sum of an event, wrapping.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 2);
    /// assert_eq!(window.totals().sum(Hits::Hit), 2);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn sum<K: HasSum>(&self, event: Event<E, K>) -> K::Number {
        K::Number::of(self.stats(event).sum)
    }

    /// Returns count, sum, minimum and maximum of an event. There is no minimum and no maximum
    /// [since a moment](crate::snapshot::Moment::since).
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Latency, 40);
    /// window.record(Disk::Latency, 50);
    /// let stats = window.totals().stats(Disk::Latency);
    /// assert_eq!((stats.mean(), stats.max), (Some(45.0), Some(50)));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "mean")]
    pub fn stats<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        self.stats_of(cells_of(event))
    }

    /// Returns the distribution of a `Histogram` event's values:
    /// [percentiles](crate::SlidingWindow#percentiles). Allocates once.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// window.record(Http::Rt, 7_000);
    /// assert_eq!(window.totals().distribution(Http::Rt).quantile(0.99), Some(7_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        let (places, cells) = (cells_of(event).places(), self.cells.as_ref());
        places.map_or_else(Distribution::default, |places| {
            if !self.has_extremes {
                return places.without_extremes(|position| cells[position]);
            }
            let extremes = places.extremes().map(|position| cells[position]);
            places.of(&cells[places.cells()], extremes)
        })
    }

    /// The stats of the event with these cells.
    fn stats_of(&self, index: EventCells) -> Stats {
        let cells = self.cells.as_ref();
        let stats = index.stats(|position| cells[position]);
        if self.has_extremes { stats } else { Stats { min: None, max: None, ..stats } }
    }

    /// Returns the adds to a `Count` event per second of the [interval](Self::interval); the
    /// records per second of a `Value` event. It has the error of
    /// [`SlidingWindow::rate`](crate::SlidingWindow::rate), unless the buckets are
    /// [complete](crate::snapshot::Over::complete). 0 if there is no bucket.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?; // one second
    /// window.record(Disk::Latency, 40);
    /// window.record(Disk::Latency, 50);
    /// assert_eq!(window.totals().rate(Disk::Latency), 2.0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn rate<K: HasSum>(&self, event: Event<E, K>) -> f64 {
        per_second(number_of(event, self.stats(event).count), self.interval.as_nanos() as u64)
    }
}

/// Returns the totals of no window.
impl<E: Events> Default for Totals<E> {
    fn default() -> Totals<E> {
        let zero = Timestamp::from_nanos(0);
        Totals::over(zero, zero, Duration::ZERO, <E::Cells as Positions<E>>::ZERO)
    }
}

impl<E: Events> Clone for Totals<E> {
    fn clone(&self) -> Totals<E> {
        Totals { cells: self.cells.clone(), ..*self }
    }
}

/// Shows the time, the interval, and each event's stats.
#[allow(clippy::missing_fields_in_debug)] // the stats show the cells
impl<E: Events> Debug for Totals<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Totals");
        shown.field("at", &self.at).field("interval", &self.interval);
        debug_event_fields::<E>(&mut shown, |cells| self.stats_of(cells));
        shown.finish()
    }
}
