//! One of several metrics in each series of a family.

use std::ops::Deref;

use super::metric::Exported;
use super::outline::Outline;
use super::source::{Series, Source, outline_of, refused, visit_fields};
use crate::family::{Family, Labels, Metric};

/// Makes a source of one field of a family's metrics, which are structs of several. (A struct that
/// [`metrics!`](crate::metrics!) declares needs this only for a name or a unit of the field's own:
/// exporters show all its fields.)
///
/// The family is a `&'static` or an [`Arc`](std::sync::Arc), or behind a pointer of the program's
/// own. For a family that may be dropped earlier than the exporter, put the source into an `Arc`
/// beside it, and export its [`Weak`](std::sync::Weak).
///
/// ```
/// use windrow::export::{Source, field};
/// use windrow::{Counter, Family, Gauge, labels, family::Metric};
///
/// labels! { pub struct Route { route: str } }
///
/// #[derive(Default)]
/// struct Endpoint { requests: Counter, open: Gauge }
///
/// impl Metric for Endpoint {
///     type Total = (u64, i64);
///     fn total(&self) -> (u64, i64) { (self.requests.total(), self.open.total()) }
///     fn merge(one: &mut (u64, i64), other: (u64, i64)) {
///         Counter::merge(&mut one.0, other.0);
///         Gauge::merge(&mut one.1, other.1);
///     }
/// }
///
/// static ENDPOINTS: Family<Route, Endpoint> = Family::new();
///
/// let sources: [Box<dyn Source>; 2] = [
///     Box::new(field(&ENDPOINTS, |endpoint| &endpoint.requests)),
///     Box::new(field(&ENDPOINTS, |endpoint| &endpoint.open)),
/// ];
/// assert!(sources.iter().all(|source| source.outline().labels == ["route"]));
/// ```
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub fn field<P, L, M, F, N>(family: P, get: fn(&M) -> &N) -> impl Source
where
    P: Deref<Target = Family<L, M, F>> + Send + Sync,
    L: Labels,
    M: Metric,
    F: Fn() -> M + Send + Sync,
    N: Exported,
{
    Field { family, get }
}

/// A field of the metrics of a family.
struct Field<P, M, N> {
    family: P,
    get: fn(&M) -> &N,
}

impl<P, L, M, F, N> Source for Field<P, M, N>
where
    P: Deref<Target = Family<L, M, F>> + Send + Sync,
    L: Labels,
    M: Metric,
    F: Fn() -> M,
    N: Exported,
{
    fn outline(&self) -> Outline {
        let sample = self.family.sample();
        let metric = (self.get)(&sample).any();
        outline_of(&self.family, metric.form()).with_fields_of(metric)
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        visit_fields(&self.family, |metric| (self.get)(metric).any(), see);
    }

    fn refused(&self) -> Option<u64> {
        refused(&self.family)
    }
}
