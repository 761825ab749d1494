//! What was added since a moment: the difference of two running totals.
//!
//! # Theorem
//!
//! Of two moments of a window, the later taken after the earlier was returned, each number's
//! difference is exactly what was added to that number between them: every add is in one moment's
//! total or in the difference, as a whole.
//!
//! # Why
//!
//! A number's total is the sum of cells that only grow (the ring's third rule): an add is one
//! atomic step in one of them, for good. What bucket, geometry or drain it belongs to changes
//! nothing in that sum. A moment loads each cell once, so it has the add or has not. The later
//! moment loads each cell later, so it has what the earlier one has.

use std::fmt::{self, Debug, Formatter};

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::cells::EventCells;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasDistribution, HasSum, HasValues};
use crate::event::shown::show;
use crate::event::{Event, Events, Positions, Stats, cells_of};
use crate::histogram::Distribution;
use crate::window::identity::Identity;

/// # Since a moment
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns a moment of this window, from which on adds can be [counted](Self::since): when a
    /// circuit breaker half-opened, say, or when somebody last looked.
    ///
    /// Every add to an event is before the moment or after it: exactly one of the two, whatever
    /// runs at the same time. An add that returned before the call is before the moment, and one
    /// that begins when the call has returned is after it. What decides is when the add is *made*:
    /// not its timestamp, nor its bucket. So neither the interval matters, nor
    /// [`clear`](Self::clear), [`reconfigure`](Self::reconfigure) or [drains](Self::drain_closed),
    /// nor that an add is back-dated or [late](Self::late). Successive moments divide all adds
    /// among them, and nothing is left over.
    ///
    /// It is *not* one snapshot of several events: each has its own instant during the call. Nor of
    /// the two numbers of a `Value` event: of a record that is being made meanwhile, the sum may be
    /// before the moment, and the count after it.
    ///
    /// Costs what [`lifetime`](Self::lifetime) costs, for each event. No clock is read, and nothing
    /// is written or allocated.
    ///
    /// ```
    /// use windrow::{SlidingWindow, events, snapshot::Moment};
    ///
    /// events! { enum Call { Success: Count, Failure: Count } }
    ///
    /// enum State { Closed, HalfOpen(Moment<Call>), Open }
    ///
    /// let window = SlidingWindow::<Call>::builder().build()?;
    /// window.add(Call::Failure, 40); // long ago
    ///
    /// // Let some calls through, and look at these alone.
    /// let mut state = State::HalfOpen(window.moment());
    /// for outcome in [Call::Success, Call::Success, Call::Failure] {
    ///     window.add(outcome, 1);
    ///     if let State::HalfOpen(moment) = &state
    ///         && let Some(since) = window.since(moment)
    ///     {
    ///         if since.sum(Call::Failure) > 0 {
    ///             state = State::Open;
    ///         } else if since.sum(Call::Success) >= 3 {
    ///             state = State::Closed;
    ///         }
    ///     }
    /// }
    /// assert!(matches!(state, State::Open));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn moment(&self) -> Moment<E> {
        let mut cells = E::ZERO;
        let additive = <E::Cells as Positions<E>>::LAYOUT.additive();
        for (position, cell) in cells.as_mut()[..additive].iter_mut().enumerate() {
            *cell = self.ring.lifetime(position);
        }
        Moment { of: self.ring.identity(), cells }
    }

    /// What was added since a moment of this window; `None` if it is a moment of another window.
    ///
    /// It is [`moment`](Self::moment), and then [`Moment::since`]: so adds that run at the same
    /// time may be in it or not. With none running it is exact.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 5);
    /// let moment = window.moment();
    /// window.add(Hits::Hit, 2);
    /// window.clear()?;
    /// assert_eq!(window.since(&moment).map(|since| since.sum(Hits::Hit)), Some(2));
    ///
    /// let other = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert!(other.since(&moment).is_none());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn since(&self, moment: &Moment<E>) -> Option<Since<E>> {
        self.moment().since(moment)
    }
}

/// A moment of a window: from [`SlidingWindow::moment`].
///
/// It is the window's running totals, held in place: eight bytes for each cell of its events. It
/// outlives its window, and does not change.
///
/// [`SlidingWindow::moment`]: crate::SlidingWindow::moment
pub struct Moment<E: Events> {
    of: Identity,
    cells: E::Cells,
}

