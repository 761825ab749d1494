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

use std::sync::Arc;

use windrow::Family;
use windrow::family::{Handle, Pinned};

use crate::current::{Changes, Current};
use crate::endpoint::Endpoint;
use crate::labels::Route;
#[cfg(feature = "json")]
use crate::rules::RulesFile;
use crate::rules::{Geometry, RulesError, WindowRules};

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

    /// Replaces the rules: from now on they give each window its geometry, both the windows that
    /// exist and those that are made later.
    ///
    /// Before the first call, the function given to
    /// [`with_constructor`](Self::with_constructor) decides alone. Afterwards it still makes each
    /// window, with its clock and tiers, and the rules set interval and buckets. A geometry that
    /// was set on a window by hand is overwritten.
    ///
    /// The labels of a rule are `method` and `route`; `overflow` is the geometry of the overflow
    /// series.
    ///
    /// # Across a swap
    ///
    /// The rules are checked first, by the checks of a window that the function makes; if anything
    /// is wrong, nothing changes. Then the set is swapped, and each window is
    /// [changed](windrow::SlidingWindow::reconfigure) in place:
    ///
    /// - No count is lost, also of requests under way. A bucket that begins in the new interval
    ///   stays in it; the counts of any other stay in
    ///   [`lifetime`](windrow::SlidingWindow::lifetime).
    /// - When this returns, each window in which a request has counted has its geometry by the new
    ///   rules. A window that is made later has it when its first request counts.
    /// - A window without memory for its new buckets keeps those that it has. All others follow the
    ///   rules, and [`Changes::failed`] has the number of those that do not.
    ///
    /// # Cost
    ///
    /// Some tens of microseconds for each window whose geometry changes, and a new ring of buckets;
    /// the old one is kept until a change or two later. Less than a microsecond for any other.
    /// The check before takes some tens of microseconds for each rule with another geometry.
    /// Requests do not wait for a swap, except that the first one of a new series may wait while
    /// the set itself is exchanged. Concurrent swaps run one after the other.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::Part`] if a rule names another label, or if a window with the
    /// function's clock and tiers cannot have a geometry. The old rules stay in force.
    ///
    /// # Panics
    ///
    /// Panics if the function that makes endpoints panics. The old rules stay in force.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_tower::{Geometry, Http, Method, Route, Routes, Rules, RulesError};
    ///
    /// static ROUTES: Routes = Routes::new();
    ///
    /// let carts = Route { method: Method::Get, route: "/carts/{id}" };
    /// ROUTES.with(carts).window().add(Http::Request, 3);
    /// let ten_seconds = Geometry::new(Duration::from_secs(10), 10);
    /// let rules = |route| Rules::builder(ten_seconds)
    ///     .rule([("route", route)], Geometry::new(Duration::from_secs(300), 60))
    ///     .build();
    /// assert_eq!(ROUTES.replace(rules("/reports/*")?)?.keys, 1);
    /// let window = |route| {
    ///     let endpoint = ROUTES.with(route);
    ///     (endpoint.window().interval().as_secs(), endpoint.window().buckets())
    /// };
    /// assert_eq!(window(carts), (10, 10));
    /// assert_eq!(window(Route { method: Method::Get, route: "/reports/{id}" }), (300, 60));
    /// assert_eq!(ROUTES.with(carts).window().lifetime(Http::Request).count, 3);
    /// # Ok::<(), RulesError>(())
    /// ```
    pub fn replace(&self, rules: WindowRules) -> Result<Changes, RulesError> {
        self.check(&rules)?;
        let go_by =
            |endpoint: &Endpoint, geometry: Geometry| geometry.apply(endpoint.window()).ok();
        Ok(self.current.replace(rules, self.family(), go_by))
    }

    /// Checks rules as [`replace`](Self::replace) does, and changes nothing: see
    /// [`Limits::check`](crate::Limits::check).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`replace`](Self::replace). Rules for which there is no error are not
    /// refused later.
    ///
    /// # Panics
    ///
    /// Panics if the function that makes endpoints panics.
    pub fn check(&self, rules: &WindowRules) -> Result<(), RulesError> {
        rules.check_labels(self.family().names())?;
        let endpoint = (self.make)();
        rules.settings().try_for_each(|(part, geometry)| {
            let applied = geometry.apply(endpoint.window());
            applied.map(drop).map_err(|error| part.error(error))
        })
    }

    /// Replaces the rules by a [JSON text](crate::Rules#json). Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rules::from_json`](crate::Rules::from_json) and
    /// [`replace`](Self::replace). The old rules stay in force.
    ///
    /// ```
    /// # use windrow_tower::{Routes, RulesError};
    /// # static ROUTES: Routes = Routes::new();
    /// ROUTES.reload(br#"{ "default": { "interval_ms": 10000, "buckets": 10 } }"#)?;
    /// let error = ROUTES.reload(br#"{ "default": { "interval_ms": 10000, "buckets": 0 } }"#);
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "default: the number of buckets is 0; a window needs at least 1"
    /// );
    /// # Ok::<(), RulesError>(())
    /// ```
    #[cfg(feature = "json")]
    pub fn reload(&self, text: &[u8]) -> Result<Changes, RulesError> {
        self.replace(WindowRules::from_json(text)?)
    }

    /// Replaces the rules by a JSON file, if its text has changed since the last call with this
    /// `file`: see [`Limits::reload_if_changed`](crate::Limits::reload_if_changed). Needs the
    /// feature `json`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RulesFile::read_if_changed`] and [`reload`](Self::reload), once for
    /// each text. The old rules stay in force.
    #[cfg(feature = "json")]
    pub fn reload_if_changed(&self, file: &mut RulesFile) -> Result<Option<Changes>, RulesError> {
        file.read_if_changed()?.map(|text| self.reload(&text)).transpose()
    }

    /// Returns the rules in force; `None` before the first [`replace`](Self::replace).
    pub fn rules(&self) -> Option<Arc<WindowRules>> {
        self.current.load().clone()
    }
}

impl Default for Routes {
    fn default() -> Routes {
        Routes::new()
    }
}
