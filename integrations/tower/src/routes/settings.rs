//! Swapping the geometries of all windows at once while requests are counted.

use std::sync::Arc;

use crate::changes::Changes;
use crate::endpoint::Endpoint;
use crate::routes::Routes;
#[cfg(feature = "json")]
use crate::rules::RulesFile;
use crate::rules::{Geometry, RulesError, WindowRules};

impl Routes {
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
    /// Returns [`RulesError::UnknownLabel`] if a rule names another label, and
    /// [`RulesError::Part`] if a window with the function's clock and tiers cannot have a
    /// geometry. The old rules stay in force.
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