impl<E: Events> Moment<E> {
    /// What was added between an earlier moment and this one; `None` if the two are of different
    /// windows.
    ///
    /// So a reporter that keeps the moment of its last report misses nothing, and reports nothing
    /// twice:
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// let (mut last, mut reported) = (window.moment(), 0);
    /// for hits in 1..=4 {
    ///     window.add(Hits::Hit, hits);
    ///     let now = window.moment();
    ///     reported += now.since(&last).map_or(0, |since| since.sum(Hits::Hit));
    ///     last = now;
    /// }
    /// assert_eq!(reported, window.lifetime(Hits::Hit).sum);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    ///
    /// Numbers wrap: if `earlier` is the later one, they are what they are the other way round,
    /// less than zero.
    pub fn since(&self, earlier: &Moment<E>) -> Option<Since<E>> {
        if self.of != earlier.of {
            return None;
        }
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let mut cells = E::ZERO;
        let totals = self.cells.as_ref().iter().zip(earlier.cells.as_ref());
        for (position, (cell, (to, from))) in cells.as_mut().iter_mut().zip(totals).enumerate() {
            *cell = layout.without_pending(position, to.wrapping_sub(*from));
        }
        Some(Since { cells })
    }
}

impl<E: Events> Clone for Moment<E> {
    fn clone(&self) -> Moment<E> {
        Moment { of: self.of, cells: self.cells.clone() }
    }
}

/// Shows the running totals as they are held.
impl<E: Events> Debug for Moment<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moment").field("of", &self.of).field("cells", &self.cells).finish()
    }
}

/// What was added to a window between two moments: from [`SlidingWindow::since`] and
/// [`Moment::since`].
///
/// A copy, held in place. It has counts and sums, which are differences of running totals. A least
/// and a greatest value since a moment are not: ask the [window](crate::SlidingWindow::stats) for
/// those of its interval.
///
/// [`SlidingWindow::since`]: crate::SlidingWindow::since
pub struct Since<E: Events> {
    cells: E::Cells,
}

impl<E: Events> Since<E> {
    /// Returns how many values were recorded of a `Value` or `Histogram` event, modulo 2^63; of a
    /// `Count` event, what was added.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// let moment = window.moment();
    /// window.record(Disk::Latency, 40);
    /// assert_eq!(window.since(&moment).map(|since| since.count(Disk::Latency)), Some(1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn count<K: HasSum<Number = u64>>(&self, event: Event<E, K>) -> u64 {
        self.stats(event).count
    }

    /// Returns the sum of what was added or recorded, wrapping.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Latency, 40);
    /// let moment = window.moment();
    /// window.record(Disk::Latency, 2);
    /// assert_eq!(window.since(&moment).map(|since| since.sum(Disk::Latency)), Some(2));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn sum<K: HasSum>(&self, event: Event<E, K>) -> K::Number {
        K::Number::of(self.stats(event).sum)
    }

    /// Returns the mean of the values recorded; `None` if there were none.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// let moment = window.moment();
    /// window.record(Disk::Latency, 40);
    /// window.record(Disk::Latency, 50);
    /// assert_eq!(window.since(&moment).and_then(|since| since.mean(Disk::Latency)), Some(45.0));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn mean<K: HasValues>(&self, event: Event<E, K>) -> Option<f64> {
        self.stats(event).mean()
    }

    /// How the values of a `Histogram` event that were recorded since are distributed:
    /// [percentiles](SlidingWindow#percentiles). Its least and greatest value are known as well as
    /// the cells know them: no value is beyond them, and they are in the cells of the least value
    /// and of the greatest. Allocates once.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// let before = window.moment();
    /// window.record(Http::Rt, 1 << 20);
    /// let since = window.since(&before).unwrap();
    /// assert_eq!(since.distribution(Http::Rt).count_up_to(1 << 20), 1..=1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        let (places, cells) = (cells_of(event).places(), self.cells.as_ref());
        places.map_or_else(Distribution::default, |places| {
            places.without_extremes(|position| cells[position])
        })
    }

    /// Without extremes, which mean nothing here.
    fn stats<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        self.stats_of(cells_of(event))
    }

    fn stats_of(&self, index: EventCells) -> Stats {
        let cells = self.cells.as_ref();
        Stats { min: None, max: None, ..index.stats(|position| cells[position]) }
    }
}

impl<E: Events> Clone for Since<E> {
    fn clone(&self) -> Since<E> {
        Since { cells: self.cells.clone() }
    }
}

/// Shows each event's count and sum.
impl<E: Events> Debug for Since<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Since");
        show::<E>(&mut shown, |cells| self.stats_of(cells));
        shown.finish()
    }
}
