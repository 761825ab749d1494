//! The adds since a moment, as the difference of two running totals.
//!
//! # Theorem
//!
//! Take two moments of a window, the later after the earlier was returned. The difference of each
//! number is exactly the sum of the adds between them: every add that is in the later moment's
//! total is, as a whole, either in the earlier moment's total or in the difference.
//!
//! # Why
//!
//! A number's total is the sum of cells that only grow (the ring's third rule): an add is one
//! atomic step in one of them, which is never undone. The bucket, geometry or drain to which the
//! add belongs does not change that sum. A moment loads each cell once, so it includes the add or
//! does not. The later moment loads each cell later, so it includes all that the earlier one does.

use std::fmt::{self, Debug, Formatter};

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::cells::EventCells;
use crate::event::debug_output::debug_event_fields;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasDistribution, HasSum, HasValues};
use crate::event::{Event, Events, Positions, Stats, cells_of};
use crate::histogram::Distribution;
use crate::window::window_number::Identity;

/// # Since a moment
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns a moment of this window, since which adds can be [counted](Self::since): the time of
    /// the last report, for example, or when a circuit breaker half-opened.
    ///
    /// Every add to an event is before the moment or after it: before if it returned before the
    /// call, after if it begins after the call returned. When the add is *made* decides, not its
    /// timestamp. So neither the interval, [`clear`](Self::clear),
    /// [`reconfigure`](Self::reconfigure) nor [drains](Self::drain_closed) change the result, and
    /// back-dated and [late](Self::late) adds count too. Successive moments divide all adds among
    /// them without a rest.
    ///
    /// It is *not* one snapshot: each number has its own instant during the call. The sum of a
    /// record that is being made may be before the moment, and its count after it.
    ///
    /// Costs a [`lifetime`](Self::lifetime) for each event. Reads no clock, writes nothing and
    /// allocates nothing.
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
        let mut cells = <E::Cells as Positions<E>>::ZERO;
        let additive = <E::Cells as Positions<E>>::LAYOUT.additive();
        for (position, cell) in cells.as_mut()[..additive].iter_mut().enumerate() {
            *cell = self.ring.lifetime(position);
        }
        Moment { of: self.ring.identity(), cells }
    }

    /// Returns the adds since a moment of this window; `None` if it is a moment of another window.
    ///
    /// Calls [`moment`](Self::moment) and then [`Moment::since`], so adds that run at the same time
    /// may be included or not. With no add running it is exact.
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
/// A copy of the window's running totals, stored inline: eight bytes for each cell of its events.
/// It may outlive its window.
///
/// [`SlidingWindow::moment`]: crate::SlidingWindow::moment
#[must_use = "a moment serves only `since`"]
pub struct Moment<E: Events> {
    of: Identity,
    cells: E::Cells,
}

impl<E: Events> Moment<E> {
    /// Returns the adds between an earlier moment and this one; `None` if the two are of different
    /// windows.
    ///
    /// A reporter that keeps the moment of its last report misses nothing, and reports nothing
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
    /// Numbers wrap: if `earlier` is in fact the later moment, they are the negated differences,
    /// wrapped.
    pub fn since(&self, earlier: &Moment<E>) -> Option<Since<E>> {
        if self.of != earlier.of {
            return None;
        }
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let mut cells = <E::Cells as Positions<E>>::ZERO;
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

/// The adds to a window between two moments: from [`SlidingWindow::since`] and [`Moment::since`].
///
/// A copy, stored inline. It has counts and sums, which are differences of running totals. Minimum
/// and maximum cannot be had as differences: the [window](crate::SlidingWindow::stats) has those of
/// its interval.
///
/// [`SlidingWindow::since`]: crate::SlidingWindow::since
#[must_use = "a read changes nothing"]
pub struct Since<E: Events> {
    cells: E::Cells,
}

impl<E: Events> Since<E> {
    /// Returns the number of values that were recorded of a `Value` or `Histogram` event, modulo
    /// 2^63. For a `Count` event, returns the sum of the adds.
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

    /// Returns the sum of the numbers added or recorded, wrapping.
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

    /// Returns the distribution of the values of a `Histogram` event recorded since:
    /// [percentiles](SlidingWindow#percentiles). Its minimum and maximum are bounds, as exact as
    /// the scale's cells: no value is beyond them, and they lie in the cells of the smallest and
    /// the largest value. Allocates once.
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

    /// Returns the stats without extremes, which mean nothing here.
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
        debug_event_fields::<E>(&mut shown, |cells| self.stats_of(cells));
        shown.finish()
    }
}
