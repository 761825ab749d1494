//! The counts of requests by method and route.
//!
//! # Promise
//!
//! A window has its geometry by the rules in force when its first request counts, and when a swap
//! of rules has returned. No change of it loses a count.
//!
//! # Why
//!
//! A window is made by the user's function, and *settled* by the first thread that counts in it: it
//! is given its geometry under a lock that excludes the swap itself. So either it is in the family
//! before the swap, and the walk after the swap finds it, or it is settled by the new rules.

mod settings;

use std::fmt::{self, Debug, Formatter};

use windrow::{
    Family,
    family::{Handle, Pinned},
};

use crate::current::Current;
use crate::endpoint::Endpoint;
use crate::labels::Route;
use crate::rules::Geometry;

/// The counts of requests: an [`Endpoint`] for each method of each route, for use in a static.
///
/// Its [`family`](Self::family) is read as any [`Family`]: by iteration, by labels, or by its
/// total.
///
/// ```
/// use windrow_tower::{Http, Method, Route, Routes};
///
/// static ROUTES: Routes = Routes::new();
///
/// for series in ROUTES.family() {
///     let (window, in_flight) = (series.window(), series.in_flight());
///     println!("{:?}: {}/s, {in_flight} now", series.labels(), window.rate(Http::Request));
/// }
/// let carts = ROUTES.with(Route { method: Method::Get, route: "/carts/{id}" });
/// assert_eq!(carts.window().sum(Http::Exception), 0);
/// ```
///
/// With windows of another geometry, for 200 series (see [`Family`](Family#bounds) for the requests
/// beyond them):
///
/// ```
/// use std::time::Duration;
/// use windrow::SlidingWindow;
/// use windrow_tower::{Endpoint, Routes};
///
/// static ROUTES: Routes = Routes::with_constructor(200, || {
///     let builder = SlidingWindow::builder().interval(Duration::from_secs(10)).buckets(10);
///     Endpoint::new(builder.build().expect("ten seconds, ten buckets"))
/// });
/// assert_eq!(ROUTES.family().len(), 0);
/// ```
///
/// # Settings
///
/// The geometries of the windows can be a set of rules, from a file or an endpoint, that is swapped
/// whole while requests go on: see [`replace`](Self::replace).
pub struct Routes {
    family: Family<Route<'static>, Endpoint>,
    make: fn() -> Endpoint,
    current: Current<Geometry>,
}

impl Routes {
    /// Creates the counts of at most 1000 series, each with a window of a minute in sixty buckets.
    ///
    /// ```
    /// use windrow_tower::Routes;
    ///
    /// static ROUTES: Routes = Routes::new();
    /// assert_eq!(ROUTES.family().max_series(), 1_000);
    /// ```
    pub const fn new() -> Routes {
        Routes::with_constructor(1_000, Endpoint::default)
    }

    /// Creates the counts of at most `max_series` series. The function makes the endpoint of each.
    ///
    /// Several threads that need the same endpoint at once may each call the function; one of their
    /// endpoints is used. If the function panics, the call that needed the endpoint panics,
    /// and nothing is counted.
    ///
    /// ```
    /// use windrow_tower::{Endpoint, Routes};
    ///
    /// static ROUTES: Routes = Routes::with_constructor(200, Endpoint::default);
    /// assert_eq!(ROUTES.family().max_series(), 200);
    /// ```
    pub const fn with_constructor(max_series: usize, make: fn() -> Endpoint) -> Routes {
        let family = Family::with_constructor(make).with_max_series(max_series);
        Routes { family, make, current: Current::new() }
    }

    /// Returns the endpoint of a method of a route, and makes it first if there is none. A
    /// [`MetricsLayer`](crate::MetricsLayer) counts in it.
    ///
    /// The call costs a lookup in the family: use the result at once and drop it. The first call
    /// for a series may wait while rules are exchanged.
    ///
    /// ```
    /// use windrow_tower::{Http, Method, Route, Routes};
    ///
    /// static ROUTES: Routes = Routes::new();
    /// let job = Route { method: Method::Other, route: "a job" };
    /// ROUTES.with(job).window().add(Http::Request, 1);
    /// assert_eq!(ROUTES.with(job).window().sum(Http::Request), 1);
    /// ```
    #[inline]
    pub fn with(&self, route: Route<'_>) -> Pinned<'_, Route<'static>, Endpoint> {
        let endpoint = self.family.with(route);
        if endpoint.settled.get().is_none() {
            self.settle(&endpoint.keep());
        }
        endpoint
    }

    /// Gives a new endpoint its geometry by the rules in force.
    #[cold]
    fn settle(&self, endpoint: &Handle<Route<'static>, Endpoint>) {
        self.current.publish(|rules| {
            if let Some(rules) = rules {
                let geometry = rules.setting_of::<Route>(self.family.names(), endpoint.labels());
                // Without memory for more buckets, the window keeps its buckets.
                let _ = geometry.apply(endpoint.window());
            }
            endpoint.settled.get_or_init(|| ());
        });
    }

    /// Returns the family of the endpoints, for reading and for exporters:
    /// `field(ROUTES.family(), Endpoint::window)`.
    ///
    /// A series that is [made](windrow::Family::with) through the family has the function's
    /// geometry until the first request counts in it, or the rules are replaced.
    ///
    /// ```
    /// use windrow::export::{Source, field};
    /// use windrow_tower::{Endpoint, Routes};
    ///
    /// static ROUTES: Routes = Routes::new();
    /// let requests = field(ROUTES.family(), Endpoint::window);
    /// assert_eq!(requests.outline().labels, ["method", "route"]);
    /// ```
    pub fn family(&self) -> &Family<Route<'static>, Endpoint> {
        &self.family
    }
}

impl Default for Routes {
    fn default() -> Routes {
        Routes::new()
    }
}

/// Shows each series.
impl Debug for Routes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Routes").field(&self.family).finish()
    }
}
