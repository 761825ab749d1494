//! All-time totals of several windows.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

use super::metric::Metric;
use crate::clock::Clock;
use crate::event::kinds::{EventKind, HasDistribution};
use crate::event::{Event, Events, Stats};
use crate::histogram::Distribution;
use crate::window::SlidingWindow;

/// The all-time totals of each event over several windows: the total of a [`Family`](crate::Family)
/// of windows, removed series included.
///
/// ```
/// use windrow::{Family, SlidingWindow, events, labels};
///
/// labels! { struct Route { route: str } }
/// events! { enum Http { Pass: Count, Rt: Histogram } }
///
/// let routes = Family::<Route, SlidingWindow<Http>, _>::with_constructor(|| {
///     SlidingWindow::builder().build().unwrap()
/// });
/// for (route, nanos) in [("/cart", 2_000), ("/home", 3_000)] {
///     routes.with(Route { route }).record(Http::Rt, nanos);
/// }
/// routes.remove(Route { route: "/cart" });
/// let all = routes.lifetime();
/// assert_eq!((all.stats(Http::Rt).sum, all.distribution(Http::Rt).max()), (5_000, Some(3_000)));
/// ```
pub struct LifetimeTotals<E> {
    /// In the order of the events; empty without windows.
    events: Vec<(Stats, Distribution)>,
    of: PhantomData<fn(E) -> E>,
}

impl<E: Events> LifetimeTotals<E> {
    /// Returns the sum of [`SlidingWindow::lifetime`] over all windows.
    ///
    /// ```
    /// # windrow::events! { enum Http { Pass: Count } }
    /// assert_eq!(windrow::family::LifetimeTotals::<Http>::default().stats(Http::Pass).sum, 0);
    /// ```
    pub fn stats<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        self.events.get(event.index()).map_or_else(Stats::default, |of| of.0)
    }

    /// Returns the sum of [`SlidingWindow::lifetime_distribution`] over all windows; empty if the
    /// event is no `Histogram`.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let totals = windrow::family::LifetimeTotals::<Http>::default();
    /// assert_eq!(totals.distribution(Http::Rt).count(), 0);
    /// ```
    pub fn distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        self.events.get(event.index()).map_or_else(Distribution::default, |of| of.1.clone())
    }
}

/// The total is the [`SlidingWindow::lifetime`] and the [`SlidingWindow::lifetime_distribution`] of
/// each event.
impl<E: Events, C: Clock + Send + Sync + 'static> Metric for SlidingWindow<E, C> {
    type Total = LifetimeTotals<E>;

    fn total(&self) -> LifetimeTotals<E> {
        let of = |event: Event<E>| match event.histogram() {
            // The stats are taken from the same reading of the cells.
            Some(event) => {
                let distribution = self.lifetime_distribution(event);
                (distribution.stats(), distribution)
            }
            None => (self.lifetime(event), Distribution::default()),
        };
        LifetimeTotals { events: Event::all().map(of).collect(), of: PhantomData }
    }

    fn merge(one: &mut LifetimeTotals<E>, other: LifetimeTotals<E>) {
        if one.events.is_empty() {
            *one = other;
            return;
        }
        for (one, other) in one.events.iter_mut().zip(other.events) {
            one.0 += other.0;
            let _ = one.1.merge(&other.1); // not refused: the scale is the same
        }
    }
}

impl<E> Clone for LifetimeTotals<E> {
    fn clone(&self) -> LifetimeTotals<E> {
        LifetimeTotals { events: self.events.clone(), of: PhantomData }
    }
}

/// Returns the totals of no window.
impl<E> Default for LifetimeTotals<E> {
    fn default() -> LifetimeTotals<E> {
        LifetimeTotals { events: Vec::new(), of: PhantomData }
    }
}

/// Shows each event's stats.
impl<E: Events> Debug for LifetimeTotals<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LifetimeTotals");
        for event in Event::<E>::all() {
            shown.field(event.name(), &self.stats(event));
        }
        shown.finish_non_exhaustive()
    }
}
