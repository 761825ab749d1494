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
use crate::event::{Events, Positions};
use crate::timestamp::Timestamp;
use crate::window::totals::Totals;
use crate::window::window_number::Identity;

/// # Since a moment
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns a moment of this window, since which adds can be [counted](Moment::since): the time
    /// of the last report, for example, or when a circuit breaker half-opened.
    ///
    /// Every add to an event is before the moment or after it: before if it is [before the
    /// call](crate::Counter::sum), after if it begins after the call returned. When the add is
    /// *made* decides, not its timestamp. So neither the interval, [`clear`](Self::clear),
    /// [`reconfigure`](Self::reconfigure) nor [drains](Self::drain_closed) change the result, and
    /// back-dated and [late](Self::late) adds count too. Successive moments divide all adds among
    /// them without a rest.
    ///
    /// It is *not* one snapshot: each number has its own instant during the call. The sum of a
    /// record that is being made may be before the moment, and its count after it.
    ///
    /// Costs a reading of the clock, and a [`lifetime`](Self::lifetime) for each event. Writes
    /// nothing and allocates nothing.
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
    ///         && let Some(since) = window.moment().since(moment)
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
        let at = self.ring.clock().now();
        let mut cells = <E::Cells as Positions<E>>::ZERO;
        let additive = <E::Cells as Positions<E>>::LAYOUT.additive();
        for (position, cell) in cells.as_mut()[..additive].iter_mut().enumerate() {
            *cell = self.ring.lifetime(position);
        }
        Moment { of: self.ring.identity(), at, cells }
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
    at: Timestamp,
    cells: E::Cells,
}

impl<E: Events> Moment<E> {
    /// Returns the adds between an earlier moment and this one; `None` if the two are of different
    /// windows.
    ///
    /// They are [`Totals`] of the time between the two. Counts and sums are differences of running
    /// totals. A minimum or maximum cannot be had as a difference: [stats](Totals::stats) have
    /// none, and those of a [distribution](Totals::distribution) are bounds, as exact as the
    /// scale's cells. The number of values is modulo 2^63.
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
    pub fn since(&self, earlier: &Moment<E>) -> Option<Totals<E>> {
        if self.of != earlier.of {
            return None;
        }
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let mut cells = <E::Cells as Positions<E>>::ZERO;
        let totals = self.cells.as_ref().iter().zip(earlier.cells.as_ref());
        for (position, (cell, (to, from))) in cells.as_mut().iter_mut().zip(totals).enumerate() {
            *cell = layout.without_pending(position, to.wrapping_sub(*from));
        }
        Some(Totals::between(earlier.at, self.at, cells))
    }
}

impl<E: Events> Clone for Moment<E> {
    fn clone(&self) -> Moment<E> {
        Moment { cells: self.cells.clone(), ..*self }
    }
}

/// Shows the running totals as they are held.
impl<E: Events> Debug for Moment<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Moment");
        shown.field("of", &self.of).field("at", &self.at).field("cells", &self.cells).finish()
    }
}
