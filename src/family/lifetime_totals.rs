//! All-time totals of several windows.

use super::metric::Metric;
use crate::clock::Clock;
use crate::event::Events;
use crate::window::{SlidingWindow, Totals};

/// The total has the [`SlidingWindow::lifetime`] and the [`SlidingWindow::lifetime_distribution`]
/// of each event. Those of several windows are of the [interval](Totals::interval) since the oldest
/// of them was built.
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
impl<E: Events, C: Clock + Send + Sync + 'static> Metric for SlidingWindow<E, C> {
    type Total = Totals<E>;

    fn total(&self) -> Totals<E> {
        Totals::ever(self)
    }

    fn merge(one: &mut Totals<E>, other: Totals<E>) {
        one.join(&other);
    }
}
