//! A metric like those of a family's series.

use crate::family::Family;
use crate::family::labels::Labels;
use crate::family::metric::Metric;

impl<L: Labels, M: Metric, F: Fn() -> M> Family<L, M, F> {
    /// Returns a metric as the constructor makes them, which is in no series.
    ///
    /// For an exporter that has to know, before there is a series, which events or which
    /// [`Scale`](crate::histogram::Scale) the metrics have.
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
