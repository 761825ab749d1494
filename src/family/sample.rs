//! A sample of a family's metrics.

use crate::family::Family;
use crate::family::labels::Labels;
use crate::family::metric::Metric;

impl<L: Labels, M: Metric, F: Fn() -> M> Family<L, M, F> {
    /// Returns a new metric from the constructor, which belongs to no series.
    ///
    /// For an exporter that has to know the events or the [`Scale`](crate::histogram::Scale) of the
    /// metrics before there is a series.
    ///
    /// ```
    /// # use windrow::{Family, Histogram, labels, histogram::Scale};
    /// labels! { pub struct Route { route: str } }
    ///
    /// let sizes: Family<Route, Histogram> =
    ///     Family::with_constructor(|| Histogram::with_scale(Scale::fixed::<2, 1, 4_096>()));
    /// assert_eq!(sizes.sample().scale().schema(), 2);
    /// assert!(sizes.is_empty());
    /// ```
    pub fn sample(&self) -> M {
        (self.make)()
    }
}
