//! The trait for metrics in families.

use std::fmt::Debug;

use crate::counters::{Counter, Gauge, Maximum, Minimum};
use crate::histogram::{Distribution, Histogram};
use crate::in_flight::InFlight;

/// A metric that a [`Family`](crate::Family) can hold.
///
/// [`metrics!`](crate::metrics!) declares structs of several metrics, which one lookup finds.
/// Implement the trait by hand for a struct with other fields:
///
/// ```
/// use windrow::{Counter, Family, Gauge, labels, family::Metric};
///
/// labels! { pub struct Route { route: str } }
///
/// #[derive(Default)]
/// struct Endpoint {
///     requests: Counter,
///     open: Gauge,
/// }
///
/// impl Metric for Endpoint {
///     type Total = (u64, i64);
///
///     fn total(&self) -> (u64, i64) {
///         (self.requests.total(), self.open.total())
///     }
///
///     fn merge(one: &mut (u64, i64), other: (u64, i64)) {
///         Counter::merge(&mut one.0, other.0);
///         Gauge::merge(&mut one.1, other.1);
///     }
/// }
///
/// static ENDPOINTS: Family<Route, Endpoint> = Family::new();
///
/// let endpoint = ENDPOINTS.handle(Route { route: "/cart" });
/// endpoint.requests.increment();
/// endpoint.open.increment();
/// assert_eq!(ENDPOINTS.lifetime(), (1, 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the metric of a family",
    label = "not a metric",
    note = "a struct of several metrics is declared by `windrow::metrics!`; for any other type, \
            implement `windrow::family::Metric`: what its all-time total is, and how totals add up"
)]
pub trait Metric: Send + Sync + 'static {
    /// The all-time total of a metric. `Default` is the total of an unused metric.
    type Total: Clone + Default + Debug + Send + 'static;

    /// Returns the all-time total of the metric, drained or not.
    ///
    /// The family holds its lock while it calls this and [`merge`](Self::merge), so they must not
    /// call methods of the family that take the lock. (Metrics are made and dropped without the
    /// lock.)
    fn total(&self) -> Self::Total;

    /// Adds `other` to `one`.
    fn merge(one: &mut Self::Total, other: Self::Total);
}

/// The total is [`Counter::lifetime`], wrapping.
impl Metric for Counter {
    type Total = u64;

    fn total(&self) -> u64 {
        self.lifetime()
    }

    fn merge(one: &mut u64, other: u64) {
        *one = one.wrapping_add(other);
    }
}

/// The total is the level, wrapping.
impl Metric for Gauge {
    type Total = i64;

    #[inline]
    fn total(&self) -> i64 {
        self.sum()
    }

    fn merge(one: &mut i64, other: i64) {
        *one = one.wrapping_add(other);
    }
}

/// The total is the level, wrapping.
impl Metric for InFlight {
    type Total = u64;

    #[inline]
    fn total(&self) -> u64 {
        self.level()
    }

    fn merge(one: &mut u64, other: u64) {
        *one = one.wrapping_add(other);
    }
}

impl Metric for Maximum {
    type Total = Option<u64>;

    fn total(&self) -> Option<u64> {
        self.get()
    }

    #[inline]
    fn merge(one: &mut Option<u64>, other: Option<u64>) {
        *one = (*one).max(other);
    }
}

impl Metric for Minimum {
    type Total = Option<u64>;

    #[inline]
    fn total(&self) -> Option<u64> {
        self.get()
    }

    #[inline]
    fn merge(one: &mut Option<u64>, other: Option<u64>) {
        *one = one.iter().copied().chain(other).min();
    }
}

/// The total is [`Histogram::lifetime`]: a distribution for each scale that histograms of the
/// family have; so one, or none if nothing was counted. (Distributions of one scale can always be
/// merged.)
impl Metric for Histogram {
    type Total = Vec<Distribution>;

    #[inline]
    fn total(&self) -> Vec<Distribution> {
        vec![self.lifetime()]
    }

    #[inline]
    fn merge(one: &mut Vec<Distribution>, other: Vec<Distribution>) {
        for other in other {
            let same_scale = one.iter_mut().find(|one| one.scale() == other.scale());
            match same_scale.map(|one| one.merge(&other)) {
                Some(Ok(())) => {}
                None | Some(Err(_)) => one.push(other),
            }
        }
    }
}
